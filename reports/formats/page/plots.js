/* SPDX-License-Identifier: MIT */
/*
 * The plots of a run, alive: one cursor and one range of time for all of them, hosts picked from a list. The data are in
 * the page (formats/html_data.c); names in them come from outside and only ever become text.
 */
(function () {
    "use strict";
    const source = document.getElementById("run-data");
    if (!source || typeof Dygraph === "undefined")
        return;
    const run = JSON.parse(source.textContent);
    const points = 2 * run.pairs, span = run.end / run.pairs;
    const HOSTS_AT_FIRST = 4, CEILING_FAR = 2.5, TICK_ROOM = 4;
    const panels = []; /* {graph, chart, head, cursor, plot, values} that are shown */
    let range = [0, run.end], drawing = false;

    function element(tag, name, text) {
        const made = document.createElement(tag);
        if (name)
            made.className = name;
        if (text !== undefined)
            made.textContent = text;
        return made;
    }
    let colours = {}; /* of the style as it is now, light or dark: asked for once a drawing */
    function colour(name) {
        colours[name] = colours[name] || getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
        return colours[name];
    }
    function three(value) {
        return value === null || value === undefined || isNaN(value) ? "-" : Math.abs(value) >= 100 ? value.toFixed(0) : String(+value.toPrecision(3));
    }
    function time_of(row) {
        return (Math.floor(row / 2) + (row % 2 ? 0.75 : 0.25)) * span;
    }
    function row_of(time) {
        return Math.max(0, Math.min(points - 1, Math.round(time / span * 2 - 0.5)));
    }

    /* ---- hosts that are shown ---- */

    const shown = new Set();
    if (run.host >= 0)
        shown.add(run.host);
    for (let h = 0; h < run.hosts.length && shown.size < HOSTS_AT_FIRST; h++)
        shown.add(h);

    /* ---- one panel ---- */

    function value_at(line, row) {
        const value = line.v[row];
        return value === null || value === undefined ? null : value * line.s;
    }
    /* dygraphs stacks the last line first. */
    function order_of(plot) {
        const order = plot.labels.map((label, i) => i);
        return plot.stacked ? order.reverse() : order;
    }
    function rows_of(plot, lines) {
        const order = order_of(plot), rows = new Array(points);
        for (let row = 0; row < points; row++)
            rows[row] = [time_of(row), ...order.map(i => lines[i] ? value_at(lines[i], row) : null)];
        return rows;
    }
    function highest_of(line) {
        let most = 0;
        for (const value of line.v)
            if (value > most)
                most = value;
        return most * line.s;
    }
    /* One axis for all hosts of a plot, so that panels compare; a ceiling that is near is in it. */
    function top_of(plot) {
        if (plot.top > 0)
            return plot.top;
        let most = 0, ceiling = 0;
        for (const panel of plot.panels)
            for (const line of panel.lines)
                most = Math.max(most, highest_of(line));
        for (const panel of plot.panels)
            for (const line of panel.lines)
                if (line.c && line.c <= CEILING_FAR * most)
                    ceiling = Math.max(ceiling, line.c);
        return 1.06 * Math.max(most, ceiling) || 1;
    }

    function draw_phases(context, area, graph) {
        context.font = "10px sans-serif";
        run.phases.forEach((phase, i) => {
            const left = Math.max(area.x, graph.toDomXCoord(phase[0])), right = Math.min(area.x + area.w, graph.toDomXCoord(phase[1]));
            if (right <= left)
                return;
            context.fillStyle = i % 2 ? "rgba(128,138,150,.14)" : "rgba(128,138,150,.07)";
            context.fillRect(left, area.y, right - left, area.h);
            if (context.measureText(phase[2]).width + 6 < right - left) {
                context.fillStyle = colour("soft");
                context.fillText(phase[2], left + 3, area.y + 10);
            }
        });
    }
    function draw_ticks(context, area, graph) {
        if (run.ticks.length * run.end / (range[1] - range[0]) > area.w / TICK_ROOM)
            return;
        context.strokeStyle = colour("soft");
        context.beginPath();
        for (const tick of run.ticks) {
            const x = graph.toDomXCoord(tick);
            if (x < area.x || x > area.x + area.w)
                continue;
            context.moveTo(x, area.y + area.h);
            context.lineTo(x, area.y + area.h - 5);
        }
        context.stroke();
    }
    function draw_ceilings(context, area, graph, lines) {
        context.strokeStyle = colour("limit");
        context.setLineDash([5, 4]);
        for (const line of lines) {
            const y = line.c ? graph.toDomYCoord(line.c) : -1;
            if (y < area.y)
                continue;
            context.beginPath();
            context.moveTo(area.x, y);
            context.lineTo(area.x + area.w, y);
            context.stroke();
        }
        context.setLineDash([]);
    }
    function ceilings_of(plot, lines) {
        const said = [];
        lines.forEach((line, i) => {
            const words = line.c ? three(line.c) + " " + plot.unit + " (" + line.k + ")" : "", last = said[said.length - 1];
            if (last && last.words === words)
                last.of += " and " + plot.labels[i][0];
            else if (words)
                said.push({ words, of: plot.labels[i][0] });
        });
        return said.length ? "ceiling: " + said.map(one => one.of + " " + one.words).join(", ") : "";
    }

    /* ---- all panels together ---- */

    function say(panel, row) {
        panel.values.forEach((span_of, i) => {
            const line = panel.lines[i];
            span_of.textContent = row === null || !line ? "" : " " + three(value_at(line, row)) + " " + panel.plot.unit;
        });
    }
    function point_at(row) {
        for (const panel of panels) {
            say(panel, row);
            if (row === null) {
                panel.cursor.style.display = "none";
                continue;
            }
            const x = panel.graph.toDomXCoord(time_of(row)), area = panel.graph.getArea();
            const inside = x >= area.x && x <= area.x + area.w;
            panel.cursor.style.display = inside ? "block" : "none";
            panel.cursor.style.left = x + "px";
            panel.cursor.style.top = panel.chart.offsetTop + area.y + "px";
            panel.cursor.style.height = area.h + "px";
        }
        time_said.textContent = row === null ? says_range() : three(time_of(row)) + " s";
        pointed = row;
    }
    let pointed = null;
    function says_range() {
        return three(range[0]) + " s to " + three(range[1]) + " s";
    }
    function show_range(from, to) {
        const least = 4 * span;
        let width = Math.min(run.end, Math.max(least, to - from));
        from = Math.max(0, Math.min(from, run.end - width));
        range = [from, from + width];
        drawing = true;
        for (const panel of panels)
            panel.graph.updateOptions({ dateWindow: range, valueRange: [0, panel.top] });
        drawing = false;
        point_at(pointed);
    }
    function zoom(factor) {
        const middle = pointed === null ? (range[0] + range[1]) / 2 : time_of(pointed), width = (range[1] - range[0]) * factor;
        show_range(middle - width / 2, middle + width / 2);
    }
    function pan(share) {
        const by = (range[1] - range[0]) * share;
        show_range(range[0] + by, range[1] + by);
    }
    /* Arrows move the cursor, with Shift the range; + and - zoom, 0 shows all. */
    function on_key(event) {
        const row = pointed === null ? row_of((range[0] + range[1]) / 2) : pointed, leap = Math.max(1, Math.round((range[1] - range[0]) / span / 50));
        const keys = {
            "ArrowLeft": () => event.shiftKey ? pan(-0.2) : point_at(Math.max(0, row - leap)),
            "ArrowRight": () => event.shiftKey ? pan(0.2) : point_at(Math.min(points - 1, row + leap)),
            "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => show_range(0, run.end), "Escape": () => point_at(null),
        };
        if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey)
            return;
        keys[event.key]();
        event.preventDefault();
    }

    function options_of(plot, panel) {
        const order = order_of(plot);
        return {
            labels: ["t", ...order.map(i => String(i))],
            colors: order.map(i => plot.labels[i][1]),
            stackedGraph: plot.stacked, fillAlpha: 0.8, strokeWidth: plot.stacked ? 0.5 : 1.3,
            connectSeparatedPoints: plot.sparse, drawPoints: plot.sparse && run.pairs < 300, pointSize: 1.5,
            dateWindow: range, valueRange: [0, panel.top], legend: "never", highlightCircleSize: 0,
            axisLineColor: colour("soft"), gridLineColor: colour("line"), axisLabelFontSize: 11, axisLabelWidth: 44,
            axes: { y: { valueFormatter: three, axisLabelFormatter: three, pixelsPerLabel: 30 }, x: { axisLabelFormatter: value => three(value) + " s", pixelsPerLabel: 80 } },
            underlayCallback: (context, area, graph) => {
                draw_phases(context, area, graph);
                draw_ticks(context, area, graph);
                draw_ceilings(context, area, graph, panel.lines);
            },
            highlightCallback: (event, time, at, row) => point_at(row),
            unhighlightCallback: () => point_at(null),
            drawCallback: (graph, first) => {
                if (first || drawing)
                    return;
                const [from, to] = graph.xAxisRange();
                if (from !== range[0] || to !== range[1] || graph.yAxisRange()[1] !== panel.top)
                    show_range(from, to);
            },
        };
    }
    function add_panel(box, plot, of) {
        const panel = { plot, lines: of.lines, top: top_of(plot), head: element("div", "panel-head"), chart: element("div", "chart"), cursor: element("div", "cursor"), values: [] };
        const name = of.host >= 0 ? run.hosts[of.host] : "";
        const whole = element("div", "panel");
        if (of.host < 0)
            panel.chart.classList.add("tall");
        panel.head.append(element("b", "", name));
        plot.labels.forEach(label => {
            const entry = element("span"), swatch = element("span", "swatch"), value = element("span");
            swatch.style.background = label[1];
            entry.append(swatch, label[0], value);
            panel.head.append(entry);
            panel.values.push(value);
        });
        panel.head.append(element("span", "ceiling", ceilings_of(plot, of.lines)));
        panel.chart.tabIndex = 0;
        panel.chart.setAttribute("role", "application");
        panel.chart.setAttribute("aria-label", plot.name + (name ? " of " + name : "") + " over time: arrows move the cursor, with Shift the range, + and - zoom, 0 shows all");
        panel.chart.addEventListener("keydown", on_key);
        whole.append(panel.head, panel.chart, panel.cursor);
        box.append(whole);
        panel.graph = new Dygraph(panel.chart, rows_of(plot, of.lines), options_of(plot, panel));
        panel.graph.resetZoom = () => show_range(0, run.end); /* rather than from the first point to the last */
        panels.push(panel);
    }

    /* ---- figures ---- */

    const figures = [];
    for (const figure of document.querySelectorAll("figure[data-plot]")) {
        const plot = run.plots.find(one => one.name === figure.dataset.plot);
        if (!plot)
            continue;
        const box = element("div", "alive");
        figure.querySelector("figcaption").after(box);
        figure.classList.add(plot.part ? "is-both" : "is-alive"); /* a picture of more than the plots show stays */
        figures.push({ plot, box });
    }
    function show_all() {
        for (const panel of panels)
            panel.graph.destroy();
        panels.length = 0;
        colours = {};
        for (const { plot, box } of figures) {
            box.replaceChildren();
            for (const of of plot.panels)
                if (of.host < 0 || shown.has(of.host))
                    add_panel(box, plot, of);
        }
        point_at(null);
    }

    /* ---- what is above them ---- */

    const bar = element("div", "bar"), time_said = element("output", "", says_range());
    function button(words, title, act) {
        const made = element("button", "", words);
        made.type = "button";
        made.title = title;
        made.setAttribute("aria-label", title);
        made.addEventListener("click", act);
        bar.append(made);
    }
    function add_hosts() {
        const list = element("fieldset");
        list.append(element("legend", "", "Hosts"));
        run.hosts.forEach((name, h) => {
            const label = element("label"), box = element("input");
            box.type = "checkbox";
            box.checked = shown.has(h);
            box.dataset.host = h;
            box.addEventListener("change", () => {
                if (box.checked)
                    shown.add(h);
                else
                    shown.delete(h);
                show_all();
            });
            label.append(box, " " + name);
            list.append(label);
        });
        if (run.hosts.length > 12)
            add_filter(list);
        bar.append(list);
    }
    function add_filter(list) {
        const filter = element("input");
        filter.type = "search";
        filter.placeholder = "find a host";
        filter.setAttribute("aria-label", "find a host");
        filter.addEventListener("input", () => {
            for (const label of list.querySelectorAll("label"))
                label.hidden = !label.textContent.toLowerCase().includes(filter.value.toLowerCase());
        });
        bar.append(filter);
    }
    function pick(host) {
        if (shown.has(host))
            return;
        const box = bar.querySelector(`input[data-host="${host}"]`);
        box.checked = true;
        shown.add(host);
        show_all();
    }

    /* ---- the map leads to all of them ---- */

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
            pick(at.host);
            show_range(at.time - run.end / 10, at.time + run.end / 10);
            document.getElementById("over-time").scrollIntoView();
        });
    }

    const part = document.getElementById("over-time");
    if (!part || !figures.length)
        return;
    add_hosts();
    button("\u2212", "show more time", () => zoom(2));
    button("+", "show less time", () => zoom(0.5));
    button("\u25c0", "earlier", () => pan(-0.4));
    button("\u25b6", "later", () => pan(0.4));
    button("whole run", "show the whole run", () => show_range(0, run.end));
    bar.append(time_said);
    part.querySelector("h2").after(bar);
    bar.after(element("p", "note", "Drag to zoom, Shift and drag to move, double click for the whole run; small marks are iterations, shades are phases."));
    show_all();
    for (const map of document.querySelectorAll("svg.map"))
        enliven_map(map);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show_all);
})();
