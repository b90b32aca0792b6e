"""Which formulas join what a release hides with what it shows: published ones, and fitted ones.

A laboratory reports the filtration of the kidneys beside creatinine: the age of everybody follows
from the two. A published formula is tried with every column that could stand in it, and solved for
the hidden one. Of all else a sum of terms is fitted on half of the people, and asked about the
other half.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.table.foretelling import COLUMNS, Cells, Hidden

TRIED, FIRST, GRID = 80, 16, 128
"""People on whom a formula is tried, on how many of them first, and values of a hidden column that
may solve it."""
ASSIGNMENTS = 2_000
"""Ways to put columns into one formula that are tried, the first of them."""
EXACT, OTHERWISE = 0.02, 3.0
"""Median error of a formula that holds, relative: eGFR of 40 is rounded by 1 % at most; and so much
larger it is with another person's hidden value."""
TERMS = 3
"""People on whom a model is fitted, for each of its terms, at least."""
FITTED = 1_000
"""People on whom and of whom a model is fitted and asked."""
KNOTS = (0.25, 0.5, 0.75)
"""Quantiles at which the slope of a term may change: CKD-EPI's does at one value of creatinine."""
CATEGORIES = 12
"""Values up to which a column of categories is a term, or is foretold by a model."""

UNITS: dict[str, tuple[float, float, tuple[float, ...]]] = {
    "age": (0.5, 110.0, (1.0,)),
    "weight": (2.0, 250.0, (1.0, 1 / 2.20462)),
    "height": (40.0, 210.0, (1.0, 100.0, 2.54)),
    "creatinine": (0.2, 15.0, (1.0, 1 / 88.42)),
    "cystatin": (0.2, 8.0, (1.0,)),
    "filtration": (3.0, 250.0, (1.0, 60.0)),
    "index": (8.0, 70.0, (1.0,)),
    "surface": (0.1, 3.5, (1.0,)),
    "energy": (400.0, 4000.0, (1.0, 1 / 4.184)),
    "enzyme": (3.0, 3000.0, (1.0,)),
    "platelets": (10.0, 1500.0, (1.0, 1e-3)),
    "fibrosis": (0.05, 50.0, (1.0,)),
    "water": (2.0, 90.0, (1.0,)),
    "percent": (1.0, 70.0, (1.0, 100.0)),
    "volume": (100.0, 1200.0, (1.0, 1000.0)),
    "lean": (10.0, 120.0, (1.0,)),
}
"""The least and largest median of a quantity among people, and factors of the units in which it is
written, the first being the formula's: kg and lb, cm, m and inches, mg/dL and µmol/L (88.42)."""


@dataclass(frozen=True, eq=False)
class Formula:
    """A formula of the literature, its inputs in the order of ``value``; ``female`` is 0 or 1."""

    name: str
    result: str
    inputs: tuple[str, ...]
    value: Callable[..., Floats]


def _knee(value: Floats, at: Floats | float, below: Floats | float, above: float) -> Floats:
    # min(x / kappa, 1) ** alpha * max(x / kappa, 1) ** beta, as CKD-EPI writes it.
    ratio = value / at
    return np.asarray(np.minimum(ratio, 1.0) ** below * np.maximum(ratio, 1.0) ** above)


FORMULAS = (
    Formula(
        # Kappa is 0.9 of men and 0.7 of women; alpha -0.302 and -0.241, in 2009 -0.411 and -0.329.
        "CKD-EPI 2021 (N Engl J Med 2021;385:1737)", "filtration",
        ("creatinine", "age", "female"),
        lambda scr, age, f: 142 * _knee(scr, 0.9 - 0.2 * f, -0.302 + 0.061 * f, -1.2)
        * 0.9938**age * 1.012**f,
    ),
    Formula(
        "CKD-EPI 2009 (Ann Intern Med 2009;150:604)", "filtration",
        ("creatinine", "age", "female"),
        lambda scr, age, f: 141 * _knee(scr, 0.9 - 0.2 * f, -0.411 + 0.082 * f, -1.209)
        * 0.993**age * 1.018**f,
    ),
    Formula(
        "CKD-EPI 2012 of cystatin C (N Engl J Med 2012;367:20)", "filtration",
        ("cystatin", "age", "female"),
        lambda cys, age, f: 133 * _knee(cys, 0.8, -0.499, -1.328) * 0.996**age * 0.932**f,
    ),
    Formula(
        "CKD-EPI 2021 of creatinine and cystatin C (N Engl J Med 2021;385:1737)", "filtration",
        ("creatinine", "cystatin", "age", "female"),
        lambda scr, cys, age, f: 135 * _knee(scr, 0.9 - 0.2 * f, -0.144 - 0.075 * f, -0.544)
        * _knee(cys, 0.8, -0.323, -0.778) * 0.9961**age * 0.963**f,
    ),
    Formula(
        # 175 is for creatinine as calibrated since 2006 (IDMS), 186 for that of older methods.
        "MDRD (Ann Intern Med 2006;145:247)", "filtration", ("creatinine", "age", "female"),
        lambda scr, age, f: 175 * scr**-1.154 * age**-0.203 * 0.742**f,
    ),
    Formula(
        "Cockcroft and Gault (Nephron 1976;16:31)", "filtration",
        ("creatinine", "weight", "age", "female"),
        lambda scr, weight, age, f: (140 - age) * weight / (72 * scr) * 0.85**f,
    ),
    Formula(
        "Schwartz (J Am Soc Nephrol 2009;20:629)", "filtration", ("creatinine", "height"),
        lambda scr, height: 0.413 * height / scr,
    ),
    Formula(
        "body mass index (J Chronic Dis 1972;25:329)", "index", ("weight", "height"),
        lambda weight, height: weight / (height / 100) ** 2,
    ),
    Formula(
        "DuBois (Arch Intern Med 1916;17:863)", "surface", ("weight", "height"),
        lambda weight, height: 0.007184 * weight**0.425 * height**0.725,
    ),
    Formula(
        "Mosteller (N Engl J Med 1987;317:1098)", "surface", ("weight", "height"),
        lambda weight, height: np.sqrt(weight * height / 3600),
    ),
    Formula(
        "Mifflin and St Jeor (Am J Clin Nutr 1990;51:241)", "energy",
        ("weight", "height", "age", "female"),
        lambda weight, height, age, f: 10 * weight + 6.25 * height - 5 * age + 5 - 166 * f,
    ),
    Formula(
        "Harris and Benedict (Proc Natl Acad Sci 1918;4:370)", "energy",
        ("weight", "height", "age", "female"),
        lambda weight, height, age, f: np.where(
            f > 0,
            655.0955 + 9.5634 * weight + 1.8496 * height - 4.6756 * age,
            66.473 + 13.7516 * weight + 5.0033 * height - 6.755 * age,
        ),
    ),
    Formula(
        "Watson (Am J Clin Nutr 1980;33:27)", "water", ("weight", "height", "age", "female"),
        lambda weight, height, age, f: np.where(
            f > 0,
            -2.097 + 0.1069 * height + 0.2466 * weight,
            2.447 - 0.09516 * age + 0.1074 * height + 0.3362 * weight,
        ),
    ),
    Formula(
        "Boer (Am J Physiol 1984;247:F632)", "lean", ("weight", "height", "female"),
        lambda weight, height, f: np.where(
            f > 0,
            0.252 * weight + 0.473 * height - 48.3, 0.407 * weight + 0.267 * height - 19.2,
        ),
    ),
    Formula(
        "Deurenberg (Br J Nutr 1991;65:105)", "percent", ("index", "age", "female"),
        lambda index, age, f: 1.2 * index + 0.23 * age - 10.8 * (1 - f) - 5.4,
    ),
    Formula(
        "FIB-4 (Hepatology 2006;43:1317)", "fibrosis", ("age", "enzyme", "platelets", "enzyme"),
        lambda age, ast, platelets, alt: age * ast / (platelets * np.sqrt(alt)),
    ),
    Formula(
        "peak flow (BMJ 1989;298:1068)", "volume", ("age", "height", "female"),
        lambda age, height, f: np.exp(
            np.where(f > 0, 0.376, 0.544) * np.log(age) - np.where(f > 0, 0.0120, 0.0151) * age
            - np.where(f > 0, 58.8, 74.7) / height + np.where(f > 0, 5.63, 5.48)
        ),
    ),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Quantity:
    """A column that may stand in a formula.

    Attributes
    ----------
    numbers
        Of each person, NaN where it is not known; 0 and 1 of one that has two values.
    hidden
        What is foretold, where the release hides it.
    """

    name: str
    numbers: Floats
    hidden: Hidden | None = None


Chosen = tuple[tuple[Quantity, float], ...]
"""Columns in the place of the result and of each input, with the factor of their unit."""


def by_published(
    shown: Sequence[Quantity], hidden: Sequence[Quantity]
) -> Iterator[tuple[Hidden, tuple[str, ...], str, Floats]]:
    """Formulas that hold, each solved for what the release hides.

    Gives what is foretold, by which shown columns, by which formula, and its value for each person.
    """
    every = [*shown, *hidden]
    if not every:
        return
    people = np.arange(0, len(every[0].numbers), max(1, len(every[0].numbers) // TRIED))
    for formula in FORMULAS:
        for chosen in _promising(formula, every, people[:FIRST]):
            names = [one.name for one, _ in chosen if one.name]
            own = [place for place, (one, _) in enumerate(chosen) if one.hidden is not None]
            # A formula among hidden columns alone, or shown ones alone, gives nothing away.
            if len(set(names)) < len(names) or not own or len(own) == len(names):
                continue
            if _median_error(_errors(formula, _inputs(chosen, people))) > EXACT:
                continue
            for place in own:
                told = chosen[place][0]
                if _error(formula, chosen, people, place) < OTHERWISE * EXACT:
                    continue
                by = tuple(one.name for one, _ in chosen if one.hidden is None and one.name)
                assert told.hidden is not None
                yield told.hidden, by, formula.name, _solved(formula, chosen, place)


def _promising(formula: Formula, every: Sequence[Quantity], people: Ints) -> Iterator[Chosen]:
    """Ways to put columns into a formula by which it holds for a few people."""
    medians = {quantity.name: _median(quantity.numbers) for quantity in every}
    results, *slots = (_fitting(each, every, medians) for each in (formula.result, *formula.inputs))
    if not results:
        return
    wanted = np.array(_inputs(tuple(results), people))
    read = [list(zip(slot, _inputs(tuple(slot), people), strict=True)) for slot in slots]
    solvable = any(one.hidden for one, _ in results)
    tried = 0
    for chosen in product(*read):
        names = [one.name for (one, _), _ in chosen if one.name]
        if len(set(names)) < len(names) or not (
            solvable or any(one.hidden for (one, _), _ in chosen)
        ):
            continue
        tried += 1
        if tried > ASSIGNMENTS:
            break
        with np.errstate(all="ignore"):
            errors = np.abs(formula.value(*[each for _, each in chosen]) / wanted - 1.0)
        # A quarter of the people must be known, and half of these have so small an error.
        near = (errors <= EXACT).sum(axis=1) * 8 >= len(people)
        for place in np.flatnonzero(near).tolist():
            yield (results[place], *(one for one, _ in chosen))


def _median(numbers: Floats) -> float:
    known = np.abs(numbers[~np.isnan(numbers)])
    return float(np.median(known)) if len(known) and np.ptp(known) else np.nan


def _fitting(
    quantity: str, every: Sequence[Quantity], medians: Mapping[str, float]
) -> list[tuple[Quantity, float]]:
    """The columns that may be a quantity, each with its unit; of the sex 1 and -1 of a value."""
    if quantity == "female":
        two = [
            quantity
            for quantity in every
            if set(np.unique(quantity.numbers).tolist()) == {0.0, 1.0}
        ]
        people = len(every[0].numbers)
        return [*((each, sign) for each in two for sign in (1.0, -1.0)),
                *((Quantity("", np.full(people, each)), 1.0) for each in (0.0, 1.0))]  # fmt: skip
    least, largest, units = UNITS[quantity]
    return [
        (quantity, unit)
        for quantity in every
        for unit in units
        if least <= medians[quantity.name] * unit <= largest
    ]


def _inputs(chosen: Chosen, people: Ints | slice) -> list[Floats]:
    """The numbers in the units of the formula."""
    return [
        one.numbers[people] * unit if unit > 0 else 1.0 - one.numbers[people]
        for one, unit in chosen
    ]


def _errors(formula: Formula, given: Sequence[Floats]) -> Floats:
    with np.errstate(all="ignore"):
        found = np.abs(formula.value(*given[1:]) / given[0] - 1.0)
    return np.where(np.isfinite(found), found, np.nan)


def _median_error(errors: Floats) -> float:
    """The median of those that are known; infinite where fewer than a quarter are."""
    known = np.sort(errors[~np.isnan(errors)])
    return float(known[len(known) // 2]) if len(known) * 4 >= len(errors) > 0 else np.inf


def _error(formula: Formula, chosen: Chosen, people: Ints, place: int) -> float:
    """How much worse a formula holds where one column is that of another person."""
    inputs = _inputs(chosen, people)
    own = np.nanmedian(_errors(formula, inputs))
    inputs[place] = np.roll(inputs[place], len(people) // 2)
    return float(np.nanmedian(_errors(formula, inputs)) / max(own, EXACT / GRID) * EXACT)


def _solved(formula: Formula, chosen: Chosen, place: int) -> Floats:
    """The hidden value by which the formula holds best, for each person."""
    inputs = _inputs(chosen, slice(None))
    values = np.unique(inputs[place][~np.isnan(inputs[place])])
    values = values[np.unique(np.linspace(0, len(values) - 1, GRID).astype(np.int64))]
    best, least = np.full(len(inputs[0]), np.nan), np.full(len(inputs[0]), np.inf)
    # Tried value by value, so that no formula has to be turned round by hand.
    for value in values:
        inputs[place] = np.full(len(best), value)
        errors = _errors(formula, inputs)
        nearer = errors < least
        best[nearer], least[nearer] = value, errors[nearer]
    return best


def by_fit(
    shown: Mapping[str, Cells],
    beside: Sequence[Ints],
    hidden: Sequence[tuple[Hidden, Floats | None]],
    told: Callable[[Floats, Hidden], float],
    least: float,
) -> Iterator[tuple[Hidden, tuple[str, ...], float]]:
    """What sums of terms foretell: numbers, logarithms, a person's sums and means, categories.

    Fitted by least squares on half of the people and asked about the others, twice.

    Parameters
    ----------
    beside
        Hidden columns of few values, which an intruder knows: a formula may differ by sex.
    hidden
        What is foretold, with its number of each person; ``None`` of categories.
    told
        The share of what is not known that a foretold number tells.
    least
        From which share on columns are named.

    Yields
    ------
    tuple
        What is foretold, by which columns, and which share of what is not known.
    """
    people = len(next(iter(shown.values())).starts) if shown else 0
    for rich in (False, True):
        terms, owner = _terms(shown, rich=rich)
        for each, numbers in hidden:
            others = [own for own in beside if not np.array_equal(own, each.codes)]
            own, of = _with(terms, owner, others if rich else [])
            if own.shape[1] * TERMS * 2 > people or not len(owner):
                continue
            for target in _targets(each, numbers):
                model = _Model(own, of, target, each, told)
                # What the hidden columns beside tell of each other is no fault of the shown ones.
                if model.share() < least or model.share(frozenset(range(len(shown)))) >= least:
                    continue
                carrying = model.carrying(len(shown), least)
                names = tuple(name for at, name in enumerate(shown) if at in carrying)
                yield each, names, model.share(frozenset(range(len(shown))) - carrying)
                break


def _terms(shown: Mapping[str, Cells], *, rich: bool) -> tuple[Floats, Ints]:
    """What is added up, shape (people, terms), and the place of the column of each."""
    found: list[Floats] = []
    owner: list[int] = []
    for place, cells in enumerate(list(shown.values())[:COLUMNS]):
        own: list[Floats] = []
        if cells.numbers is not None:
            plain = [cells.numbers[cells.starts]]
            plain += [cells.aggregates[way] for way in ("sum", "mean") if cells.repeated]
            for each in plain:
                own.append(each)
                if np.nanmin(each, initial=np.inf) > 0:
                    own.append(np.log(each))
                if rich and np.isfinite(own[-1]).any():
                    knots = np.unique(np.nanquantile(own[-1], KNOTS))
                    own += [np.maximum(own[-1] - knot, 0.0) for knot in knots]
        else:
            firsts = np.array([first or "" for first in cells.firsts])
            values = np.unique(firsts)
            if len(values) <= CATEGORIES:
                own = [(firsts == value) * 1.0 for value in values[1:]]
        for each in own:
            known = np.isfinite(each)
            spread = float(each[known].std()) if known.sum() * 2 >= len(each) else 0.0
            if spread > 0:
                mean = float(each[known].mean())
                found.append((np.where(known, each, mean) - mean) / spread)
                owner.append(place)
    shape = np.column_stack(found) if found else np.empty((0, 0))
    return shape, np.array(owner, dtype=np.int64)


def _with(terms: Floats, owner: Ints, beside: Sequence[Ints]) -> tuple[Floats, Ints]:
    """The terms, for each value of the columns that are known beside them; these are of -1."""
    found, of = [terms], [owner]
    for codes in beside:
        for value in np.unique(codes)[1:]:
            flag = (codes == value) * 1.0
            found += [flag[:, None]]
            of += [np.array([-1])]
            if codes.max() == 1 and len(owner):
                found += [terms * flag[:, None]]
                of += [owner]
    return np.column_stack(found) if len(owner) else terms, np.concatenate(of)


def _targets(hidden: Hidden, numbers: Floats | None) -> Iterator[Floats]:
    """What is fitted: a number and its logarithm, or whether it is each value."""
    if numbers is not None:
        yield numbers[:, None]
        if np.nanmin(numbers, initial=np.inf) > 0:
            yield np.log(numbers)[:, None]
    elif not hidden.ordered and 1 <= hidden.codes.max(initial=-1) < CATEGORIES:
        yield (hidden.codes[:, None] == np.arange(hidden.codes.max() + 1)) * 1.0


class _Model:
    """Sums of terms of one hidden column."""

    def __init__(
        self,
        terms: Floats,
        owner: Ints,
        target: Floats,
        hidden: Hidden,
        told: Callable[[Floats, Hidden], float],
    ) -> None:
        self._terms, self._owner, self._target = terms, owner, target
        self._hidden, self._told = hidden, told
        self._known = np.isfinite(target).all(axis=1) & (hidden.codes >= 0)

    def share(self, without: frozenset[int] = frozenset()) -> float:
        """The share that is told without some columns."""
        taken = ~np.isin(self._owner, list(without))
        terms = np.column_stack([np.ones(len(self._target)), self._terms[:, taken]])
        foretold: Floats = np.full(self._target.shape, np.nan)
        half: Bools = np.random.default_rng(len(terms)).permutation(len(terms)) % 2 == 0
        for part in (half, ~half):
            fit = part & self._known
            if fit.sum() >= TERMS * terms.shape[1]:
                # Normal equations, of terms of length 1: ten times faster than a decomposition.
                square = terms[fit].T @ terms[fit]
                # Terms that add up to others make it singular: a ridge of 1e-9 lets it be solved.
                square[np.diag_indices_from(square)] *= 1.0 + 1e-9
                square[np.diag_indices_from(square)] += 1e-9
                solved = np.linalg.solve(square, terms[fit].T @ self._target[fit])
                foretold[~part] = terms[~part] @ solved
        if foretold.shape[1] == 1:
            return self._told(foretold[:, 0], self._hidden)
        known = np.isfinite(foretold).all(axis=1)
        best = np.where(known, np.nan_to_num(foretold).argmax(axis=1), np.nan)
        return self._told(best, self._hidden)

    def carrying(self, columns: int, least: float) -> frozenset[int]:
        """Columns without any of which less would be told."""
        without: frozenset[int] = frozenset()
        for column in range(columns):
            if self.share(without | {column}) >= least:
                without |= {column}
        return frozenset(range(columns)) - without
