"""What a release loses, measured against the original file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Generic, TypeVar

import numpy as np

from sfumato.core.arrays import Bools
from sfumato.core.number_text import share_text
from sfumato.kernels.key_numbering import number_by_first_appearance
from sfumato.release.analysis_loss import measured
from sfumato.release.coarsen_counts import CountLoss
from sfumato.release.distributions import (
    Attribute,
    Distribution,
    QueryError,
    distribution,
    query_error,
    released_cells,
)
from sfumato.release.generalisation import ExtraValues, ReleasedColumn, with_extra_values
from sfumato.release.history_utility import HistoryUtility
from sfumato.release.information_loss import (
    WHOLE,
    CorrelationChange,
    certainty_penalty,
    correlation_change,
    discernibility,
    least_penalty,
    normalized_error,
    squared_error,
)
from sfumato.release.release_options import Form, Loss
from sfumato.risk import measure_table as render
from sfumato.schema import Kind
from sfumato.table.table import CodedColumn, Codes, Table

_Measured = TypeVar("_Measured")


class Later(Generic[_Measured]):
    """What is measured when it is first asked for: of most releases of a search nothing is."""

    def __init__(self, measure: Callable[[], _Measured]) -> None:
        self._measure: Callable[[], _Measured] | None = measure

    @cached_property
    def value(self) -> _Measured:
        """It, measured once."""
        assert self._measure is not None
        found = self._measure()
        # What it was measured of need not be held any longer.
        self._measure = None
        return found


@dataclass(frozen=True)
class ColumnLoss:
    """What one quasi-identifier lost.

    Attributes
    ----------
    weight
        Its share in the loss of the release, relative to the others.
    ane
        Average normalised error over the kept records that have a value, in [0, 1].
    ncp
        Normalised certainty penalty over the original records, suppressed ones with 1.
    sse, sst
        Sums of squares within the classes and in all, on the unit scale.
    sse_sst
        Their ratio, in [0, 1].
    total_variation
        Distance between the distributions before and after, over the bars that are shown.
    hidden
        Share of the original records that show nothing of the column: ``*``, its widest range, a
        set of all values, or no record any more.
    """

    column: str
    kind: Kind
    weight: float
    ane: float
    ane_persons: float
    ncp: float
    sse: float
    sst: float
    sse_sst: float
    total_variation: float
    hidden: float

    @property
    def lost(self) -> bool:
        """Whether more than half of the records show nothing of it."""
        return self.hidden > 1 / 2

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"kind": self.kind.value}


@dataclass(frozen=True)
class Utility:
    """What a release lost.

    Attributes
    ----------
    ane
        Average normalised error over kept records, the weighted mean over the columns
        (paper 003, Section 7).
    ncp
        Global certainty penalty: the weighted mean of the columns' NCP.
    sse_sst
        Share of the variance that is lost, the weighted sums over the columns.
    discernibility
        Σ N_t² + suppressed records · N.
    counts
        What coarser numbers of records cost, where they were asked for.
    histories
        What is left of histories, where a promise was made about known events.
    least_ncp
        NCP that no release in this form can be below, where that was asked for; NaN where none is
        known.
    tables
        Mean total variation between tables of two columns before and after, where it was to be
        least (`sfumato.release.analysis_loss.table_distance`).
    models
        Bits of logarithmic loss that a model has more when it is trained on the release, where
        that was to be least (`sfumato.release.analysis_loss.bits_lost`).
    """

    ane: float
    ane_persons: float
    ncp: float
    sse_sst: float
    discernibility: int
    average_class_records: float
    average_class_persons: float
    records: int
    persons: int
    suppressed_records: int
    suppressed_persons: int
    columns: tuple[ColumnLoss, ...]
    correlations: CorrelationChange
    queried: Later[QueryError] = field(repr=False, compare=False)
    distributions: tuple[Distribution, ...]
    counts: CountLoss | None = None
    histories: HistoryUtility | None = None
    least_ncp: float | None = None
    tables: float | None = None
    models: float | None = None

    @classmethod
    def of_columns(cls, columns: tuple[ColumnLoss, ...], **measured: Any) -> Utility:
        """The loss of a release, from that of its columns and the other fields."""
        weight = np.array([column.weight for column in columns])
        within = float(weight @ [column.sse for column in columns])
        whole = float(weight @ [column.sst for column in columns])
        return cls(
            ane=float(np.average([column.ane for column in columns], weights=weight)),
            ane_persons=float(
                np.average([column.ane_persons for column in columns], weights=weight)
            ),
            ncp=float(np.average([column.ncp for column in columns], weights=weight)),
            sse_sst=within / whole if whole > 0 else 0.0,
            columns=columns,
            **measured,
        )

    @property
    def queries(self) -> QueryError:
        """How well counts can be estimated."""
        return self.queried.value

    @property
    def suppressed_records_share(self) -> float:
        """Suppressed records as a share of the original ones."""
        return self.suppressed_records / self.records

    @property
    def suppressed_persons_share(self) -> float:
        """Suppressed persons as a share of the original ones."""
        return self.suppressed_persons / self.persons

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "ane": self.ane,
            "ane_persons": self.ane_persons,
            "ncp": self.ncp,
            **({} if self.least_ncp is None else {"least_ncp": self._known_bound}),
            "sse_sst": self.sse_sst,
            "discernibility": self.discernibility,
            "average_class_records": self.average_class_records,
            "average_class_persons": self.average_class_persons,
            "suppressed_records": self.suppressed_records,
            "suppressed_records_share": self.suppressed_records_share,
            "suppressed_persons": self.suppressed_persons,
            "suppressed_persons_share": self.suppressed_persons_share,
            **({} if self.counts is None else {"counts": self.counts.to_json()}),
            **({} if self.histories is None else {"histories": self.histories.to_json()}),
            "columns": [column.to_json() for column in self.columns],
            "correlations": self.correlations.to_json(),
            "queries": self.queries.to_json(),
            **{name: value for name, (value, _) in self._asked.items()},
            "distributions": [each.to_json() for each in self.distributions],
        }

    def rows(self) -> list[render.Row]:
        """The lines of the printed table."""
        return [
            _row("ane", self.ane, "average distance from the class mean, on [0, 1]"),
            _row("ane_persons", self.ane_persons, "the same averaged over people"),
            _row("ncp", self.ncp, "share of its domain that an average cell may stand for"),
            *([] if self.least_ncp is None else [self._bound_row()]),
            _row("sse_sst", self.sse_sst, "share of the variance that lies within classes"),
            render.Row(
                "discernibility",
                render.count(self.discernibility),
                "pairs of records that cannot be told apart",
            ),
            _row("average_class_records", self.average_class_records, "records of a class"),
            _row("average_class_persons", self.average_class_persons, "people of a class"),
            _suppressed("suppressed_records", self.suppressed_records, self.records),
            _suppressed("suppressed_persons", self.suppressed_persons, self.persons),
            *([] if self.counts is None else _count_rows(self.counts, self.persons)),
            *([] if self.histories is None else self.histories.rows()),
            _row(
                "correlation_change",
                self.correlations.max_change,
                "largest change of a correlation between two columns",
            ),
            _row("query_error", self.queries.median, "median relative error of range counts"),
            *(_row(name, value, meaning) for name, (value, meaning) in self._asked.items()),
        ]

    @property
    def _asked(self) -> dict[str, tuple[float, str]]:
        """What is measured where it is to be least, with its meaning."""
        found = {
            "tables": (self.tables, "total variation between tables of two columns, on average"),
            "models": (self.models, "bits that a model foretells less when trained on the release"),
        }
        return {
            name: (value, meaning) for name, (value, meaning) in found.items() if value is not None
        }

    @property
    def _known_bound(self) -> float | None:
        return None if self.least_ncp is None or np.isnan(self.least_ncp) else self.least_ncp

    def _bound_row(self) -> render.Row:
        if self._known_bound is None:
            return render.Row("least_ncp", "none known", "for this form and these promises")
        return _row("least_ncp", self._known_bound, "no release of such labels has a lower ncp")

    def __str__(self) -> str:
        """The printed table."""
        return render.text("Loss of the release", self.rows(), ())

    def _repr_html_(self) -> str:
        return render.html("Loss of the release", self.rows(), ())


def _row(name: str, value: float, meaning: str) -> render.Row:
    return render.Row(name, f"{value:.4g}", meaning)


def _count_rows(lost: CountLoss, persons: int) -> list[render.Row]:
    return [
        render.Row(
            "records_dropped",
            render.count(lost.records_dropped),
            "of these records, left out so that numbers of records are shared",
        ),
        render.Row(
            "ids_added",
            render.count(lost.ids_added),
            "pseudonyms beyond one per person, for the same reason",
        ),
        render.Row(
            "persons_affected",
            render.count(lost.persons_affected),
            f"people with fewer records or several pseudonyms, of {render.count(persons)}",
        ),
        _row("links_lost", lost.links_lost, "share of pairs of a person's records unlinked"),
    ]


def _suppressed(name: str, count: int, of: int) -> render.Row:
    return render.Row(name, render.count(count), f"{share_text(count / of)} of {render.count(of)}")


def measure_utility(
    table: Table,
    kept: Bools,
    class_of: Codes,
    classes: int,
    released: Mapping[str, tuple[ReleasedColumn, ...]],
    *,
    form: Form,
    rng: np.random.Generator,
    extra: ExtraValues | None = None,
    least_records: int | None = None,
    loss: Loss | None = None,
) -> Utility:
    """Measure what a release loses against the original file.

    Parameters
    ----------
    kept
        Which of its records are released, at least one; shape (records,).
    class_of
        Class of each kept record; shape (kept records,). A person in several classes counts
        in each of them.
    classes
        Number of classes, none of them empty.
    extra
        What the cells hold in addition to the records, where there is a population.
    least_records
        Records of a class, where a lower bound of the NCP is asked for; 0 where none are promised.
    """
    person = table.person[kept]
    sizes = np.bincount(class_of, minlength=classes).astype(np.int64)
    suppressed = table.records - len(person)
    kept_persons = len(np.flatnonzero(np.bincount(person)))
    pair, pairs = number_by_first_appearance(
        person.astype(np.int64) * classes + class_of, table.persons * classes
    )
    # After full-domain recoding a person may be in several classes. Means over persons need one
    # each.
    unit = person if pairs == kept_persons else pair
    losses, distributions, attributes, columns = [], [], [], []
    lost = np.zeros(len(person))
    for done, original in enumerate(table.quasi_identifiers):
        column = replace(original, codes=original.codes[kept])
        printed = released[column.name][0]
        held, of, own = with_extra_values(column, class_of, done, form, extra)
        cells = released_cells(held, of, classes, own, printed)
        shown = distribution(original, table.person, cells, sizes)
        penalty = printed.penalty
        if penalty is None:
            penalty = certainty_penalty(held, of, classes, printed.leaves, own)
        lost += column.weight * penalty[class_of]
        ncp = (float(penalty @ sizes) + suppressed) / table.records
        hidden = (int((penalty > WHOLE) @ sizes) + suppressed) / table.records
        losses.append(_loss(column, class_of, classes, unit, ncp, shown, hidden))
        distributions.append(shown)
        attributes.append(Attribute(original, cells))
        columns.append(column)
    correlations = correlation_change(columns, class_of, classes)
    least_ncp = None
    # NaN says that a bound was asked for and none is known, None that nobody asked.
    if least_records is not None:
        # The bound is of releases of all records; leaving some out could pass below it.
        bound = least_penalty(columns, lost, least_records, form) if not suppressed else None
        whole = sum(column.weight for column in columns) * len(person)
        least_ncp = np.nan if bound is None else bound / whole
    asked = {}
    if loss in (Loss.TABLES, Loss.MODELS):
        asked[loss.value] = measured(loss, attributes, table, kept, class_of, sizes)
    return Utility.of_columns(
        tuple(losses),
        discernibility=discernibility(sizes, suppressed),
        average_class_records=len(person) / classes,
        average_class_persons=pairs / classes,
        records=table.records,
        persons=table.persons,
        suppressed_records=suppressed,
        suppressed_persons=table.persons - kept_persons,
        correlations=correlations,
        queried=Later(partial(query_error, attributes, sizes, rng)),
        distributions=tuple(distributions),
        least_ncp=least_ncp,
        **asked,
    )


def _loss(
    column: CodedColumn,
    class_of: Codes,
    classes: int,
    person: Codes,
    ncp: float,
    shown: Distribution,
    hidden: float,
) -> ColumnLoss:
    ane, ane_persons = normalized_error(column, class_of, classes, person)
    squares = squared_error(column, class_of, classes)
    return ColumnLoss(
        column.name,
        column.kind,
        column.weight,
        ane,
        ane_persons,
        ncp,
        squares.sse,
        squares.sst,
        squares.ratio,
        shown.total_variation,
        hidden,
    )
