"""Whether the compared columns can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.linkage.spec.model import Mode


@dataclass
class Seen:
    """What has been seen of a column; one of its values is kept, to see whether others differ.

    Attributes
    ----------
    filled
        Number of values.
    value
        The first value.
    varies
        Whether there is another one.
    """

    filled: int = 0
    value: pa.Scalar | None = None
    varies: bool = False

    def add(self, text: pa.Array) -> None:
        """See more values.

        Parameters
        ----------
        text
            The values.
        """
        filled = len(text) - text.null_count
        self.filled += filled
        if not filled or self.varies:
            return
        if self.value is None:
            self.value = text[pc.index(pc.is_valid(text), True).as_py()]
        self.varies = bool(pc.any(pc.not_equal(text, self.value)).as_py())


def check_columns(
    mode: Mode, columns: Sequence[str], sources: Sequence[tuple[str, dict[str, Seen]]]
) -> None:
    """Refuse columns that no two records to be compared can agree or differ on.

    Parameters
    ----------
    mode
        Which records are compared with which.
    columns
        Names of the specification's columns.
    sources
        Name of each source, and what was seen of the columns that it has.

    Raises
    ------
    InputError
        If no source, or too few of them, have a column or a value in it, or it has one value
        throughout.
    """
    needed = 2 if mode is Mode.LINK_ONLY else 1
    if not any(seen for _, seen in sources) or not columns:
        raise InputError("the sources", "must have columns to compare", found="none of them")
    for column in columns:
        having = [seen[column] for _, seen in sources if column in seen]
        filled = [seen for seen in having if seen.filled]
        if len(filled) < needed:
            lacking = [name for name, seen in sources if column not in seen]
            empty = [name for name, seen in sources if column in seen and not seen[column].filled]
            found = [f"no such column in source {name}" for name in lacking]
            found += [f"no value in source {name}" for name in empty]
            raise InputError(
                f"column '{column}'",
                "must have values in two sources at least" if needed > 1 else "must have values",
                found=", ".join(found),
                advice="leave it out of the specification, or give its header under 'rename'",
            )
        if not any(seen.varies for seen in filled) and _all_equal(filled):
            raise InputError(
                f"column '{column}'",
                "must tell records apart",
                found="one value throughout",
                advice="leave it out of the specification",
            )


def _all_equal(filled: Sequence[Seen]) -> bool:
    return all(seen.value == filled[0].value for seen in filled)
