"""What a notebook shows: one table and one picture that add up, without a script."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pandas as pd
import pytest

import sfumato as sf

DATA = pd.DataFrame(
    {"p": [f"p{n}" for n in range(60)], "a<b": [n % 7 for n in range(60)], "dx": list("xyz") * 20}
)
SCHEMA = sf.Schema(person="p", quasi_identifiers={"a<b": "numeric"}, sensitive="dx")
SVG = "{http://www.w3.org/2000/svg}"


def bars(html: str) -> list[float]:
    """The shares of the bars of a view, in per cent."""
    picture = ET.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])
    return [float(str(each.text).split()[0]) for each in picture.iter(f"{SVG}title")]


def test_an_assessment() -> None:
    html = sf.assess(DATA, SCHEMA)._repr_html_()
    assert (html.count("<table>"), html.count("<svg")) == (1, 1)
    assert "<script" not in html
    assert bars(html) == pytest.approx([0, 0, 0, 100, 0, 0, 0, 0])


def test_a_release_shows_the_original_beside_it() -> None:
    release = sf.anonymize(DATA, SCHEMA, sf.KAnonymity(20), seed=1)
    html = release._repr_html_()
    assert (html.count("<table>"), html.count("<svg")) == (1, 1)
    ET.fromstring(html[: html.index("</table>") + 8])
    assert ">original</th>" in html
    assert ">loss: ncp</th>" in html
    original, released = bars(html)[:8], bars(html)[8:]
    assert sum(original) == pytest.approx(100)
    assert sum(released[5:]) == pytest.approx(100)
