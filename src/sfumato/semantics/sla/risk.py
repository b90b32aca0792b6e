"""Risk of re-identification with the associations applied (Eq. 2-3 of paper 002)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import Association
from sfumato.semantics.linkage_anonymity import Local
from sfumato.semantics.linkage_anonymity.keys import Ints
from sfumato.semantics.sla.between import left_by
from sfumato.semantics.sla.reader import Reader

Floats = npt.NDArray[np.float64]


def disclosure_risks(
    codes: Ints,
    levels: npt.NDArray[np.integer],
    locals_: Sequence[Local],
    hierarchies: Mapping[str, Hierarchy],
    associations: Iterable[Association] = (),
) -> Floats:
    """Chance that a reader picks the right individual for each tuple, ``1 / |class matched|``.

    The reader refines the tuple by all associations to a fixpoint, the surest first. Where that
    excludes the true person, the risk is 0; where it leaves nobody in a local data set, its
    reader falls back to the tuple as shown. Of several local data sets the greatest risk.

    Parameters
    ----------
    codes
        The true leaf codes of each tuple, -1 for missing; shape (tuples, attributes).
    levels
        Level that each value is shown at; shape (tuples, attributes).
    locals_
        The local data sets.
    hierarchies
        The hierarchy of each attribute by its name, in the order of the columns.
    associations
        What the reader knows.

    Returns
    -------
    numpy.ndarray
        Risks, shape (tuples,).

    Raises
    ------
    InputError
        If a quasi-identifier of a local data set is none of the columns, an association is
        about what the hierarchies lack, or nobody matches a tuple as it is shown.
    """
    reader = Reader(hierarchies, associations)
    refined = reader.believed(codes, levels)
    risks = np.zeros(len(codes))
    for local in locals_:
        own = [reader.names.index(q) for q in local.quasi_identifiers if q in reader.names]
        narrow = left_by(local, reader.names, *refined)
        wide = left_by(local, reader.names, codes, levels)
        if len(wide) and not wide.min():
            raise InputError(
                f"local data '{local.name}'",
                "must contain the linked individuals",
                found=f"{int((wide == 0).sum())} of {len(wide)} tuples that nobody matches",
            )
        inside = np.ones(len(codes), dtype=np.bool_)
        for column in own:
            table, level = reader.tables[column], refined[1][:, column]
            inside &= table[level, codes[:, column]] == table[level, refined[0][:, column]]
        risk = np.where(narrow > 0, inside / np.maximum(narrow, 1), 1 / np.maximum(wide, 1))
        np.maximum(risks, risk, out=risks)
    return risks


def largest_risks(
    codes: Ints,
    levels: npt.NDArray[np.integer],
    locals_: Sequence[Local],
    hierarchies: Mapping[str, Hierarchy],
    associations: Iterable[Association] = (),
) -> Floats:
    """Chance that the luckiest reader picks the right individual: it believes only what is true.

    The largest ``1 / |class matched|`` over all that a reader can refine the tuple to (see
    `Reader.reachable`) without excluding the true person. Raising a value never makes it larger:
    what a reader reaches from the raised tuple, it reaches from the first one as well. The mean
    of `disclosure_risks` has no such bound, since it counts who is excluded with 0.

    Parameters
    ----------
    codes
        The true leaf codes of each tuple, -1 for missing; shape (tuples, attributes).
    levels
        Level that each value is shown at; shape (tuples, attributes).
    locals_
        The local data sets.
    hierarchies
        The hierarchy of each attribute by its name, in the order of the columns.
    associations
        What the reader knows.

    Returns
    -------
    numpy.ndarray
        Risks, shape (tuples,); of several local data sets the greatest.

    Raises
    ------
    InputError
        If a quasi-identifier of a local data set is none of the columns, or an association is
        about what the hierarchies lack.
    """
    reader = Reader(hierarchies, associations)
    reached = reader.reachable(codes, levels)
    truth = codes[reached.origin]
    inside = (
        reader.shown(truth, reached.levels) == reader.shown(reached.codes, reached.levels)
    ).all(axis=1)
    risks = np.zeros(len(codes))
    for local in locals_:
        counts = left_by(local, reader.names, reached.codes, reached.levels)
        told = inside & (counts > 0)
        np.maximum.at(risks, reached.origin[told], 1 / counts[told])
    return risks


def disclosure_risk(risks: Floats, individuals: npt.NDArray[np.integer] | None = None) -> Measure:
    """Mean risk over the linked individuals (Eq. 3).

    Parameters
    ----------
    risks
        The risk of each tuple, shape (tuples,).
    individuals
        Linked individuals of each tuple, shape (tuples,); 1 without them.
    """
    counts = np.ones(len(risks)) if individuals is None else individuals
    total = float(counts.sum())
    return Measure("linkage_disclosure_risk", float(risks @ counts) / total if total else 0.0)
