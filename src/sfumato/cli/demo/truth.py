"""The demo's linkage held against the generator's truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.linkage.outcomes.thresholds import MATCH
from sfumato.linkage.quality.rates import Rates, rates
from sfumato.linkage.quality.truth import quality_of_matches, quality_of_pairs

if TYPE_CHECKING:
    from sfumato.linkage.links import Links
    from sfumato.linkage.values import Records

Ints = npt.NDArray[np.int64]
_TWIN = "twin"


@dataclass(frozen=True)
class LinkageTruth:
    """What a linkage found, and what is true.

    Found persons are true persons plus splits minus merges.

    Attributes
    ----------
    persons
        Number of true persons.
    splits
        Persons found beyond the first among the records of one true person, summed.
    merges
        True persons beyond the first among the records of one person found, summed.
    matches
        Precision and recall of the pairs called a match, against all pairs of one person.
    wrong
        Number of pairs called a match that are of two persons.
    twins, namesakes
        How many of these are between twins, and between a senior and a junior of one name.
    """

    persons: int
    splits: int
    merges: int
    matches: Rates
    wrong: int
    twins: int
    namesakes: int


def against_the_truth(links: Links, truth: pa.Table) -> LinkageTruth:
    """Hold a linkage against the truth.

    Parameters
    ----------
    links
        The linkage.
    truth
        Of each record ``clinic`` (its source), ``patient`` (its id), ``person`` and ``relation``.
    """
    row = _rows(links.records, truth)
    person = pc.dictionary_encode(truth["person"]).combine_chunks().indices.to_numpy()[row]
    twin = np.asarray(pc.equal(truth["relation"], _TWIN))[row]
    related = np.asarray(pc.not_equal(truth["relation"], ""))[row]
    left, right = links.pairs.left, links.pairs.right
    match = links.settled.by_score == MATCH
    called = quality_of_matches(left, right, match, person)
    true = quality_of_pairs(person, person).true
    wrong = match & (person[left] != person[right])
    twins = twin[left] & twin[right]
    namesakes = (related & ~twin)[left] & (related & ~twin)[right]
    found = links.settled.persons.person.astype(np.int64)
    together = len(np.unique(np.column_stack([found, person]), axis=0))
    count = len(np.unique(person))
    return LinkageTruth(
        persons=count,
        splits=together - count,
        merges=together - links.settled.persons.count,
        matches=rates(called.right, called.found, true),
        wrong=int(np.count_nonzero(wrong)),
        twins=int(np.count_nonzero(wrong & twins)),
        namesakes=int(np.count_nonzero(wrong & namesakes)),
    )


def _rows(records: Records, truth: pa.Table) -> Ints:
    """Row of the truth of each record."""
    rows = []
    for name, ids in zip(records.sources, records.ids, strict=True):
        own = np.flatnonzero(np.asarray(pc.equal(truth["clinic"], name)))
        known = truth["patient"].take(pa.array(own)).combine_chunks().cast(ids.type)
        rows.append(own[pc.index_in(ids, known).to_numpy()])
    return np.concatenate(rows)
