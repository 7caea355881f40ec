# SPDX-License-Identifier: MIT
"""Parts of docs/accuracy.md that commands other than `matrix score --page` write: each stands between two markers, and is
kept when the rest of the page is made anew."""
import os
import re

import ablate

PAGE = f"{os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))}/docs/accuracy.md"


def markers(name):
    """Lines before and behind a part NAME or NAME_drawn, which the command NAME writes."""
    return f"<!-- {name}: begin, written by tests/faults/{name.replace('_drawn', ' --drawn')} -->", f"<!-- {name}: end -->"


def kept(page):
    """The parts of a page, with their markers."""
    return [match[0] for match in re.finditer(r"<!-- (\w+): begin, .*?<!-- \1: end -->", page, re.DOTALL)]


def kept_in(path):
    """The parts of a page that may not be there yet."""
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return kept(file.read())


def put(name, title, words, lines, path=PAGE):
    """Writes a part: its title, a sentence about it, and what the command printed."""
    with open(path) as file:
        page = file.read()
    with open(path, "w") as file:
        file.write(ablate.with_lines(page, [f"## {title}", "", words, "", "```", *lines, "```", ""], *markers(name)))
