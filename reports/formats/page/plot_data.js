/* SPDX-License-Identifier: MIT */
/*
 * The data of a run's plots, which the page holds (formats/html_data.c), as rows, axes and words. Names in the data come
 * from outside and only ever become text. The other scripts of plots read the data here; without it they do nothing.
 */
const plotted = (function () {
    "use strict";
    const source = document.getElementById("run-data");
    if (!source || typeof Dygraph === "undefined")
        return null;
    const run = JSON.parse(source.textContent);
    const points = 2 * run.pairs, span = run.end / run.pairs;
    const CEILING_FAR = 2.5, LEVELS = 1000; /* a line's highest value, in steps */

    function element(tag, name, text) {
        const made = document.createElement(tag);
        if (name)
            made.className = name;
        if (text !== undefined)
            made.textContent = text;
        return made;
    }
    let colours = {}; /* of the current style, light or dark: read once */
    function colour(name) {
        colours[name] = colours[name] || getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
        return colours[name];
    }
    function forget_colours() {
        colours = {};
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

    /* A line's values are one string, two digits of base 32 each, "--" for an unknown value. A value is read when it is shown. */
    function value_at(line, row) {
        const value = parseInt(line.v.slice(2 * row, 2 * row + 2), 32);
        return isNaN(value) ? null : value * line.s;
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
    /* All hosts of a plot have one axis, so that panels can be compared; it includes a ceiling that is near. */
    function top_of_all(plot) {
        let most = 0, ceiling = 0;
        for (const panel of plot.panels)
            for (const line of panel.lines)
                most = Math.max(most, LEVELS * line.s);
        for (const panel of plot.panels)
            for (const line of panel.lines)
                if (line.c && line.c <= CEILING_FAR * most)
                    ceiling = Math.max(ceiling, line.c);
        return 1.06 * Math.max(most, ceiling) || 1;
    }
    function top_of(plot) {
        plot.top = plot.top > 0 ? plot.top : top_of_all(plot);
        return plot.top;
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

    return { run, points, span, element, colour, forget_colours, three, time_of, row_of, value_at, order_of, rows_of, top_of, ceilings_of };
})();
