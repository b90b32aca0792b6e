"""Anonymity sets of the index are those of the naive twin, and keep the rules of the paper."""

import pyarrow as pa
import pytest
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.anonymity_sets import Naive

from sfumato.core.errors import InputError
from sfumato.review import anonymity_index
from sfumato.review.anonymity_database import Database
from sfumato.review.anonymity_index import Index
from sfumato.review.review_settings import Attribute, AttributeKind, DateOrder, Policy, Seen

ATTRIBUTES = (
    Attribute(name="given", kind=AttributeKind.VARIABLE, rarity=True),
    Attribute(name="number", kind=AttributeKind.FIXED, case_sensitive=True, accent_sensitive=True),
    Attribute(name="born", kind=AttributeKind.DATE, date_order=DateOrder.DAY_MONTH_YEAR),
    Attribute(name="sex", kind=AttributeKind.CATEGORY),
)
TEXTS = (
    st.text("abA é\u0301", max_size=4),
    st.text("01aA", max_size=3),
    st.sampled_from(
        ["1990-01-02", "02/01/1990", "1990-02-01", "1990", "no date", " ", "1991-01-02"]
    ),
    st.sampled_from(["f", "F", "m", "other", ""]),
)


@st.composite
def databases(draw):
    """Columns of a small database, with missing values."""
    count = draw(st.integers(1, 12))
    return [draw(st.lists(st.none() | texts, min_size=count, max_size=count)) for texts in TEXTS]


def seen_of(draw, value, counts):
    """What may be seen of a value; an identity mark only of one that occurs twice."""
    missingness, length, rarity, twice = (draw(st.booleans()) for _ in range(4))
    places = range(len(value.characters)) if value is not None else ()
    return Seen(
        missingness,
        length,
        rarity,
        twice and value is not None and counts[value.folded] > 1,
        frozenset(place for place in places if draw(st.booleans())),
    )


@st.composite
def questions(draw):
    """A database, one of its records, what is known of it, and what could be opened next."""
    columns = draw(databases())
    naive = Naive.of(ATTRIBUTES, columns, 2, 3)
    record = draw(st.integers(0, len(naive.rows) - 1))
    known, more = (
        tuple(map(seen_of, [draw] * 4, naive.rows[record], naive.counts)) for _ in range(2)
    )
    whole = Seen(missingness=True, length=True)
    if draw(st.booleans()):
        value = naive.rows[record][0]
        places = frozenset(range(len(value.characters))) if value is not None else frozenset()
        known = (known[0] | whole | Seen(positions=places), *known[1:])
    opened = {place: each for place, each in enumerate(more) if draw(st.booleans())}
    places = st.none() | st.frozensets(st.integers(0, 4), max_size=3)
    groups = draw(st.dictionaries(st.integers(0, len(ATTRIBUTES) - 1), places))
    policy = draw(st.sampled_from(Policy))
    return columns, naive, record, known, opened, groups, policy


def index_of(columns):
    return Index.build(Database.of(ATTRIBUTES, columns, 2, 3))


@pytest.mark.parametrize(
    ("few", "few_values", "tallied"),
    [(0, 1, 0), (0, 1, 99), (0, 99, 99), (3, 1, 0), (99, 99, 99)],
)
def test_index_answers_as_the_naive_twin_does(few, few_values, tallied, monkeypatch):
    monkeypatch.setattr(anonymity_index, "FEW", few)
    monkeypatch.setattr(anonymity_index, "TALLIED", tallied)
    monkeypatch.setattr(anonymity_index, "_WORTH_A_LOOK", few)
    monkeypatch.setattr(anonymity_index, "FEW_VALUES", few_values)

    @given(questions())
    @settings(max_examples=examples(40), deadline=None)
    def agrees(question):
        columns, naive, record, known, opened, groups, policy = question
        index = index_of(columns)
        database = index.database
        assert [database.values(each) for each in range(database.count)] == list(naive.rows)
        for attribute in range(len(ATTRIBUTES)):
            assert database.rarity(record, attribute) is naive.rarity(record, attribute)
        members = index.members(record, known, policy)
        expected = naive.members(record, known, policy)
        assert list(members) == expected
        assert record in members
        assert index.size_after(members, record, opened, policy) == naive.size_after(
            expected, record, opened, policy
        )
        again = Index.from_bytes(index.to_bytes())
        assert again.members(record, known, policy) == members
        assert index.least(members, groups) == naive.least(expected, groups)
        assert list(members) == expected, "asking must not change the set"

    agrees()


def test_order_of_records_and_more_knowledge():
    """The order of records changes no size, and more knowledge never widens a set."""

    @given(questions(), st.randoms(use_true_random=False))
    @settings(max_examples=examples(40), deadline=None)
    def holds(question, random):
        columns, _, record, known, opened, groups, policy = question
        index = index_of(columns)
        members = index.members(record, known, policy)
        order = list(range(index.database.count))
        random.shuffle(order)
        again = index_of([[column[each] for each in order] for column in columns])
        moved = order.index(record)
        sets = again.members(moved, known, policy)
        assert sorted(order[each] for each in sets) == list(members)
        assert again.least(sets, groups) == index.least(members, groups)
        union = tuple(seen | opened.get(place, Seen()) for place, seen in enumerate(known))
        narrowed = index.members(record, union, policy)
        assert narrowed <= members
        assert index.size_after(members, record, opened, policy) == len(narrowed)
        assert index.least(members, {}) == len(members)
        wider = {place: each for place, each in groups.items() if place}
        assert index.least(members, groups) <= index.least(members, wider)

    holds()


def test_least_is_never_above_what_opening_leaves():
    """The smallest group is no larger than the set that the opening leaves (the cost bound)."""

    @given(questions())
    @settings(max_examples=examples(40), deadline=None)
    def holds(question):
        columns, naive, record, known, _, _, policy = question
        index = index_of(columns)
        members = index.members(record, known, policy)
        for place, value in enumerate(naive.rows[record]):
            if value is None:
                continue
            every = frozenset(range(len(value.characters)))
            full = Seen(missingness=True, length=True, positions=every)
            assert index.least(members, {place: None}) <= index.size_after(
                members, record, {place: full}, policy
            )
            part = Seen(positions=frozenset(sorted(every)[:1]))
            assert index.least(members, {place: part.positions}) <= index.size_after(
                members, record, {place: part}, policy
            )

    holds()


def test_value_shown_beside_itself_has_no_twin():
    """The identity mark says that a value occurs twice: one that does not is in no set."""
    index = Index.build(Database.of(ATTRIBUTES[:1], [["Ann", "Bob", "bob"]]))
    full = Seen(missingness=True, length=True, twice=True, positions=frozenset(range(3)))
    assert list(index.members(0, (full,))) == []
    assert list(index.members(1, (full,))) == [1]
    assert list(index.members(1, (Seen(twice=True),))) == [1, 2]


@pytest.mark.parametrize(
    "columns",
    [[], [["a"]] * 3, [["a"], ["b", "c"], ["1990-01-01"], ["f"]], [[], [], [], []]],
    ids=["none", "too few", "lengths differ", "no record"],
)
def test_columns_must_fit(columns):
    with pytest.raises(InputError):
        Database.of(ATTRIBUTES, columns)


def test_column_without_text_is_refused_without_its_values():
    with pytest.raises(InputError) as error:
        Database.of(ATTRIBUTES[:1], [["Ann", 4711]])
    assert "4711" not in str(error.value)
    assert "'given'" in str(error.value)


@pytest.mark.parametrize("damage", [lambda b: b[1:], lambda b: b[:-1], lambda b: b[:60]])
def test_damaged_index_is_refused(damage):
    data = index_of([["Ann"], ["1"], ["1990-01-02"], ["f"]]).to_bytes()
    with pytest.raises(InputError):
        Index.from_bytes(damage(data))


def test_arrow_columns_are_those_of_texts():
    dates = pa.array([0, None, 400], pa.date32())
    names = pa.chunked_array([["Ann"], ["Émile", None]]).dictionary_encode()
    database = Database.of((ATTRIBUTES[2], ATTRIBUTES[0]), [dates, names])
    texts = [["1970-01-01", None, "1971-02-05"], ["Ann", "Émile", None]]
    naive = Naive.of((ATTRIBUTES[2], ATTRIBUTES[0]), texts)
    assert [database.values(each) for each in range(3)] == list(naive.rows)
