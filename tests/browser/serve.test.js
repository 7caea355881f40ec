// SPDX-License-Identifier: MIT
// The page of `chokepoint serve`, in a browser: the list of runs and two of them compared, a run that is followed to its
// end, on a telephone, in the dark, by keyboard, with hostile names; nothing asked for from anywhere else. run.sh has left
// runs.db, whose names mean harm.
"use strict";
const assert = require("node:assert");
const path = require("node:path");
const { spawn } = require("node:child_process");
const { before, after, test } = require("node:test");
const { start, stop, open } = require("./lib.js");

const chokepoint = path.join(process.env.CHOKEPOINT_BIN, "chokepoint");
let home = null;
const children = [];

// A child, and the first address that it says on that stream.
function begin(words, stream) {
    const child = spawn(chokepoint, words, { stdio: ["pipe", "pipe", "pipe"] });
    children.push(child);
    const address = new Promise((resolve, reject) => {
        let said = "";
        child[stream].on("data", data => {
            said += data;
            const found = said.match(/http:\S+/);
            if (found)
                resolve(found[0]);
        });
        child.on("exit", () => reject(new Error("it ended: " + said)));
    });
    return { child, address };
}

before(async () => {
    await start();
    home = await begin(["serve", "--db", "runs.db", "--port", "0"], "stdout").address;
});
after(async () => {
    await stop();
    for (const child of children)
        child.kill("SIGTERM");
});

// No trouble, and no request but to the server.
async function quiet(opened) {
    assert.deepEqual(opened.trouble, []);
    assert.deepEqual(opened.requests.filter(url => !url.startsWith(home)), []);
    assert.equal(await opened.page.evaluate(() => window.harm), undefined);
    await opened.context.close();
}
const ended = page => page.locator("#connection").filter({ hasText: "ended" }).waitFor({ timeout: 120000 });
const widthOf = page => page.evaluate(() => document.documentElement.scrollWidth);

test("runs are listed, and two that are marked are compared, the first as the baseline", async () => {
    const opened = await open(home), page = opened.page, boxes = page.locator("input[type=checkbox]");
    await page.locator("#runs tr").first().waitFor();
    assert.deepEqual(await page.locator("#runs tr td:nth-child(2)").allTextContents(), ["2", "1"]);
    assert.match(await page.locator("#runs").textContent(), /<!--<script>/);
    assert.ok(await page.locator("#compare").isDisabled());
    await boxes.nth(0).focus();
    await page.keyboard.press("Space");
    await boxes.nth(1).focus();
    await page.keyboard.press("Space");
    await page.locator("#compare").focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/compare\?a=2&b=1$/, { timeout: 120000 });
    await quiet(opened);
});

test("a report opens in an origin of its own", async () => {
    const opened = await open(home + "run/2"), page = opened.page;
    assert.ok(await page.locator("h1").count() >= 1);
    assert.equal(await page.evaluate(() => window.origin), "null");
    await quiet(opened);
});

test("a run that is over is shown whole, and its names do no harm", async () => {
    const opened = await open(home + "live/2"), page = opened.page;
    await ended(page);
    assert.equal(await page.locator("#hosts > li").count(), 3);
    assert.match(await page.locator("#hosts").textContent(), /<img src=x/);
    assert.match(await page.locator("#hosts").textContent(), /<script>window.harm=2/);
    assert.equal(await page.locator("#hosts img, #hosts script").count(), 0);
    assert.ok(await page.locator("#budgets > li").count() >= 3);
    const unnamed = await page.evaluate(() => {
        const named = Array.from(document.querySelectorAll("#legend i"), e => e.className);
        return Array.from(document.querySelectorAll("#budgets .stack i")).filter(e => e.offsetWidth > 1 && !named.includes(e.className)).map(e => e.className);
    });
    assert.deepEqual(unnamed, []); // each colour that is seen has its words
    assert.ok(await page.locator("#processes tr").count() >= 3);
    // The lines that `run` ends with; a command is set apart, so that it can be copied.
    assert.match(await page.locator("#limit").textContent(), /network of |CPU of|core of|machine|GPU of/);
    assert.match(await page.locator("#worth").textContent(), /run time|little/);
    assert.ok(await page.locator("#do").isVisible());
    assert.ok(!(await page.locator("#verdict").textContent()).includes("`"));
    assert.ok(!(await page.locator("#verdict").textContent()).includes("{run}"));
    assert.equal(await page.locator("#report").getAttribute("href"), "/run/2");
    await quiet(opened);
});

test("hosts are sorted and filtered by keyboard", async () => {
    const opened = await open(home + "live/2"), page = opened.page;
    await ended(page);
    await page.locator("#filter").focus();
    await page.keyboard.type("script");
    assert.equal(await page.locator("#hosts > li").count(), 1);
    assert.match(await page.locator("#hosts-count").textContent(), /1 of 3 hosts/);
    await page.locator("#filter").fill("");
    await page.locator("#sort").focus();
    await page.keyboard.type("network");
    assert.equal(await page.locator("#sort").inputValue(), "network");
    assert.equal(await page.locator("#hosts > li").count(), 3);
    await quiet(opened);
});

// The slider is a range of the browser's own: arrows, Page Up and Down, Home and End move it.
test("a look back shows a run as it was, by keyboard, and now is one press away", async () => {
    const opened = await open(home + "live/2"), page = opened.page, words = page.locator("#moment-words");
    await ended(page);
    const end = Number(await page.locator("#moment").getAttribute("max"));
    assert.ok(end >= 20, `${end} s`);
    assert.match(await page.locator("#past").getAttribute("aria-label"), /fullest core/);
    const drawn = await page.locator("#past").evaluate(e => [e.width, e.clientWidth, new Set(e.getContext("2d").getImageData(0, 0, e.width, e.height).data).size]);
    assert.ok(drawn[0] === drawn[1] && drawn[2] > 3, `${drawn}`); // ground and the colours of resources
    assert.ok(await page.locator("#now").isDisabled());
    const now = await page.locator("#hosts").textContent(), limit = await page.locator("#limit").textContent();
    await page.locator("#moment").focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await words.filter({ hasText: "as it was at 3.0 s of" }).waitFor();
    await page.locator("#hosts").filter({ hasNotText: now }).waitFor();
    assert.equal(await page.locator("#hosts > li").count(), 3);
    assert.equal(await page.locator("#hosts img, #hosts script").count(), 0);
    assert.equal(await page.locator("#limit").textContent(), limit);
    assert.ok(await page.locator("#processes tr").count() >= 1);
    await page.locator("#later").click();
    await words.filter({ hasText: "as it was at 13.0 s of" }).waitFor();
    await page.locator("#now").click();
    assert.equal(await words.textContent(), "");
    assert.equal(await page.locator("#hosts").textContent(), now);
    await page.locator("#earlier").click();
    await words.filter({ hasText: `as it was at ${end - 10}.0 s of` }).waitFor();
    await page.locator("#moment").focus();
    await page.keyboard.press("End");
    assert.ok(await page.locator("#now").isDisabled());
    await quiet(opened);
});

test("a page that has looked at many moments keeps few of them", { timeout: 300000 }, async () => {
    const opened = await open(home + "live/2"), page = opened.page;
    await ended(page);
    const kept = await page.evaluate(async () => {
        const slider = document.getElementById("moment");
        const answers = [];
        const original = window.fetch;
        window.fetch = async url => new Response(JSON.stringify({ ...newest, at_s: Number(url.split("/").pop()) }));
        slider.max = "500"; // as of a long run
        scroll.follow({ ...newest, elapsed_s: 500 });
        for (let second = 0; second < 60; second++) {
            slider.value = String(second);
            slider.dispatchEvent(new Event("input"));
            await new Promise(resolve => setTimeout(resolve, 200));
            answers.push(scroll.kept());
        }
        window.fetch = original;
        return answers;
    });
    assert.ok(kept[10] >= 10, `${kept}`);
    assert.equal(Math.max(...kept), 40);
    await opened.context.close();
});

test("a telephone that looks back cuts nothing", async () => {
    const opened = await open(home + "live/2", { width: 390, height: 800 }), page = opened.page;
    await ended(page);
    await page.locator("#earlier").click();
    await page.locator("#moment-words").filter({ hasText: "as it was at" }).waitFor();
    await page.locator("body.looks-back").waitFor();
    assert.ok(await widthOf(page) <= 390, `${await widthOf(page)} px`);
    const boxes = await page.locator("#time *:visible").evaluateAll(nodes => nodes.map(e => e.getBoundingClientRect()).filter(b => b.left < -1 || b.right > innerWidth + 1).length);
    assert.equal(boxes, 0);
    await quiet(opened);
});

for (const dark of [false, true])
    for (const place of ["", "live/2"])
        test(`a telephone shows ${place || "the list"}${dark ? " in the dark" : ""} without scrolling sideways`, async () => {
            const opened = await open(home + place, { width: 390, height: 800, dark }), page = opened.page;
            await (place ? ended(page) : page.locator("#runs tr").first().waitFor());
            assert.ok(await widthOf(page) <= 390, `${await widthOf(page)} px`);
            const cut = await page.evaluate(() => Array.from(document.querySelectorAll("main *")).filter(e => {
                const box = e.getBoundingClientRect();
                return box.width && box.height && !e.closest(".hidden") && (box.left < -1 || box.right > innerWidth + 1);
            }).map(e => e.outerHTML.slice(0, 120)).slice(0, 5));
            assert.deepEqual(cut, []);
            await quiet(opened);
        });

for (const dark of [false, true])
    for (const place of ["", "live/2"])
        test(`axe finds nothing serious in ${place || "the list"}${dark ? " in the dark" : ""}`, async () => {
            const opened = await open(home + place, { dark, bypassCSP: true }), page = opened.page;
            await (place ? ended(page) : page.locator("#runs tr").first().waitFor());
            await page.addScriptTag({ path: require.resolve("axe-core") });
            const found = await page.evaluate(() => axe.run());
            const serious = found.violations.filter(v => v.impact === "serious" || v.impact === "critical");
            assert.deepEqual(serious.map(v => `${v.id}: ${v.nodes[0].html}`), []);
            await opened.context.close();
        });

test("a telephone shows the busiest processes in short, and all of them on request", async () => {
    const opened = await open(home + "live/2", { width: 390, height: 800 }), page = opened.page;
    await ended(page);
    const shown = () => page.locator("#processes tr:visible").count(), all = await page.locator("#processes tr").count();
    assert.ok(await shown() <= 6, `${await shown()} processes`);
    const narrow = await page.locator("#processes tr:visible td.wide").evaluateAll(cells => cells.filter(e => e.textContent && e.clientWidth < 250).length);
    assert.equal(narrow, 0, "commands have the width of the view");
    if (all > 6) {
        await page.locator("#all-processes").click();
        assert.equal(await shown(), all);
    }
    await quiet(opened);
});

// `run --repeat --live` has one address for all of its runs.
test("an address of the newest run goes on to the one that begins next", { timeout: 300000 }, async () => {
    const run = begin(["run", "--live", "--no-report", "--start-timeout", "240", "--db", "again.db", "-n", "again", "--repeat", "2", "sh", "-c", "read x"], "stderr");
    const url = await run.address, opened = await open(url), page = opened.page;
    for (const number of [1, 2]) {
        await page.locator("#name").filter({ hasText: `again (run ${number})` }).waitFor({ timeout: 120000 });
        run.child.stdin.write("\n");
    }
    assert.equal(await new Promise(resolve => run.child.on("exit", resolve)), 0);
    await page.locator("#connection").filter({ hasText: /waiting|trying/ }).waitFor({ timeout: 120000 });
    await opened.context.close();
});

test("a run is followed while it goes on, in two windows, to its end", { timeout: 300000 }, async () => {
    const run = begin(["run", "--live", "--no-report", "--start-timeout", "240", "--db", "live.db", "-n", "watched", "sh", "-c", "read x"], "stderr");
    const url = await run.address, first = await open(url), second = await open(url);
    for (const { page } of [first, second]) {
        await page.locator("#connection").filter({ hasText: /^live$/ }).waitFor({ timeout: 120000 });
        await page.locator("#hosts > li").waitFor({ timeout: 120000 });
    }
    const before = await first.page.locator("#facts").textContent();
    await first.page.locator("#facts").filter({ hasNotText: before }).waitFor({ timeout: 120000 });
    assert.match(await first.page.locator("#name").textContent(), /^watched \(run 1\)$/);
    // Paused, it stands still; then it goes on.
    await second.page.locator("#pause").focus();
    await second.page.keyboard.press("Enter");
    assert.equal(await second.page.locator("#connection").textContent(), "paused");
    await second.page.keyboard.press("Enter");
    await second.page.locator("#connection").filter({ hasText: /^live$/ }).waitFor({ timeout: 120000 });
    // A look back stays where it is while the run goes on.
    const page = second.page, moment = page.locator("#moment");
    const reaches = async seconds => { // waitForFunction would evaluate a string, which the page forbids
        for (let i = 0; i < 1200 && Number(await moment.getAttribute("max")) < seconds; i++)
            await page.waitForTimeout(100);
        assert.ok(Number(await moment.getAttribute("max")) >= seconds, `not yet ${seconds} s`);
    };
    await reaches(4);
    await moment.focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.locator("body.looks-back").waitFor();
    await reaches(Number(await moment.getAttribute("max")) + 1);
    assert.equal(await moment.inputValue(), "2");
    assert.match(await page.locator("#moment-words").textContent(), /as it was at 2.0 s of/);
    await page.locator("#now").click();
    assert.equal(await page.locator("#moment-words").textContent(), "");
    const over = new Promise(resolve => run.child.on("exit", resolve));
    run.child.stdin.write("\n");
    for (const { page } of [first, second])
        await ended(page);
    assert.equal(await over, 0);
    for (const opened of [first, second]) {
        assert.deepEqual(opened.trouble, []);
        await opened.context.close();
    }
});
