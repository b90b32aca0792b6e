"""What a notebook shows: one table and one picture that add up, without a script."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pandas as pd
import pytest

import sfumato as sf
from sfumato.core.notebook_parts import MOST_BARS
from sfumato.core.notebook_parts import bars as horizontal
from sfumato.examples import generate_clinics, generate_registrations

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
    ET.fromstring(html[html.index("<table>") : html.index("</table>") + 8])
    assert ">original</th>" in html
    assert ">loss: ncp</th>" in html
    original, released = bars(html)[:8], bars(html)[8:]
    assert sum(original) == pytest.approx(100)
    assert sum(released[5:]) == pytest.approx(100)


def widths(html: str) -> list[float]:
    """The widths of the bars of a view, without the marks of its key."""
    picture = ET.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])
    return [
        float(each.attrib["width"]) for each in picture.iter(f"{SVG}rect") if each.get("x") == "160"
    ]


def check_one_of_each(html: str) -> None:
    """One styled table and one picture, both well formed, and no script."""
    assert (html.count("<table>"), html.count("<svg")) == (1, 1)
    assert "<script" not in html
    ET.fromstring(html[html.index("<table>") : html.index("</table>") + 8])
    assert "rgba(128,128,128,.08)" in html


def test_a_profile_and_a_proposal() -> None:
    found, guess = sf.profile(DATA), sf.guess_schema(DATA)
    for each in (found, guess):
        html = each._repr_html_()
        check_one_of_each(html)
        assert "a&lt;b" in html
    shares = [share for step in found.uniqueness for share in (step.without, step.up_to)]
    assert widths(found._repr_html_()) == pytest.approx([350 * each for each in shares], abs=0.1)


@pytest.mark.slow
@pytest.mark.usefixtures("few_random_pairs")
def test_a_linkage_of_tables_and_one_of_encodings() -> None:
    made = generate_registrations(generate_clinics(60, rng=2))
    tables = {"hospital": made.hospital, "practice": made.practice}
    links = sf.link(tables, seed=1)
    first = sf.encode_table(made.hospital, b"k" * 32, id_column="patient", name="hospital")
    other = sf.encode_table(
        made.practice, b"k" * 32, first.spec, id_column="patient", name="practice"
    )
    for found in (links, sf.link({"hospital": first.encoded, "practice": other.encoded})):
        html = found._repr_html_()
        check_one_of_each(html)
        assert sum(widths(html)) == pytest.approx(350, abs=0.5), "the shares of all pairs"
        rows = re.findall(r'scope="row"[^>]*>([^<]*)</th><td[^>]*>([^<]*)</td>', html)
        assert ("People", f"{found.settled.persons.count:,}") in rows
        surnames = made.hospital["surname"].drop_null().to_pylist()
        assert not [name for name in surnames if f">{name}<" in html]


def test_more_rows_than_a_picture_has_room_for_are_counted() -> None:
    many = MOST_BARS + 3
    html = horizontal("t", [f"c{n}" for n in range(many)], {"x": [n / many for n in range(many)]})
    assert len(widths(html)) == MOST_BARS
    assert "3 more are not drawn" in html
