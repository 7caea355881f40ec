/* SPDX-License-Identifier: MIT */
/*
 * Shows the answer for two changes that are chosen by boxes. The answer comes from the table of two changes at once, which
 * was computed when the page was written. Nothing is computed here.
 */
(function () {
    "use strict";
    const part = document.getElementById("changes");
    const [single, both] = part ? part.querySelectorAll("table") : [];
    if (!single || !both)
        return;
    const boxes = new Map(); /* by letter */

    function cells_of(table) {
        return new Map(Array.from(table.tBodies[0].rows, row => [row.cells[0].textContent.trim(), row.cells]));
    }
    const of_one = cells_of(single), of_two = cells_of(both);
    const answer = document.createElement("p");
    answer.className = "chosen";
    answer.setAttribute("role", "status");

    function put_answer(words, cells) {
        answer.replaceChildren(words, ...Array.from(cells[cells.length - 1].childNodes, node => node.cloneNode(true)));
    }
    function say() {
        const chosen = Array.from(boxes.keys()).filter(letter => boxes.get(letter).checked).sort();
        const cells = chosen.length === 2 ? of_two.get(chosen.join(" + ")) : chosen.length === 1 ? of_one.get(chosen[0]) : null;
        for (const box of boxes.values())
            box.disabled = chosen.length === 2 && !box.checked;
        if (chosen.length === 2 && cells)
            put_answer(`${chosen.join(" and ")} together: ${cells[1].textContent} run time. `, cells);
        else if (chosen.length === 2)
            answer.textContent = `${chosen.join(" and ")} together have no answer.`;
        else if (cells)
            put_answer(`${chosen[0]} alone: ${cells[2].textContent} run time. `, cells);
        else
            answer.textContent = "Choose two changes to see what both bring at once.";
    }
    for (const [letter, cells] of of_one) {
        if (!letter || letter === "-")
            continue;
        const label = document.createElement("label"), box = document.createElement("input");
        box.type = "checkbox";
        box.setAttribute("aria-label", `${letter}: ${cells[1].textContent}`);
        box.addEventListener("change", say);
        label.append(box, " ", ...cells[0].childNodes);
        cells[0].append(label);
        boxes.set(letter, box);
    }
    single.closest(".scroll").before(answer);
    say();
})();
