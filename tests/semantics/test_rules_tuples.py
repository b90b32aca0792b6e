"""Rules 5 to 7 over the tuples of a release."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from semantics.policies import example

from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import Association, Item, Shown, State
from sfumato.semantics.policy_terms import Treatment
from sfumato.semantics.rules.derivation import Requirements, derive
from sfumato.semantics.rules.rule_facts import ItemSets

LANGUAGE = Hierarchy.from_columns(
    [
        ["7104 Mandarin", "7101 Cantonese", "7301 Korean", "2201 Greek"],
        ["71 Chinese", "71 Chinese", "73 Other", "22 Greek"],
        ["7 Eastern", "7 Eastern", "7 Eastern", "2 Southern"],
    ],
    "language",
)
ETHNICITY = Hierarchy.from_columns(
    [
        ["6101 Chinese", "6102 Mongolian", "6201 Japanese", "3205 Greek"],
        ["61 Chinese Asia", "61 Chinese Asia", "62 Japan", "32 Southern Europe"],
        ["6 Asia", "6 Asia", "6 Asia", "3 Europe"],
    ],
    "ethnicity",
)
HIERARCHIES = {"language": LANGUAGE, "ethnicity": ETHNICITY}


def item(attribute: str, level: int, label: str) -> Item:
    return Item(attribute, level, HIERARCHIES[attribute].labels[level].index(label))


def association(*items: Item, state: State = State.ACCEPTED) -> Association:
    return Association(items[:-1], items[-1], 0.1, 0.9, state)


MANDARIN = item("language", 0, "7104 Mandarin")
CHINESE = item("ethnicity", 0, "6101 Chinese")
RISKY = association(MANDARIN, CHINESE)


def shown(*rows: tuple[str, int, str, int]) -> Shown:
    """Tuples: leaf and level of the language, leaf and level of the ethnicity."""
    codes = [[LANGUAGE.positions[row[0]], ETHNICITY.positions[row[2]]] for row in rows]
    levels = [[row[1], row[3]] for row in rows]
    return Shown(
        HIERARCHIES,
        np.array(codes, dtype=np.int32),
        np.array(levels, dtype=np.int8),
        np.ones(len(rows), dtype=np.int64),
    )


ROWS = shown(
    ("7104 Mandarin", 0, "6101 Chinese", 2),
    ("7104 Mandarin", 1, "6101 Chinese", 2),
    ("7104 Mandarin", 0, "6101 Chinese", 0),
    ("7104 Mandarin", 0, "3205 Greek", 2),
    ("7104 Mandarin", 0, "6201 Japanese", 3),
    ("7301 Korean", 0, "6101 Chinese", 2),
)


def enforced(required: Requirements, count: int) -> list[list[tuple[Treatment, int]]]:
    return [
        [(each.measure, each.association) for each in required.enforcements.of(number)]
        for number in range(count)
    ]


def test_mandarin_is_generalised_where_it_would_tell_chinese() -> None:
    required = derive(example(), "diabetes", shown=ROWS, associations=[RISKY])
    done = [(Treatment.GENERALISE, 1)]
    assert enforced(required, 6) == [done, [], [], [], done, []]
    assert required.enforcements.of(0)[0].regarding == (MANDARIN,)
    assert required.enforcements.tuples().tolist() == [0, 4]


def test_an_association_at_a_higher_level_holds_below_it() -> None:
    chinese = item("language", 1, "71 Chinese")
    risky = association(chinese, item("ethnicity", 1, "61 Chinese Asia"))
    required = derive(example(), "diabetes", shown=ROWS, associations=[risky])
    done = [(Treatment.GENERALISE, 1)]
    assert enforced(required, 6) == [done, done, [], [], done, []]
    assert required.enforcements.of(0)[0].regarding == (chinese,)


@pytest.mark.parametrize("state", [State.PROPOSED, State.REJECTED])
def test_only_accepted_associations_count(state: State) -> None:
    risky = association(MANDARIN, CHINESE, state=state)
    required = derive(example(), "diabetes", shown=ROWS, associations=[risky, RISKY])
    assert enforced(required, 1) == [[(Treatment.GENERALISE, 2)]]
    alone = derive(example(), "diabetes", shown=ROWS, associations=[risky])
    assert enforced(alone, 6) == [[]] * 6


def test_the_policys_measure_is_enforced_and_a_site_can_ask_for_more(tmp_path: Path) -> None:
    required = derive(example(measure="suppress"), "diabetes", shown=ROWS, associations=[RISKY])
    assert required.enforcements.of(0)[0].measure is Treatment.SUPPRESS
    site = tmp_path / "site.lp"
    site.write_text(
        "% Mandarin is always suppressed.\n"
        'enforce(suppress, Ar) :- antecedent_of(item("language",0,"7104 Mandarin"), Ar).\n'
    )
    changed = derive(example(), "diabetes", shown=ROWS, associations=[RISKY], rules=[site])
    assert changed.enforcements.of(0)[0].measure is Treatment.SUPPRESS
    said = "\n".join(line for why in changed.explain_tuple(0) for line in why.lines())
    assert "site.lp, line 2: Mandarin is always suppressed." in said


def test_a_site_can_speak_about_values_that_no_association_has(tmp_path: Path) -> None:
    site = tmp_path / "site.lp"
    site.write_text(
        'refuse(R, "no Korean") :- request(R), has_tuple(_, T),'
        ' shows(T, item("language",0,"7301 Korean")).\n'
    )
    required = derive(example(), "diabetes", shown=ROWS, rules=[site])
    assert required.refused == ("no Korean",)


def test_a_measure_that_there_is_not_is_refused(tmp_path: Path) -> None:
    site = tmp_path / "site.lp"
    site.write_text("enforce(hide, Ar) :- association_rule(Ar).\n")
    with pytest.raises(InputError, match="a measure that there is"):
        derive(example(), "diabetes", shown=ROWS, associations=[RISKY], rules=[site])


def test_every_enforcement_is_explained() -> None:
    required = derive(example(), "diabetes", shown=ROWS, associations=[RISKY])
    whys = required.explain_tuple(0)
    titles = {title[:6] for why in whys for _, _, title in why.rules()}
    assert {"Rule 5", "Rule 6", "Rule 7"} <= titles
    text = "\n".join(line for why in whys for line in why.lines())
    assert "association 1 leads to ethnicity 6101 Chinese" in text
    assert "ethnicity 6101 Chinese lies below ethnicity 6 Asia" in text
    assert required.explain_tuple(1) == ()


def test_an_association_of_another_release_is_refused() -> None:
    for bad in (Item("language", 9, 0), Item("language", 0, 99), Item("shoe", 0, 0)):
        with pytest.raises(InputError, match="association 1 must speak about"):
            derive(example(), "diabetes", shown=ROWS, associations=[association(bad, CHINESE)])


def leaves_of(one: Item) -> frozenset[int]:
    ancestors = HIERARCHIES[one.attribute].ancestors[one.level]
    return frozenset(np.flatnonzero(ancestors == one.label).tolist())


def naive(release: Shown, number: int, associations: list[Association]) -> set[int]:
    """The associations from which a reader of one tuple infers more than it shows.

    A value that is missing says nothing below the root, where it shows as missing, and as much as
    every other at the root.
    """
    cells = {}
    for column, (name, hierarchy) in enumerate(HIERARCHIES.items()):
        level, code = int(release.levels[number, column]), int(release.codes[number, column])
        if code >= 0 or level == hierarchy.height:
            cells[name] = leaves_of(Item(name, level, int(hierarchy.ancestors[level, code])))
    told = list(cells.items())
    fired: set[int] = set()
    while True:
        before = len(fired)
        for place, each in enumerate(associations, 1):
            met = all(
                any(name == one.attribute and leaves <= leaves_of(one) for name, leaves in told)
                for one in each.antecedent
            )
            leads = each.consequent.attribute
            if met and leads in cells and leaves_of(each.consequent) < cells[leads]:
                fired.add(place)
                told.append((leads, leaves_of(each.consequent)))
        if len(fired) == before:
            return fired


items = st.sampled_from(list(HIERARCHIES)).flatmap(
    lambda name: st.integers(0, HIERARCHIES[name].height).flatmap(
        lambda level: st.builds(
            Item,
            st.just(name),
            st.just(level),
            st.integers(0, len(HIERARCHIES[name].labels[level]) - 1),
        )
    )
)
pairs = st.tuples(items, items).filter(lambda pair: pair[0].attribute != pair[1].attribute)
cells = st.tuples(st.integers(-1, 3), st.integers(0, 3), st.integers(-1, 3), st.integers(0, 3))


@given(st.lists(pairs, max_size=6), st.lists(cells, min_size=1, max_size=8))
@settings(max_examples=examples(25))
def test_the_rules_find_what_a_naive_reader_infers(
    tmp_path: Path, drawn: list[tuple[Item, Item]], rows: list[tuple[int, int, int, int]]
) -> None:
    associations = [association(*pair) for pair in drawn]
    table = np.array(rows)
    release = Shown(
        HIERARCHIES,
        table[:, [0, 2]].astype(np.int32),
        table[:, [1, 3]].astype(np.int8),
        np.ones(len(rows), dtype=np.int64),
    )
    required = derive(example(), "diabetes", shown=release, associations=associations)
    site = tmp_path / "site.lp"
    site.write_text("seen(T) :- has_tuple(_, T).\n")
    whole = derive(example(), "diabetes", shown=release, associations=associations, rules=[site])
    for number in range(len(rows)):
        found = required.enforcements.of(number)
        assert found == whole.enforcements.of(number)
        assert {each.association for each in found} == naive(release, number, associations)
        for each in found:
            assert each.regarding


def test_a_ragged_hierarchy_has_each_value_once() -> None:
    ragged = ItemSets(
        Hierarchy.from_columns([["a", "b", "c"], ["a", "bc", "bc"], ["a", "bc", "bc"]], "x")
    )
    assert ragged.lowest(Item("x", 2, 0)) == Item("x", 0, 0)
    assert ragged.lowest(Item("x", 2, 1)) == Item("x", 1, 1)
    assert ragged.ancestors(Item("x", 1, 1)) == [Item("x", 3, 0)]


def tree(leaves: int, *widths: int) -> Hierarchy:
    columns = [[f"leaf {number}" for number in range(leaves)]]
    columns += [[f"{width}: {number // width}" for number in range(leaves)] for width in widths]
    return Hierarchy.from_columns(columns, "tree")


def test_fifty_thousand_tuples_and_two_hundred_associations_take_seconds() -> None:
    rng = np.random.default_rng(1)
    trees = {
        "birth": tree(90, 5, 10, 30),
        "sex": tree(2),
        "ethnicity": tree(280, 10, 40),
        "language": tree(430, 10, 40),
        "postcode": tree(2000, 10, 100),
    }
    count = 50_000
    codes = np.stack([rng.integers(0, len(each.leaves), count) for each in trees.values()], 1)
    levels = np.stack([rng.choice([0, 1, 2], count, p=[0.6, 0.3, 0.1]) for _ in trees], 1)
    levels = np.minimum(levels, [each.height for each in trees.values()])
    associations = [
        Association(
            (Item("language", 0, int(language)), Item("postcode", 1, int(postcode)))[: 1 + both],
            Item("ethnicity", 0, int(ethnicity)),
            0.01,
            0.9,
            State.ACCEPTED,
        )
        for language, postcode, ethnicity, both in zip(
            rng.integers(0, 430, 200),
            rng.integers(0, 200, 200),
            rng.integers(0, 280, 200),
            rng.integers(0, 2, 200),
            strict=True,
        )
    ]
    release = Shown(
        trees, codes.astype(np.int32), levels.astype(np.int8), np.ones(count, dtype=np.int64)
    )
    started = time.process_time()
    required = derive(example(), "diabetes", shown=release, associations=associations)
    took = time.process_time() - started
    print(f"{took:.1f} s, {len(required.enforcements.cases)} cases")
    assert len(required.enforcements.tuples())
    assert took < 20
