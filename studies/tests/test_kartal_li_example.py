"""The worked example of paper 003 (Kartal and Li 2020, JAIS 21(6), 1461-1485), exactly."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import pytest
from oracles.close import close
from studies import STUDIES, Study, kartal_li_2020
from studies.kartal_li.kartal_li_example import THRESHOLDS, Example, walk

from sfumato.release.person_table import person_table
from sfumato.release.tree import grow

TABLE_6B = """
A 84-86 Female 20090-20375 Asthma
A 84-86 Female 20090-20375 Reflux
D 84-86 Female 20090-20375 Ulcer
D 84-86 Female 20090-20375 Gastritis
B 78-85 Male 20090-20420 Reflux
E 78-85 Male 20090-20420 Pneumonia
E 78-85 Male 20090-20420 Gastritis
F 78-85 Male 20090-20420 Pneumonia
G 78-85 Male 20090-20420 Ulcer
C 69-76 Male 20048-20400 Pneumonia
C 69-76 Male 20048-20400 Pneumonia
C 69-76 Male 20048-20400 Pneumonia
C 69-76 Male 20048-20400 Gastritis
C 69-76 Male 20048-20400 Gastritis
H 69-76 Male 20048-20400 Asthma
H 69-76 Male 20048-20400 Bronchitis
H 69-76 Male 20048-20400 Asthma
H 69-76 Male 20048-20400 Ulcer
H 69-76 Male 20048-20400 Ulcer
"""


@pytest.fixture(scope="module")
def study() -> Study:
    return kartal_li_2020()


def records(study: Study, name: str) -> list[dict]:
    return study.grid(name).records()


def test_it_is_known_by_its_name() -> None:
    assert STUDIES["kartal-li-2020"] is kartal_li_2020


def test_tables_1_and_2_together_are_table_3a(study: Study) -> None:
    """Tables 1 and 2: 9 and 10 records; Table 3a: 19 records by patient."""
    first, second = records(study, "table_1"), records(study, "table_2")
    assert [each["admission_no"] for each in first] == list(range(1001, 1010))
    assert [each["admission_no"] for each in second] == list(range(2001, 2011))
    both = sorted(first + second, key=lambda each: (each["name"], each["admission_no"]))
    assert records(study, "table_3a") == both
    assert both == Example().source.to_pylist()


def test_table_3b(study: Study) -> None:
    """Table 3b and Section 2: the released cells; k = 3; 100 %, 5/7; 66.7 % have ulcers."""
    rows = records(study, "table_3b")
    assert [(row["age"], row["gender"], row["zip"]) for row in rows] == [
        ("85-86", "*", "20375"),
        ("69-71", "Male", "20048"),
        ("84", "*", "20090"),
        ("74-78", "Male", "20400-20420"),
    ]
    assert [row["records"] for row in rows] == [3, 5, 4, 7]
    assert [row["persons"] for row in rows] == [2, 1, 2, 3]
    assert [row["gidr"] for row in rows] == pytest.approx([2 / 3, 1, 1 / 2, 5 / 7])
    assert [row["h"] for row in rows] == pytest.approx([1, 1, 1, 2 / 3])
    assert [row["g"] for row in rows] == pytest.approx([4 / 9, 0, 1 / 2, 22 / 49])
    for row in rows[1:]:
        assert row["gidr"] == pytest.approx(row["gidr_published"])
        assert row["h"] == pytest.approx(row["h_published"], abs=5e-4)


def test_table_4(study: Study) -> None:
    """Table 4: group 3 has three diseases, and gastritis in both patients."""
    rows = [tuple(record.values()) for record in records(study, "table_4")]
    assert rows == [
        ("D", "84", "*", "20090", "Ulcer"),
        ("D", "84", "*", "20090", "Gastritis"),
        ("E", "84", "*", "20090", "Pneumonia"),
        ("E", "84", "*", "20090", "Gastritis"),
    ]
    assert records(study, "table_3b")[2]["distinct"] == 3


def test_the_first_cut(study: Study) -> None:
    """Sections 4 and 5: Δg 0.1252, 0.1802; v 0.1662, 0.1202, 0.1959; r 0.753, 0.920.

    Age is 0.17082 and 1.421; the paper prints 0.1707 and 1.420, rounded on the way.
    """
    rows = {record["attribute"]: record for record in records(study, "first_cut")}
    assert list(rows) == ["gender", "zip", "age"]
    for name in ("gender", "zip"):
        assert round(rows[name]["g_change"], 4) == rows[name]["g_change_published"]
        assert round(rows[name]["ratio"], 3) == rows[name]["ratio_published"]
    for row in rows.values():
        assert round(row["variance"], 4) == row["variance_published"]
    age = rows["age"]
    assert (age["g_change_published"], age["ratio_published"]) == (0.1707, 1.420)
    assert round(age["g_change"], 5) == 0.17082
    assert round(age["ratio"], 3) == 1.421


def g_of(*counts: int) -> Fraction:
    return 1 - sum(Fraction(count, sum(counts)) ** 2 for count in counts)


def test_the_first_cut_in_fractions(study: Study) -> None:
    """Equation 4 by hand; persons in the order of Table 3a have 2, 1, 5, 2, 2, 1, 1, 5 records."""
    whole = g_of(2, 1, 5, 2, 2, 1, 1, 5)
    exact = {
        "gender": whole - Fraction(4, 19) * g_of(2, 2) - Fraction(15, 19) * g_of(1, 5, 2, 1, 1, 5),
        "age": whole - Fraction(10, 19) * g_of(5, 5) - Fraction(9, 19) * g_of(2, 1, 2, 2, 1, 1),
        "zip": whole - Fraction(10, 19) * g_of(5, 2, 2, 1) - Fraction(9, 19) * g_of(2, 1, 1, 5),
    }
    for record in records(study, "first_cut"):
        assert record["g_change"] == close(float(exact[record["attribute"]]), float(whole))


def test_figure_2(study: Study) -> None:
    """Figure 2 and Sections 4 and 5: g 0.82, 0.5, 0.747; h 0.375, 0.5; two cuts."""
    nodes = {record["node"]: record for record in records(study, "figure_2")}
    assert {name: node["persons"] for name, node in nodes.items()} == {
        "D": "Ashley, Bob, Charlie, Diana, Edward, Fred, Greg, Harry",
        "t1": "Ashley, Diana",
        "t2": "Bob, Charlie, Edward, Fred, Greg, Harry",
        "t21": "Charlie, Harry",
        "t22": "Bob, Edward, Fred, Greg",
    }
    assert [node["cut_by"] for node in nodes.values()] == [
        "gender",
        "final",
        "age",
        "final",
        "final",
    ]
    assert [node["g"] for node in nodes.values()] == pytest.approx(
        [1 - 65 / 361, 1 / 2, 1 - 57 / 225, 1 / 2, 0.72]
    )
    assert [node["h"] for node in nodes.values()] == [0.375, 0.5, 0.5, 0.5, 0.5]
    for node in nodes.values():
        assert node["g"] == pytest.approx(node["g_published"], abs=5e-4)
        assert node["h"] == node["h_published"]


def test_cuts_that_break_a_promise_are_undone(study: Study) -> None:
    """Section 5: t1, t21 and t22 cannot be split further."""
    by_node = defaultdict(list)
    for record in records(study, "cuts"):
        by_node[record["node"]].append((record["attribute"], record["outcome"]))
        assert (record["g"] >= 0.5 and record["h"] <= 0.5) or record["outcome"] != "cut"
        assert (record["g"] < 0.5 or record["h"] > 0.5) or record["outcome"] != "undone"
    assert by_node == {
        "D": [("gender", "cut"), ("zip", "not tried"), ("age", "not tried")],
        "t1": [("zip", "undone"), ("age", "undone")],
        "t2": [("zip", "undone"), ("age", "cut")],
        "t21": [("zip", "undone"), ("age", "undone")],
        "t22": [("zip", "undone"), ("age", "undone")],
    }


def test_the_nodes_shown_are_those_of_the_tree() -> None:
    example = Example()
    partition = grow(person_table(example.table), THRESHOLDS)
    classes = partition.class_of_person[example.table.person]
    finals = [node.rows for node in walk(example.table, THRESHOLDS) if node.cut_by is None]
    assert len(finals) == partition.classes
    assert sorted(sorted(rows.tolist()) for rows in finals) == sorted(
        [row for row in range(19) if classes[row] == index] for index in range(partition.classes)
    )


def test_table_6b(study: Study) -> None:
    """Table 6b: every cell, and the g and h that Section 5 gives (0.5, 0.72, 0.5; 0.5)."""
    rows = [" ".join(record.values()) for record in records(study, "table_6b")]
    assert rows == TABLE_6B.strip().splitlines()
    groups = records(study, "table_6b_groups")
    assert [group["persons"] for group in groups] == [
        "Ashley, Diana",
        "Bob, Edward, Fred, Greg",
        "Charlie, Harry",
    ]
    assert [group["g"] for group in groups] == pytest.approx([0.5, 0.72, 0.5])
    assert [group["h"] for group in groups] == [0.5, 0.5, 0.5]
    assert [group["g_published"] for group in groups] == [0.5, 0.72, 0.5]


def test_without_data_it_says_what_data_adds(study: Study) -> None:
    said = study.to_markdown()
    assert "With `--data DIR` this study also computes what DIR has the files for" in said
    for words in ("Tables 7, 10, 13 and 16", "Tables 8, 11, 14 and 17", "u.user", "trans.asc"):
        assert words in said
    assert list(study.drawings) == ["worked_example"]
