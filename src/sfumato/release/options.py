"""How a release is made, beside the promises that it keeps."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, TypeVar

from sfumato.core.errors import InputError
from sfumato.release.coarsen_counts import Coarsening
from sfumato.release.constraints.checks import count, share
from sfumato.release.released import Form
from sfumato.release.splits import Split
from sfumato.table.classification import Unclassified

_Choice = TypeVar("_Choice", bound=StrEnum)


class Cut(StrEnum):
    """Where a quasi-identifier is cut."""

    SEARCH = "search"
    """Where least is lost, found by a search; never worse than the median's."""
    MEDIAN = "median"
    """At the median record, as the paper does."""


class Recoding(StrEnum):
    """Whether a quasi-identifier is recoded class by class or everywhere alike."""

    LOCAL = "local"
    """Each class its own values, as the tree divides the persons."""
    FULL_DOMAIN = "full-domain"
    """One level of the hierarchy for all records."""


@dataclass(frozen=True)
class Options:
    """How a release is made; checked when made, and written to the manifest.

    Attributes
    ----------
    cut
        Where a quasi-identifier is cut. When not given, the search, or the median where ``split``
        asks for another order than the paper's; ``None`` where full-domain recoding cuts nothing.
    split
        Which cut at the median is tried first.
    recoding
        Whether quasi-identifiers are recoded class by class or everywhere alike.
    values
        The form in which quasi-identifiers are released; full-domain recoding releases the
        labels of hierarchies.
    keep_order
        Keep the order of the records, which may give persons away.
    cap_records
        The most records that a person keeps, drawn at random; ``None`` keeps all.
    coarsen_counts
        How numbers of records are made coarser so that they keep `SharedCounts`; ``None`` leaves
        that to the tree.
    suppress
        The largest share of persons that may be suppressed: where the file cannot meet the
        constraints otherwise, and then those whose suppression gains most for the others.
    threshold
        Risk above which a record counts as at risk.
    unclassified
        What becomes of columns that the schema does not name.

    Raises
    ------
    InputError
        If a value is out of range or an unknown word.
    """

    cut: Cut | None = None
    split: Split = Split.BALANCE
    recoding: Recoding = Recoding.LOCAL
    values: Form = Form.RANGE
    keep_order: bool = False
    cap_records: int | None = None
    coarsen_counts: Coarsening | None = None
    suppress: float = 0.0
    threshold: float = 0.2
    unclassified: Unclassified = Unclassified.REFUSE

    def __post_init__(self) -> None:
        object.__setattr__(self, "split", _choice("split", Split, self.split))
        object.__setattr__(self, "recoding", _choice("recoding", Recoding, self.recoding))
        object.__setattr__(self, "values", _choice("values", Form, self.values))
        left_out = _choice("unclassified", Unclassified, self.unclassified)
        object.__setattr__(self, "unclassified", left_out)
        cut = self._usual_cut() if self.cut is None else _choice("cut", Cut, self.cut)
        object.__setattr__(self, "cut", cut)
        if self.coarsen_counts is not None:
            way = _choice("coarsen_counts", Coarsening, self.coarsen_counts)
            object.__setattr__(self, "coarsen_counts", way)
        if not isinstance(self.keep_order, bool):
            raise InputError("parameter keep_order", "must be true or false")
        if self.cap_records is not None:
            count("cap_records", self.cap_records, 1)
        share("suppress", self.suppress, zero=True, one=False)
        share("threshold", self.threshold, zero=False, one=True)
        if self.cut is Cut.SEARCH:
            self._check_search()
        if self.recoding is Recoding.FULL_DOMAIN:
            self._check_full_domain()

    def _usual_cut(self) -> Cut | None:
        """Where is cut when nobody says it."""
        if self.recoding is Recoding.FULL_DOMAIN:
            return None
        return Cut.SEARCH if self.split is Split.BALANCE else Cut.MEDIAN

    def _check_search(self) -> None:
        for name, value, accepted in (
            ("split", self.split, Split.BALANCE),
            ("recoding", self.recoding, Recoding.LOCAL),
        ):
            if value is not accepted:
                raise InputError(
                    f"parameter {name}",
                    "must be left out where the search chooses the cuts",
                    found=f'{value.value} with cut = "search"',
                    accepted=accepted.value,
                )

    def _check_full_domain(self) -> None:
        if self.values not in (Form.RANGE, Form.HIERARCHY):
            raise InputError(
                "parameter values",
                "must be left out where all records show one level of a hierarchy",
                found=f"{self.values.value} with full-domain recoding",
                accepted="range, hierarchy",
            )
        if self.coarsen_counts is not None:
            raise InputError(
                "parameter coarsen_counts",
                "works on persons who are in one class each",
                found="full-domain recoding, which may put a person into several",
                advice="leave it out, or use local recoding",
            )

    @property
    def form(self) -> Form:
        """The form in which quasi-identifiers are released."""
        return Form.HIERARCHY if self.recoding is Recoding.FULL_DOMAIN else self.values

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without those that are not set."""
        return {
            name: value.value if isinstance(value, StrEnum) else value
            for name, value in asdict(self).items()
            if value is not None
        }


def _choice(name: str, kind: type[_Choice], value: str) -> _Choice:
    try:
        return kind(value)
    except ValueError:
        raise InputError(
            f"parameter {name}",
            "must be one of the known words",
            accepted=", ".join(kind),
        ) from None
