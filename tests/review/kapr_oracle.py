"""A review worked out from scratch in plain Python, and small random reviews to try it on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations

from hypothesis import strategies as st

from sfumato.review.anonymity_database import Database
from sfumato.review.anonymity_index import Index
from sfumato.review.disclosure_account import Review
from sfumato.review.pair_rendering import compare_pair, seen, share, shown
from sfumato.review.pair_rendering import disclosed as places_of
from sfumato.review.review_settings import (
    Attribute,
    AttributeKind,
    Costs,
    DateOrder,
    Floor,
    MaskWidth,
    Mode,
    Policy,
    Seen,
    Settings,
    Shown,
)
from sfumato.review.worker_state import Opening

Row = tuple[int, int]
Columns = tuple[tuple[str | None, ...], ...]

TABLE_2 = (
    Attribute(name="name", kind=AttributeKind.VARIABLE),
    Attribute(name="dob", kind=AttributeKind.DATE, date_order=DateOrder.MONTH_DAY_YEAR),
    Attribute(name="race", kind=AttributeKind.CATEGORY),
)
TABLE_2_COLUMNS: Columns = (
    ("Mary", "Mark", "Mary", "Mary"),
    ("08/09/1964", "08/09/1964", "09/08/1964", "09/08/1964"),
    ("Hispanic", "Hispanic", "Black", "Black"),
)
SIX_PAIRS = tuple(combinations(range(4), 2))


@dataclass(frozen=True)
class Case:
    """A database, pairs of its records, and rules."""

    attributes: tuple[Attribute, ...]
    columns: Columns
    pairs: tuple[tuple[int, int], ...]
    settings: Settings

    def review(self) -> Review:
        """The review under test."""
        database = Database.of(
            self.attributes, self.columns, self.settings.rare_below, self.settings.common_from
        )
        left, right = zip(*self.pairs, strict=True)
        return Review(self.attributes, self.settings, Index.build(database), left, right)

    def with_columns(self, columns: Columns) -> Case:
        """The same with other values."""
        return Case(self.attributes, columns, self.pairs, self.settings)

    def permuted(self, order: Sequence[int]) -> Case:
        """The same with the records behind the rows exchanged."""
        return self.with_columns(
            tuple(tuple(column[place] for place in order) for column in self.columns)
        )


def table_2(**rules: object) -> Case:
    """The example of Section 4.3, all six pairs; the paper's policy unless told otherwise."""
    settings = Settings.model_validate({"policy": Policy.PAPER, "budget": None, **rules})
    return Case(TABLE_2, TABLE_2_COLUMNS, SIX_PAIRS, settings)


class Scratch:
    """What a state of a review is worth, with nothing remembered."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.values: list[tuple[Shown | None, ...]] = [
            tuple(
                shown(attribute, text)
                for attribute, text in zip(case.attributes, texts, strict=True)
            )
            for texts in zip(*case.columns, strict=True)
        ]
        self.counts = [
            Counter(row[place].folded for row in self.values if row[place] is not None)
            for place in range(len(case.attributes))
        ]

    def rows(self, state: Mapping[int, Sequence[Mode]]) -> dict[Row, tuple[list[Fraction], int]]:
        """Per row shown: p_ij, and K_i."""
        paper = self.case.settings.policy is Policy.PAPER
        what: dict[Row, tuple[int, list[Seen], list[Fraction]]] = {}
        for pair, modes in state.items():
            both = self.case.pairs[pair]
            comparisons = compare_pair(
                self.case.attributes, self.values[both[0]], self.values[both[1]]
            )
            for side in (0, 1):
                triples = list(zip(self.case.attributes, comparisons, modes, strict=True))
                what[pair, side] = (
                    both[side],
                    [seen(*each, self.case.settings.mask_width)[side] for each in triples],
                    [
                        share((each.left, each.right)[side], places_of(each, mode)[side])
                        for _, each, mode in triples
                    ],
                )
        return {
            row: (
                shares,
                sum(
                    all(
                        self.agrees(record, other, known)
                        for name, (whose, known, _) in what.items()
                        if (name == row if paper else whose == record)
                    )
                    for other in range(len(self.values))
                ),
            )
            for row, (record, _, shares) in what.items()
        }

    def value(self, state: Mapping[int, Sequence[Mode]]) -> Fraction:
        """Σ_i Σ_j p_ij / K_i."""
        return sum((sum(p) / k for p, k in self.rows(state).values()), Fraction(0))

    def agrees(self, record: int, other: int, known: Sequence[Seen]) -> bool:
        """Whether another record could be behind a row of this one."""
        strict = self.case.settings.policy is Policy.CONSISTENT
        for place, what in enumerate(known):
            mine, its = self.values[record][place], self.values[other][place]
            if strict and what.missingness and (mine is None) is not (its is None):
                return False
            if mine is None:
                continue
            if its is None:
                if what.positions or what.twice:
                    return False
                continue
            if what.twice and self.counts[place][its.folded] < 2:
                return False
            if len(what.positions) == len(mine.characters) and mine.characters != its.characters:
                return False
            if strict and what.length and len(its.characters) != len(mine.characters):
                return False
            if strict and what.rarity and self.band(place, its) != self.band(place, mine):
                return False
            for at in what.positions:
                if at >= len(its.characters) or its.characters[at] != mine.characters[at]:
                    return False
        return True

    def band(self, place: int, value: Shown) -> int:
        """The rarity band of a value."""
        count = self.counts[place][value.folded]
        settings = self.case.settings
        return (count >= settings.rare_below) + (count >= settings.common_from)


NAMES = (None, "ann", "anna", "nan", "bob", "bobby", "ANN", "zoë", "zoe")
DATES = (None, "1964-08-09", "1964-09-08", "1964-08-19", "1991-01-02")
RACES = (None, "x", "y", "z")
KINDS = (
    (Attribute(name="name", kind=AttributeKind.VARIABLE, rarity=True), NAMES),
    (Attribute(name="born", kind=AttributeKind.DATE), DATES),
    (Attribute(name="race", kind=AttributeKind.CATEGORY), RACES),
)


@st.composite
def cases(draw: st.DrawFn, **fixed: object) -> Case:
    """Small databases with pairs and rules."""
    count = draw(st.integers(2, 6))
    columns = tuple(
        tuple(draw(st.lists(st.sampled_from(texts), min_size=count, max_size=count)))
        for _, texts in KINDS
    )
    two = st.sampled_from(tuple(permutations(range(count), 2)))
    pairs = draw(st.lists(two, min_size=1, max_size=4))
    rules = {
        "k": draw(st.integers(1, 3)),
        "policy": draw(st.sampled_from(Policy)),
        "k_floor": draw(st.sampled_from(Floor)),
        "costs": draw(st.sampled_from(Costs)),
        "mask_width": draw(st.sampled_from(MaskWidth)),
        "start": draw(st.sampled_from(Mode)),
        "budget": draw(st.sampled_from([None, 0.1, 0.3, 1.0])),
        "rare_below": 2,
        "common_from": 3,
    }
    settings = Settings.model_validate({**rules, **fixed})
    return Case(tuple(kind for kind, _ in KINDS), columns, tuple(pairs), settings)


def clicks(pairs: int = 4) -> st.SearchStrategy[list[tuple[int, Opening]]]:
    """Things to ask for, one after the other; pairs are to be taken modulo their number."""
    places = st.lists(st.integers(0, len(KINDS) - 1), min_size=1, max_size=3, unique=True)
    opening = st.builds(Opening, places.map(tuple), st.sampled_from([Mode.PARTIAL, Mode.FULL]))
    return st.lists(st.tuples(st.integers(0, pairs - 1), opening), max_size=8)
