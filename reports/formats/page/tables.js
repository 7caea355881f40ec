/* SPDX-License-Identifier: MIT */
/* Tables of a page: a click on a heading (or Enter) sorts it within its groups, and a button gives it as CSV. */
(function () {
    "use strict";

    function number_of(cell) {
        if (cell.dataset.v !== undefined)
            return parseFloat(cell.dataset.v);
        return parseFloat(cell.textContent.replace(/^[^0-9+-]+/, ""));
    }

    /* Unknown values stand last in both orders. */
    function compare(a, b, column, words, sign) {
        const x = a.cells[column], y = b.cells[column];
        if (words)
            return sign * x.textContent.localeCompare(y.textContent, undefined, { numeric: true });
        const m = number_of(x), n = number_of(y);
        if (isNaN(m) || isNaN(n))
            return (isNaN(m) ? 1 : 0) - (isNaN(n) ? 1 : 0);
        return sign * (m - n);
    }

    function sort(table, head, column) {
        const falling = head.getAttribute("aria-sort") === "ascending";
        for (const other of table.tHead.rows[0].cells)
            other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", falling ? "descending" : "ascending");
        for (const body of table.tBodies) {
            const rows = Array.from(body.rows).filter(row => !row.classList.contains("group"));
            const words = rows.some(row => !row.cells[column].classList.contains("n"));
            rows.sort((a, b) => compare(a, b, column, words, falling ? -1 : 1));
            body.append(...rows);
        }
    }

    function make_sortable(table) {
        Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
            const button = document.createElement("button");
            button.type = "button";
            button.append(...head.childNodes);
            head.append(button);
            button.addEventListener("click", () => sort(table, head, column));
        });
    }

    /* In the form that spreadsheets read: RFC 4180, and no cell is a formula. */
    function csv_cell(cell) {
        const items = cell.querySelectorAll("li");
        let text = items.length ? Array.from(items, item => item.textContent).join("; ") : cell.textContent;
        text = text.replace(/\s+/g, " ").trim();
        if (cell.classList.contains("n"))
            return isNaN(number_of(cell)) ? "" : /^[-+]?[0-9.]+$/.test(text) ? text.replace("+", "") : '"' + text.replace(/"/g, '""') + '"';
        if (/^[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text))
            text = "'" + text;
        return '"' + text.replace(/"/g, '""') + '"';
    }

    function csv_of(table) {
        const lines = [];
        let group = null;
        const grouped = table.querySelector("tr.group") !== null;
        for (const row of table.rows) {
            if (row.classList.contains("group")) {
                group = row.cells[0];
                continue;
            }
            const cells = Array.from(row.cells, csv_cell);
            if (grouped)
                cells.unshift(row.parentNode === table.tHead ? '"group"' : group ? csv_cell(group) : "");
            lines.push(cells.join(","));
        }
        return lines.join("\r\n") + "\r\n";
    }

    function add_csv(scroll, table) {
        const tools = document.createElement("p"), link = document.createElement("a");
        const name = scroll.getAttribute("aria-label").replace(/^[0-9]+\. /, "");
        tools.className = "tools";
        link.textContent = "CSV";
        link.href = "#";
        link.setAttribute("aria-label", "CSV of the table " + name);
        link.download = (name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "table") + ".csv";
        link.addEventListener("click", () => {
            if (link.href.startsWith("blob:"))
                URL.revokeObjectURL(link.href);
            link.href = URL.createObjectURL(new Blob([csv_of(table)], { type: "text/csv" }));
        });
        tools.append(link);
        scroll.after(tools);
    }

    for (const scroll of document.querySelectorAll(".scroll.table")) {
        const table = scroll.querySelector("table");
        make_sortable(table);
        add_csv(scroll, table);
    }
})();
