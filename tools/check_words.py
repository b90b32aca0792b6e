"""Hold texts for people against ``tools/words.toml``: words never used, sentences, pages.

``python tools/check_words.py`` names what is found, file by file.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^ *(`{3,}).*?^ *\1", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
CODE = re.compile(r"`[^`]*`|\$[^$\n]*\$|https?://\S+")
TAG = re.compile(
    r"<(script|style|svg)\b.*?</\1>|\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<!--.*?-->|<[^>]*>", re.DOTALL
)
CELL = re.compile(r"</t[hd]>")
SENTENCE = re.compile(r"(?<=[.!?])(?<!al\.)\s+|(?<=[:;])\s+(?=[A-Z])|\n\s*\n")
WORD = re.compile(r"[^\W\d_][\w’'-]*")
QUERY = re.compile(r"\b(SELECT|CREATE|INSERT|DELETE|UPDATE|DROP|PRAGMA)\b")
KEYS = re.compile(r"[a-z0-9 ]*_[a-z0-9_ ]*")
TAKE_KEYS = {"fields_of", "plain_fields"}
"""Functions whose literals are names of fields."""
GRAMMAR = re.compile(r"\b(the|is|are|of|to)\b")
"""Every long sentence has one of these; patterns, and tables of words, have none."""


class Finding(NamedTuple):
    """Where a text says what it should not."""

    path: Path
    line: int
    says: str


def plain(markdown: str) -> str:
    """A page without code, tables of figures and addresses; its lines stay where they are."""
    text = FENCE.sub(lambda found: "\n" * found[0].count("\n"), markdown)
    return CODE.sub("x", LINK.sub(r"\1", text))


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of each paragraph and item, but for headings and tables."""
    start = 0
    held: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        begins = re.match(r"\s*([-*] |\d+\. |: |\||#|```)", line)
        if held and (begins or not line.strip()):
            yield start, " ".join(held)
            held = []
        if line.strip() and not re.match(r"\s*[|#]", line):
            if not held:
                start = number
            held.append(line.strip())


def literals(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of the string literals of a module that people may read.

    Those of one word are names, but for one that begins as a sentence or a heading does.
    """
    tree = ast.parse(path.read_text("utf-8"))
    yield from _helps(path, tree)
    parts = {id(part) for node in ast.walk(tree) for part in _no_texts(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(map(_part, node.values))
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts
        ):
            text = node.value
        else:
            continue
        is_name = " " not in text.strip() and not text[:1].isupper()
        # Keys alone make no sentence: one underscore does not hide the words around it.
        are_keys = KEYS.fullmatch(text) and not GRAMMAR.search(text)
        if not (is_name or QUERY.search(text) or are_keys):
            yield node.lineno, CODE.sub("x", TAG.sub(" ", CELL.sub(". ", text)))


def _helps(path: Path, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of the docstrings that the command line prints as help."""
    is_of_commands = path.parent.name == "cli" and "_command" in path.stem
    for node in tree.body if is_of_commands else ():
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        said = ast.get_docstring(node) or ""
        # One with sections is of a function that is no command.
        if "---" not in said:
            yield node.lineno, CODE.sub("x", said)


def _part(part: ast.expr) -> str:
    """A part of a text; what is filled in by a letter, with the sign of its format."""
    if isinstance(part, ast.Constant):
        return str(part.value)
    form = part.format_spec if isinstance(part, ast.FormattedValue) else None
    if ast.unparse(getattr(part, "value", part)).startswith("100 * "):
        return "100x"
    return "x%" if form is not None and ast.unparse(form).rstrip("'\"").endswith("%") else "x"


def _no_texts(node: ast.AST) -> Sequence[ast.expr]:
    """What below a node is a docstring, a part of another text, or names of fields."""
    if isinstance(node, ast.Expr):
        return [node.value]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.args if node.func.id in TAKE_KEYS else []
    return node.values if isinstance(node, ast.JoinedStr) else []


def texts(kind: str) -> Iterator[tuple[Path, int, str]]:
    """Every text of a kind: where it stands, and what it says."""
    if kind == "documentation":
        for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
            page = plain(path.read_text("utf-8"))
            for line, text in paragraphs(page):
                yield path, line, text
            for number, row in enumerate(page.splitlines(), 1):
                if re.match(r"\s*[|#]", row):
                    for cell in row.split("|"):
                        yield path, number, cell
    elif kind == "templates":
        for path in sorted((ROOT / "src").rglob("*.html")):
            # As on pages, each cell of a table is a text of its own.
            text = CELL.sub(". ", path.read_text("utf-8"))
            page = TAG.sub(lambda found: "\n" * found[0].count("\n") or " x ", text)
            for number, row in enumerate(page.splitlines(), 1):
                yield path, number, row
    else:
        for path in sorted((ROOT / "src").rglob("*.py")):
            for line, text in literals(path):
                yield path, line, text


def findings(kind: str, rules: dict[str, Any]) -> list[Finding]:
    """What the texts of a kind say that they should not."""
    never = [
        (re.compile(rule["says"]), rule["instead"])
        for rule in rules["never"]
        if rule.get("only", kind) == kind
    ]
    longest = rules["limits"]["sentence"]
    found = []
    for path, line, text in texts(kind):
        for pattern, instead in never:
            found += [
                Finding(path, line, f"'{each[0]}': say {instead}")
                for each in pattern.finditer(text)
            ]
        for sentence in SENTENCE.split(text):
            words = len(WORD.findall(sentence))
            if words > longest and GRAMMAR.search(sentence):
                start = " ".join(sentence.split()[:6])
                found.append(Finding(path, line, f"{words} words in a sentence: {start} ..."))
    return found


def pages(rules: dict[str, Any]) -> Iterator[str]:
    """What is longer than a page or a part of the documentation may be."""
    limits = rules["limits"]
    sizes = {
        path: sum(bool(re.search(r"\w", word)) for word in path.read_text("utf-8").split())
        for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    }
    studies = {path for path in sizes if path.stem in {"EVIDENCE", "studies"}}
    for path, words in sizes.items():
        if path.parent.name == "howto" and words > limits["howto"]:
            yield f"{path.relative_to(ROOT)}: {words} words, at most {limits['howto']}"
    for name, chosen in (("by_hand", sizes.keys() - studies), ("evidence", studies)):
        words = sum(sizes[path] for path in chosen)
        if words > limits[name]:
            yield f"{name}: {words} words, at most {limits[name]}"


def main() -> int:
    """Print what is found; 1 where it is anything."""
    rules = tomllib.loads((ROOT / "tools" / "words.toml").read_text("utf-8"))
    wrong = list(pages(rules))
    for kind in ("documentation", "templates", "messages"):
        wrong += [
            f"{each.path.relative_to(ROOT)}:{each.line}: {each.says}"
            for each in findings(kind, rules)
        ]
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
