"""Bring a file and a population register to the same values of every quasi-identifier."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from sfumato.core.errors import InputError
from sfumato.hierarchies.builders import build_hierarchy, leaf_order
from sfumato.schema import Kind, QuasiIdentifier
from sfumato.table.domains import coded_ends
from sfumato.table.scalars import natural_order
from sfumato.table.table import CodedColumn, Codes, Domain, LabelDomain, NumberDomain, Table

LARGEST = 1 << 53
"""Points of a domain are below this, so that sums of them are exact."""


def join_register(table: Table, register: Table) -> tuple[Table, Table]:
    """Both tables with the values of either in every domain.

    A value of the register that lies between two values of the file gets a code between
    theirs; hierarchies and coded ends are made anew over all values.

    Parameters
    ----------
    table
        The encoded file.
    register
        What `sfumato.risk.register_presence.open_register` gave.

    Raises
    ------
    InputError
        If a column of the register holds another kind of values, a category outside the
        schema's order, or a value that the hierarchy does not have.
    """
    ours, theirs = [], []
    for own, other in zip(table.quasi_identifiers, register.quasi_identifiers, strict=True):
        quasi = table.schema.quasi_identifiers[own.name]
        joined, of_own, of_other = _joined(own, other, quasi)
        ours.append(replace(joined, codes=_recoded(own.codes, of_own)))
        theirs.append(replace(joined, codes=_recoded(other.codes, of_other)))
    return (
        replace(table, quasi_identifiers=tuple(ours)),
        replace(register, quasi_identifiers=tuple(theirs)),
    )


def _recoded(codes: Codes, new: Codes) -> Codes:
    recoded: Codes = np.append(new, np.int32(-1))[codes]
    return recoded


def _joined(
    own: CodedColumn, other: CodedColumn, quasi: QuasiIdentifier
) -> tuple[CodedColumn, Codes, Codes]:
    """The column over all values, and the new code of each old one, ours and theirs."""
    domain: Domain
    if isinstance(own.domain, NumberDomain):
        domain, ours, theirs = _numbers(own.name, own.domain, other.domain)
    else:
        domain, ours, theirs = _labels(own, other, quasi)
    hierarchy = None
    if quasi.hierarchy is not None:
        names = [domain.label(code) for code in range(domain.size)]
        hierarchy = build_hierarchy(quasi.hierarchy, names, own.name)
    ends = coded_ends(quasi, own.kind, domain, own.name)
    return replace(own, domain=domain, hierarchy=hierarchy, ends=ends), ours, theirs


def _numbers(name: str, own: NumberDomain, other: Domain) -> tuple[NumberDomain, Codes, Codes]:
    subject = f"the register's column '{name}'"
    if not isinstance(other, NumberDomain) or own.unit != other.unit:
        found = f"{other.unit}s" if isinstance(other, NumberDomain) else "categories"
        raise InputError(
            subject,
            "must hold values of the kind that the file's column holds",
            found=found,
            accepted=f"{own.unit}s",
        )
    decimals = max(own.decimals, other.decimals)
    points = []
    for domain in (own, other):
        scale = 10 ** (decimals - domain.decimals)
        if max(abs(int(domain.points[0])), abs(int(domain.points[-1]))) * scale >= LARGEST:
            raise InputError(
                subject,
                "must hold numbers that can be compared exactly with the file's",
                found=f"{decimals} decimal places beside large numbers",
                advice="round the register to the decimal places of the file",
            )
        points.append(domain.points * scale)
    both = np.unique(np.concatenate(points))
    if own.width != other.width:
        raise InputError(
            subject,
            "must hold codes with as many digits as the file's, leading zeros included",
            found="others",
            advice="read the column as text, or declare it as categorical",
        )
    ours, theirs = (np.searchsorted(both, each).astype(np.int32) for each in points)
    return NumberDomain(both, decimals, own.unit, own.width), ours, theirs


def _labels(
    own: CodedColumn, other: CodedColumn, quasi: QuasiIdentifier
) -> tuple[LabelDomain, Codes, Codes]:
    assert isinstance(own.domain, LabelDomain)
    assert isinstance(other.domain, LabelDomain)
    all_labels = {*own.domain.labels, *other.domain.labels}
    if quasi.order is not None:
        if not all_labels <= set(quasi.order):
            raise InputError(
                f"the register's column '{own.name}'",
                "must hold only the categories of its 'order'",
                found=f"{len(all_labels - set(quasi.order))} others",
                advice="add them to 'order' in the spelling of the data, or to 'missing'",
            )
        labels = [label for label in quasi.order if label in all_labels]
    else:
        labels = natural_order(all_labels)
        if own.kind is Kind.ORDERED and isinstance(quasi.hierarchy, Path):
            rank = {leaf: place for place, leaf in enumerate(leaf_order(quasi.hierarchy))}
            labels.sort(key=lambda label: rank.get(label, len(rank)))
    place = {label: code for code, label in enumerate(labels)}
    ours, theirs = (
        np.array([place[label] for label in domain.labels], dtype=np.int32)
        for domain in (own.domain, other.domain)
    )
    return LabelDomain(tuple(labels)), ours, theirs
