"""How a result is read: JSON, text, HTML, warnings, refused input."""

from __future__ import annotations

import json
import math
from html.parser import HTMLParser

import numpy as np
import pytest

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.risk.assessment import measure_classes
from sfumato.risk.class_measures import g_balance, recursive_c
from sfumato.risk.disclosure_risk import most_told
from sfumato.risk.measure_table import number, share
from sfumato.table.table import ColumnFigures

CONTRACT = ["records", "persons", "classes", "k", "pid_k", "g_balance", "max_gidr", "avg_gidr"]
CONTRACT += ["prosecutor", "journalist", "marketer", "sample_uniques"]
SENSITIVE = ["h_affiliation", "max_gsar", "avg_gsar"]

CLASSES = [1, 1, 1, 2, 2, 2, 2]
PERSONS = ["a", "b", "b", "c", "c", "d", "e"]
ILLNESS = ["flu", "flu", "ulcer", "flu", "gout", "ulcer", None]
DRUG = ["x", "y", "z", "x", "x", "x", "x"]


def test_json_is_plain_with_one_sensitive_attribute(measure):
    risk = measure(CLASSES, PERSONS, threshold=0.4, illness=ILLNESS)
    found = json.loads(json.dumps(risk.to_json(), allow_nan=False))
    assert {key: found[key] for key in CONTRACT + SENSITIVE} == {
        "records": 7,
        "persons": 5,
        "classes": 2,
        "k": 3,
        "pid_k": 2,
        "g_balance": pytest.approx(1 - 5 / 9),
        "max_gidr": pytest.approx(2 / 3),
        "avg_gidr": pytest.approx((2 / 3 + 2 / 4) / 2),
        "h_affiliation": 1.0,
        "max_gsar": 1.0,
        "avg_gsar": pytest.approx((1 + 1 / 3) / 2),
        "prosecutor": 0.5,
        "journalist": 0.5,
        "marketer": pytest.approx(2 / 5),
        "sample_uniques": 0,
    }
    assert found["average_risk"] == pytest.approx((3 / 2 + 4 / 3) / 7)
    assert found["records_at_risk"] == pytest.approx(3 / 7)
    assert found["by_records"]["average_risk"] == pytest.approx(2 / 7)
    assert found["positions"]["max_gidr"] == {"row": 2, "equivalence_class": 1}
    assert found["positions"]["h_affiliation"] == {"row": 1, "equivalence_class": 1}
    assert found["recursive_2"] == pytest.approx(2)
    assert found["recursive_3"] is None


def test_json_names_columns_where_several_are_sensitive(measure):
    found = measure(CLASSES, PERSONS, illness=ILLNESS, drug=DRUG).to_json()
    assert found["h_affiliation"] == {"illness": 1.0, "drug": 1.0}
    assert found["l_distinct"] == {"illness": 2, "drug": 1}
    assert found["positions"]["l_distinct"]["drug"] == {"row": 4, "equivalence_class": 2}
    assert found["recursive_2"]["drug"] is None
    json.dumps(found, allow_nan=False)


def test_json_without_sensitive_attributes(measure):
    found = measure(CLASSES, PERSONS).to_json()
    assert set(CONTRACT) <= found.keys()
    assert not found.keys() & {*SENSITIVE, "l_distinct", "l_entropy"}


def test_the_worst_class_gives_exact_integers(measure):
    risk = measure(CLASSES, PERSONS)
    assert risk.g_balance_counts == (5, 3)
    assert g_balance(risk.summary).tolist() == pytest.approx([1 - 5 / 9, 1 - 6 / 16])


def test_text_shows_every_measure(measure):
    risk = measure(CLASSES, PERSONS, illness=ILLNESS)
    text = str(risk)
    for name in (*CONTRACT, "h_affiliation [illness]", "l_entropy [illness]"):
        assert any(line.strip().startswith(f"{name} ") for line in text.splitlines()), name
    assert "66.7 %" in text
    assert "(class 1, row 2)" in text
    assert repr(risk).startswith("Risk(A stranger finds ")
    assert " records=7, persons=5, classes=2, k=3, pid_k=2, g_balance=0.4" in repr(risk)


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []
        self.said = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.said.append(data)


def test_html_is_escaped(measure):
    risk = measure(CLASSES, PERSONS, **{"<script>alert('&')</script>": ILLNESS})
    page = _Tags()
    page.feed(risk._repr_html_())
    table = {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert set(page.tags) == table | {"p", "strong", "svg", "line", "rect", "text", "title"}
    assert "h_affiliation [<script>alert('&')</script>]" in page.said
    assert page.tags.count("tr") == len(risk.rows()) + 1


def test_persons_in_several_classes_are_warned_about(measure):
    assert measure(CLASSES, PERSONS).warnings == ()
    (warning,) = measure(CLASSES, ["a", "b", "b", "a", "c", "d", "e"]).warnings
    assert "1.20 classes" in warning
    assert warning in measure(CLASSES, ["a", "b", "b", "a", "c", "d", "e"])._repr_html_()


def test_a_class_without_a_sensitive_value(measure):
    own = measure([1, 2, 2], "abc", illness=[None, "flu", "flu"]).sensitive["illness"]
    assert (own.l_distinct, own.l_entropy.value) == (0, 0)
    assert own.l_distinct_where.row == 1
    assert own.h_affiliation.where.row == 2


def test_a_threshold_is_passed_strictly(measure):
    five = measure([1] * 5 + [2] * 4, range(9))
    assert five.records_at_risk.value == pytest.approx(4 / 9)
    assert five.prosecutor.met is False
    assert measure([1] * 5, range(5)).records_at_risk.value == 0
    assert measure([1] * 5, range(5)).prosecutor.met is True


@pytest.mark.parametrize("threshold", [0, -0.1, 1.01, float("nan"), float("inf"), "half", None])
def test_a_threshold_outside_its_range_is_refused(measure, threshold):
    with pytest.raises(InputError, match="parameter threshold"):
        measure(CLASSES, PERSONS, threshold=threshold)


@pytest.mark.parametrize(
    ("class_of", "person", "codes"),
    [
        ([], [], []),
        ([0, 2, 2], [0, 1, 2], [0, 0, 0]),
        ([0, 1, 3], [0, 1, 2], [0, 0, 0]),
        ([0, 1, -1], [0, 1, 2], [0, 0, 0]),
        ([0, 1, 2], [0, 1], [0, 0, 0]),
        ([0, 1, 2], [0, -1, 2], [0, 0, 0]),
        ([0, 1, 2], [0, 1, 2], [0, 0]),
    ],
)
def test_classes_that_do_not_fit_are_refused(class_of, person, codes):
    arrays = (np.array(values, dtype=np.int32) for values in (class_of, person, codes))
    class_of, person, codes = arrays
    with pytest.raises(InputError):
        measure_classes(class_of, 3, person, {"illness": codes}, threshold=0.2)


def test_only_two_and_three_are_kept_for_recursive_diversity(measure):
    summary = measure(CLASSES, PERSONS, illness=ILLNESS).summary
    with pytest.raises(InputError, match="parameter l"):
        recursive_c(summary, "illness", 4)


@pytest.mark.parametrize(
    "counts",
    [[1] * each for each in range(1, 60)]
    + [[3] * 7, [2, 1, 1, 1, 1, 1, 1], [4, 1, 1, 1, 1], [1] * 1009],
)
def test_l_entropy_is_a_whole_number_where_only_rounding_keeps_it_from_one(measure, counts):
    """2 to the entropy in bits: exactly so where shares are powers of two, as 4, 1, 1, 1, 1 are."""
    values = [place for place, count in enumerate(counts) for _ in range(count)]
    found = measure([1] * len(values), range(len(values)), illness=values)
    l_entropy = found.sensitive["illness"].l_entropy.value
    if len(set(counts)) == 1:
        assert l_entropy == len(counts)
    elif counts[0] == 4:
        assert l_entropy == 4
    else:
        bits = -sum(c / len(values) * math.log2(c / len(values)) for c in counts)
        assert l_entropy == pytest.approx(2**bits, rel=1e-12)
        assert l_entropy != round(l_entropy)


@pytest.mark.parametrize(
    ("value", "printed"), [(0, "0 %"), (1, "100 %"), (0.1046, "10.5 %"), (0.00012, "0.012 %")]
)
def test_shares_are_printed_in_percent(value, printed):
    assert share(Measure("marketer", value)) == printed
    assert number(Measure("recursive_2", float("inf"))) == "no c"


def test_a_hundredth_that_is_told_is_worth_a_word() -> None:
    told = {"age": 0.01, "sex": 0.009, "town": 0.3}
    figures = ColumnFigures("ward", "insensitive", told, {}, None)
    assert most_told(figures) == [("town", 0.3), ("age", 0.01)]
