"""The demo's linkage held against the generator's truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.linkage.files import PAIRS, PERSONS
from sfumato.linkage.quality.rates import Rates, rates
from sfumato.linkage.quality.truth import quality_of_matches, quality_of_pairs
from sfumato.pipeline.demo_project import truth_of
from sfumato.pipeline.project_folder import LINK, LINKED, REVIEW, ProjectFolder
from sfumato.review.decisions.export import DECISIONS

Ints = npt.NDArray[np.int64]
_MATCH, _TWIN = "match", "twin"


@dataclass(frozen=True)
class LinkageTruth:
    """What a linkage and its review found, and what is true.

    Found persons are true persons plus splits minus merges.

    Attributes
    ----------
    persons
        Number of true persons.
    splits
        Persons found beyond the first among the records of one true person, summed.
    merges
        True persons beyond the first among the records of one person found, summed.
    by_score, matches
        Precision and recall of the pairs called a match, against all pairs of one person: by
        score alone, and after the review.
    wrong
        Number of pairs called a match in the end that are of two persons.
    twins, namesakes
        How many of these are between twins, and between a senior and a junior of one name.
    answers, right_answers
        Number of answers of the review, and of right ones.
    """

    persons: int
    splits: int
    merges: int
    by_score: Rates
    matches: Rates
    wrong: int
    twins: int
    namesakes: int
    answers: int
    right_answers: int


@dataclass(frozen=True)
class _Pairs:
    """Candidate pairs by places of their records in the truth."""

    names: pa.ChunkedArray
    left: Ints
    right: Ints
    match: npt.NDArray[np.bool_]


def against_the_truth(place: ProjectFolder) -> LinkageTruth:
    """Hold the linkage of the demo's project, which has run, against the truth.

    Parameters
    ----------
    place
        The project.
    """
    truth = truth_of(place)
    link, linked, review = map(place.of_stage, (LINK, LINKED, REVIEW))
    person = pc.dictionary_encode(truth["person"]).combine_chunks().indices.to_numpy()
    by_score = _pairs(link / PAIRS, truth)
    after = _pairs(linked / PAIRS, truth) if (linked / PAIRS).is_file() else by_score
    wrong = after.match & (person[after.left] != person[after.right])
    twin = np.asarray(pc.equal(truth["relation"], _TWIN))
    namesake = np.asarray(pc.not_equal(truth["relation"], "")) & ~twin
    found = _found(linked / PERSONS, truth)
    together = len(np.unique(np.column_stack([found, person]), axis=0))
    count = len(np.unique(person))
    answers, right = _answers(review / DECISIONS, by_score, person)
    return LinkageTruth(
        persons=count,
        splits=together - count,
        merges=together - len(np.unique(found)),
        by_score=_rates(by_score, person),
        matches=_rates(after, person),
        wrong=int(np.count_nonzero(wrong)),
        twins=int(np.count_nonzero(wrong & twin[after.left] & twin[after.right])),
        namesakes=int(np.count_nonzero(wrong & namesake[after.left] & namesake[after.right])),
        answers=answers,
        right_answers=right,
    )


def _rates(pairs: _Pairs, person: Ints) -> Rates:
    called = quality_of_matches(pairs.left, pairs.right, pairs.match, person)
    return rates(called.right, called.found, quality_of_pairs(person, person).true)


def _pairs(path: Path, truth: pa.Table) -> _Pairs:
    table = pq.read_table(path)
    left, right = (_places(table, f"source_{end}", f"id_{end}", truth) for end in "lr")
    return _Pairs(table["pair"], left, right, np.asarray(pc.equal(table["outcome"], _MATCH)))


def _found(path: Path, truth: pa.Table) -> Ints:
    """The person found of each record of the truth."""
    table = pq.read_table(path)
    found = np.empty(truth.num_rows, dtype=np.int64)
    person = pc.dictionary_encode(table["person"]).combine_chunks().indices.to_numpy()
    found[_places(table, "source", "id", truth)] = person
    return found


def _answers(path: Path, pairs: _Pairs, person: Ints) -> tuple[int, int]:
    """Number of answers about candidate pairs, and of right ones."""
    if not path.is_file():
        return 0, 0
    table = pq.read_table(path, columns=["pair", "answer"])
    place = pc.index_in(table["pair"], pairs.names).to_numpy()
    same = person[pairs.left[place]] == person[pairs.right[place]]
    right = (table["answer"].to_numpy() > 0) == same
    return len(right), int(np.count_nonzero(right))


def _places(table: pa.Table, source: str, name: str, truth: pa.Table) -> Ints:
    """Place in the truth of each record that a table names by its source and its id."""
    known = _keys(truth["clinic"], truth["patient"])
    places: Ints = pc.index_in(_keys(table[source], table[name]), known).to_numpy()
    return places


def _keys(source: pa.ChunkedArray, name: pa.ChunkedArray) -> pa.ChunkedArray:
    text = pa.string()
    return pc.binary_join_element_wise(source.cast(text), name.cast(text), "\t")
