"""The forward search for a model, by its fit to the risk of classes of one size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from sfumato.risk.population.log_linear.cells import Floats, Ints, Pair
from sfumato.risk.population.log_linear.criterion import MISSED, Band, Criteria
from sfumato.risk.population.log_linear.evidence import Evidence
from sfumato.risk.population.log_linear.fit import Fitter, Terms

INDEPENDENCE: Terms = frozenset()
OWN = 10
"""Classes of up to this size have a search of their own in every sample."""
_WIDENING = 1.25
_FEWEST = 0.001


@dataclass(frozen=True)
class Path:
    """The models that a search for one band of class sizes went through.

    Attributes
    ----------
    band
        The class sizes.
    criteria
        B / √variance of independence, and after each term.
    terms
        The terms in the order in which they were added.
    refused
        Terms that could not be tried on the way, because a table would be too large.
    """

    band: Band
    criteria: tuple[float, ...]
    terms: tuple[Pair, ...]
    refused: tuple[Pair, ...]

    @property
    def model(self) -> Terms:
        """The terms of the model that the search ended with."""
        return frozenset(self.terms)

    def in_words(self, columns: Sequence[str]) -> str:
        """The path as a sentence that is publishable.

        Parameters
        ----------
        columns
            Name of each variable.
        """
        steps = [f"independence {self.criteria[0]:.1f}"]
        for term, criterion in zip(self.terms, self.criteria[1:], strict=True):
            steps.append(f"+ {_name(term, columns)} {criterion:.1f}")
        text = f"{_classes(self.band)}, B/√v: {', '.join(steps)}"
        if self.refused:
            names = ", ".join(_name(term, columns) for term in self.refused)
            text += f"; not tried, too many cells: {names}"
        return text


class Search:
    """Searches for the models of one sample; models that searches share are fitted once.

    Starts at independence and adds, one at a time, the two-way term that leaves the least
    |B / √variance|, as long as that falls (Skinner and Shlomo 2008, Section 5; paper 004,
    Section 2.4.2, for every class size). It is no guarantee of a good model.

    Parameters
    ----------
    fitter
        Fits the models.
    evidence
        The cells that they are judged by.
    bands
        The class sizes that will be searched for.
    fraction
        π, the sampling fraction.
    """

    def __init__(
        self, fitter: Fitter, evidence: Evidence, bands: Sequence[Band], fraction: float
    ) -> None:
        self._fitter = fitter
        self._evidence = evidence
        self._bands = tuple(bands)
        self._criteria = Criteria(bands, fraction)
        self._judged: dict[Terms, Floats | None] = {}
        self._pairs = tuple(combinations(range(fitter.cells.variables), 2))

    def paths(self) -> list[Path]:
        """The path of each band."""
        return [self._path(position) for position in range(len(self._bands))]

    def _path(self, position: int) -> Path:
        model, refused = INDEPENDENCE, set()
        terms: list[Pair] = []
        criteria = [self._criterion(model, position)]
        while True:
            best: tuple[float, Pair] | None = None
            for term in self._pairs:
                if term in model:
                    continue
                judged = self._judge(model | {term})
                if judged is None:
                    refused.add(term)
                elif best is None or abs(judged[position]) < abs(best[0]):
                    best = float(judged[position]), term
            if best is None or abs(best[0]) >= abs(criteria[-1]):
                return Path(
                    self._bands[position], tuple(criteria), tuple(terms), tuple(sorted(refused))
                )
            criteria.append(best[0])
            terms.append(best[1])
            model |= {best[1]}

    def _criterion(self, model: Terms, position: int) -> float:
        judged = self._judge(model)
        return 0.0 if judged is None else float(judged[position])

    def _judge(self, model: Terms) -> Floats | None:
        """The criterion of every band; ``None`` where the model cannot be fitted."""
        if model not in self._judged:
            feasible = self._fitter.feasible(model)
            self._judged[model] = (
                self._criteria.of(*self._evidence.judge(self._fitter.fit(model)))
                if feasible
                else None
            )
        return self._judged[model]


def bands_of(sizes: Ints, classes: Ints) -> list[Band]:
    """The class sizes that occur, each alone where that tells something.

    Sizes up to 10 stand alone; above, bands widen by a quarter, since few classes have exactly
    such a size. A band with less than one in a thousand of the classes also holds the next sizes.

    Parameters
    ----------
    sizes
        The distinct sizes, ascending.
    classes
        Number of classes of each.
    """
    enough = _FEWEST * int(classes.sum())
    bands: list[list[int]] = []
    held = 0
    for size, count in zip(sizes.tolist(), classes.tolist(), strict=True):
        near = bands and bands[-1][0] > OWN and size < _WIDENING * bands[-1][0]
        if bands and (near or held < enough):
            bands[-1].append(size)
            held += count
        else:
            bands.append([size])
            held = count
    return [tuple(band) for band in bands]


def _classes(band: Band) -> str:
    if band == MISSED:
        return "classes missed by the sample"
    return f"classes of {band[0]}" + (f" to {band[-1]}" if len(band) > 1 else "")


def _name(term: Pair, columns: Sequence[str]) -> str:
    return " × ".join(columns[variable] for variable in term)
