/* SPDX-License-Identifier: MIT */
/* The bar above the plots: it chooses the hosts that are shown, and the range of time by buttons. */
const plot_bar = (function () {
    "use strict";
    const part = document.getElementById("over-time");
    if (!plots || !part)
        return null;
    const { run, element } = plotted;
    const { shown, show_all, show_range, zoom, pan, panel_of } = plots;

    const bar = element("div", "bar");
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
    add_hosts();
    button("\u2212", "show more time", () => zoom(2));
    button("+", "show less time", () => zoom(0.5));
    button("\u25c0", "earlier", () => pan(-0.4));
    button("\u25b6", "later", () => pan(0.4));
    button("whole run", "show the whole run", () => show_range(0, run.end));
    bar.append(plots.time_said);
    part.querySelector("h2").after(bar);
    bar.after(element("p", "note hint", "Drag to zoom, Shift and drag to move, double click for the whole run; small marks are iterations, shades are phases."));

    /* Adds a host to the plots. */
    function pick(host) {
        if (host < 0 || shown.has(host))
            return;
        const box = bar.querySelector(`input[data-host="${host}"]`);
        box.checked = true;
        shown.add(host);
        show_all();
    }
    /* Brings the host's panel of that plot into view, with the focus for the keyboard; without such a panel, the plot or all. */
    function go_to(host, name) {
        pick(host);
        for (const old of document.querySelectorAll(".panel.found"))
            old.classList.remove("found");
        const panel = panel_of(host, name), figure = document.querySelector(`figure[data-plot="${name}"]`);
        (panel || figure || part).scrollIntoView({ block: panel ? "center" : "start" });
        if (!panel)
            return;
        panel.classList.add("found");
        panel.querySelector(".chart").focus({ preventScroll: true });
    }

    return { go_to };
})();
