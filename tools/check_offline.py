"""Check that built HTML pages load nothing from elsewhere.

Usage: check_offline.py FOLDER
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path

LOADED = {
    "audio": "src", "embed": "src", "iframe": "src", "img": "src", "link": "href",
    "object": "data", "script": "src", "source": "src", "video": "src",
}  # fmt: skip
"""What a browser loads by itself: the attribute that says where from, per tag."""


class _Loads(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elsewhere: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        place = dict(attrs).get(LOADED.get(tag, "")) or ""
        if place.startswith(("http:", "https:", "//")):
            self.elsewhere.append(f"<{tag}> {place}")


def main(folder: str) -> int:
    """Print what would be loaded from elsewhere; 1 when anything would."""
    found = 0
    for file in sorted(Path(folder).rglob("*.html")):
        page = _Loads()
        page.feed(file.read_text(encoding="utf-8"))
        for place in page.elsewhere:
            print(f"{file}: loads {place}")
            found += 1
    return min(found, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
