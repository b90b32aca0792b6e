"""What a review is about: the records of all tables, the pairs to judge, and the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.review.attributes import Attribute
from sfumato.review.settings import Settings

SOURCE, ID = "source", "id"
"""The first two columns of the records."""
PAIR, LEFT, RIGHT = "pair", "left", "right"
"""The columns of the pairs."""
ADDED = "g"
"""What the id of a pair begins with that the linkage does not know.

Ids of pairs are for managers and files: a worker who saw one could tell some gold pairs.
"""


@dataclass(frozen=True, slots=True)
class Weight:
    """What a level of a comparison says, by the linkage's model.

    Attributes
    ----------
    comparison
        What is compared: an attribute, or a part of one.
    level
        Number of the level: the highest for equal, 0 for entirely different.
    label
        The level in words.
    m, u
        Probability of the level among pairs of one person, and of different persons.
    """

    comparison: str
    level: int
    label: str
    m: float
    u: float


@dataclass(frozen=True, eq=False)
class Project:
    """What a review is about; it holds data and never leaves the server.

    Parameters
    ----------
    attributes
        What a worker may see.
    settings
        The rules.
    records
        All records of all tables: source, id, and one column of text per attribute. A record's
        number is its row, from 0.
    pairs
        The pairs in the order in which they are dealt: the pair's id, and the numbers of the
        left and the right record.
    gold
        By id, whether the two records of a pair of known truth are one person's.
    weights
        What the levels of each comparison say, where a linkage's model is known.
    prior
        Probability that two records taken at random are one person's, where it is known.
    fingerprints
        By source, the SHA-256 of its file; ``""`` where it is none.

    Raises
    ------
    InputError
        If there is no attribute or no pair, two of them have the same name, a record is there
        twice, or a pair is not of two of the records.
    """

    attributes: tuple[Attribute, ...]
    settings: Settings
    records: pa.Table = field(repr=False)
    pairs: pa.Table = field(repr=False)
    gold: Mapping[str, bool] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    weights: tuple[Weight, ...] = field(default=(), repr=False)
    prior: float | None = None
    fingerprints: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        _check_attributes(self.attributes, self.records)
        check_ids(self.records)
        _check_pairs(self.pairs, len(self.records))
        if not set(self.gold) <= set(self.pair_ids):
            raise InputError("the gold pairs", "must be pairs of the project", found="another")

    @property
    def columns(self) -> tuple[pa.ChunkedArray, ...]:
        """The records' values: one column of text per attribute."""
        return tuple(self.records[each.name] for each in self.attributes)

    @cached_property
    def pair_ids(self) -> tuple[str, ...]:
        """Ids of the pairs in their order."""
        return tuple(self.pairs[PAIR].to_pylist())

    @cached_property
    def others(self) -> tuple[str, ...]:
        """Ids of the pairs whose truth is not known."""
        return tuple(pair for pair in self.pair_ids if pair not in self.gold)

    @cached_property
    def of_linkage(self) -> frozenset[str]:
        """Ids of the pairs that go back to where the pairs came from."""
        return frozenset(pair for pair in self.pair_ids if not pair.startswith(ADDED))

    def weights_of(self, attribute: Attribute) -> Mapping[str, tuple[Weight, ...]]:
        """By comparison, the weights that are about an attribute.

        A full name has two comparisons, its given names and its surname.

        Parameters
        ----------
        attribute
            The attribute.
        """
        names = {attribute.name, f"{attribute.name}_given", f"{attribute.name}_surname"}
        found: dict[str, tuple[Weight, ...]] = {}
        for each in self.weights:
            if each.comparison in names:
                found[each.comparison] = (*found.get(each.comparison, ()), each)
        return found


def check_ids(records: pa.Table) -> None:
    """Refuse records without id, or two of one source that have the same one.

    Parameters
    ----------
    records
        The records.

    Raises
    ------
    InputError
        If there are such.
    """
    for source in pc.unique(records[SOURCE]).to_pylist():
        ids = records[ID].filter(pc.equal(records[SOURCE], source)).combine_chunks()
        if ids.null_count:
            row = int(pc.index(pc.is_null(ids), True).as_py()) + 1
            raise _ids_error(source, f"none in row {row}")
        if pc.count_distinct(ids).as_py() < len(ids):
            codes = np.asarray(ids.dictionary_encode().indices)
            raise _ids_error(
                source, f"the id of an earlier row in row {int(np.argmax(_again(codes))) + 1}"
            )


def _ids_error(source: str, found: str) -> InputError:
    return InputError(f"source {source}", "must have an id of its own for each record", found=found)


def _check_attributes(attributes: tuple[Attribute, ...], records: pa.Table) -> None:
    names = [each.name for each in attributes]
    if not names:
        raise InputError("a project", "must have an attribute to show", found="none")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"attribute '{twice[0]}'", "must be there once")
    for name in names:
        if name in {SOURCE, ID}:
            raise InputError(f"attribute '{name}'", "must have another name than the record's own")
        if name not in records.column_names:
            raise InputError(f"attribute '{name}'", "must be a column of the records", found="none")
        if not pa.types.is_large_string(records.schema.field(name).type):
            raise InputError(f"column '{name}'", "must hold text")


def _check_pairs(pairs: pa.Table, records: int) -> None:
    if not len(pairs):
        raise InputError(
            "a project",
            "must have pairs to review",
            found="none",
            advice="lower the threshold of possible matches, or draw pairs for checks",
        )
    left, right = (np.asarray(pairs[name]) for name in (LEFT, RIGHT))
    outside = (np.minimum(left, right) < 0) | (np.maximum(left, right) >= records)
    keys = np.minimum(left, right) * (records + 1) + np.maximum(left, right)
    for wrong, found in (
        (outside, "another record"),
        (left == right, "a record with itself"),
        (_again(keys), "an earlier pair again"),
        (_again(pairs[PAIR].to_numpy()), "an earlier pair's id again"),
    ):
        if np.any(wrong):
            row = int(np.argmax(wrong)) + 1
            raise InputError(
                "the pairs",
                "must each be of two records, once",
                found=f"{found} in row {row}",
            )


def _again(values: np.ndarray) -> np.ndarray:
    """Which values have stood before."""
    again = np.ones(len(values), dtype=np.bool_)
    again[np.unique(values, return_index=True)[1]] = False
    return again
