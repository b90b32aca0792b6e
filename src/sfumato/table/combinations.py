"""What columns foretell together that none tells alone, by gradient boosting, cross-validated.

Needs the extra ``attack`` (scikit-learn). A postcode that is made of two columns, or a sex that is
written as the parity of a number and a letter, is in no single column.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.core.optional_packages import install_command
from sfumato.schema import Kind
from sfumato.table import sources
from sfumato.table.dependence import GIVEN_AWAY, of_unknown
from sfumato.table.table import ColumnFigures, Table

PERSONS, LEAST = 1_500, 100
"""Persons of whom values are foretold, drawn where there are more, and the fewest."""
FOLDS = 3
"""Parts of the persons, each foretold from the others."""
CATEGORIES, LABELS = 200, 12
"""Values of a column that are told apart, and of a quasi-identifier; the commonest."""
NEAR = 0.05
"""Share of the persons within which a foretold number is near the true one."""
NAMED, MATTERS = 0.5, 0.1
"""Share of what is not known from which columns are named, and the part that one must carry."""
NUMBERS = 3
"""Numbers that are read from a text."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
# Early stopping would keep a part of the few persons from the fit. The seed is fixed, so that the
# same file gets the same figures.
MODEL: dict[str, Any] = {
    "max_iter": 30, "learning_rate": 0.3, "max_leaf_nodes": 31, "min_samples_leaf": 4,
    "early_stopping": False, "random_state": 0,
}  # fmt: skip
"""Settings of the model, the same for every file."""


def boosting_lacks() -> str:
    """What is missing where nothing can be foretold, in words; empty where it can."""
    return "" if find_spec("sklearn") else f"scikit-learn: {install_command('attack')}"


@dataclass(frozen=True, eq=False)
class Target:
    """What is foretold of each person: a place in an order, or one of some values.

    Codes are in order where the values have one; -1 where it is not known.
    """

    codes: Ints
    ordered: bool


@dataclass(frozen=True, eq=False)
class Together:
    """What all columns foretell of one target.

    Attributes
    ----------
    persons, right
        Number of persons of whom it was foretold, and of those of whom it was right.
    chance
        Share that is right by taking another person's value, or the commonest.
    share
        Share of what is not known that is foretold.
    """

    persons: int
    right: int
    chance: float
    share: float
    columns: tuple[str, ...]


def foretold_together(
    columns: Mapping[str, Sequence[str | None]],
    targets: Mapping[str, Target],
    rng: np.random.Generator,
) -> dict[str, Together]:
    """What the columns foretell together of each target, by models that have not seen the person.

    Numbers are foretold by their place in the order, right within 5 % of the persons; other values
    as they are, the 12 commonest, everything else being wrong. Takes up to 2,000 persons.

    Parameters
    ----------
    columns
        What each person shows in each column, as text; ``None`` for nothing.

    Returns
    -------
    dict
        By target; without those of whom too little is known.
    """
    from sklearn import ensemble
    from threadpoolctl import threadpool_limits

    features, owner, nominal = _features(columns)
    found = {}
    for name, target in targets.items():
        known = rng.permutation(np.flatnonzero(target.codes >= 0))[:PERSONS]
        if len(known) < LEAST or not len(owner):
            continue
        # Threads wait for each other in a loop: on a busy machine that costs ten times the work.
        with threadpool_limits(1):
            kind = f"HistGradientBoosting{'Regressor' if target.ordered else 'Classifier'}"
            task = _Task(getattr(ensemble, kind), features[known], nominal, target, known)
            found[name] = _foretold(task, len(known), list(columns), owner, rng)
    return found


def _foretold(
    task: _Task, persons: int, columns: list[str], owner: Ints, rng: np.random.Generator
) -> Together:
    """What comes of one target, and the columns without whose values less would."""
    fold = np.arange(persons) % FOLDS
    fitted = [(task.fitted(fold != index), fold == index) for index in range(FOLDS)]
    right = np.concatenate([task.right(model, part) for model, part in fitted])
    share = task.beyond(float(right.mean()))
    carrying = []
    for place, column in enumerate(columns if share >= NAMED else ()):
        own = np.flatnonzero(owner == place)
        # Shuffled, not left out, which would take another model for each column.
        shuffled = [task.right(model, part, own, rng) for model, part in fitted]
        if share - task.beyond(float(np.concatenate(shuffled).mean())) >= MATTERS * share:
            carrying.append(column)
    return Together(persons, int(right.sum()), task.chance, share, tuple(carrying))


TOGETHER = "together"
"""The role of all columns together among the figures of the columns."""


def together_figures(table: Table, figures: Sequence[ColumnFigures]) -> tuple[ColumnFigures, ...]:
    """The figures of each column, and those of all together where the extra is installed."""
    if boosting_lacks() or len(figures) < 2:
        return tuple(figures)
    first = np.unique(table.person, return_index=True)[1]
    rng = np.random.default_rng(0)
    rows = np.sort(rng.permutation(first)[:PERSONS])
    taken = {
        figure.column: table.source.column(figure.column).take(sources.from_numpy(rows)).to_pylist()
        for figure in figures
    }
    columns = {
        name: [None if cell is None else f"{cell}" for cell in cells]
        for name, cells in taken.items()
    }
    targets = {
        identifier.name: Target(
            identifier.codes[rows].astype(np.int64), identifier.kind is not Kind.CATEGORICAL
        )
        for identifier in table.quasi_identifiers
    }
    found = foretold_together(columns, targets, rng)
    tells = {name: together.share for name, together in found.items()}
    most = max(tells, key=tells.__getitem__, default="")
    leak = ""
    if most and tells[most] >= GIVEN_AWAY and len(found[most].columns) > 1:
        names = ", ".join(f"'{column}'" for column in found[most].columns)
        leak = f"foretells '{most}' from {names} {of_unknown(tells[most])}"
    return (*figures, ColumnFigures("all columns together", TOGETHER, tells, {}, None, leak))


class _Task:
    """One target, of the persons of whom it is known, to be foretold."""

    def __init__(
        self, kind: Any, features: Floats, nominal: Bools, target: Target, known: Ints
    ) -> None:
        self._kind = kind
        codes = target.codes[known]
        self._features, self._nominal, self._ordered = features, nominal, target.ordered
        values, place, often = np.unique(codes, return_inverse=True, return_counts=True)
        if target.ordered:
            # Places in the order, not values: near then means the same for every distribution.
            self._truth = np.searchsorted(np.sort(codes), codes) / len(codes)
            first = np.sort(self._truth)
            # The best that can be guessed without any column: the place near which most people are.
            near = np.searchsorted(first, first + NEAR, "right")
            self.chance = float((near - np.searchsorted(first, first - NEAR)).max() / len(codes))
        else:
            rank = np.empty(len(values), dtype=np.int64)
            rank[np.argsort(-often, kind="stable")] = np.arange(len(values))
            self._truth = np.minimum(rank[place], LABELS).astype(np.float64)
            self.chance = float(often.max() / len(codes))

    def fitted(self, rows: Bools) -> Any:
        """A model of some of the persons."""
        model = self._kind(categorical_features=self._nominal, **MODEL)
        # What none of them has tells nothing, and a model wants a value.
        empty = np.isnan(self._features[rows]).all(axis=0)
        return model.fit(np.where(empty, 0.0, self._features[rows]), self._truth[rows])

    def right(self, model: Any, rows: Bools, own: Ints | None = None, rng: Any = None) -> Bools:
        """Whether the model is right about some, the features of one column being shuffled."""
        features = self._features[rows]
        if own is not None:
            features[:, own] = features[rng.permutation(len(features))][:, own]
        foretold, truth = model.predict(features), self._truth[rows]
        if self._ordered:
            return np.asarray(np.abs(foretold - truth) <= NEAR)
        return np.asarray((foretold == truth) & (truth < LABELS))

    def beyond(self, right: float) -> float:
        """The share of what is not known."""
        return max(0.0, (right - self.chance) / (1 - self.chance)) if self.chance < 1 else 0.0


def _features(columns: Mapping[str, Sequence[str | None]]) -> tuple[Floats, Ints, Bools]:
    """What a model sees, shape (persons, features), the column of each, and which are names.

    A column of numbers is one feature; any other one a name and the numbers in its texts.
    """
    features: list[Floats] = []
    owner: list[int] = []
    nominal: list[bool] = []
    for place, texts in enumerate(columns.values()):
        read = [[float(each) for each in _NUMBER.findall(text or "")] for text in texts]
        plain = all(text is None or _NUMBER.fullmatch(text.strip()) for text in texts)
        for number in range(1 if plain else NUMBERS):
            one = np.array([each[number] if len(each) > number else np.nan for each in read])
            if len(np.unique(one)) > 1:
                features.append(one)
                owner.append(place)
                nominal.append(False)
        distinct, code, often = np.unique(
            [text or "" for text in texts], return_inverse=True, return_counts=True
        )
        if not plain or len(distinct) <= CATEGORIES:
            rank = np.empty(len(distinct))
            rank[np.argsort(-often, kind="stable")] = np.arange(len(distinct))
            features.append(np.minimum(rank[code], CATEGORIES))
            owner.append(place)
            nominal.append(True)
    shape = np.column_stack(features) if features else np.empty((0, 0))
    return shape, np.array(owner, dtype=np.int64), np.array(nominal, dtype=np.bool_)
