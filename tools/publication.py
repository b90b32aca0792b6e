"""Write what depends on publication: install lines and addresses.

Usage: publication.py [--check]

The one switch is ``[tool.sfumato]`` of pyproject.toml. Everything that it says elsewhere stands
between two marks, or is an install line, and is written from here. ``--check`` writes nothing and
names the files that say something else.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INSTALL = re.compile(r"""(pip install [^`\n"']*["'])(?:sfumato|\.)((?:\[[\w,]+\])?["'])""")
"""A line that installs sfumato: from an index by its name, or from a clone by its folder."""
MARKED = re.compile(
    r"(?P<begin>^(?:<!--|#) from the switch: (?P<name>[a-z]+)(?: -->)?\n)"
    r".*?(?P<end>^(?:<!--|#) until here(?: -->)?$)",
    re.MULTILINE | re.DOTALL,
)
NOT_PUBLISHED = """\
No package index has sfumato yet: under its name `pip` finds nothing, or what strangers put there.
Every install line in these pages is typed in the folder of a clone, where `.` is sfumato.
"""
PUBLISHED = """\
The package index has sfumato under its name. In a clone, `.` may take the place of the name.
"""


@dataclass(frozen=True)
class Switch:
    """What is true of publication today.

    Attributes
    ----------
    repository
        Address of the repository; empty where none is public.
    contact
        Address for reports of security problems; empty where there is none.
    """

    published: bool
    repository: str
    contact: str

    @classmethod
    def read(cls, root: Path) -> Switch:
        """The switch of a clone."""
        table = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["sfumato"]
        return cls(table["published"], table["repository"], table["security-contact"])

    def text(self, name: str) -> str:
        """What stands between the marks of a name."""
        known = {
            "install": PUBLISHED if self.published else NOT_PUBLISHED,
            "contact": self._contact(),
            "citation": f'repository-code: "{self.repository}"\n' if self.repository else "",
            "urls": self._urls(),
            "links": self._links(),
        }
        return known[name]

    def _contact(self) -> str:
        if self.contact:
            return f"Write to {self.contact}. Do not open a public issue.\n"
        return (
            "No address is public yet. Write to the people who gave you sfumato; they pass it on\n"
            "to the maintainers.\n"
        )

    def _urls(self) -> str:
        if not self.repository:
            return ""
        pages = {
            "Source": "",
            "Issues": "/issues",
            "Changelog": "/blob/main/CHANGELOG.md",
            "Security": "/security/policy",
        }
        lines = [f'{name} = "{self.repository}{page}"\n' for name, page in pages.items()]
        return "".join(["[project.urls]\n", *lines])

    def _links(self) -> str:
        if not self.repository:
            return "contact_links: []\n"
        return (
            "contact_links:\n"
            "  - name: A security problem\n"
            f"    url: {self.repository}/security/policy\n"
            "    about: Never in a public issue.\n"
        )


def pages(root: Path) -> Iterator[Path]:
    """Files that the switch is written into."""
    # The changelog keeps what was true in its time.
    yield from sorted(each for each in root.glob("*.md") if each.name != "CHANGELOG.md")
    yield from sorted((root / "docs").rglob("*.md"))
    yield from (root / "CITATION.cff", root / "pyproject.toml")
    yield from sorted((root / ".github" / "ISSUE_TEMPLATE").glob("config.yml"))


def written(text: str, switch: Switch) -> str:
    """A text as the switch has it."""
    source = "sfumato" if switch.published else "."
    text = INSTALL.sub(rf"\g<1>{source}\g<2>", text)
    return MARKED.sub(lambda m: f"{m['begin']}{switch.text(m['name'])}{m['end']}", text)


def differing(root: Path) -> dict[Path, str]:
    """Files that say something else than the switch, and what they should say."""
    switch = Switch.read(root)
    found = {}
    for page in pages(root):
        text = page.read_text(encoding="utf-8")
        if (wanted := written(text, switch)) != text:
            found[page] = wanted
    return found


def main(words: list[str]) -> int:
    """Write, or with ``--check`` name what differs: 1 where something does."""
    found = differing(ROOT)
    for page, wanted in found.items():
        if words != ["--check"]:
            page.write_text(wanted, encoding="utf-8")
        print(page.relative_to(ROOT))
    return int(bool(found) and words == ["--check"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
