/* SPDX-License-Identifier: MIT */
/*
 * The map of the run leads to all plots: it says what is under the pointer, and a click (or Enter) shows that host, that
 * resource and that time. Arrows go from cell to cell.
 */
(function () {
    "use strict";
    if (!plot_bar)
        return;
    const { run, element, three, row_of } = plotted;
    const { show_range, point_at } = plots;
    const SVG = "http://www.w3.org/2000/svg", HINT = "A click shows that host, resource and time below; arrow keys and Enter do, too.";

    /* The values of a row are percents, two hexadecimal digits each, "--" where nothing is known. */
    function row_of_ground(ground) {
        const number = name => Number(ground.getAttribute(name)), values = ground.dataset.v;
        return { host: Number(ground.dataset.h), what: ground.dataset.w, plot: ground.dataset.p, top: number("y"), height: number("height"), cells: values.length / 2,
            value_at: cell => parseInt(values.slice(2 * cell, 2 * cell + 2), 16) };
    }
    function enliven_map(map) {
        const [left, right] = map.dataset.map.split(" ").map(Number), rows = Array.from(map.querySelectorAll(".ground"), row_of_ground);
        const says = element("p", "note says map-says", HINT), mark = document.createElementNS(SVG, "rect");
        let at = null; /* {row, cell} */
        says.setAttribute("role", "status");
        map.closest("figure").append(says);
        map.style.cursor = "crosshair";
        map.tabIndex = 0;
        map.setAttribute("role", "application");
        map.setAttribute("aria-label", map.getAttribute("aria-label") + ": arrows choose a row and a time, Enter shows them in the plots");
        mark.setAttribute("class", "at");

        function time_of(row, cell) {
            return (cell + 0.5) / row.cells * run.end;
        }
        function show(next) {
            at = next;
            mark.remove();
            if (!at)
                return point_at(null);
            const row = rows[at.row], value = row.value_at(at.cell), width = (right - left) / row.cells, time = time_of(row, at.cell);
            const box = { x: left + at.cell * width, y: row.top, width: Math.max(2, width), height: row.height };
            for (const name in box)
                mark.setAttribute(name, box[name].toFixed(1));
            map.append(mark);
            says.textContent = (row.host < 0 ? "" : run.hosts[row.host] + ", ") + row.what + ", " + three(time) + " s: " + (isNaN(value) ? "not known" : value + " %");
            point_at(row_of(time));
        }
        function place_of(event) {
            const box = map.getBoundingClientRect(), scale = box.width / map.viewBox.baseVal.width;
            const x = (event.clientX - box.left) / scale, y = (event.clientY - box.top) / scale;
            const row = rows.findIndex(one => y < one.top + one.height + 2);
            if (x < left || x > right || row < 0)
                return null;
            return { row, cell: Math.min(rows[row].cells - 1, Math.floor((x - left) / (right - left) * rows[row].cells)) };
        }
        function go() {
            const row = rows[at.row], time = time_of(row, at.cell);
            show_range(time - run.end / 10, time + run.end / 10);
            plot_bar.go_to(row.host, row.plot);
            point_at(row_of(time));
        }
        function step(down, on) {
            const row = Math.max(0, Math.min(rows.length - 1, (at ? at.row : 0) + down)), now = at ? (at.cell + 0.5) / rows[at.row].cells : 0;
            show({ row, cell: Math.max(0, Math.min(rows[row].cells - 1, Math.floor(now * rows[row].cells) + on)) });
        }
        /* Keeps the marked cell in sight where the map scrolls. */
        function follow() {
            const scroll = map.parentElement, x = mark.getBoundingClientRect(), seen = scroll.getBoundingClientRect();
            if (x.right > seen.right - 20 || x.left < seen.left + seen.width / 2.2)
                scroll.scrollLeft += x.left - (seen.left + 0.7 * seen.width);
        }
        map.addEventListener("mousemove", event => {
            const next = place_of(event);
            if (next)
                show(next);
        });
        map.addEventListener("mouseleave", () => show(null));
        map.addEventListener("click", event => {
            const next = place_of(event);
            if (!next)
                return;
            show(next);
            go();
        });
        map.addEventListener("keydown", event => {
            const keys = { "ArrowUp": () => step(-1, 0), "ArrowDown": () => step(1, 0), "ArrowLeft": () => step(0, -1), "ArrowRight": () => step(0, 1),
                "Enter": () => at && go(), "Escape": () => show(null) };
            if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey)
                return;
            keys[event.key]();
            if (event.key.startsWith("Arrow"))
                follow();
            event.preventDefault();
        });
    }

    for (const map of document.querySelectorAll("svg.map"))
        enliven_map(map);
})();
