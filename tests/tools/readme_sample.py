#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""readme_sample.py [--take DATABASE]: holds the five lines and the picture of README.md against the run that they are of, which
tests/golden/demo.db.gz has: the first run of the demo. A line for each that differs; status 1.

--take [DATABASE]: writes all three anew from the database of a demo (demo-out/chokepoint.db); without one, lines and picture
from the stored run. The picture needs chromium and the modules of the browser tests (build/dev/browser-tests); CHOKEPOINT_BIN
names the folder of the programs (build/release/bin)."""
import contextlib
import gzip
import hashlib
import html.parser
import os
import shutil
import subprocess
import sys
import tempfile
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.abspath(os.environ.get("CHOKEPOINT_BIN", f"{ROOT}/build/release/bin"))
GOLDEN, README, PICTURE = f"{ROOT}/tests/golden/demo.db.gz", f"{ROOT}/README.md", f"{ROOT}/docs/picture.png"
RUN = "sync-dense"
WIDTH, HEIGHT = 1100, 1000
SHOOT = """
const { chromium } = require("playwright-core");
(async () => {
    const browser = await chromium.launch({ executablePath: process.argv[1], args: ["--no-sandbox"] });
    const page = await browser.newPage({ viewport: { width: %d, height: %d } });
    await page.goto("file://" + process.argv[2]);
    await page.waitForTimeout(1000);
    await page.screenshot({ path: process.argv[3] });
    await browser.close();
})();
""" % (WIDTH, HEIGHT)


class Words(html.parser.HTMLParser):
    """The words and figures of a page, without its style and scripts."""

    def __init__(self):
        super().__init__()
        self.inside, self.words = 0, []

    def handle_starttag(self, tag, attrs):
        self.inside += tag in ("style", "script")

    def handle_endtag(self, tag):
        self.inside -= tag in ("style", "script")

    def handle_data(self, data):
        if not self.inside:
            self.words += data.split()


def chokepoint(folder, *words):
    """As a user in that folder would call it, so that printed commands are short."""
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "COLUMNS": "104", "TZ": "UTC"}
    return subprocess.run(["chokepoint", *words], cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


@contextlib.contextmanager
def unpacked():
    """A folder with the run as ./chokepoint.db, and its page."""
    with tempfile.TemporaryDirectory() as folder:
        with gzip.open(GOLDEN) as packed, open(f"{folder}/chokepoint.db", "wb") as plain:
            shutil.copyfileobj(packed, plain)
        chokepoint(folder, "report", RUN, "-o", "page.html")
        yield folder


def five_lines(folder):
    return ["    " + line for line in chokepoint(folder, "report", RUN, "--format", "summary").splitlines()]


def words_of_page(folder):
    """A hash of what the first screens say: the verdict and the map."""
    words = Words()
    with open(f"{folder}/page.html", encoding="utf-8") as file:
        words.feed(file.read())
    return hashlib.sha256(" ".join(words.words[:400]).encode()).hexdigest()


def block_of_readme():
    """Its lines, and where the block of the five lines begins and ends."""
    with open(README, encoding="utf-8") as file:
        lines = file.read().split("\n")
    begin = next(i for i, line in enumerate(lines) if line.startswith("    chokepoint: "))
    end = next(i for i in range(begin, len(lines)) if not lines[i].startswith("    "))
    return lines, begin, end


def hash_in_picture():
    with open(PICTURE, "rb") as file:
        data = file.read()
    at = data.find(b"tEXtPage\0")
    return data[at + 9:at + 9 + 64].decode() if at > 0 else "none"


def put_hash(text):
    """Into a chunk of the picture, behind its header."""
    with open(PICTURE, "rb") as file:
        data = file.read()
    body = b"tEXtPage\0" + text.encode()
    chunk = (len(body) - 4).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")
    with open(PICTURE, "wb") as file:
        file.write(data[:33] + chunk + data[33:])


def keep_run(database):
    """The run alone, compacted and packed."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(database, f"{folder}/chokepoint.db")
        chokepoint(folder, "rm", "-f", "sync-sparse", "async-sparse")
        with open(f"{folder}/chokepoint.db", "rb") as plain, gzip.GzipFile(GOLDEN, "wb", 9, mtime=0) as packed:
            shutil.copyfileobj(plain, packed)


def take(database):
    if database:
        keep_run(database)
    with unpacked() as folder:
        lines, begin, end = block_of_readme()
        lines[begin:end] = five_lines(folder)
        with open(README, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        modules = {**os.environ, "NODE_PATH": f"{ROOT}/build/dev/browser-tests/node_modules"}
        subprocess.run(["node", "-e", SHOOT, shutil.which("chromium"), f"{folder}/page.html", PICTURE], env=modules, check=True)
        put_hash(words_of_page(folder))


def compare():
    bad = 0
    with unpacked() as folder:
        lines, begin, end = block_of_readme()
        if lines[begin:end] != five_lines(folder):
            print("README.md: its five lines are not those of tests/golden/demo.db.gz:\n" + "\n".join(five_lines(folder)))
            bad += 1
        if hash_in_picture() != words_of_page(folder):
            print("docs/picture.png: the page of tests/golden/demo.db.gz says something else")
            bad += 1
    if bad:
        print("tests/tools/readme_sample.py --take writes both anew; --take demo-out/chokepoint.db after ./demo, of another run")
    else:
        print("README.md shows what the demo shows")
    return bad > 0


def main():
    if sys.argv[1:2] == ["--take"] and len(sys.argv) <= 3:
        take(sys.argv[2] if len(sys.argv) > 2 else None)
    elif len(sys.argv) > 1:
        sys.exit(__doc__)
    sys.exit(compare())


main()
