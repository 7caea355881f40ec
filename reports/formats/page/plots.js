/* SPDX-License-Identifier: MIT */
/*
 * The interactive plots of a run share one cursor and one range of time. A page has dozens, and each takes a tenth of a
 * second to draw: a plot is drawn when it comes near the view, and again if the range has changed meanwhile.
 */
const plots = (function () {
    "use strict";
    if (!plotted)
        return null;
    const { run, points, span, element, colour, forget_colours, three, time_of, row_of, value_at, order_of, rows_of, top_of, ceilings_of } = plotted;
    const HOSTS_AT_FIRST = 4, IDLE_MAX = 60, NEAR = "50% 0px";
    const panels = []; /* {plot, lines, head, chart, cursor, values} of the hosts that are shown; and graph once it is drawn */
    const figures = []; /* {plot, box} */
    const time_said = element("output");
    let range = [0, run.end], pointed = null, drawing = false;

    /* ---- hosts that are shown: the limit's, those that a caption names, and a few more ---- */

    function named_in(text) {
        const ends = at => !/[\p{L}\p{N}_.-]/u.test(text[at] || " ") || (text[at] === "." && !/[\p{L}\p{N}]/u.test(text[at + 1] || " "));
        return run.hosts.map((name, host) => host).filter(host => {
            const name = run.hosts[host];
            for (let at = text.indexOf(name); name && at >= 0; at = text.indexOf(name, at + 1))
                if (ends(at - 1) && ends(at + name.length))
                    return true;
            return false;
        });
    }

    const shown = new Set();
    if (run.host >= 0)
        shown.add(run.host);
    for (const caption of document.querySelectorAll("figcaption"))
        for (const host of named_in(caption.textContent))
            shown.add(host);
    for (let h = 0; h < run.hosts.length && shown.size < HOSTS_AT_FIRST; h++)
        shown.add(h);

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
            if (!panel.graph)
                continue;
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
    function says_range() {
        return three(range[0]) + " s to " + three(range[1]) + " s";
    }
    function show_range(from, to) {
        const width = Math.min(run.end, Math.max(4 * span, to - from));
        from = Math.max(0, Math.min(from, run.end - width));
        range = [from, from + width];
        for (const panel of panels)
            draw_where_near(panel);
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

    /* ---- one panel ---- */

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
            underlayCallback: (context, area, graph) => plot_ground(context, area, graph, panel.lines),
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
    function draw_where_near(panel) {
        if (panel.near && panel.drawn !== range)
            draw(panel);
    }
    function draw(panel) {
        panel.drawn = range;
        drawing = true;
        if (panel.graph) {
            panel.graph.updateOptions({ dateWindow: range, valueRange: [0, panel.top] });
        } else {
            panel.top = top_of(panel.plot);
            panel.graph = new Dygraph(panel.chart, rows_of(panel.plot, panel.lines), options_of(panel.plot, panel));
            panel.graph.resetZoom = () => show_range(0, run.end); /* the whole run, not only from its first point to its last */
        }
        drawing = false;
    }
    const panel_in = new WeakMap();
    const approach = new IntersectionObserver(seen => {
        for (const { target, isIntersecting } of seen) {
            const panel = panel_in.get(target);
            panel.near = isIntersecting;
            draw_where_near(panel);
        }
        point_at(pointed);
    }, { rootMargin: NEAR });
    function add_panel(box, plot, of) {
        const panel = { plot, host: of.host, lines: of.lines, head: element("div", "panel-head"), chart: element("div", "chart"), cursor: element("div", "cursor"), values: [] };
        const name = of.host >= 0 ? run.hosts[of.host] : "";
        const whole = element("div", "panel");
        if (of.host < 0)
            panel.chart.classList.add("tall");
        panel.head.append(element("b", "", name), element("span", "", plot.unit));
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
        panel.whole = whole;
        panels.push(panel);
        panel_in.set(whole, panel);
        approach.observe(whole);
    }

    /* A picture of the whole page has all plots: those that are far away are drawn when the browser has nothing else to do. */
    function draw_when_idle() {
        const left = panels.slice(0, IDLE_MAX), idle = window.requestIdleCallback || (act => setTimeout(act, 20));
        function next() {
            const panel = left.shift();
            if (!panel)
                return;
            if (!panel.graph && panel.whole.isConnected) {
                draw(panel);
                point_at(pointed);
            }
            idle(next);
        }
        window.addEventListener("load", () => idle(next));
    }
    function show_all() {
        approach.disconnect();
        for (const panel of panels)
            if (panel.graph)
                panel.graph.destroy();
        panels.length = 0;
        forget_colours();
        for (const { plot, box } of figures) {
            box.replaceChildren();
            for (const of of plot.panels)
                if (of.host < 0 || shown.has(of.host))
                    add_panel(box, plot, of);
        }
        point_at(null);
    }

    for (const figure of document.querySelectorAll("figure[data-plot]")) {
        const plot = run.plots.find(one => one.name === figure.dataset.plot);
        if (!plot)
            continue;
        const box = element("div", "alive");
        figure.querySelector("figcaption").after(box);
        figure.classList.add(plot.part ? "is-both" : "is-alive"); /* the picture stays if it shows more than the plots */
        figures.push({ plot, box });
    }
    if (!figures.length)
        return null;
    show_all();
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show_all);
    draw_when_idle();
    function panel_of(host, name) {
        const found = panels.find(one => one.plot.name === name && one.host === host);
        return found && found.whole;
    }
    return { panel_of, shown, time_said, show_all, show_range, point_at, zoom, pan };
})();
