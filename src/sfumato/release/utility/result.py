"""What a release lost, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.release.coarsen_counts import CountLoss
from sfumato.release.utility.correlations import CorrelationChange
from sfumato.release.utility.distributions import Distribution
from sfumato.release.utility.range_queries import QueryError
from sfumato.risk import measure_table as render
from sfumato.schema import Kind


@dataclass(frozen=True)
class ColumnLoss:
    """What one quasi-identifier lost.

    Attributes
    ----------
    column
        Its name.
    kind
        Its kind.
    weight
        Its share in the loss of the release, relative to the others.
    ane
        Average normalised error over the kept records that have a value, in [0, 1].
    ane_persons
        The same over the persons that have a value.
    ncp
        Normalised certainty penalty over the original records, suppressed ones with 1.
    sse, sst
        Sums of squares within the classes and in all, on the unit scale.
    sse_sst
        Their ratio, in [0, 1].
    total_variation
        Distance between the distributions before and after, over the bars that are shown.
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

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "column": self.column,
            "kind": self.kind.value,
            "weight": self.weight,
            "ane": self.ane,
            "ane_persons": self.ane_persons,
            "ncp": self.ncp,
            "sse": self.sse,
            "sst": self.sst,
            "sse_sst": self.sse_sst,
            "total_variation": self.total_variation,
        }


@dataclass(frozen=True)
class Utility:
    """What a release lost.

    Attributes
    ----------
    ane
        Average normalised error over kept records, the weighted mean over the columns
        (paper 003, Section 7).
    ane_persons
        The same over persons.
    ncp
        Global certainty penalty: the weighted mean of the columns' NCP.
    sse_sst
        Share of the variance that is lost, the weighted sums over the columns.
    discernibility
        Σ N_t² + suppressed records · N.
    average_class_records, average_class_persons
        Average size of a class.
    records, persons
        Numbers of the original file.
    suppressed_records
        Records that capping or suppression removed.
    suppressed_persons
        Persons of whom no record is kept.
    columns
        What each quasi-identifier lost.
    correlations
        How correlations changed.
    queries
        How well counts can be estimated.
    distributions
        Each quasi-identifier before and after.
    counts
        What coarser numbers of records cost, where they were asked for.
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
    queries: QueryError
    distributions: tuple[Distribution, ...]
    counts: CountLoss | None = None

    @classmethod
    def of_columns(cls, columns: tuple[ColumnLoss, ...], **measured: Any) -> Utility:
        """The loss of a release, from that of its columns and the other fields.

        Parameters
        ----------
        columns
            What each quasi-identifier lost.
        **measured
            The fields that are no averages over columns.
        """
        weight = np.array([each.weight for each in columns])
        within = float(weight @ [each.sse for each in columns])
        whole = float(weight @ [each.sst for each in columns])
        return cls(
            ane=float(np.average([each.ane for each in columns], weights=weight)),
            ane_persons=float(np.average([each.ane_persons for each in columns], weights=weight)),
            ncp=float(np.average([each.ncp for each in columns], weights=weight)),
            sse_sst=within / whole if whole > 0 else 0.0,
            columns=columns,
            **measured,
        )

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
            "sse_sst": self.sse_sst,
            "discernibility": self.discernibility,
            "average_class_records": self.average_class_records,
            "average_class_persons": self.average_class_persons,
            "suppressed_records": self.suppressed_records,
            "suppressed_records_share": self.suppressed_records_share,
            "suppressed_persons": self.suppressed_persons,
            "suppressed_persons_share": self.suppressed_persons_share,
            **({} if self.counts is None else {"counts": self.counts.to_json()}),
            "columns": [each.to_json() for each in self.columns],
            "correlations": self.correlations.to_json(),
            "queries": self.queries.to_json(),
            "distributions": [each.to_json() for each in self.distributions],
        }

    def rows(self) -> list[render.Row]:
        """The lines of the printed table."""
        return [
            _row("ane", self.ane, "average distance from the class mean, on [0, 1]"),
            _row("ane_persons", self.ane_persons, "the same averaged over persons"),
            _row("ncp", self.ncp, "share of its domain that an average cell may stand for"),
            _row("sse_sst", self.sse_sst, "share of the variance that lies within classes"),
            render.Row(
                "discernibility",
                render.count(self.discernibility),
                "pairs of records that cannot be told apart",
            ),
            _row("average_class_records", self.average_class_records, "records of a class"),
            _row("average_class_persons", self.average_class_persons, "persons of a class"),
            _suppressed("suppressed_records", self.suppressed_records, self.records),
            _suppressed("suppressed_persons", self.suppressed_persons, self.persons),
            *([] if self.counts is None else _of_counts(self.counts, self.persons)),
            _row(
                "correlation_change",
                self.correlations.max_change,
                "largest change of a correlation between two columns",
            ),
            _row("query_error", self.queries.median, "median relative error of range counts"),
        ]

    def __str__(self) -> str:
        """The printed table."""
        return render.text("Loss of the release", self.rows(), ())

    def _repr_html_(self) -> str:
        return render.html("Loss of the release", self.rows(), ())


def _row(name: str, value: float, meaning: str) -> render.Row:
    return render.Row(name, f"{value:.4g}", meaning)


def _of_counts(lost: CountLoss, persons: int) -> list[render.Row]:
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
            f"persons with fewer records or several pseudonyms, of {render.count(persons)}",
        ),
        _row("links_lost", lost.links_lost, "share of pairs of a person's records unlinked"),
    ]


def _suppressed(name: str, count: int, of: int) -> render.Row:
    meaning = f"{100 * count / of:.3g} % of {render.count(of)}"
    return render.Row(name, render.count(count), meaning)
