"""How a release is made, beside the promises that it keeps."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, TypeVar

from sfumato.core.errors import InputError
from sfumato.release.constraints.checks import count, share
from sfumato.release.released import Form
from sfumato.release.splits import Split

_Choice = TypeVar("_Choice", bound=StrEnum)


class Cut(StrEnum):
    """Where a quasi-identifier is cut."""

    MEDIAN = "median"
    """At the median record, as the paper does."""


@dataclass(frozen=True)
class Options:
    """How a release is made; checked when made, and written to the manifest.

    Attributes
    ----------
    cut
        Where a quasi-identifier is cut.
    split
        Which cut is tried first.
    values
        The form in which quasi-identifiers are released.
    keep_order
        Keep the order of the records, which may give persons away.
    cap_records
        The most records that a person keeps, drawn at random; ``None`` keeps all.
    suppress
        The largest share of persons that may be suppressed when the file cannot meet the
        constraints otherwise.
    threshold
        Risk above which a record counts as at risk.

    Raises
    ------
    InputError
        If a value is out of range or an unknown word.
    """

    cut: Cut = Cut.MEDIAN
    split: Split = Split.BALANCE
    values: Form = Form.RANGE
    keep_order: bool = False
    cap_records: int | None = None
    suppress: float = 0.0
    threshold: float = 0.2

    def __post_init__(self) -> None:
        object.__setattr__(self, "cut", _choice("cut", Cut, self.cut))
        object.__setattr__(self, "split", _choice("split", Split, self.split))
        object.__setattr__(self, "values", _choice("values", Form, self.values))
        if self.cap_records is not None:
            count("cap_records", self.cap_records, 1)
        share("suppress", self.suppress, zero=True, one=False)
        share("threshold", self.threshold, zero=False, one=True)

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
