/* SPDX-License-Identifier: MIT */
/* The map of the run leads to all plots: it says what is under the pointer, and a click shows that host at that time. */
(function () {
    "use strict";
    if (!plot_bar)
        return;
    const { run, element, three, row_of } = plotted;
    const { show_range, point_at } = plots;

    function place_on(map, event) {
        const [left, right, step, row, rows] = map.dataset.map.split(" ").map(Number), box = map.getBoundingClientRect();
        const scale = box.width / map.viewBox.baseVal.width;
        const x = (event.clientX - box.left) / scale, y = (event.clientY - box.top) / scale;
        const host = Math.floor(y / step), of = Math.min(rows - 1, Math.floor((y - host * step) / row));
        if (x < left || x > right || host < 0 || host >= run.hosts.length)
            return null;
        return { time: (x - left) / (right - left) * run.end, host, what: rows > 1 ? ["CPU", "fullest core", "network", "disk", "memory"][of] : "fullest resource" };
    }
    function enliven_map(map) {
        const says = element("p", "note map-says", "A click shows that host at that time below.");
        map.closest("figure").append(says);
        map.style.cursor = "crosshair";
        map.addEventListener("mousemove", event => {
            const at = place_on(map, event);
            if (!at)
                return;
            says.textContent = run.hosts[at.host] + ", " + at.what + ", " + three(at.time) + " s";
            point_at(row_of(at.time));
        });
        map.addEventListener("mouseleave", () => point_at(null));
        map.addEventListener("click", event => {
            const at = place_on(map, event);
            if (!at)
                return;
            plot_bar.pick(at.host);
            show_range(at.time - run.end / 10, at.time + run.end / 10);
            plot_bar.part.scrollIntoView();
        });
    }

    for (const map of document.querySelectorAll("svg.map"))
        enliven_map(map);
})();
