"""What each column beside the quasi-identifiers adds: who is found with it, and what it foretells.

A column that is released as it is may be known outside, as a house number is, or say in other words
what a release hides. The measures here are plain: persons counted one by one, a value foretold from
one other person. They share nothing with the measures that a release is made by.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from itertools import combinations

import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.core.number_text import percentage
from sfumato.intruder.knowledge import KnownColumn, days_of, measure_of, number_of
from sfumato.intruder.reading import ReleasedFile, TextColumn
from sfumato.table.dependence import of_unknown

FORETOLD = 0.8
"""Share of what is not known of a quasi-identifier from which a column gives it away."""
FOLLOWS = 0.95
"""The same of a column that whoever knows a quasi-identifier knows besides."""
CLASS = 20
"""Persons beside whom somebody is alone with a value, or not."""
ALONE, ALONE_UNREPEATED = 0.5, 0.9
"""Share of people alone in such company from which a column gives persons away: where it is seen to
be the same in all records of a person, and where nobody has several."""
CONSTANT = 0.95
"""Share of the persons with several records in all of which such a column is the same."""
NEAR = 0.05
"""Share of the persons within which a foretold number is near the true one."""
LEAST, MOST = 50, 5_000
"""Persons of whom nothing can be said, and of whom values are foretold."""
# All distances between 1,500 persons take 18 MB, and grow with the square.
IN_PLANE = 1_500
"""Persons among whom the one is looked for who is nearest by two numbers."""
PLACES = 3
"""Numbers that are read from a text."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, eq=False)
class ColumnFinds:
    """What came of one column.

    Attributes
    ----------
    right
        Whether the unit that is named for each unit's first record is its own, shape (units,).
    without
        Chance to name it by the class alone, shape (units,).
    alone
        Share of the units that are the only one of their class with their value.
    foretold
        Of what is not known of each hidden column, the share that this one foretells.
    gives
        How it gives the person or a hidden column away, as the end of a sentence that begins
        with "it"; empty where it does not.
    """

    right: Bools
    without: Floats
    alone: float
    foretold: dict[str, float]
    gives: str


@dataclass(frozen=True, eq=False)
class Likeness:
    """Who is like whom, by what: the place in ``units`` of another one, -1 for nobody."""

    units: Ints
    partners: dict[str, Ints]


def likeness(known: Sequence[KnownColumn], row_of_unit: Ints, rng: np.random.Generator) -> Likeness:
    """Who is like whom by a quasi-identifier, a part of a date, or two of them.

    Units have rows of the register, -1 where there is none.
    """
    units = np.flatnonzero(row_of_unit >= 0)
    units = np.sort(rng.choice(units, min(len(units), MOST), replace=False))
    partners: dict[str, Ints] = {}
    texts, places = {}, {}
    for column in known:
        codes = column.codes[row_of_unit[units]]
        name, texts[column.name] = f"'{column.name}'", [column.texts[code] or "" for code in codes]
        partners[name] = _alike(texts[column.name], rng)
        if np.isnan(column.numbers[codes]).any():
            continue
        numbers = places[column.name] = column.numbers[codes]
        partners[f"the nearest {name}"] = _nearest(numbers, rng)
        if all(days_of(text) is not None for text in texts[column.name]):
            days = [date.fromisoformat(text.strip()[:10]) for text in texts[column.name]]
            for part, sign in (("year", "%Y"), ("weekday", "%a"), ("day", "%d"), ("season", "%j")):
                partners[f"the {part} of {name}"] = _alike([f"{day:{sign}}" for day in days], rng)
    for one, other in combinations(texts, 2):
        # No text holds a null: pairs are alike only if both parts are.
        both = [f"{left}\0{right}" for left, right in zip(texts[one], texts[other], strict=True)]
        partners[f"'{one}' and '{other}'"] = _alike(both, rng)
    for one, other in combinations(places, 2):
        near = _nearest_of_two(places[one][:IN_PLANE], places[other][:IN_PLANE])
        missing = np.full(max(len(units) - IN_PLANE, 0), -1)
        partners[f"the nearest '{one}' and '{other}'"] = np.concatenate([near, missing])
    return Likeness(units, partners)


def with_column(
    file: ReleasedFile,
    column: TextColumn,
    hidden: Sequence[tuple[Sequence[KnownColumn], Ints]],
    alike_by: Likeness,
    rng: np.random.Generator,
) -> ColumnFinds:
    """Find everybody by class and column, and foretell from it what the release hides.

    Parameters
    ----------
    hidden
        True quasi-identifiers, and true events, by row of the register, each with the row of the
        register of each unit, -1 where there is none, shape (units,).
    """
    unit, code = file.unit.tolist(), column.told.tolist()
    members: dict[tuple[int, int], set[int]] = defaultdict(set)
    whole: dict[int, set[int]] = defaultdict(set)
    values: list[set[int]] = [set() for _ in range(file.persons)]
    records = np.bincount(file.unit, minlength=file.persons)
    for one, of_class, value in zip(unit, file.class_of.tolist(), code, strict=True):
        members[of_class, value].add(one)
        whole[of_class].add(one)
        values[one].add(value)
    first = np.unique(file.unit, return_index=True)[1]
    right = np.zeros(file.persons, dtype=np.bool_)
    without, alone = np.zeros(file.persons), 0
    drawn = rng.random(file.persons)
    for one, row in enumerate(first.tolist()):
        of_class = int(file.class_of[row])
        # Who has no value is known by the class alone.
        alike = whole[of_class] if code[row] < 0 else members[of_class, code[row]]
        # A set has no order: sorted, the same seed names the same person.
        right[one] = sorted(alike)[int(drawn[one] * len(alike))] == one
        without[one] = 1 / len(whole[of_class])
        alone += len(alike) == 1
    texts = [column.texts[column.codes[row]] for row in first.tolist()]
    foretold: dict[str, float] = {}
    for known, row_of_unit in hidden:
        foretold |= _foretold(texts, known, row_of_unit, rng)
    constant = [len(values[place]) == 1 for place in np.flatnonzero(records > 1).tolist()]
    by_itself = _alone_in_company(np.array(code)[first], rng)
    # Where nobody has several records, an amount is taken for something of the record.
    same = np.mean(constant) >= CONSTANT if constant else not _is_amount(texts)
    limit = np.inf
    if same and column not in file.sensitive and file.persons >= LEAST:
        limit = ALONE if constant else ALONE_UNREPEATED
    follows, by = _follows(texts, file.class_of[first], alike_by, rng)
    gives = ""
    if foretold and max(foretold.values()) >= FORETOLD:
        most = max(foretold, key=foretold.__getitem__)
        gives = f"foretells '{most}' {of_unknown(foretold[most])}"
    elif by_itself >= limit:
        gives = f"leaves {percentage(by_itself)} of the people alone among {CLASS} with their value"
    elif follows >= FOLLOWS:
        gives = f"follows from {by} {of_unknown(follows)}"
    return ColumnFinds(right, without, alone / max(file.persons, 1), foretold, gives)


def _alone_in_company(codes: Ints, rng: np.random.Generator) -> float:
    """The share of persons whose value none of 19 others has, drawn for each."""
    looked_at = np.flatnonzero(codes >= 0)
    if not len(looked_at):
        return 0.0
    some = rng.choice(looked_at, min(len(looked_at), MOST), replace=False)
    others = rng.integers(0, len(codes) - 1, (len(some), CLASS - 1)) if len(codes) > 1 else some
    # Numbers from the own one on move up by one: everybody else is as likely as any other.
    others = others + (others >= some[:, None]) if len(codes) > 1 else others
    alone = (codes[others] != codes[some][:, None]).all(axis=-1)
    # Who has no value is not alone with it.
    return float(alone.sum() / len(some)) * len(looked_at) / len(codes)


def _is_amount(texts: Sequence[str | None]) -> bool:
    """Whether most values are numbers that are not whole."""
    numbers = [number_of(text) for text in texts if text is not None]
    parts = [number is not None and number % 1 > 0 for number in numbers]
    return bool(parts) and float(np.mean(parts)) > 1 / 2


def _foretold(
    texts: Sequence[str | None],
    known: Sequence[KnownColumn],
    row_of_unit: Ints,
    rng: np.random.Generator,
) -> dict[str, float]:
    """Of what is not known of each hidden column, the share that one other person tells.

    That is a person with the same text, with the nearest number, whole or within the text; or the
    text holds the words of the value. Right is the same value, or one near it in the order.
    """
    # That a value is missing may tell something, too: whether it is stands for the text.
    gaps = ["missing" if text is None else "" for text in texts]
    told = _told_by(gaps, known, row_of_unit, rng, lambda shown: [_alike(shown, rng)])
    some = [text is not None for text in texts]
    shown = [text or "" for text in texts]
    by_text = _told_by(
        shown, known, np.where(some, row_of_unit, -1), rng, partial(_partners, rng=rng)
    )
    return {name: max(told.get(name, 0.0), share) for name, share in by_text.items()} or told


def _told_by(
    texts: Sequence[str],
    known: Sequence[KnownColumn],
    row_of_unit: Ints,
    rng: np.random.Generator,
    partners_of: Callable[[Sequence[str]], Iterable[Ints]],
) -> dict[str, float]:
    """The same of texts, by partners that are found from them."""
    units = np.flatnonzero(row_of_unit >= 0)
    units = np.sort(rng.choice(units, min(len(units), MOST), replace=False))
    if len(units) < LEAST:
        return {}
    shown = [texts[unit] for unit in units.tolist()]
    partners = list(partners_of(shown))
    words = [frozenset(_WORD.findall(text.casefold())) for text in shown]
    told = {}
    for column in known:
        codes = column.codes[row_of_unit[units]]
        numbers = column.numbers[codes]
        measured = not np.isnan(numbers).any()
        rank = np.searchsorted(np.sort(numbers), numbers) if measured else codes
        width = int(NEAR * len(units)) if measured else 0
        # With somebody drawn at random: ranges that many are in are foretold by chance, too.
        chance = _share(rank, rng.permutation(len(units)), width)
        best = max((_share(rank, partner, width) for partner in partners), default=0.0)
        share = (best - chance) / (1 - chance) if chance < 1 else 0.0
        labels = [
            frozenset(_WORD.findall((column.texts[code] or "").casefold()))
            for code in codes.tolist()
        ]
        told[column.name] = max(0.0, share, _held(words, labels))
    return told


def _share(rank: Ints, partner: Ints, width: int) -> float:
    """How often the partner's value is the own one, or near it; no partner is no."""
    made = partner >= 0
    near = np.abs(rank - rank[partner]) <= width
    return float(np.mean(made & near))


def _alike(shown: Sequence[str], rng: np.random.Generator) -> Ints:
    """For each person another one with the same text, -1 where there is none."""
    same = np.full(len(shown), -1, dtype=np.int64)
    last: dict[str, int] = {}
    # In a random order: pairs of neighbours in the file may have more in common.
    for place in rng.permutation(len(shown)).tolist():
        if shown[place] in last:
            same[place] = last[shown[place]]
        last[shown[place]] = place
    return same


def _shape(text: str) -> str:
    """How a text is written: its capitals, small letters and digits, and all else as it is."""
    kinds = ((str.isdigit, "9"), (str.isupper, "A"), (str.islower, "a"))
    return "".join(next((sign for test, sign in kinds if test(letter)), letter) for letter in text)


def _partners(shown: Sequence[str], rng: np.random.Generator) -> Iterator[Ints]:
    """For each person another one: of the same text, or written alike; of the nearest number."""
    yield _alike(shown, rng)
    yield _alike([_shape(text) for text in shown], rng)
    whole = [measure_of(text) for text in shown]
    read = [whole] if None not in whole else []
    if read:
        # Decimals are tried alone: something small may be hidden behind the size of the number.
        read.append([None if each is None else round(each % 1, 9) for each in whole])
    else:
        found = [_NUMBER.findall(text) for text in shown]
        read = [
            [float(each[place]) if len(each) > place else None for each in found]
            for place in range(PLACES)
        ]
    for numbers in read:
        yield _nearest(np.array([np.nan if number is None else number for number in numbers]), rng)


def _nearest(numbers: Floats, rng: np.random.Generator) -> Ints:
    """For each person the one with the next smaller number, -1 of the first and of NaN."""
    nearest = np.full(len(numbers), -1, dtype=np.int64)
    # Mixed first: the stable sort would keep equal numbers in the order of the file.
    some = rng.permutation(np.flatnonzero(~np.isnan(numbers)))
    some = some[np.argsort(numbers[some], kind="stable")]
    nearest[some[1:]] = some[:-1]
    return nearest


def _nearest_of_two(one: Floats, other: Floats) -> Ints:
    """For each person the one who is nearest in two numbers, in units of their spread."""
    if len(one) < LEAST or np.ptp(one) == 0 or np.ptp(other) == 0:
        return np.full(len(one), -1)
    one, other = one / one.std(), other / other.std()
    apart = (one[:, None] - one) ** 2 + (other[:, None] - other) ** 2
    np.fill_diagonal(apart, np.inf)
    nearest: Ints = apart.argmin(axis=1)
    return nearest


def _follows(
    texts: Sequence[str | None], class_of: Ints, alike_by: Likeness, rng: np.random.Generator
) -> tuple[float, str]:
    """Of what a class does not tell of a column, how much people do who are like its person.

    Right is the same text, or a number near it; by chance, that of somebody else of the class.
    Nothing is said of fewer than 50 wrong guesses by chance.
    """
    shown = [texts[unit] for unit in alike_by.units.tolist()]
    numbers = [None if text is None else measure_of(text) for text in shown]
    known = np.array([text is not None for text in shown], dtype=bool)
    measured = all(number is not None for number in np.array(numbers, dtype=object)[known])
    values = np.array([*numbers] if measured else [text or "" for text in shown], dtype=object)
    rank = np.full(len(shown), -1, dtype=np.int64)
    if known.any():
        kind = np.float64 if measured else np.str_
        own = values[known].astype(kind)
        rank[known] = np.searchsorted(np.sort(own), own)
    width = int(NEAR * len(shown)) if measured else 0
    company = _alike(class_of[alike_by.units].astype(str).tolist(), rng)
    most, by = 0.0, ""
    for words, partner in alike_by.partners.items():
        made = np.flatnonzero(
            (partner >= 0) & known & known[partner] & (company >= 0) & known[company]
        )
        if len(made) < LEAST:
            continue
        right = float(np.mean(np.abs(rank[made] - rank[partner[made]]) <= width))
        chance = float(np.mean(np.abs(rank[made] - rank[company[made]]) <= width))
        share = (right - chance) / (1 - chance) if (1 - chance) * len(made) >= LEAST else 0.0
        if share > most:
            most, by = share, words
    return most, by


def _held(words: Sequence[frozenset[str]], labels: Sequence[frozenset[str]]) -> float:
    """How much more often a text holds its own person's value than another's."""
    pairs = [(text, label) for text, label in zip(words, labels, strict=True) if label]
    if len(pairs) < LEAST:
        return 0.0
    half = len(pairs) // 2
    own = float(np.mean([label <= text for text, label in pairs]))
    # Half a list further on: every label is used once, and nobody meets the own one.
    others = [label for _, label in (*pairs[half:], *pairs[:half])]
    chance = float(np.mean([label <= text for (text, _), label in zip(pairs, others, strict=True)]))
    return (own - chance) / (1 - chance) if chance < 1 else 0.0
