"""SKOS in Turtle: written and read without loss, and what is refused."""

from __future__ import annotations

import string
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.hierarchies import (
    CodeList,
    Hierarchy,
    build_hierarchy,
    interval_hierarchy,
    prefix_hierarchy,
    read_classification,
    read_hierarchy,
    read_skos,
    write_skos,
)
from sfumato.schema import IntervalHierarchy, PrefixHierarchy

pytest.importorskip("rdflib")

PREFIXES = (
    "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n@prefix : <http://example.org/c/> .\n"
)
LABELS = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), min_size=1, max_size=8
) | st.text(string.ascii_letters, min_size=1, max_size=2)


def same(one: Hierarchy, other: Hierarchy) -> bool:
    """Whether two hierarchies agree in everything."""
    return (
        one.leaves == other.leaves
        and one.labels == other.labels
        and one.floor == other.floor
        and np.array_equal(one.ancestors, other.ancestors)
    )


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    """Any hierarchy: ragged, labels repeated over levels and branches, positions in any order."""
    leaves = draw(st.lists(LABELS, min_size=1, max_size=8, unique=True))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = [leaves]
    for _ in range(draw(st.integers(0, 3))):
        below = sorted(set(columns[-1]))
        fresh = draw(st.lists(LABELS, min_size=len(below), max_size=len(below), unique=True))
        above: dict[str, str] = {}
        for place, label in enumerate(below):
            kept = rng.random() < 0.4 and label not in above.values()
            above[label] = label if kept else fresh[int(rng.integers(0, place + 1))]
        columns.append([above[label] for label in columns[-1]])
    made = Hierarchy.from_columns(columns, "test")
    order = [rng.permutation(len(labels)) for labels in made.labels]
    order[0] = np.arange(len(leaves))
    labels, ancestors = [], []
    for level, moved in enumerate(order):
        place = np.argsort(moved).astype(np.int32)
        labels.append(tuple(made.labels[level][index] for index in moved))
        ancestors.append(place[made.ancestors[level]])
    return Hierarchy(
        labels[0], tuple(labels), np.stack(ancestors), int(rng.integers(0, made.height + 1))
    )


@given(hierarchies(), st.dictionaries(LABELS, LABELS, max_size=4), st.booleans())
def test_nothing_is_lost(
    tmp_path_factory: pytest.TempPathFactory, tree: Hierarchy, names: dict[str, str], own: bool
) -> None:
    path = tmp_path_factory.mktemp("skos") / "codes.ttl"
    if own:
        names = {**names, tree.leaves[0]: "a name of its own"}
    codes = CodeList(tree, names)
    write_skos(codes, path)
    found = read_skos(path)
    assert same(found.hierarchy, tree)
    assert found.names == codes.names


def test_classifications_dates_and_icd_9_come_back(shared_data: Path, tmp_path: Path) -> None:
    path = tmp_path / "codes.ttl"
    for name in ("ascl", "ascceg"):
        codes = read_classification(shared_data / "classifications" / f"{name}.csv")
        write_skos(codes, path)
        found = read_skos(path)
        assert same(found.hierarchy, codes.hierarchy)
        assert found.names == codes.names
    assert found.named("6101") == "6101 Chinese"
    icd = prefix_hierarchy(
        PrefixHierarchy(lengths=(3,), groups=("240-279", "V01-V91")),
        ["250.1", "250.2", "V27", "999"],
        "icd9",
    )
    dates = interval_hierarchy(
        IntervalHierarchy(widths=("month", "year")), ["2008-01-03", "2008-02-01"], "day"
    )
    for tree in (icd, dates):
        write_skos(tree, path)
        assert same(read_skos(path).hierarchy, tree)


def _file(folder: Path, text: str) -> Path:
    path = folder / "codes.ttl"
    path.write_text(PREFIXES + text, encoding="utf-8")
    return path


def test_a_file_of_somebody_else_is_read_from_the_top(tmp_path: Path) -> None:
    path = _file(
        tmp_path,
        ":s a skos:ConceptScheme .\n"
        ':7104 a skos:Concept ; skos:inScheme :s ; skos:notation "7104" ;'
        ' skos:prefLabel "Mandarin"@en, "Mandarin (zh)"@zh ; skos:broader :71 .\n'
        ':71 a skos:Concept ; skos:notation "71" ; skos:prefLabel "Chinese"@en ;'
        " skos:narrower :7101 .\n"
        ':7101 a skos:Concept ; skos:notation "7101" ; skos:prefLabel "Cantonese" .\n'
        ':0000 a skos:Concept ; skos:notation "0000" .\n',
    )
    codes = read_skos(path)
    assert codes.hierarchy.leaves == ("0000", "7101", "7104")
    assert codes.hierarchy.labels == (("0000", "7101", "7104"), ("0000", "71"), ("*",))
    assert codes.names == {"7104": "Mandarin", "7101": "Cantonese", "71": "Chinese"}
    assert read_skos(path, language="zh").named("7104") == "7104 Mandarin (zh)"
    assert build_hierarchy(path, ["7104"], "language").labels == (("7104",), ("71",), ("*",))
    assert read_hierarchy(path).height == 2
    with pytest.raises(InputError, match="1 of 1 distinct values without a leaf"):
        build_hierarchy(path, ["9999"], "language")


def test_one_top_concept_is_the_root(tmp_path: Path) -> None:
    path = _file(tmp_path, f'{A} ; skos:broader :all .\n:all skos:prefLabel "all" .')
    assert read_skos(path).hierarchy.labels == (("a",), ("all",))


A = ':a a skos:Concept ; skos:notation "a"'
B = ':b a skos:Concept ; skos:notation "b"'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'{A} ; skos:broader :b, :c .\n{B} .\n:c skos:notation "c" .', "several of 'a'"),
        (f"{A} ; skos:broader :b .\n{B} ; skos:broader :a .", "a cycle through 'a'"),
        (f"{A} ; skos:broader :a .", "a cycle through 'a'"),
        (f'{A} .\n:b a skos:Concept ; skos:notation "a" .', "several concepts that show 'a'"),
        (f"{A} ; skos:broader :nowhere .", "neither at 'nowhere'"),
        (f'{A}, "b" .', "2 of 'a'"),
        ("", "must have concepts"),
        (f"{A} ; ; .\n:s a skos:ConceptScheme .\n:t a skos:ConceptScheme .", "2 schemes"),
        (f"{A}\n\n{B} .", "an error in line"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        read_skos(_file(tmp_path, text))
    assert "codes.ttl" in str(caught.value)


def test_one_of_several_schemes_is_read(tmp_path: Path) -> None:
    path = _file(
        tmp_path,
        ":s a skos:ConceptScheme .\n:t a skos:ConceptScheme .\n"
        f"{A} ; skos:inScheme :s .\n{B} ; skos:inScheme :t .",
    )
    assert read_skos(path, scheme="http://example.org/c/t").hierarchy.leaves == ("b",)
    with pytest.raises(InputError, match="scheme that is asked for"):
        read_skos(path, scheme="http://example.org/c/u")


def test_places_that_contradict_the_links_are_refused(tmp_path: Path) -> None:
    tree = Hierarchy.from_columns([["a", "b"], ["g", "h"], ["*", "*"]], "test")
    path = tmp_path / "codes.ttl"
    write_skos(tree, path)
    text = path.read_text(encoding="utf-8")
    for old, new, said in (
        ('"0/0"', '"0/1"', "others at"),
        ('"0/0"', '"0/7"', "gap at level 0"),
        ('"1/0"', '"here"', "others at"),
        ("skos:broader <urn:sfumato:codes:code:g>", 'skos:note ""', "others at 'a'"),
    ):
        path.write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(InputError, match=said):
            read_skos(path)


def test_a_missing_package_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "rdflib", None)
    with pytest.raises(InputError, match=r"pip install .*\[semantics\]"):
        read_skos(_file(tmp_path, A + " ."))
