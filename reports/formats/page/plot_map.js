/* SPDX-License-Identifier: MIT */
/* The map of the run leads to all plots: it says what is under the pointer, and a click shows that host at that time. */
(function () {
    "use strict";
    if (!plot_bar)
        return;
    const { run, element, three, row_of } = plotted;
    const { show_range, point_at } = plots;

    const rows = new WeakMap();
    function rows_in(map) {
        if (!rows.has(map))
            rows.set(map, Array.from(map.querySelectorAll(".ground"), ground => ({ host: Number(ground.dataset.h), what: ground.dataset.w,
                bottom: Number(ground.getAttribute("y")) + Number(ground.getAttribute("height")) + 2 })));
        return rows.get(map);
    }
    function place_on(map, event) {
        const [left, right] = map.dataset.map.split(" ").map(Number), box = map.getBoundingClientRect();
        const scale = box.width / map.viewBox.baseVal.width;
        const x = (event.clientX - box.left) / scale, y = (event.clientY - box.top) / scale;
        const row = rows_in(map).find(one => y < one.bottom);
        if (x < left || x > right || !row)
            return null;
        return { time: (x - left) / (right - left) * run.end, host: row.host, what: row.what };
    }
    function enliven_map(map) {
        const says = element("p", "note map-says", "A click shows that host at that time below.");
        map.closest("figure").append(says);
        map.style.cursor = "crosshair";
        map.addEventListener("mousemove", event => {
            const at = place_on(map, event);
            if (!at)
                return;
            says.textContent = (at.host < 0 ? "" : run.hosts[at.host] + ", ") + at.what + ", " + three(at.time) + " s";
            point_at(row_of(at.time));
        });
        map.addEventListener("mouseleave", () => point_at(null));
        map.addEventListener("click", event => {
            const at = place_on(map, event);
            if (!at)
                return;
            if (at.host >= 0)
                plot_bar.pick(at.host);
            show_range(at.time - run.end / 10, at.time + run.end / 10);
            plot_bar.part.scrollIntoView();
        });
    }

    for (const map of document.querySelectorAll("svg.map"))
        enliven_map(map);
})();
