// SPDX-License-Identifier: MIT
// The page of a report, in a browser: what it shows without scripts, what scripts add, on a telephone, in the dark, on
// paper, by keyboard, with hostile names. Pages are made by run.sh: RUN_PAGE, HOSTILE_PAGE, COMPARE_PAGE, CHANGES_PAGE,
// GPU_PAGE, SWEEP_PAGE.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const { before, after, test } = require("node:test");
const { start, stop, open } = require("./lib.js");

const run = "file://" + process.env.RUN_PAGE, hostile = "file://" + process.env.HOSTILE_PAGE, compare = "file://" + process.env.COMPARE_PAGE,
    sweep = "file://" + process.env.SWEEP_PAGE, gpu = "file://" + process.env.GPU_PAGE, changes = "file://" + process.env.CHANGES_PAGE;
const parts = ["Verdict", "Full resources over time", "Where each rank's time went", "Gains of changes", "Iterations", "Over time",
    "Traffic between hosts", "Processes", "Evidence, and its gaps", "Tables"];

before(start);
after(stop);

async function quiet(opened) {
    assert.deepEqual(opened.trouble, []);
    assert.deepEqual(opened.requests, []);
    await opened.context.close();
}
const headings = page => page.locator("main section > h2").allTextContents();

test("the verdict is first and the parts follow in their order", async () => {
    const opened = await open(run), shown = await headings(opened.page);
    assert.deepEqual(shown, parts.filter(part => shown.includes(part)));
    for (const part of ["Verdict", "Full resources over time", "Over time", "Tables"])
        assert.ok(shown.includes(part), part);
    assert.match(await opened.page.locator("#verdict .fields").textContent(), /limit[\s\S]*do[\s\S]*more[\s\S]*recording/);
    await quiet(opened);
});

test("a GPU has a row of the map, its plots and its terms of the budget, in a colour that is not a limit's", async () => {
    for (const size of [{}, { width: 390 }, { dark: true }]) {
        const opened = await open(gpu, { bypassCSP: true, ...size }), page = opened.page;
        assert.equal(await page.locator("svg.map .ground[data-w=GPU]").count(), 1);
        for (const plot of ["gpu", "gpu-link", "gpu-memory", "gpu-power"]) {
            await page.locator(`figure[data-plot=${plot}]`).scrollIntoViewIfNeeded();
            await page.waitForSelector(`figure[data-plot=${plot}] canvas`);
        }
        const budget = await page.locator("figure[data-plot=budget]").textContent();
        assert.match(budget, /copying to or from the GPU/);
        const colours = await page.evaluate(() => ["gpu", "limit"].map(name => getComputedStyle(document.documentElement).getPropertyValue("--" + name)));
        assert.ok(colours[0] && colours[0] !== colours[1], colours);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
        await quiet(opened);
    }
});

test("each line of the contents leads to its part", async () => {
    const opened = await open(run), links = opened.page.locator("nav a");
    assert.ok(await links.count() >= 5);
    for (const target of await links.evaluateAll(all => all.map(a => a.getAttribute("href"))))
        assert.equal(await opened.page.locator(target).count(), 1, target);
    await quiet(opened);
});

test("a line of the contents shows its part, however far away it is", async () => {
    const opened = await open(run, { height: 500, bypassCSP: true }), page = opened.page;
    for (const part of ["tables", "over-time", "processes"]) {
        await page.locator(`nav a[href="#${part}"]`).evaluate(a => a.click());
        await page.waitForFunction(id => { const box = document.getElementById(id).getBoundingClientRect(); return box.top < 250 && box.bottom > 50; }, part);
    }
    await quiet(opened);
});

test("plots that come near the view are in the range of all", async () => {
    const opened = await open(run, { height: 300, bypassCSP: true }), page = opened.page;
    await page.locator(".bar button", { hasText: "+" }).evaluate(b => b.click());
    await chart(page, "disk").scrollIntoViewIfNeeded();
    await page.waitForFunction(() => Array.from(document.querySelectorAll("figure[data-plot=disk] .dygraph-axis-label-x"), e => parseFloat(e.textContent)).some(s => s % 5 !== 0 || s === 10) &&
        !Array.from(document.querySelectorAll("figure[data-plot=disk] .dygraph-axis-label-x"), e => parseFloat(e.textContent)).includes(0));
    const last = await page.locator("figure[data-plot=disk] .dygraph-axis-label-x").evaluateAll(all => all.map(e => parseFloat(e.textContent)));
    assert.ok(Math.min(...last) > 5 && Math.max(...last) < 25, last); /* the middle half of 30 s */
    await quiet(opened);
});

test("without scripts there is a picture of everything", async () => {
    const opened = await open(run, { scripts: false });
    assert.ok(await opened.page.locator("figure[data-plot=budget] .stack").first().isVisible());
    for (const plot of ["map", "cpu", "network", "memory", "disk"])
        assert.ok(await opened.page.locator(`figure[data-plot="${plot}"] .picture svg[role]`).first().isVisible(), plot);
    assert.ok(await opened.page.locator("#verdict .fields .do").isVisible());
    assert.ok(await opened.page.locator("#tables td").count() > 20);
    await quiet(opened);
});

test("no id is there twice and no picture is drawn on white", async () => {
    const opened = await open(run);
    const ids = await opened.page.evaluate(() => Array.from(document.querySelectorAll("[id]"), e => e.id));
    assert.deepEqual(ids.filter((id, i) => ids.indexOf(id) !== i), []);
    assert.equal(await opened.page.locator("svg rect[fill='#ffffff'][x='0'][y='0']").count(), 0);
    await quiet(opened);
});

test("sentences have no literal backticks", async () => {
    const opened = await open(run);
    assert.doesNotMatch(await opened.page.locator("main").innerText(), /`/);
    await quiet(opened);
});

/* Parts out of view have neither layout nor colours until they come near it. */
const show_all_parts = page => page.addStyleTag({ content: "main>section{content-visibility:visible!important}" });
const chart = (page, plot) => page.locator(`figure[data-plot="${plot}"] .chart`).first();
const said = page => page.locator("#over-time output").textContent();

test("the cursor of one plot is that of all, with values", async () => {
    const opened = await open(run), page = opened.page;
    await chart(page, "cpu").scrollIntoViewIfNeeded();
    await page.waitForSelector("figure[data-plot=cpu] canvas");
    await chart(page, "network").scrollIntoViewIfNeeded();
    await page.waitForSelector("figure[data-plot=network] canvas");
    const box = await chart(page, "network").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.move(box.x + box.width / 2 + 3, box.y + box.height / 2);
    assert.match(await page.locator("figure[data-plot=network] .panel-head").first().textContent(), /send [0-9.]+ MB\/s/);
    assert.match(await page.locator("figure[data-plot=cpu] .panel-head").first().textContent(), /user [0-9.]+ %/);
    assert.equal(await page.locator("figure[data-plot=cpu] .cursor").first().evaluate(e => e.style.display), "block");
    assert.match(await said(page), /^[0-9.]+ s$/);
    await quiet(opened);
});

/* Where an element lies once it has stopped moving: parts above it get their layout as they come near the view. */
async function still(element) {
    for (let box = await element.boundingBox(); ;) {
        await element.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
        const now = await element.boundingBox();
        if (now.x === box.x && now.y === box.y && now.width === box.width && now.height === box.height) return now;
        box = now;
    }
}

test("a drag zooms all plots, Shift moves them, a double click shows the whole run", async () => {
    const opened = await open(run), page = opened.page;
    await chart(page, "cpu").scrollIntoViewIfNeeded();
    await page.waitForSelector("figure[data-plot=cpu] canvas");
    const whole = await said(page), box = await still(chart(page, "cpu"));
    const drag = async (from, to) => {
        await page.mouse.move(box.x + box.width * from, box.y + 40);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width * (from + to) / 2, box.y + 42);
        await page.mouse.move(box.x + box.width * to, box.y + 40);
        await page.mouse.up();
        await page.mouse.move(5, 5);
    };
    await drag(.3, .6);
    const zoomed = await said(page), width = text => text.match(/[0-9.]+/g).map(Number).reduce((a, b) => b - a);
    assert.notEqual(zoomed, whole);
    assert.ok(width(zoomed) < .5 * width(whole), zoomed);
    await page.keyboard.down("Shift");
    await drag(.6, .5);
    await page.keyboard.up("Shift");
    const moved = await said(page);
    assert.notEqual(moved, zoomed);
    assert.ok(Math.abs(width(moved) - width(zoomed)) < .2, moved);
    await page.mouse.dblclick(box.x + box.width / 2, box.y + 40);
    await page.mouse.move(5, 5);
    assert.equal(await said(page), whole);
    await quiet(opened);
});

test("plots obey the keyboard", async () => {
    const opened = await open(run), page = opened.page, whole = await said(page);
    await chart(page, "cpu").focus();
    await page.keyboard.press("ArrowRight");
    assert.match(await said(page), /^[0-9.]+ s$/);
    await page.keyboard.press("+");
    await page.keyboard.press("Escape");
    assert.notEqual(await said(page), whole);
    await page.keyboard.press("0");
    assert.equal(await said(page), whole);
    await quiet(opened);
});

test("a host that is taken off the list leaves all plots", async () => {
    const opened = await open(run), page = opened.page;
    const shown = () => page.locator("figure[data-plot=cpu] .chart").count(), before_that = await shown();
    await page.locator(".bar input[type=checkbox]").first().uncheck();
    assert.equal(await shown(), before_that - 1);
    assert.equal(await page.locator("figure[data-plot=disk] .chart").count(), before_that - 1);
    await page.locator(".bar input[type=checkbox]").first().check();
    assert.equal(await shown(), before_that);
    await quiet(opened);
});

test("the map says what is under the pointer and leads to that host at that time", async () => {
    const opened = await open(run), page = opened.page, whole = await said(page);
    const box = await page.locator("svg.map .ground[data-w='network'][data-h='1']").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 4);
    assert.match(await page.locator(".map-says").textContent(), /^vm2, network, [0-9.]+ s: [0-9]+ %/);
    await page.mouse.click(box.x + box.width / 2, box.y + 4);
    const found = page.locator("figure[data-plot=network] .panel.found");
    assert.equal(await found.locator("b").textContent(), "vm2");
    assert.ok(await found.evaluate(e => { const b = e.getBoundingClientRect(); return b.top >= 0 && b.bottom <= innerHeight; }), "it is in view");
    assert.ok(await found.locator(".chart").evaluate(e => e === document.activeElement));
    await page.keyboard.press("Escape");
    assert.notEqual(await said(page), whole);
    await quiet(opened);
});

test("the map obeys the keyboard", async () => {
    const opened = await open(run, { width: 390 }), page = opened.page, whole = await said(page), says = () => page.locator(".map-says").textContent();
    await page.locator("svg.map").focus();
    await page.keyboard.press("ArrowDown");
    const first = await says();
    assert.match(first, /, [0-9.]+ s: ([0-9]+ %|not known)/);
    for (let i = 0; i < 40; i++)
        await page.keyboard.press("ArrowRight");
    assert.notEqual(await says(), first);
    const seen = await page.locator("svg.map .at").evaluate(e => { const b = e.getBoundingClientRect(), s = e.closest(".scroll").getBoundingClientRect(), held = e.closest(".scroll").querySelector(".held").getBoundingClientRect();
        return b.left >= held.right - 1 && b.right <= s.right + 1; });
    assert.ok(seen, "the cell is in sight beside the names");
    const host = (await says()).split(",")[0];
    await page.keyboard.press("Enter");
    assert.equal(await page.locator(".panel.found b").textContent(), host);
    assert.notEqual(await said(page), whole);
    await quiet(opened);
});

test("bars say their parts, by mouse and keyboard", async () => {
    const opened = await open(gpu), page = opened.page, says = page.locator("#budget .says").first();
    await page.locator("#budget .stack > i").first().hover();
    assert.match(await says.textContent(), /: .+, [0-9.]+ % \([0-9.e-]+ s\)$/);
    const first = await says.textContent();
    await page.mouse.move(1, 1);
    await page.locator("#budget .bars").focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    assert.notEqual(await says.textContent(), first);
    await quiet(opened);
});

/* A picture of the whole page is taken without scrolling. */
test("the whole page is laid out and drawn once the browser is idle", async () => {
    for (const options of [{}, { scripts: false }]) {
        const opened = await open(run, { height: 300, ...options }), page = opened.page;
        const parts_left = page.locator("main > section:not(.whole)"), empty = page.locator(".alive .chart:not(:has(canvas))");
        for (let i = 0; i < 100 && options.scripts !== false && (await parts_left.count() || await empty.count()); i++)
            await page.waitForTimeout(100);
        const skipped = await page.locator("main > section").evaluateAll(all => all.filter(e => getComputedStyle(e).contentVisibility !== "visible").length);
        assert.equal(skipped, 0);
        assert.equal(await empty.count(), 0);
        await quiet(opened);
    }
});

test("the map has a row of the time that the limit took", async () => {
    const opened = await open(run), page = opened.page;
    const box = await page.locator("svg.map .ground[data-h='-1']").first().boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 10);
    assert.match(await page.locator(".map-says").textContent(), /^time that the limit took, [0-9.]+ s/);
    await page.mouse.click(box.x + box.width / 2, box.y + 10); /* of no host: the time alone is shown */
    await quiet(opened);
});

test("two changes are chosen by boxes, by mouse and keyboard, and have one answer", async () => {
    const opened = await open(changes), page = opened.page, answer = page.locator("#changes .chosen");
    const boxes = page.locator("#changes td input[type=checkbox]");
    assert.ok(await boxes.count() >= 2);
    assert.match(await answer.textContent(), /Choose two/);
    await boxes.nth(0).check();
    assert.match(await answer.textContent(), /alone: -[0-9]+ %.*chokepoint whatif/);
    await boxes.nth(1).focus();
    await page.keyboard.press("Space");
    const letters = (await page.locator("#changes td label").allTextContents()).slice(0, 2).map(text => text.trim());
    const row = page.locator("#changes table").nth(1).locator("tbody tr").filter({ hasText: [...letters].sort().join(" + ") });
    const gain = await row.locator("td").nth(1).textContent();
    assert.ok((await answer.textContent()).includes(gain), gain);
    assert.match(await answer.textContent(), /together: .*whatif .*--together/);
    for (let i = 2; i < await boxes.count(); i++)
        assert.ok(await boxes.nth(i).isDisabled());
    await boxes.nth(0).uncheck();
    assert.match(await answer.textContent(), /alone/);
    await quiet(opened);
});

test("without scripts the changes are tables, and points a picture", async () => {
    const opened = await open(changes, { scripts: false });
    assert.ok(await opened.page.locator("#changes table").nth(1).isVisible());
    assert.ok(await opened.page.locator("#changes svg.gains .dot").count() >= 6);
    assert.equal(await opened.page.locator("#changes input").count(), 0);
    await quiet(opened);
});

const column = (page, table, n) => page.locator(`${table} tbody tr:not(.group) td:nth-child(${n})`).allTextContents();

test("a table sorts by a click and by Enter, both ways", async () => {
    const opened = await open(run), page = opened.page, table = "#processes details table";
    await page.locator("#processes details").evaluate(e => { e.open = true; });
    const head = page.locator(`${table} th`).filter({ hasText: "CPU" }).first(), n = 1 + await head.evaluate(th => th.cellIndex);
    const numbers = async () => (await column(page, table, n)).map(Number).filter(x => !isNaN(x));
    await head.locator("button").click();
    const rising = await numbers();
    assert.ok(rising.length > 2);
    assert.deepEqual(rising, [...rising].sort((a, b) => a - b));
    assert.equal(await head.getAttribute("aria-sort"), "ascending");
    await head.locator("button").focus();
    await page.keyboard.press("Enter");
    assert.deepEqual(await numbers(), [...rising].sort((a, b) => b - a));
    assert.equal(await head.getAttribute("aria-sort"), "descending");
    await quiet(opened);
});

test("programs sum their processes, which are folded below", async () => {
    const opened = await open(changes), page = opened.page, rows = page.locator("#processes > .scroll.table").filter({ hasText: "program" }).locator("tbody tr");
    const cells = await rows.first().locator("td").allTextContents(), fold = page.locator("#processes details");
    assert.equal(cells[2], "2");
    assert.ok(await fold.evaluate(e => !e.open));
    const of_it = fold.locator("tbody tr").filter({ hasText: cells[0] + "[" });
    assert.equal(await of_it.count(), 2);
    await quiet(opened);
});

test("each table is had as CSV, in which no cell is a formula", async () => {
    const opened = await open(hostile), page = opened.page;
    assert.equal(await page.locator(".tools a").count(), await page.locator(".scroll.table").count());
    const link = page.locator("#evidence .tools a").last();
    const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
    assert.match(download.suggestedFilename(), /\.csv$/);
    const text = fs.readFileSync(await download.path(), "utf8"), lines = text.trimEnd().split("\r\n");
    assert.ok(lines.length > 2, text);
    assert.match(text, /"'=1\+1/);
    assert.doesNotMatch(text, /(^|,)"?[=@]/m);
    await quiet(opened);
});

test("hostile names are text, wherever they stand", async () => {
    const opened = await open(hostile), page = opened.page;
    await page.locator("svg.map").hover();
    await chart(page, "cpu").hover();
    assert.equal(await page.evaluate(() => window.harm), undefined);
    assert.equal(await page.locator("main img, main iframe, main object").count(), 0);
    assert.equal(await page.locator("script").count(), 2);
    assert.match(await page.locator("#over-time fieldset").textContent(), /<img src=x onerror=/);
    assert.match(await page.locator("#over-time .panel-head").allTextContents().then(all => all.join()), /<\/script>/);
    await quiet(opened);
});

// What axe says of colours; all else is the same in the dark.
const colour_rules = ["color-contrast", "link-in-text-block"];

/* Elements that a reader cannot see whole: outside of the view, unless within an area that scrolls and keeps its first column. */
const cut_elements = page => page.evaluate(() => {
    const held = area => { const cell = area.querySelector("th:first-child,td:first-child"), names = area.querySelector(":scope > .held");
        return cell ? getComputedStyle(cell).position === "sticky" : names ? getComputedStyle(names).position === "sticky" : false; };
    const cut = [], width = document.documentElement.clientWidth;
    for (const e of document.querySelectorAll("body *")) {
        const box = e.getBoundingClientRect(), area = e.closest(".scroll");
        if (!box.width || !box.height || e.closest(".heard,.marks,.dygraph-axis-label") || (box.left >= -1 && box.right <= width + 1))
            continue;
        if (!area || area === e || !held(area))
            cut.push(e.outerHTML.slice(0, 120));
    }
    for (const area of document.querySelectorAll(".scroll"))
        if (area.clientWidth && area.scrollWidth > area.clientWidth + 1 && !held(area))
            cut.push("its names are not held: " + area.getAttribute("aria-label"));
    return cut.slice(0, 5);
});

for (const [name, url] of [["run", run], ["GPU", gpu], ["run with changes", changes], ["comparison", compare], ["sweep", sweep]])
    for (const width of [390, 1280])
        test(`no element is cut on the page of a ${name} at ${width} pixels`, async () => {
            for (const look of [{}, { dark: true }, { scripts: false }]) {
                const opened = await open(url, { width, bypassCSP: true, ...look }), page = opened.page;
                if (look.scripts !== false)
                    await show_all_parts(page);
                await page.locator("details").evaluateAll(all => all.forEach(e => { e.open = true; }));
                assert.deepEqual(await cut_elements(page), [], JSON.stringify(look));
                await quiet(opened);
            }
        });

test("names that stay beside a scrolled picture are light in the dark", async () => {
    const opened = await open(changes, { width: 390, dark: true, bypassCSP: true }), page = opened.page;
    const taken = await page.locator("figure[data-plot=accuracy] .held").first().screenshot();
    const brightest = await page.evaluate(async data => {
        const image = new Image(), canvas = document.createElement("canvas"), to = canvas.getContext("2d");
        image.src = "data:image/png;base64," + data;
        await image.decode();
        [canvas.width, canvas.height] = [image.width, image.height];
        to.drawImage(image, 0, 0);
        return to.getImageData(0, 0, image.width, image.height).data.reduce((most, value, i) => i % 4 === 3 ? most : Math.max(most, value), 0);
    }, taken.toString("base64"));
    assert.ok(brightest > 180, brightest);
    await quiet(opened);
});

test("no element is cut on paper", async () => {
    for (const url of [run, gpu, changes, compare, sweep]) {
        const opened = await open(url, { width: 689, bypassCSP: true }), page = opened.page; /* A4 less its margins */
        await page.emulateMedia({ media: "print" });
        const cut = await page.evaluate(() => Array.from(document.querySelectorAll("body *")).filter(e => {
            const box = e.getBoundingClientRect();
            return box.width && box.height && !e.closest(".heard,.marks") && (box.left < -1 || box.right > innerWidth + 1);
        }).map(e => e.outerHTML.slice(0, 120)).slice(0, 5));
        assert.deepEqual(cut, []);
        await quiet(opened);
    }
});

for (const [name, url] of [["run", run], ["hostile", hostile], ["comparison", compare], ["sweep", sweep]]) {
    test(`the page of a ${name} does not scroll sideways at 390 pixels`, async () => {
        const opened = await open(url, { width: 390 });
        await show_all_parts(opened.page);
        assert.equal(await opened.page.evaluate(() => document.documentElement.scrollWidth), 390);
        const small = await opened.page.evaluate(() => Array.from(document.querySelectorAll("p,li,td,dd,figcaption,a"))
            .filter(e => parseFloat(getComputedStyle(e).fontSize) < 12).length);
        assert.equal(small, 0);
        await quiet(opened);
    });

    for (const dark of [false, true])
        test(`axe finds nothing on the page of a ${name}, ${dark ? "dark" : "light"}`, async () => {
            const opened = await open(url, { dark, bypassCSP: true });
            await show_all_parts(opened.page);
            await opened.page.addScriptTag({ path: require.resolve("axe-core/axe.min.js") });
            const found = await opened.page.evaluate(rules => window.axe.run(document, { resultTypes: ["violations"],
                ...rules && { runOnly: { type: "rule", values: rules } } }), dark && colour_rules);
            assert.deepEqual(found.violations
                .map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(" | ")), []);
            await quiet(opened);
        });
}

test("points of a sweep's picture stand on the ground of the page, also in the dark", async () => {
    const opened = await open(sweep, { dark: true, bypassCSP: true });
    await show_all_parts(opened.page);
    const [points, ground] = await opened.page.evaluate(() => [
        Array.from(document.querySelectorAll(".picture svg [color='#FFFFFF']"), e => getComputedStyle(e).color), getComputedStyle(document.querySelector("section")).backgroundColor]);
    assert.ok(points.length > 0);
    assert.deepEqual(points.filter(colour => colour !== ground), []);
    await quiet(opened);
});

test("the dark page is dark, its plots included", async () => {
    const opened = await open(run, { dark: true });
    await chart(opened.page, "cpu").scrollIntoViewIfNeeded();
    await opened.page.waitForSelector("figure[data-plot=cpu] .dygraph-axis-label");
    const light = text => text.match(/[0-9.]+/g).slice(0, 3).map(Number).reduce((a, b) => a + b) / 3;
    const colours = await opened.page.evaluate(() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color,
        getComputedStyle(document.querySelector("section")).backgroundColor, getComputedStyle(document.querySelector(".dygraph-axis-label")).color]);
    assert.ok(light(colours[0]) < 60 && light(colours[2]) < 60, colours);
    assert.ok(light(colours[1]) > 180 && light(colours[3]) > 120, colours);
    await quiet(opened);
});

test("nothing but a limit is red", async () => {
    const opened = await open(run);
    const red = await opened.page.evaluate(() => {
        const reds = [], is_red = text => { const c = (text.match(/[0-9.]+/g) || []).map(Number); return c.length >= 3 && c[3] !== 0 && c[0] > 170 && c[1] < 80 && c[2] < 80; };
        for (const e of document.querySelectorAll("main *")) {
            const style = getComputedStyle(e);
            if ([style.fill, style.stroke, style.backgroundColor, style.color].some(is_red) && !e.closest(".full,.is-limit,.badge,.ceiling,.CRITICAL"))
                reds.push(e.outerHTML.slice(0, 120));
        }
        return reds.filter(text => !/stroke-dasharray/.test(text)).slice(0, 5);
    });
    assert.deepEqual(red, []);
    await quiet(opened);
});

test("on paper the verdict is on page one, and pictures stand for plots", async () => {
    const opened = await open(run), page = opened.page;
    const pdf = await page.pdf({ format: "A4", preferCSSPageSize: true });
    assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
    await page.emulateMedia({ media: "print" });
    const bottom = await page.locator("#verdict").evaluate(e => e.getBoundingClientRect().bottom);
    assert.ok(bottom < 1000, `the verdict ends at ${bottom}`); /* A4 has 1016 pixels between these margins */
    assert.ok(await page.locator("figure[data-plot=cpu] .picture").first().isVisible());
    assert.ok(!await page.locator("figure[data-plot=cpu] .alive").first().isVisible());
    assert.ok(!await page.locator("nav").isVisible());
    await quiet(opened);
});

test("a comparison opens with run times, side by side", async () => {
    const opened = await open(compare), page = opened.page;
    assert.equal((await headings(page))[0], "Run times");
    assert.ok(await page.locator("#times svg.runs").isVisible());
    assert.equal(await page.locator("#times svg.runs .name").count(), 2);
    assert.ok(await page.locator("#times svg.runs .dot").count() >= 2);
    await quiet(opened);
});
