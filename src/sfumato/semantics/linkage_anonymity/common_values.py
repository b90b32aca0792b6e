"""The same values and one hierarchy for a quasi-identifier that several files have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.hierarchies import ROOT, Hierarchy, build_hierarchy
from sfumato.schema import QuasiIdentifier
from sfumato.table.table import CodedColumn, NumberDomain

Ints = npt.NDArray[np.int32]


def common_values(
    columns: Sequence[CodedColumn], quasi: QuasiIdentifier, *, flat: bool = False
) -> tuple[Hierarchy, list[Ints]]:
    """One hierarchy over the values of several columns, and their codes in it.

    Parameters
    ----------
    columns
        The quasi-identifier in every file that has it.
    quasi
        What the schema says about it.
    flat
        Whether, without a hierarchy in the schema, ``*`` alone stands above the values.

    Returns
    -------
    tuple
        The hierarchy, and per column its leaf codes, each of shape (records,).

    Raises
    ------
    InputError
        If it has no hierarchy, is top- or bottom-coded, holds numbers in one file and dates or
        categories in another, or if a value has no leaf.
    """
    name = columns[0].name
    if quasi.bottom is not None or quasi.top is not None:
        raise InputError(
            f"quasi-identifier '{name}'",
            "must not be top- or bottom-coded beside linkage anonymity",
            advice="code its ends in its hierarchy",
        )
    labels = _labels(columns)
    values = sorted({label for each in labels for label in each})
    if quasi.hierarchy is not None:
        hierarchy = build_hierarchy(quasi.hierarchy, values, name)
    elif flat:
        hierarchy = Hierarchy.from_columns(
            [values, [ROOT] * len(values)], f"the values of column '{name}'"
        )
    else:
        raise InputError(
            f"quasi-identifier '{name}'",
            "must have a hierarchy to be generalised for linkage anonymity",
            found="none in the schema",
            accepted="a file (.csv, .ttl), prefixes of codes, or intervals, under 'hierarchy'",
        )
    codes = []
    for column, own in zip(columns, labels, strict=True):
        place = np.array([hierarchy.positions[label] for label in own] + [-1], dtype=np.int32)
        codes.append(place[column.codes])
    return hierarchy, codes


def _labels(columns: Sequence[CodedColumn]) -> list[list[str]]:
    """The printed values of each column's domain, alike where the values are."""
    numbers = [c.domain for c in columns if isinstance(c.domain, NumberDomain)]
    kinds = {domain.unit for domain in numbers}
    if len(kinds) > 1 or len(numbers) not in (0, len(columns)):
        raise InputError(
            f"quasi-identifier '{columns[0].name}'",
            "must hold values of one kind in all files",
            found=", ".join(sorted(kinds) + ["categories"] * (len(numbers) < len(columns))),
            advice="give it the same 'kind' in every schema",
        )
    if not numbers:
        return [[c.domain.label(code) for code in range(c.domain.size)] for c in columns]
    decimals = max(domain.decimals for domain in numbers)
    width = max(domain.width for domain in numbers)
    printer = NumberDomain(numbers[0].points[:0], decimals, numbers[0].unit, width)
    return [
        [
            printer.format(point * 10 ** (decimals - domain.decimals), decimals)
            for point in domain.points.tolist()
        ]
        for domain in numbers
    ]
