# SPDX-License-Identifier: MIT
"""The faults that `mutate` plants in C code. Each operator is a function that yields (start, end, text): the
part of a file to replace, and its replacement. Operators see only code: comments, strings, preprocessor
lines and the bodies of types are blanked before. `check` compares each one with an example."""
import re

TWINS = """send receive|sent received|from to|a b|here there|first last|low high|user system|read write|start end|
 in out|host peer|source target|left right|before after|x y|lower upper|earlier later|sender receiver|rows columns|
 have want|used limit|own other|input output|begin end|longest shortest|most least|old new|now before|src dst"""
FACTORS = {"NS_PER_S": "NS_PER_MS", "NS_PER_MS": "NS_PER_S", "NS_PER_US": "NS_PER_MS", "1e9": "1e6", "1e6": "1e9",
           "1e3": "1.0", "1000": "1", "1000.0": "1.0", "100": "1", "100.0": "1.0", "1024": "1000"}
TYPE_BODY = re.compile(r"\b(?:enum|struct|union)\b[ \t]*\w*[ \t\n]*\{[^{}]*\}")
TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)
ERROR_EXIT = re.compile(r"\s*\{?\s*(?:return (?:-E|-1\b|r;|negative_errno|NULL|false)|goto )")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def bare(text):
    """The code, at the same offsets."""
    text = TOKENS.sub(blank, text)
    while TYPE_BODY.search(text):
        text = TYPE_BODY.sub(blank, text)
    return text


def closing(code, at):
    """The position of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(code)):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if depth == 0:
            return i
    return at


class Names:
    """Neighbours of enum constants and names of fields, over the whole tree."""

    def __init__(self, texts):
        self.neighbour, self.fields = {}, set()
        for text in texts:
            text = TOKENS.sub(blank, text)
            for body in re.findall(r"\benum\b\s*\w*\s*\{([^{}]*)\}", text):
                names = re.findall(r"(?:^|,)\s*([A-Z]\w*)", body)
                names = [name for name in names if not name.endswith(("_COUNT", "_COUNT_"))]
                if len(names) > 1:
                    self.neighbour.update(zip(names, names[1:] + names[-2:-1]))
            self.fields.update(re.findall(r"(?:\.|->)(\w+)", text))
        pairs = [pair.split() for pair in TWINS.split("|")]
        self.twin = {word: other for pair in pairs for word, other in (pair, pair[::-1])}

    def twin_of(self, field):
        """The field for the other side: one word of its name swapped."""
        words = field.split("_")
        for i, word in enumerate(words):
            other = "_".join(words[:i] + [self.twin.get(word, word)] + words[i + 1:])
            if other != field and other in self.fields:
                return other
        return None


def sign(code, _):
    for m in re.finditer(r"(?<=[\w)\]] )([+-])(?==? [\w(*&-])", code):
        yield m.start(), m.end(), "-" if m.group() == "+" else "+"


def unit(code, _):
    factor = "|".join(re.escape(name) for name in sorted(FACTORS, key=len, reverse=True))
    for m in re.finditer(rf"(?:(?<=[*/] )|(?<=[*/] \())({factor})(?![\w.])|(?<![\w.])({factor})(?= [*/])", code):
        yield m.start(), m.end(), FACTORS[m.group()]


def bound(code, _):
    for m in re.finditer(r"(?<= )([<>]=?)(?= )", code):
        yield m.start(), m.end(), m.group()[0] if len(m.group()) == 2 else m.group() + "="
    for m in re.finditer(r"(?<=[\w)\]]) [+-] 1\b(?![.\w])", code):
        yield m.start(), m.end(), ""


def column(code, names):
    for m in re.finditer(r"(?<!case )(?<!\[)\b[A-Z]\w+\b(?!\] =)|(?<=\[)[A-Z]\w+(?=\](?! =))", code):
        if m.group() in names.neighbour:
            yield m.start(), m.end(), names.neighbour[m.group()]


def twin(code, names):
    for m in re.finditer(r"(?<=[\w)\]]\.)\w+\b|(?<=->)\w+\b", code):
        if names.twin_of(m.group()):
            yield m.start(), m.end(), names.twin_of(m.group())


def check(code, _):
    for m in re.finditer(r"\bif \(", code):
        end = closing(code, m.end() - 1)
        if ERROR_EXIT.match(code, end + 1):
            yield m.end(), end, "false"
            yield m.end(), end, "true"


def lock(code, _):
    for m in re.finditer(r"\bpthread_mutex_lock\(", code):
        end = code.find("\n}\n", m.start())
        body = re.sub(r"\bpthread_mutex_(?:un)?lock\(", "(void)(", code[m.start():end])
        yield m.start(), end, body
    for m in re.finditer(r"\bflock\(", code):
        yield m.start(), closing(code, m.end() - 1) + 1, "0"


def swap(code, _):
    for m in re.finditer(r"\b(fmin|fmax|MIN|MAX)(?=\()", code):
        yield m.start(), m.end(), {"fmin": "fmax", "fmax": "fmin", "MIN": "MAX", "MAX": "MIN"}[m.group()]
    for m in re.finditer(r"([\w.\[\]>-]+) ([<>])=? ([\w.\[\]>-]+) \? (?:\1 : \3|\3 : \1)", code):
        yield m.start(2), m.end(2), "<" if m.group(2) == ">" else ">"


def error(code, _):
    for m in re.finditer(r"(?<![!=<>]= )(?<!case )(?<!/\* )-E[A-Z][A-Z0-9]+\b|(?<=return )negative_errno\(\)", code):
        yield m.start(), m.end(), "0"


OPERATORS = (sign, unit, bound, column, twin, check, lock, swap, error)


def planted(text, names):
    """All mutants of a file: (line number, operator, start, end, replacement)."""
    code = bare(text)
    for operator in OPERATORS:
        for start, end, new in operator(code, names):
            if operator is lock and new != "0":  # with its comments and strings
                new = re.sub(r"\bpthread_mutex_(?:un)?lock\(", "(void)(", text[start:end])
            yield text.count("\n", 0, start) + 1, operator.__name__, start, end, new


EXAMPLES = (
    ("sign", "a = b + c;", ["a = b - c;"]),
    ("sign", "sum -= x; y = -x;", ["sum += x; y = -x;"]),
    ("unit", "s = ns / 1e9; n = 1000;", ["s = ns / 1e6; n = 1000;"]),
    ("unit", "t = 5 * NS_PER_S;", ["t = 5 * NS_PER_MS;"]),
    ("bound", "while (i < n) p->x = q << 1;", ["while (i <= n) p->x = q << 1;"]),
    ("bound", "f(n - 1); g(\"a < b\"); /* a < b */", ["f(n); g(\"a < b\"); /* a < b */"]),
    ("column", "enum hue { RED, BLUE, HUE_COUNT_ };\nx = v[RED]; int t[] = {[BLUE] = 1};",
     ["enum hue { RED, BLUE, HUE_COUNT_ };\nx = v[BLUE]; int t[] = {[BLUE] = 1};"]),
    ("twin", "t = p->send_bytes; u.receive_bytes = 1;",
     ["t = p->receive_bytes; u.receive_bytes = 1;", "t = p->send_bytes; u.send_bytes = 1;"]),
    ("check", "if (f(n) < 0)\n    return -EIO;\nif (n)\n    g();",
     ["if (false)\n    return -EIO;\nif (n)\n    g();", "if (true)\n    return -EIO;\nif (n)\n    g();"]),
    ("lock", "int f(void) {\npthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m);\n}\n",
     ["int f(void) {\n(void)(&m); n++; (void)(&m);\n}\n"]),
    ("lock", "r = flock(g(fd), LOCK_EX) < 0;", ["r = 0 < 0;"]),
    ("swap", "a = fmin(b, c);", ["a = fmax(b, c);"]),
    ("swap", "a = b < c ? b : c;", ["a = b > c ? b : c;"]),
    ("error", "return r == -EIO ? -EINVAL : 0;", ["return r == -EIO ? 0 : 0;"]),
)


def wrong_examples():
    """Examples for which an operator gives another result than expected."""
    for operator, text, expected in EXAMPLES:
        names = Names([text])
        made = [text[:start] + new + text[end:] for _, name, start, end, new in planted(text, names) if name == operator]
        if made != expected:
            yield f"{operator}: {text!r} becomes {made}"
