// SPDX-License-Identifier: MIT
// page_ready.js PAGE: prints after how many seconds the page is interactive in headless Chromium, of five loads by a browser
// that has started: its scripts have run, and a click in the contents has moved the view.
"use strict";
const path = require("node:path");
const { chromium } = require("playwright-core");

async function load(browser, url) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    page.setDefaultTimeout(120000);
    const begin = process.hrtime.bigint();
    await page.goto(url, { waitUntil: "domcontentloaded" });
    const moved = await page.evaluate(() => new Promise(resolve => {
        document.querySelectorAll("nav a")[1].click();
        requestAnimationFrame(() => setTimeout(() => resolve(scrollY > 0)));
    }));
    const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
    await context.close();
    if (!moved)
        throw new Error("the contents do not answer");
    return seconds;
}

(async () => {
    const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
    const url = "file://" + path.resolve(process.argv[2]), took = [];
    await load(browser, "file://" + path.resolve(process.argv[2]));
    for (let i = 0; i < 5; i++)
        took.push(await load(browser, url));
    took.sort((a, b) => a - b);
    console.log(`${took[2].toFixed(2)} s (${took[0].toFixed(2)} to ${took[4].toFixed(2)})`);
    await browser.close();
})().catch(error => {
    console.error(String(error));
    process.exit(1);
});
