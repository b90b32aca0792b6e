"""Hierarchies from prefixes, intervals and files, over the values of a column."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy, build_hierarchy, leaf_order
from sfumato.schema import IntervalHierarchy, PrefixHierarchy
from sfumato.schema.roles import HierarchySpec

ICD9 = PrefixHierarchy(
    lengths=(3,), groups=("001-139", "240-279", "V01-V91", "E800-E999", "E000-E000")
)


def _paths(tree: Hierarchy) -> dict[str, list[str]]:
    """The labels from each leaf up to the root."""
    return {
        leaf: [tree.label(level, row[place]) for level, row in enumerate(tree.ancestors)]
        for place, leaf in enumerate(tree.leaves)
    }


def _intervals(labels: Sequence[str], *widths: float | str, start: float = 0.0) -> Hierarchy:
    return build_hierarchy(IntervalHierarchy(widths=widths, start=start), labels, "x")


def _refusal(spec: HierarchySpec, labels: Sequence[str]) -> str:
    with pytest.raises(InputError) as caught:
        build_hierarchy(spec, labels, "code")
    message = str(caught.value)
    assert "column 'code'" in message
    assert not any(label in message for label in labels)
    return message


def test_icd9() -> None:
    tree = build_hierarchy(ICD9, ["250.1", "250", "V10.3", "E812.0", "999", "042"], "icd9")
    assert _paths(tree) == {
        "250.1": ["250.1", "250", "240-279", "*"],
        "250": ["250", "250", "240-279", "*"],
        "V10.3": ["V10.3", "V10", "V01-V91", "*"],
        "E812.0": ["E812.0", "E81", "E800-E999", "*"],
        "999": ["999", "999", "999", "*"],
        "042": ["042", "042", "001-139", "*"],
    }


def test_codes_compare_within_letters_and_digits_only() -> None:
    spec = PrefixHierarchy(lengths=(4,), groups=("10-99", "V10-V99", "A100-199"))
    tree = build_hierarchy(spec, ["050", "50", "V50", "W50", "A150", "A15", "V1", "??"], "code")
    groups = {leaf: path[2] for leaf, path in _paths(tree).items()}
    assert groups == {
        "050": "050",
        "50": "10-99",
        "V50": "V10-V99",
        "W50": "W50",
        "A150": "A100-199",
        "A15": "A100-199",
        "V1": "V10-V99",
        "??": "??",
    }


def test_a_cut_code_is_in_a_group_only_as_a_whole() -> None:
    spec = PrefixHierarchy(lengths=(3,), groups=("E800-E815",))
    paths = _paths(build_hierarchy(spec, ["E801", "E812"], "code"))
    assert paths["E801"] == ["E801", "E80", "E800-E815", "*"]
    assert paths["E812"] == ["E812", "E81", "E81", "*"]


def test_several_prefixes_without_groups() -> None:
    tree = build_hierarchy(PrefixHierarchy(lengths=(4, 2)), ["SW1A 1AA", "SW1A 2BB"], "postcode")
    assert tree.labels[1:] == (("SW1A",), ("SW",), ("*",))


@given(
    st.lists(st.text(alphabet="0189VE.- a", min_size=1, max_size=6), unique=True),
    st.lists(st.integers(1, 6), unique=True),
)
def test_prefixes_always_nest_and_have_labels(labels: list[str], lengths: list[int]) -> None:
    spec = PrefixHierarchy(lengths=tuple(sorted(lengths, reverse=True)), groups=ICD9.groups)
    tree = build_hierarchy(spec, labels, "code")
    assert tree.leaves == tuple(labels)
    assert not any("" in names for names in tree.labels)


@pytest.mark.parametrize("lengths", [(3, 5), (3, 3), (0,), (-1,)])
def test_lengths_that_do_not_descend(lengths: tuple[int, ...]) -> None:
    assert "longest first" in _refusal(PrefixHierarchy(lengths=lengths), ["250.1"])


@pytest.mark.parametrize("group", ["", "-", "279-240", "240-", "x", "V10-W20", "240-279-300"])
def test_groups_that_are_no_ranges(group: str) -> None:
    spec = PrefixHierarchy(lengths=(3,), groups=("001-139", group))
    assert "group 2" in _refusal(spec, ["250.1"])


def test_a_group_of_one_code() -> None:
    spec = PrefixHierarchy(lengths=(3,), groups=("042", "043-139"))
    assert build_hierarchy(spec, ["042.1", "044.0"], "code").labels[2] == ("042", "043-139")


def test_groups_that_overlap() -> None:
    spec = PrefixHierarchy(lengths=(3,), groups=("001-139", "240-279", "279-300"))
    assert "group 2 and in group 3" in _refusal(spec, ["250.1"])


def test_whole_numbers() -> None:
    assert _paths(_intervals(["-11", "-10", "-1", "0", "9", "25"], 5, 10)) == {
        "-11": ["-11", "-15 to -11", "-20 to -11", "*"],
        "-10": ["-10", "-10 to -6", "-10 to -1", "*"],
        "-1": ["-1", "-5 to -1", "-10 to -1", "*"],
        "0": ["0", "0-4", "0-9", "*"],
        "9": ["9", "5-9", "0-9", "*"],
        "25": ["25", "25-29", "20-29", "*"],
    }


def test_start_and_a_width_of_one() -> None:
    assert _paths(_intervals(["17", "18"], 1, 5, start=18)) == {
        "17": ["17", "17", "13-17", "*"],
        "18": ["18", "18", "18-22", "*"],
    }


def test_padded_codes_keep_their_zeros() -> None:
    assert _paths(_intervals(["02139", "90210"], 100)) == {
        "02139": ["02139", "02100-02199", "*"],
        "90210": ["90210", "90200-90299", "*"],
    }


def test_decimals_of_the_values_or_of_the_widths() -> None:
    assert _paths(_intervals(["3", "-0.5", "0.25"], 2.5, 5)) == {
        "3": ["3", "[2.5, 5)", "[0, 5)", "*"],
        "-0.5": ["-0.5", "[-2.5, 0)", "[-5, 0)", "*"],
        "0.25": ["0.25", "[0, 2.5)", "[0, 5)", "*"],
    }
    assert _intervals(["24.5"], 10).labels[1] == ("[20, 30)",)
    assert _intervals(["0.3"], 0.1, 0.3).labels[1:3] == (("[0.3, 0.4)",), ("[0.3, 0.6)",))


@given(
    st.lists(st.decimals(-1000, 1000, places=2), min_size=1, unique=True),
    st.decimals("0.1", 50, places=1),
    st.integers(2, 5),
    st.decimals(-10, 10, places=1),
)
def test_numbers_lie_in_their_intervals(
    numbers: list[Decimal], width: Decimal, factor: int, start: Decimal
) -> None:
    labels = [str(number) for number in numbers]
    tree = _intervals(labels, float(width), float(width * factor), start=float(start))
    for number, label in zip(numbers, labels, strict=True):
        for text, step in zip(_paths(tree)[label][1:3], (width, width * factor), strict=True):
            low, high = map(Decimal, text.strip("[)").split(", "))
            assert low <= number < high == low + step
            assert (low - start) % step == 0


def test_dates_and_datetimes() -> None:
    labels = ["2005-03-01", "1999-12-31", "2005-04-02T10:30:00"]
    assert _paths(_intervals(labels, "month", "quarter", "year", "decade")) == {
        "2005-03-01": ["2005-03-01", "2005-03", "2005-Q1", "2005", "2000-2009", "*"],
        "1999-12-31": ["1999-12-31", "1999-12", "1999-Q4", "1999", "1990-1999", "*"],
        "2005-04-02T10:30:00": [
            "2005-04-02T10:30:00",
            "2005-04",
            "2005-Q2",
            "2005",
            "2000-2009",
            "*",
        ],
    }


def test_every_month_is_in_its_quarter() -> None:
    days = [(date(2001, 1, 15) + timedelta(days=30 * month)).isoformat() for month in range(12)]
    tree = _intervals(days, "quarter")
    assert tree.labels[1] == ("2001-Q1", "2001-Q2", "2001-Q3", "2001-Q4")
    assert tree.leaf_counts(1).tolist() == [3, 3, 3, 3]


@pytest.mark.parametrize(
    ("widths", "labels", "said"),
    [
        ((), ["4711"], "at least one width"),
        ((5, "year"), ["4711"], "numbers and words"),
        ((10, 5), ["4711"], "multiple"),
        ((5, 5), ["4711"], "multiple"),
        ((5, 12), ["4711"], "multiple"),
        ((0,), ["4711"], "multiple"),
        ((-5,), ["4711"], "multiple"),
        ((float("nan"),), ["4711"], "finite"),
        ((float("inf"),), ["4711"], "finite"),
        ((5,), ["4711", "canary"], "1 of 2 distinct values that are no numbers"),
        ((5,), ["2005-03-01"], "no numbers"),
        ((5,), ["٤٧١١"], "no numbers"),
        (("year", "month"), ["2005-03-01"], "narrowest first"),
        (("week",), ["2005-03-01"], "month"),
        (("year",), ["2005-03-01", "2005-13-01"], "1 of 2 distinct values that are no dates"),
        (("year",), ["20050301"], "no dates"),
    ],
)
def test_bad_intervals(widths: tuple[float | str, ...], labels: list[str], said: str) -> None:
    assert said in _refusal(IntervalHierarchy(widths=widths), labels)


def test_a_file_restricted_to_the_values_in_their_order(shared_data: Path) -> None:
    path = shared_data / "adult" / "adult_hierarchy_education.csv"
    tree = build_hierarchy(path, ["Masters", "9th", "Doctorate"], "education")
    assert tree.leaves == ("Masters", "9th", "Doctorate")
    assert tree.labels[1] == ("Graduate", "High School")


def test_a_file_that_misses_a_leaf(shared_data: Path) -> None:
    path = shared_data / "adult" / "adult_hierarchy_sex.csv"
    message = _refusal(path, ["Female", "canary"])
    assert "1 of 2 distinct values" in message
    assert path.name in message


def test_leaf_order_is_the_order_of_the_file(shared_data: Path) -> None:
    order = leaf_order(shared_data / "adult" / "adult_hierarchy_age.csv")
    assert order == tuple(str(age) for age in range(1, 101))
