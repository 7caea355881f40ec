/* SPDX-License-Identifier: MIT */
/* Bars say the part under the pointer; arrows go from part to part and from bar to bar. */
(function () {
    "use strict";

    function enliven(bars) {
        const says = document.createElement("p"), rows = Array.from(bars.children);
        const parts_of = row => Array.from(row.querySelectorAll(".stack > i"));
        let at = null;
        says.className = "note says";
        says.setAttribute("role", "status");
        says.textContent = "Point at a bar, or use the arrow keys, for its values.";
        bars.after(says);
        bars.tabIndex = 0;
        bars.setAttribute("aria-label", "bars: up and down choose one, left and right its part");

        function show(part) {
            if (at)
                at.classList.remove("at");
            at = part;
            if (!part)
                return;
            part.classList.add("at");
            says.textContent = part.closest("li").querySelector(".whose").textContent + ": " + part.title;
        }
        function step(rows_on, parts_on) {
            const row = at ? rows.indexOf(at.closest("li")) : 0, part = at ? parts_of(rows[row]).indexOf(at) : 0;
            const next = parts_of(rows[Math.max(0, Math.min(rows.length - 1, row + (at ? rows_on : 0)))]);
            show(next[Math.max(0, Math.min(next.length - 1, part + (at ? parts_on : 0)))] || at);
        }
        const keys = { "ArrowUp": [-1, 0], "ArrowDown": [1, 0], "ArrowLeft": [0, -1], "ArrowRight": [0, 1] };
        bars.addEventListener("keydown", event => {
            if (event.key === "Escape")
                show(null);
            if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey)
                return;
            step(...keys[event.key]);
            event.preventDefault();
        });
        bars.addEventListener("mouseover", event => event.target.matches(".stack > i") && show(event.target));
        bars.addEventListener("mouseleave", () => show(null));
    }

    for (const bars of document.querySelectorAll("ul.bars"))
        enliven(bars);
})();
