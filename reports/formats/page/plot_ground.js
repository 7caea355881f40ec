/* SPDX-License-Identifier: MIT */
/* The background of a plot: phases, ends of iterations, and a line for each measured ceiling. */
const plot_ground = (function () {
    "use strict";
    if (!plotted)
        return null;
    const { run, colour } = plotted;
    const TICK_ROOM = 4;

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
        const [from, to] = graph.xAxisRange();
        if (run.ticks.length * run.end / (to - from) > area.w / TICK_ROOM)
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

    return (context, area, graph, lines) => {
        draw_phases(context, area, graph);
        draw_ticks(context, area, graph);
        draw_ceilings(context, area, graph, lines);
    };
})();
