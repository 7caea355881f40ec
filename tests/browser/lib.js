// SPDX-License-Identifier: MIT
// A headless chromium for tests of pages: `open` gives a page of which every request, console error and uncaught error is
// kept, to be asked for at the end. Nothing may be requested but the page itself.
"use strict";
const { chromium } = require("playwright-core");

let browser = null;

async function start() {
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
}

async function stop() {
    if (browser)
        await browser.close();
}

// options: width, height, dark, scripts (false: none run), bypassCSP (for tools that put a script into the page)
async function open(url, options = {}) {
    const context = await browser.newContext({
        viewport: { width: options.width || 1280, height: options.height || 900 },
        colorScheme: options.dark ? "dark" : "light",
        javaScriptEnabled: options.scripts !== false,
        bypassCSP: Boolean(options.bypassCSP),
        acceptDownloads: true,
    });
    context.setDefaultTimeout(120000); // other tests may have the cores
    const page = await context.newPage();
    const trouble = [], requests = [];
    page.on("console", message => { if (message.type() === "error" || message.type() === "warning") trouble.push(message.text()); });
    page.on("pageerror", error => trouble.push(String(error)));
    page.on("dialog", dialog => { trouble.push("dialog: " + dialog.message()); dialog.dismiss(); });
    page.on("request", request => { if (!/^(data|blob):/.test(request.url()) && request.url().split("#")[0] !== url) requests.push(request.url()); });
    await page.goto(url);
    return { page, context, trouble, requests };
}

module.exports = { start, stop, open };
