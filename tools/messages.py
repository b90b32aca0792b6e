"""Keep the catalogs of other languages: every text that pages can say, and nothing else.

Usage: messages.py [--check]

Message ids are the English texts themselves, found in the package's code and templates. Without
``--check`` new ones are added to each catalog, not yet translated, and those that no text has any
more are taken out; with it nothing is written, and what is missing or left over is named.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from jinja2 import Environment

from sfumato.core.number_text import counted
from sfumato.core.phrases import LANGUAGES, Plural, entries

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "sfumato"
CATALOGS = {each: PACKAGE / "core" / "languages" / f"{each}.po" for each in LANGUAGES[1:]}
CALLS = {
    **dict.fromkeys(("Phrase", "Sentence", "gettext", "gettext_lazy", "_"), 1),
    **dict.fromkeys(("Plural", "ngettext"), 2),
}
"""Functions of code that take a message, and how many of their arguments are its forms."""
Message = tuple[str, ...]
"""English of one thing, and of several where things are counted."""


def of_code(source: str) -> Iterator[Message]:
    """The messages of a module."""
    # Most modules have none, and to parse them all takes seconds.
    if not any(f"{name}(" in source for name in (*CALLS, "counted")):
        return
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        words = [each.value for each in node.args if isinstance(each, ast.Constant)]
        if name == "counted" and words and not isinstance(node.args[0], ast.Constant):
            several = counted(2, *map(str, words))
            assert isinstance(several, Plural)
            yield several.message, several.several
        elif name in CALLS and len(words) >= CALLS[name]:
            yield tuple(map(str, words[: CALLS[name]]))


def of_template(source: str) -> Iterator[Message]:
    """The messages of a report's template."""
    reader = Environment(extensions=["jinja2.ext.i18n"])  # noqa: S701 - nothing is filled
    reader.newstyle_gettext = True  # type: ignore[attr-defined]  # as the reports have it
    for _, _, found in reader.extract_translations(source):  # type: ignore[attr-defined]
        yield (found,) if isinstance(found, str) else tuple(each for each in found if each)


def of_page(source: str) -> Iterator[Message]:
    """The messages of a template of Django's, whose percent signs are doubled."""
    for quoted in re.findall(r"""{% translate ("[^"]*"|'[^']*')""", source):
        yield (quoted[1:-1].replace("%", "%%"),)
    blocks = re.findall(r"{% blocktranslate.*?%}(.*?){% endblocktranslate %}", source, re.DOTALL)
    for block in blocks:
        forms = (each.replace("%", "%%") for each in block.split("{% plural %}"))
        yield tuple(re.sub(r"{{ (\w+) }}", r"%(\1)s", each) for each in forms)


def of_points(text: str) -> Iterator[Message]:
    """The messages of what reports take for granted, and of the attacks that they name."""
    words = tomllib.loads(text)
    yield from ((each,) for part in ("attacks", "predicted") for each in words[part].values())
    for point in words["points"].values():
        yield from ((point["title"],), (point["text"],))


READERS = {
    ".py": of_code,
    ".html": of_template,
    "style.css": of_template,
    "adversaries.toml": of_points,
}
UNTRANSLATED = frozenset(
    {
        *("cli", "engines", "linkage", "semantics", "table"),
        *("audit.html", "auditor_views.py", "check.html", "manager"),
    }
)
"""Rooms and pages that speak English alone."""


@cache
def messages() -> list[Message]:
    """All messages in the order of the package's files, each once."""
    found: dict[str, Message] = {}
    for path in sorted(PACKAGE.rglob("*")):
        read = READERS.get(path.name, READERS.get(path.suffix))
        parts = path.relative_to(PACKAGE).parts
        if read is None or UNTRANSLATED & {*parts}:
            continue
        if path.suffix == ".html" and "templates" in parts and "server" in parts:
            read = of_page
        for each in read(path.read_text(encoding="utf-8")):
            # Of one text with and without several forms the one with them serves both.
            if len(each) > len(found.get(each[0], ())):
                found[each[0]] = each
    return list(found.values())


def differing(language: str) -> tuple[list[Message], list[str]]:
    """The messages that a catalog does not translate, and its own that no text has."""
    told = entries(CATALOGS[language].read_text(encoding="utf-8"))
    wanted = {"\0".join(each): each for each in messages()}
    missing = [each for key, each in wanted.items() if not told.get(key)]
    return missing, [key for key in told if key and key not in wanted]


def written(language: str) -> str:
    """A catalog with all messages and no other, its translations kept."""
    text = CATALOGS[language].read_text(encoding="utf-8")
    told, blocks = entries(text), [text.partition("\n\n")[0]]
    for each in messages():
        said = (told.get("\0".join(each)) or "\0" * (len(each) - 1)).split("\0")
        lines = [f"msgid {_quoted(each[0])}"]
        if len(each) > 1:
            lines.append(f"msgid_plural {_quoted(each[1])}")
            lines += [f"msgstr[{place}] {_quoted(form)}" for place, form in enumerate(said)]
        else:
            lines.append(f"msgstr {_quoted(said[0])}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _quoted(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'


def main(words: list[str]) -> int:
    """Write, or with ``--check`` name what differs: 1 where something does."""
    failed = 0
    for language, path in CATALOGS.items():
        if words != ["--check"]:
            path.write_text(written(language), encoding="utf-8")
        missing, left_over = differing(language)
        for each in (*(each[0] for each in missing), *left_over):
            print(f"{language}: {each}")
        failed |= bool(missing or left_over)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
