"""How many pairs a blocking rule would make, from codes of its parts in a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.linkage.spec.model import Mode

Codes = npt.NDArray[np.uint64]

_MIX = np.uint64(0x9E3779B97F4A7C15)
MISSING = np.uint64(0)


@dataclass(frozen=True)
class Sampled:
    """The parts of a sample of one source.

    Attributes
    ----------
    rows
        Number of all its records.
    codes
        Code of each part of each record in the sample, 0 where it is missing; shape
        (parts, records).
    """

    rows: int
    codes: Codes


def pairs_of(rule: Sequence[int], sources: Sequence[Sampled], mode: Mode) -> float:
    """About how many pairs of records are equal in all parts of a rule.

    Parameters
    ----------
    rule
        Numbers of the parts.
    sources
        The samples.
    mode
        Which records are compared with which.
    """
    counted = [_counts(source, rule) for source in sources]
    pairs = 0.0
    if mode is not Mode.LINK_ONLY:
        for source, (_, counts) in zip(sources, counted, strict=True):
            scale = _scale(source)
            pairs += float(np.sum(counts * (counts - 1.0))) / 2 * scale * scale
    if mode is not Mode.DEDUPE_ONLY:
        for i, (codes, counts) in enumerate(counted):
            for j in range(i):
                both, at, other = np.intersect1d(
                    codes, counted[j][0], assume_unique=True, return_indices=True
                )
                if len(both):
                    found = float(np.dot(counts[at], counted[j][1][other].astype(np.float64)))
                    pairs += found * _scale(sources[i]) * _scale(sources[j])
    return pairs


def _counts(source: Sampled, rule: Sequence[int]) -> tuple[Codes, npt.NDArray[np.int64]]:
    parts = source.codes[list(rule)]
    there = np.all(parts != MISSING, axis=0)
    code = np.zeros(int(there.sum()), dtype=np.uint64)
    for part in parts:
        code = (code ^ part[there]) * _MIX
        code ^= code >> np.uint64(29)
    return np.unique(code, return_counts=True)


def _scale(source: Sampled) -> float:
    return source.rows / max(len(source.codes[0]), 1)
