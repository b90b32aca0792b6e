"""The population of a file of which only the number of persons is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.release.generalisation import ExtraValues
from sfumato.release.partitioning import Draft
from sfumato.release.population_register import Population
from sfumato.risk.population import cell_dispersion
from sfumato.risk.population.accumulation_estimator import TOLD
from sfumato.risk.population.cell_model import fit_cells
from sfumato.risk.population.value_shares import UNSEEN
from sfumato.table.table import MISSING, Codes, NumberDomain, Table

DRAWN = (60_000, 1_000_000)
"""Persons drawn from the model, at least and at most."""
DRAWN_EACH = 2
"""Persons of the model drawn for each of the population.

A class in which none of them lies may hold nobody else; it counts as half of one, which must not
be a crowd.
"""
LARGEST_HALF = 4_000
"""Persons of each part of the sample, at most, on which the model is tried."""
BOX_SIZES = (1, 4, 16)
"""Persons of the boxes on which it is tried first."""
FEWEST = 40
"""Persons of a file whose halves tell something."""
UNKNOWN = 0.7
"""Standard error of log λ where nothing was tried."""
BLOCK = 4_096
"""Persons looked at together, as whether they lie in every class is in memory."""
TRIALS = 3
"""How often classes are chosen at new prices, at most."""


def modelled(
    table: Table,
    persons: int,
    rng: np.random.Generator,
    divided: Callable[[Table, Population], Draft | None],
) -> Population:
    """Fit a model of the cells, and see on parts of the file how far its classes can be trusted.

    Half of the file's persons choose classes, by the model of that half; in which of them the
    other half lies says how far the model is off in classes that were chosen. Where records of a
    person differ, and in small files, nothing is tried, and the allowance is that of `UNKNOWN`.

    Parameters
    ----------
    persons
        N.
    divided
        Divides a part of the file with its population into classes; ``None`` where it cannot.
    """
    keys, ordered = _keys(table), _ordered(table)
    domains = [column.domain.size + 1 for column in table.quasi_identifiers]
    dispersion, draft = cell_dispersion.Dispersion(persons), None
    if len(keys) >= FEWEST and not _varies(table):
        some = rng.permutation(len(keys))[: 2 * LARGEST_HALF]
        own, other = some[: len(some) // 2], some[len(some) // 2 :]
        half = _Model.of(keys[own], domains, ordered, persons, rng)
        parts = [
            cell_dispersion.random_boxes(keys[own], keys[other], half.keys, ordered, size, rng)
            for size in BOX_SIZES
        ]
        dispersion = cell_dispersion.dispersion_of(parts, persons)
        part = table.take(np.flatnonzero(np.isin(table.person, own)))
        trial = _Trial(part, keys[other], half, persons, divided)
        draft = trial.draft(cell_dispersion.ModelPrices(len(own), half.count, dispersion))
    model = _Model.of(keys, domains, ordered, persons, rng)
    if draft is not None:
        prices = trial.prices(draft, dispersion, model, rng)
    else:
        # The end that 95 % of a normal log λ lie above: nothing was tried to narrow it.
        surely = float(np.exp(-cell_dispersion.SURE * UNKNOWN))
        prices = cell_dispersion.ModelPrices(
            len(keys), model.count, dispersion, 1 / surely, least=surely, least_beside=surely
        )
    return Population(persons, None, _table(table, model.keys), prices)


@dataclass(frozen=True, eq=False)
class _Model:
    """Persons of a model of the population.

    Attributes
    ----------
    fitted
        Keys of the file's persons, shape (persons, columns).
    keys
        Those who may lie in a class, who follow others first; shape (persons, columns).
    following, anew
        How many of ``keys`` follow others; and how many were drawn who do not.
    followed
        See `sfumato.risk.population.cell_model.CellModel.followed`.
    """

    fitted: cell_dispersion.Keys
    keys: cell_dispersion.Keys
    count: int
    following: int
    anew: int
    followed: float

    @classmethod
    def of(
        cls,
        keys: cell_dispersion.Keys,
        domains: Sequence[int],
        ordered: Sequence[bool],
        persons: int,
        rng: np.random.Generator,
    ) -> _Model:
        """Persons of a model of these, as many as a population of so many needs.

        Who has an unseen category lies in no class, and is left out. An unseen number lies between
        others: it is taken for one of them.
        """
        cells, sizes = np.unique(keys, axis=0, return_counts=True)
        count = int(np.clip(DRAWN_EACH * persons, *DRAWN))
        model = fit_cells(cells, sizes, domains, rng)
        drawn, following = model.draw(count, rng)
        for place in np.flatnonzero(ordered):
            lost = np.flatnonzero(drawn[:, place] == UNSEEN)
            drawn[lost, place] = rng.choice(keys[:, place], len(lost))
        # Who follows somebody has no unseen value.
        seen = drawn[(drawn != UNSEEN).all(axis=1)]
        return cls(keys, seen, count, following, count - following, model.followed)


@dataclass(frozen=True, eq=False)
class _Trial:
    """A half of the file that chooses classes, and the other one that says what they are.

    Attributes
    ----------
    part
        The first half's records.
    half
        The model of the first half.
    population
        N.
    divided
        As in `modelled`.
    """

    part: Table
    others: cell_dispersion.Keys
    half: _Model
    population: int
    divided: Callable[[Table, Population], Draft | None]

    def draft(self, prices: cell_dispersion.ModelPrices) -> Draft | None:
        """The classes that the first half chooses at these prices."""
        drawn = _table(self.part, self.half.keys)
        return self.divided(self.part, Population(self.population, None, drawn, prices))

    def prices(
        self,
        draft: Draft,
        first: cell_dispersion.Dispersion,
        model: _Model,
        rng: np.random.Generator,
    ) -> cell_dispersion.ModelPrices:
        """Prices at which classes are no riskier than they are said to be, in 95 of 100 releases.

        Where many follow others, the model hardly knows who is alone, and classes that are chosen
        at new prices are the ones that these underrate: they are tried in turn, until prices hold.
        """
        boxes = self._boxes(draft)
        dispersion, error = cell_dispersion.revised(first, boxes)
        prices = cell_dispersion.ModelPrices(len(model.fitted), model.count, dispersion)
        if model.followed <= TOLD:
            return prices.raised(boxes, error)
        # One seed for all trials, so that prices differ by the classes and not by the draws.
        seed = int(rng.integers(1 << 32))
        prices = prices.raised(boxes, error, self._gathered(draft, model, seed), model.followed)
        for _ in range(TRIALS):
            # The prices are those of the whole file; the half that is divided here has fewer
            # persons.
            again = self.draft(replace(prices, sample=self.part.persons, drawn=self.half.count))
            if again is None:
                break
            before, counted = prices, self._gathered(again, model, seed)
            prices = prices.raised(self._boxes(again), error, counted, model.followed)
            if prices == before:
                break
        return prices

    def _boxes(self, draft: Draft) -> cell_dispersion.Boxes:
        """The classes of the first half: its persons, the others and the model's in each."""
        assert draft.class_of_register is not None
        first = np.unique(draft.table.person, return_index=True)[1]
        chosen = np.bincount(draft.class_of[first], minlength=draft.classes)
        inside = draft.class_of_register[draft.class_of_register >= 0]
        model = np.bincount(inside, minlength=draft.classes)
        shares = np.maximum(model, cell_dispersion.LEAST_DRAWN) / self.half.count
        persons = self.part.persons, len(self.others)
        return cell_dispersion.Boxes(chosen, _inside(draft, self.others), shares, persons)

    def _gathered(self, draft: Draft, model: _Model, seed: int) -> Floats:
        """λ and uniques of the classes that the half chose, as persons gather in cells.

        See `gathered_risks`. The half chose them by its own model; how persons gather is told by
        the whole file, and so is where the models draw others.
        """
        _, number, sizes = np.unique(
            _keys(draft.table), axis=0, return_inverse=True, return_counts=True
        )
        box_of = np.empty(len(sizes), dtype=np.int64)
        box_of[number] = draft.class_of[np.unique(draft.table.person, return_index=True)[1]]
        anew = _inside(draft, model.keys[model.following :]) / max(model.anew, 1)
        whole = np.unique(model.fitted, axis=0, return_counts=True)[1]
        rng = np.random.default_rng(seed)
        return cell_dispersion.gathered_risks(sizes, box_of, anew, whole, self.population, rng)


def _keys(table: Table) -> cell_dispersion.Keys:
    """Codes of each person's first record, 0 for missing; shape (persons, columns)."""
    first = np.unique(table.person, return_index=True)[1]
    columns = [column.codes[first] + 1 for column in table.quasi_identifiers]
    return np.column_stack(columns).astype(np.int32)


def _varies(table: Table) -> bool:
    """Whether the records of a person differ: cells then reach no further than their values."""
    first = np.unique(table.person, return_index=True)[1]
    return any(
        (column.codes != column.codes[first][table.person]).any()
        for column in table.quasi_identifiers
    )


def _ordered(table: Table) -> list[bool]:
    return [isinstance(column.domain, NumberDomain) for column in table.quasi_identifiers]


def _table(table: Table, keys: cell_dispersion.Keys) -> Table:
    """Persons with one record each, encoded as the file is."""
    nothing = np.full(len(keys), MISSING, dtype=np.int32)
    return replace(
        table,
        person=np.arange(len(keys), dtype=np.int32),
        quasi_identifiers=tuple(
            replace(column, codes=(codes - 1).astype(np.int32))
            for column, codes in zip(table.quasi_identifiers, keys.T, strict=True)
        ),
        sensitive=tuple(replace(column, codes=nothing) for column in table.sensitive),
        household=None,
        ties=None,
        events=(),
    )


def _inside(draft: Draft, persons: cell_dispersion.Keys) -> Ints:
    """How many persons lie in the cells of each class, shape (classes,).

    O(classes x persons x columns).
    """
    all_held = []
    for column, (quasi, numbers) in enumerate(
        zip(draft.table.quasi_identifiers, _ordered(draft.table), strict=True)
    ):
        held = _held(draft, column, quasi.codes, quasi.domain.size, whole=numbers)
        # As in `_Model.of`: who has a category that none of the half has lies in no class.
        if not numbers:
            held &= np.isin(np.arange(held.shape[1]), quasi.codes + 1)
        all_held.append(np.ascontiguousarray(held.T))
    found = np.zeros(draft.classes, dtype=np.int64)
    for start in range(0, len(persons), BLOCK):
        block = persons[start : start + BLOCK]
        inside = np.ones((len(block), draft.classes), dtype=bool)
        for held, codes in zip(all_held, block.T, strict=True):
            inside &= held[codes]
        found += inside.sum(axis=0)
    return found


def _held(draft: Draft, column: int, codes: Codes, size: int, *, whole: bool) -> Bools:
    """Whether each class's cell holds each code, 0 being missing; shape (classes, codes)."""
    extra: ExtraValues | None = draft.extra
    assert extra is not None
    held = np.zeros((draft.classes, size + 1), dtype=bool)
    held[draft.class_of, codes + 1] = True
    held[extra.class_of[column], extra.codes[column] + 1] = True
    # Between two numbers of a class every number lies in its cell, whether it occurs or not.
    if whole:
        some = held[:, 1:]
        up = np.maximum.accumulate(some, axis=1)
        down = np.maximum.accumulate(some[:, ::-1], axis=1)[:, ::-1]
        held[:, 1:] = up & down
    # Where all miss the value the cell holds every one, and whoever has one lies elsewhere.
    known = np.zeros(draft.classes, dtype=bool)
    known[draft.class_of[codes != MISSING]] = True
    held[~known, 1:] = False
    return held
