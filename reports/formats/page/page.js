/* SPDX-License-Identifier: MIT */
/* The page as a whole: the contents are folded where room is short, and everything is unfolded on paper. */
(function () {
    "use strict";
    const contents = document.querySelector("nav details");
    if (contents && window.matchMedia("(max-width: 600px)").matches)
        contents.open = false;
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
