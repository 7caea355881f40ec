/* SPDX-License-Identifier: MIT */
/* The page as a whole: the contents are folded where room is short, and everything is unfolded on paper. */
(function () {
    "use strict";
    const contents = document.querySelector("nav details");
    if (contents && window.matchMedia("(max-width: 600px)").matches)
        contents.open = false;
    /* Pictures of the whole page, and a search, find all sections: one after another, so that none holds up a click. */
    const sections = Array.from(document.querySelectorAll("main > section"));
    const idle = window.requestIdleCallback || (act => setTimeout(act, 20));
    function lay_out_next() {
        const next = sections.shift();
        if (!next)
            return;
        next.classList.add("whole");
        idle(lay_out_next);
    }
    if (document.readyState === "complete")
        idle(lay_out_next);
    else
        window.addEventListener("load", () => idle(lay_out_next));
    let folded = [];
    window.addEventListener("beforeprint", () => {
        folded = Array.from(document.querySelectorAll("details:not([open])"));
        for (const one of folded)
            one.open = true;
    });
    window.addEventListener("afterprint", () => {
        for (const one of folded)
            one.open = false;
    });
})();
