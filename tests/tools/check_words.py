#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_words.py [FILE...]: openings and phrases that a reader has to read twice, in what users read: README, manual,
documents, CHANGELOG, and the texts that programs print; and openings in comments. Sentences begin with their subject: no
"Who ...", "What ..." or "Of ..." openings, unless they ask a question. Comments in C also name their
objects: no "The same of ...", "likewise" or "is none". words_allowed.txt lists the exceptions with their reasons: names
and titles by themselves, longer texts also as a part of a sentence.

check_words.py --draw N --seed S: prints N comments, drawn by the seed, for a reader who counts those to be read twice."""
import argparse
import pathlib
import random
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
PAGES = ["README.md", "CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "docs/*.md", "man/*.[1-9]"]
SOURCES = ["agent", "analysis", "cli", "collector", "common", "reports", "tables", "workloads"]
COMMENTED = SOURCES + ["setup", "tests"]
C, SCRIPTS = (".c", ".h", ".def"), (".py", ".sh")

# Openings of sentences that are faults, except in a question.
OPENINGS = re.compile(r"(?:^|[.;:!?] +|^[-*] +)((?:Who|Whoever|Whom|What|Whatever|Of|None of|Nobody|Whose|As far as) [^.;!?]*[.;!?]?)")
PHRASES = re.compile(r"\b(none of|as far as|so manieth|for no longer|hardly ever any|is said of|was said of|the like of|"
                     r"such a one|that of which|nought|aught|whereof|therein|thereof)\b", re.IGNORECASE)

# Ellipsis in comments: phrases that stand for a noun or a verb which the reader has to find elsewhere.
SENTENCE = r"(?:^|[.;:] +)"
ELLIPSIS = re.compile("|".join([
    SENTENCE + r"[Tt]he same(?: (?:of|for|with)\b|[.,;:]|$)",
    r"(?<![Tt]here )\b(?:is|are|was|were) none\b(?= *(?:[.,;:]|$))",
    r"\blikewise[.,;:]|\blikewise$|\bas the (?:next|last) (?:two|few|three)\b",
    r"\bwhat(?:ever)? (?:is left )?of (?:it|them|that|those|this)\b",
    r"\b(?:that|those) of (?:it|them|the (?:one|other|same))\b",
    r"\b(?:told|asked|heard|spoken) of\b(?= *(?:[.,;:]|$))",
    r"\bbut for\b",
    r"\b(?:whoever|whomever|whatsoever)\b",
    r"(?:^|[.] +)(?:Until|Unless|While|Because|Since|As|Though|Lest)\b[^,:;.]*(?:\.|$)"]))


def plain_of_markdown(line):
    return re.sub(r"`[^`]*`", "X", re.sub(r"^\s*([-*#]+|\d+\.) ", "", line)).replace("*", "")


def paragraphs_of_page(path):
    """(line, text) of each paragraph and cell, without code and synopsis, and without the marks of mdoc and Markdown."""
    fenced, synopsis, text, first = False, False, [], 0
    mdoc = path.suffix != ".md"
    for number, line in enumerate(path.read_text().splitlines() + [""], 1):
        fenced ^= line.startswith("```") or line in (".Bd -literal", ".Ed") or line.startswith(".Bd ")
        ends = not line.strip() or line.startswith("    ") or fenced or re.match(r"\.(It|Sh|Ss|Pp|Bl|El|Ed|Bd|\\\")", line) \
            or re.match(r"\s*([-*|#]|\d+\.) ?", line)
        if ends and text:
            yield first, " ".join(text)
            text = []
        if mdoc and line.startswith(".Sh "):
            synopsis = line == ".Sh SYNOPSIS"
        if not line.strip() or fenced or synopsis or line.startswith("    "):
            continue
        if not mdoc and line.startswith("|"):
            yield from ((number, cell.strip()) for cell in plain_of_markdown(line).strip("|").split("|"))
            continue
        if mdoc and re.match(r"\.(It|Sh|Ss|Pp|Bl|El|Ed|Bd|D|O|N|\\\")", line):
            continue
        plain = re.sub(r"^\.\w\w? ", "", line) if mdoc else plain_of_markdown(line)
        if not text:
            first = number
        text.append(plain.strip())


STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"([^"]*)')


def texts_of_source(path):
    """(line, text) of each run of string literals that begins with a capital or holds several words."""
    text, first, last = "", 0, 0
    for number, line in enumerate(path.read_text().splitlines() + [""], 1):
        if line.lstrip().startswith(("/*", "*", "//", "#include")):
            continue
        found = [piece + "\\n" * between.startswith(",") for piece, between in STRING.findall(line)]
        alone = found and not STRING.sub(r"\2", line).strip(" ,;()")
        if text and not (alone and number == last + 1):
            yield first, text
            text = ""
        if found:
            if not text:
                first = number
            text += "".join(found).replace("\\n", "\n")
            last = number
            if re.search(r'"\s*[,;)].*$', line):
                yield first, text
                text = ""


# A comment, or a string that may hold the mark of one; adjacent lines with a mark each are one comment.
C_TOKENS = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(?P<comment>(?://.*\n?[ \t]*)+|/\*(?s:.*?)\*/)')
SCRIPT_TOKENS = re.compile(r'(?P<comment>"""(?s:.*?)"""|(?:^[ \t]*#.*\n?)+|[ \t]#+ .*)', re.MULTILINE)
MARKS = re.compile(r'^[ \t]*(?:/\*+|\*(?!/)|//|#+|""")|\*/|"""|SPDX-License-Identifier: MIT$', re.MULTILINE)


def comments_of_source(path):
    """(line, text) of each paragraph and item of each comment, without its marks."""
    text = path.read_text()
    for token in (C_TOKENS if path.suffix in C else SCRIPT_TOKENS).finditer(text):
        if token.group("comment"):
            line = text.count("\n", 0, token.start()) + 1
            for part in re.split(r"\n[ \t]*\n|\n(?=[ \t]*- )", MARKS.sub("", token.group("comment"))):
                yield line, " ".join(part.split())


def openings(text):
    return (match.group(1) for match in OPENINGS.finditer(text.strip()) if not match.group(1).endswith("?"))


def faults(text):
    for piece in text.split("\n"):
        yield from openings(piece)
        for match in PHRASES.finditer(piece):
            yield piece[max(match.start() - 20, 0):match.end() + 30].strip()


def ellipses(text):
    return (text[max(match.start() - 20, 0):match.end() + 30].strip() for match in ELLIPSIS.finditer(text))


def faults_of(path):
    """(line, fault) of each fault of a page, or of a source's texts and comments."""
    name = path.relative_to(ROOT).as_posix()
    if path.suffix in C + SCRIPTS:
        yield from ((line, fault) for line, text in comments_of_source(path) for fault in openings(text))
    if path.suffix in C:
        yield from ((line, fault) for line, text in comments_of_source(path) for fault in ellipses(text))
    if path.suffix not in SCRIPTS and path.relative_to(ROOT).parts[0] != "tests":
        parts = texts_of_source(path) if path.suffix in C else paragraphs_of_page(path)
        yield from ((line, fault) for line, text in parts for fault in faults(text))


def comments_drawn(sources, number, seed):
    """Comments that say something: no licence, no title of a part of a file."""
    comments = [(path.relative_to(ROOT).as_posix(), line, text) for path in sources
                for line, text in comments_of_source(path) if text and not re.match(r"SPDX-|---- ", text)]
    return random.Random(seed).sample(comments, min(number, len(comments)))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--draw", type=int, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--room", action="append", help="draw from this folder alone; may be repeated")
    return parser.parse_args()


def main():
    options = arguments()
    rooms = options.room if options.draw and options.room else COMMENTED
    sources = [p for room in rooms for p in sorted((ROOT / room).rglob("*.*")) if p.suffix in C + SCRIPTS]
    if options.draw:
        for name, line, text in comments_drawn(sources, options.draw, options.seed):
            print(f"{name}:{line}: {text}")
        return 0
    return check(sources, options.files)


def check(sources, names):
    allowed = [line.split("#")[0].strip() for line in (HERE / "words_allowed.txt").read_text().splitlines()]
    allowed = [line for line in allowed if line]
    pages = [p for pattern in PAGES for p in sorted(ROOT.glob(pattern))]
    wanted = {pathlib.Path(name).resolve() for name in names}
    found, used = 0, set()
    for path in pages + sources:
        name = path.relative_to(ROOT).as_posix()
        if wanted and path not in wanted:
            continue
        for line, fault in faults_of(path):
            stays = [words for words in allowed if words == fault.strip() or (words.count(" ") > 1 and words in fault)]
            used.update(stays)
            if not stays:
                print(f"{name}:{line}: {fault[:110]}")
                found += 1
    unused = [] if wanted else [words for words in allowed if words not in used]
    for words in unused:
        print(f"words_allowed.txt: nothing needs '{words}' any more")
    print(f"{found} sentences to be read twice" if found else "sentences begin with their subject")
    return 1 if found or unused else 0


if __name__ == "__main__":
    sys.exit(main())
