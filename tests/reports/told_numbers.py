"""What a page says of each measure, wherever it names one."""

from __future__ import annotations

import re
from html import unescape


def rows_of(page: str, table: str) -> list[str]:
    """The rows of the tables of a class."""
    found = re.findall(rf'<table class="{table}[ "].*?</table>', page, re.DOTALL)
    return [row for each in found for row in re.findall(r"<tr>.*?</tr>", each, re.DOTALL)]


def told_of_measures(page: str) -> dict[str, list[str]]:
    """What a page says of each measure of the release, in every table that names it."""
    told: dict[str, list[str]] = {}
    places = (
        ("measures", r"<code>([\w.]+)</code>", r'<td class="number last"[^>]*>([^<]+)'),
        ("practice", r"<code>([\w.]+)</code>", r'data-label="Here"[^>]*>([^<]+)'),
        ("attacks", r"<small><code>([\w.]+)</code>", r'data-label="Predicted"[^>]*>([^<]+)'),
    )
    for table, name, value in places:
        for row in rows_of(page, table):
            names, values = re.findall(name, row), re.findall(value, row)
            if len(names) == 1 and values:
                told.setdefault(names[0], []).append(values[-1].strip())
    return told


def told_of_linkage(page: str) -> dict[str, set[str]]:
    """What the page of a linkage says of precision and recall, by the words before the number."""
    marked = re.findall(r'<tr class="marked">.*?</tr>', page, re.DOTALL)
    glance = re.findall(r'<table class="[^"]*glance">.*?</table>', page, re.DOTALL)
    cells = re.findall(r'data-label="([^"]+)"[^>]*>([^<]+)<', "".join([*marked, *glance]))
    said = re.findall(r"((?:precision|recall)[a-z ]*) ([\d.]+\s%)", unescape(page))
    told: dict[str, set[str]] = {}
    for name, value in [*cells, *said]:
        told.setdefault(name.lower(), set()).add(value)
    return told
