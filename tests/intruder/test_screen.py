"""What screens showed, as the review draws it, against the identified tables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest
from oracles.anonymity_sets import Naive

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.intruder.guesses.screen_attack import ShownRows, characters_of, from_screen, rows_of
from sfumato.intruder.knowledge import Knowledge, hold
from sfumato.intruder.referee.judgements import Truth, judge_identification
from sfumato.review.pair_rendering import compare_pair, seen, shown
from sfumato.review.review_settings import (
    Attribute,
    AttributeKind,
    DateOrder,
    MaskWidth,
    Mode,
    Policy,
    Rarity,
)
from sfumato.review.shown_rows import SHOWN
from sfumato.schema import Schema

ATTRIBUTES = (
    Attribute(name="name", kind=AttributeKind.VARIABLE, accent_sensitive=True),
    Attribute(
        name="born",
        kind=AttributeKind.DATE,
        date_order=DateOrder.DAY_MONTH_YEAR,
        rarity=True,
    ),
    Attribute(name="sex", kind=AttributeKind.CATEGORY),
)
KINDS = {"name": "text", "born": "day/month/year", "sex": "category"}
BANDS = {None: (0, None), Rarity.RARE: (1, 2), Rarity.UNCOMMON: (3, 9), Rarity.COMMON: (10, None)}
Values = dict[str, list[str | None]]


def _people(rng: np.random.Generator, records: int) -> Values:
    names = ["Ann", "anna", "Änne", "Bob", "Rob", "Carla", "Karla", None]
    days = ["1980-03-04", "1980-04-03", "1981-03-04", "04/03/1980", None]
    return {
        "name": [names[i] for i in rng.integers(0, len(names), records)],
        "born": [days[i] for i in rng.integers(0, len(days), records)],
        "sex": [["f", "m", None][i] for i in rng.integers(0, 3, records)],
    }


def _screen(
    values: Values,
    pairs: list[tuple[int, int]],
    rng: np.random.Generator,
    width: MaskWidth,
    policy: Policy = Policy.CONSISTENT,
) -> tuple[list[dict[str, object]], list[int], list[int]]:
    """The lines of the file, the record of each row and its anonymity set, by the review."""
    columns = [values[each.name] for each in ATTRIBUTES]
    naive = Naive.of(ATTRIBUTES, columns, rare_below=3, common_from=10)
    lines: list[dict[str, object]] = []
    records, sizes = [], []
    for number, pair in enumerate(pairs):
        rows = [
            [shown(each, column[record]) for each, column in zip(ATTRIBUTES, columns, strict=True)]
            for record in pair
        ]
        compared = compare_pair(ATTRIBUTES, *rows)
        known = [
            seen(each, comparison, Mode(int(rng.integers(3))), width)
            for each, comparison in zip(ATTRIBUTES, compared, strict=True)
        ]
        for side, record in enumerate(pair):
            records.append(record)
            own = tuple(each[side] for each in known)
            sizes.append(len(naive.members(record, own, policy)))
            for attribute, each, value in zip(ATTRIBUTES, known, rows[side], strict=True):
                places = sorted(each[side].positions)
                shown_band = naive.rarity(record, ATTRIBUTES.index(attribute))
                band = BANDS[shown_band if each[side].rarity else None]
                lines.append(
                    {
                        "row": f"{number}:{side}",
                        "attribute": attribute.name,
                        "kind": KINDS[attribute.name],
                        "case": attribute.case_sensitive,
                        "accents": attribute.accent_sensitive,
                        "missing": value is None,
                        "length": len(value.characters) if value and each[side].length else None,
                        "places": places,
                        "characters": [value.characters[at] for at in places] if value else [],
                        "least": max(band[0], 2 if each[side].twice else 0),
                        "most": band[1],
                    }
                )
    return lines, records, sizes


def _read(lines: list[dict[str, object]]) -> ShownRows:
    return rows_of(pa.Table.from_pylist(lines, schema=SHOWN), "what screens showed")


def _held(values: Mapping[str, list[str | None]]) -> Knowledge:
    ids = list(map(str, range(len(values["name"]))))
    table = pa.table({"id": ids, **{name: pa.array(held) for name, held in values.items()}})
    return hold(table, Schema(person="id", quasi_identifiers=list(values)))


@pytest.mark.parametrize("width", list(MaskWidth))
def test_who_agrees_is_the_anonymity_set_of_the_review(width: MaskWidth) -> None:
    rng = np.random.default_rng(len(width))
    values = _people(rng, 40)
    pairs = [tuple(rng.choice(40, 2, replace=False).tolist()) for _ in range(60)]
    lines, _, sizes = _screen(values, pairs, rng, width)
    found = from_screen(_read(lines), _held(values), rng)
    assert found.sizes.tolist() == sizes


def test_the_right_guesses_are_as_many_as_the_sets_predict() -> None:
    rng = np.random.default_rng(1)
    values = _people(rng, 60)
    pairs = [tuple(rng.choice(60, 2, replace=False).tolist()) for _ in range(400)]
    lines, records, sizes = _screen(values, pairs, rng, MaskWidth.TRUE)
    rows = _read(lines)
    found = from_screen(rows, _held(values), rng)
    assert found.sizes.tolist() == sizes
    expected = sum(1 / size for size in sizes)
    truth = Truth(np.array(records), np.ones(60, dtype=np.bool_), {})
    outcome = judge_identification(
        found.guesses, truth, rows.as_file(), attack="screen", what="", one_to_one=False
    )
    assert outcome.attempts == 800
    variance = sum(1 / size * (1 - 1 / size) for size in sizes)
    assert abs(outcome.right - expected) < 4 * np.sqrt(variance)


def test_sets_that_leave_lengths_out_promise_too_much() -> None:
    """The paper's policy counts neither lengths nor missing values, which the screen shows."""
    rng = np.random.default_rng(2)
    values = _people(rng, 60)
    pairs = [tuple(rng.choice(60, 2, replace=False).tolist()) for _ in range(200)]
    lines, records, sizes = _screen(values, pairs, rng, MaskWidth.TRUE, Policy.PAPER)
    rows = _read(lines)
    found = from_screen(rows, _held(values), rng)
    predicted = sum(1 / size for size in sizes) / len(sizes)
    truth = Truth(np.array(records), np.ones(60, dtype=np.bool_), {})
    outcome = judge_identification(
        found.guesses,
        truth,
        rows.as_file(),
        attack="screen",
        what="",
        one_to_one=False,
        predicted=Measure("kapr_sets", predicted),
    )
    assert (1 / found.sizes).mean() > predicted
    assert outcome.broken


def test_dates_are_displayed_by_their_digits() -> None:
    assert characters_of("1980-03-04", "day/month/year") == tuple("04031980")
    assert characters_of("4/3/1980", "year-month-day") == tuple("19800304")
    assert characters_of("12/31/1980", "day/month/year") == tuple("31121980")
    assert characters_of("about 1980", "day/month/year") == tuple("about 1980")
    assert characters_of(" A\u0308b ", "text") == ("Ä", "b")
    assert characters_of("not known", "category") == ("not known",)
    assert characters_of(" ", "text") is None


@pytest.mark.parametrize(
    "change",
    [{"kind": "voice"}, {"places": [0, 1]}, {"places": [-1]}, {"length": 0}, {"row": None}],
)
def test_a_table_that_says_something_else_is_refused(
    change: dict[str, object],
) -> None:
    line = {"row": "1", "attribute": "name", "kind": "text", "case": False,
            "accents": False, "missing": False,
            "length": 3, "places": [0], "characters": ["Q"], "least": 0, "most": None}  # fmt: skip
    with pytest.raises(InputError, match="row 1") as caught:
        _read([line | change])
    assert "Q" not in str(caught.value)
    with pytest.raises(InputError, match="row 2"):
        _read([line, line])


def test_tables_without_an_attribute_of_the_screen_are_refused() -> None:
    rng = np.random.default_rng(0)
    values = _people(rng, 5)
    lines, *_ = _screen(values, [(0, 1)], rng, MaskWidth.TRUE)
    rows = _read(lines)
    with pytest.raises(InputError, match="attribute 'sex'"):
        from_screen(rows, _held({"name": values["name"], "born": values["born"]}), rng)
