"""One contract for every constraint and budget."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.release.person_table import PersonTable, RegisterPersons, Values
from sfumato.release.promises import PROMISES
from sfumato.release.promises.promise import Budget, RegisterCells
from sfumato.risk.classes import ClassSummary
from sfumato.risk.population.cell_dispersion import Dispersion, ModelPrices

CONSTRAINTS = [
    sf.GBalance(0.5),
    sf.GBalance(0.8),
    sf.GBalance(k=3),
    sf.HAffiliation(0.5),
    sf.HAffiliation(l=3, attribute="b"),
    sf.KAnonymity(4),
    sf.PidKAnonymity(3),
    sf.LDiversity(2),
    sf.LDiversity(3, attribute="a"),
    sf.SharedCounts(2),
    sf.SharedCounts(3),
    sf.TCloseness(0.3),
    sf.TCloseness(0.5, attribute="b"),
    sf.TCloseness(0.25, distance="ordered"),
    sf.DeltaPresence(0.0, 0.4),
    sf.DeltaPresence(0.3, 0.6),
    sf.KMap(4).against(RegisterCells()),
]
FILE = np.array([4, 1, 3, 0, 2])
"""Records of the whole file with each value: for t-closeness the groups are part of it."""
by_name = pytest.mark.parametrize("constraint", CONSTRAINTS, ids=repr)


@st.composite
def groups(draw):
    """Persons of one class: records, values of two attributes, persons of a register alike."""
    person = st.tuples(
        st.integers(1, 6),
        st.frozensets(st.integers(0, 4), max_size=3),
        st.frozensets(st.integers(0, 4), min_size=1, max_size=3),
        st.integers(1, 4),
    )
    return draw(st.lists(person, min_size=1, max_size=12))


def person_table(group):
    sensitive = {}
    for place, name in ((1, "a"), (2, "b")):
        rows = [sorted(person[place]) for person in group]
        offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        values = np.concatenate([*rows, []]).astype(np.int32)
        counts = np.ones(len(values), dtype=np.int64)
        sensitive[name] = Values(offsets, values, counts, 5, FILE, np.arange(5, dtype=np.int32))
    records = np.array([person[0] for person in group], dtype=np.int64)
    return PersonTable(records, (), (), sensitive, register(group))


def register(group):
    """Everybody of the group with the others of the register who look the same."""
    everybody = sum(person[3] for person in group)
    same = np.zeros(everybody, dtype=np.int32)
    return RegisterPersons(everybody, same, same, np.zeros((1, 0), dtype=bool), (), ())


def keeps(constraint, group):
    """The promise in the words of its source, with fractions and sets."""
    stated = constraint.parameters()
    records = sum(person[0] for person in group)
    places = {"a": 1, "b": 2}
    if "attribute" in stated:
        places = {stated["attribute"]: places[stated["attribute"]]}
    having = [
        [sum(value in person[place] for person in group) for value in range(5)]
        for place in places.values()
    ]
    match constraint.name:
        case "g_balance":
            gini = 1 - sum(Fraction(person[0], records) ** 2 for person in group)
            return gini >= Fraction(stated["g"]) - Fraction(1, 10**8)
        case "h_affiliation":
            share = Fraction(max(max(each) for each in having), len(group))
            return share <= Fraction(stated["h"]) + Fraction(1, 10**8)
        case "k":
            return records >= stated["k"]
        case "pid_k":
            return len(group) >= stated["k"]
        case "l":
            return min(sum(count > 0 for count in each) for each in having) >= stated["l"]
        case "shared_counts":
            return min(Counter(person[0] for person in group).values()) >= stated["m"]
        case "t_closeness":
            far = [distance(each, stated.get("distance") == "ordered") for each in having]
            return max(far) <= Fraction(stated["t"]) + Fraction(1, 10**9)
        case "k_map":
            return sum(person[3] for person in group) >= stated["k"]
        case "presence":
            share = Fraction(len(group), sum(person[3] for person in group))
            return (
                Fraction(stated["low"]) - Fraction(1, 10**8)
                <= share
                <= Fraction(stated["high"]) + Fraction(1, 10**8)
            )
    raise AssertionError(constraint.name)


def distance(counts, ordered):
    """Li et al. 2007, Section 4, of the file's shares; every value is of one record here."""
    if not sum(counts):
        return 0
    apart = [
        Fraction(own, sum(counts)) - Fraction(file, sum(FILE.tolist()))
        for own, file in zip(counts, FILE.tolist(), strict=True)
    ]
    if ordered:
        return sum(abs(sum(apart[: place + 1])) for place in range(5)) / 4
    return sum(map(abs, apart)) / 2


@by_name
@given(group=groups())
def test_met_is_the_promise_in_words(constraint, group):
    assert bool(constraint.met(person_table(group).whole())[0]) == keeps(constraint, group)


@by_name
@given(group=groups(), other=groups())
def test_two_classes_that_keep_it_keep_it_together(constraint, group, other):
    """What lets a node stay whole, and classes that look the same become one."""
    both = keeps(constraint, group) and keeps(constraint, other)
    assert not both or constraint.met(person_table(group + other).whole())[0]


@by_name
@given(group=groups())
def test_offenders_go_until_the_promise_holds_or_nobody_can_help(constraint, group):
    left = list(group)
    while left and not keeps(constraint, left):
        offenders = constraint.offenders(person_table(left)).tolist()
        assert len(set(offenders)) == len(offenders)
        if not offenders:
            break
        left = [person for place, person in enumerate(left) if place not in offenders]
    if constraint.name in {"k", "pid_k", "l", "t_closeness"}:
        assert left == group
    if constraint.name == "presence":  # whoever goes was in the register
        assert len(left) == len(group) or not keeps(constraint, group)
    if constraint.name == "shared_counts":
        gone = len(group) - len(left)
        numbers = Counter(person[0] for person in group)
        assert gone == sum(sharing for sharing in numbers.values() if sharing < constraint.m)
    if constraint.name == "g_balance" and not keeps(constraint, left):
        heaviest_first = sorted(group, key=lambda person: -person[0])
        parts = (heaviest_first[start:] for start in range(len(group)))
        assert not any(keeps(constraint, part) for part in parts)


@by_name
def test_shortfall_names_the_number_asked_and_the_number_found(constraint):
    alone = person_table([(5, frozenset({1}), frozenset({1}), 1)])
    text = constraint.shortfall(alone.whole())
    assert text.startswith(constraint.name)
    assert text.endswith(".")
    if constraint.needs - {"fewest_sharing", "population"}:
        assert "column '" in text


@pytest.mark.parametrize("promise", [*CONSTRAINTS, sf.MarketerRisk(0.05)], ids=repr)
def test_parameters_make_it_again(promise):
    assert PROMISES[promise.name](**promise.parameters()) == promise


def test_thresholds_as_familiar_numbers():
    """Paper 003, Equations 3 and 6."""
    assert sf.GBalance(k=5).g == pytest.approx(0.8)
    assert sf.HAffiliation(l=3).h == pytest.approx(1 / 3)
    five_equal = person_table([(2, frozenset(), frozenset({1}), 1)] * 5)
    assert sf.GBalance(0.8).met(five_equal.whole())[0]


def test_marketer_risk_is_additive_over_classes():
    """Paper 004, Theorem 1 with n = N: lambda = J / n."""
    budget = sf.MarketerRisk(0.25)
    assert isinstance(budget, Budget)
    assert budget.limit(records=100, persons=40) == 10
    sizes = np.array([4, 9])
    assert budget.spent(ClassSummary(sizes, sizes, sizes, sizes)).tolist() == [1, 1]
    with pytest.raises(InputError):
        sf.MarketerRisk(1.5)


def test_marketer_risk_against_a_population():
    """Paper 004, Theorem 1: f/F per class; of a model that scatters much, for f = 1, it is Argus's.

    Argus has p ln(1/p) / (1 - p); the allowance is counted on top of it, up to certainty.
    """
    sizes = np.array([1, 4])
    classes = ClassSummary(sizes, sizes, sizes, sizes, population=np.array([5, 2]))
    counted = sf.MarketerRisk(0.25).against(RegisterCells())
    assert counted.spent(classes).tolist() == [1 / 5, 1]
    assert counted.limit(records=100, persons=40) == 10
    with pytest.raises(LookupError):
        counted.spent(ClassSummary(sizes, sizes, sizes, sizes))
    wide = Dispersion(1_000, level=-20.0, slope=0.0)
    estimated = sf.MarketerRisk(0.25).against(ModelPrices(100, 10_000, wide, 1.2)).spent(classes)
    assert estimated[0] == pytest.approx(1.2 * 0.1 * np.log(10) / 0.9, rel=1e-4)
    assert 0.1 < estimated[1] < estimated[0]
    certain = ModelPrices(100, 10_000, wide, 50.0).matches(sizes, np.array([5, 2]))
    assert certain.tolist() == [1, 1]
    assert counted.parameters() == {"tau": 0.25}


def test_the_population_in_the_cells_of_a_class():
    """Counted exactly; by a model F - f is Poisson with f's share of it, where nothing scatters."""
    sizes = np.array([1, 1, 4])
    classes = ClassSummary(sizes, sizes, sizes, sizes, population=np.array([1, 30, 2]))
    assert sf.KMap(2).met(classes).tolist() == [False, False, True]
    assert sf.PopulationUniques(0.5).spent(classes).tolist() == [1, 1, 0]
    register = RegisterCells()
    assert sf.KMap(4).against(register).met(classes).tolist() == [False, True, True]
    assert sf.PopulationUniques(0.5).against(register).spent(classes).tolist() == [1, 0, 0]
    with pytest.raises(LookupError):
        sf.KMap(4).against(register).met(ClassSummary(sizes, sizes, sizes, sizes))
    sharp = Dispersion(1_000, level=20.0, slope=0.0)
    for least in (1.0, 0.5):
        prices = ModelPrices(100, 10_000, sharp, 1.2, least, least_beside=least)
        others = 900 * np.array([1, 30, 2]) / 10_000 * least
        alone = sf.PopulationUniques(0.5).against(prices).spent(classes)
        assert alone == pytest.approx([*np.exp(-others[:2]), 0])
        fewer = np.exp(-others) * (1 + others) * [1, 1, 0]
        assert prices.smaller(3, sizes, classes.population) == pytest.approx(fewer, rel=1e-6)
        met = sf.KMap(3).against(prices).met(classes)
        assert met.tolist() == (fewer <= 0.05).tolist()


def test_delta_presence_refuses_what_it_cannot_mean():
    with pytest.raises(InputError):
        sf.DeltaPresence(0.6, 0.5)
    with pytest.raises(InputError):
        sf.DeltaPresence(0, 0)
    sizes = np.array([1])
    with pytest.raises(LookupError):
        sf.DeltaPresence(0, 0.5).met(ClassSummary(sizes, sizes, sizes, sizes))
