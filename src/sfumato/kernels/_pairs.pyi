"""What the compiled module has, for type checkers."""

from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.kernels.loop_calls import Bools, Bytes, Codes, Floats, Ints, Words

def steps(
    one: Ints,
    other: Ints,
) -> npt.NDArray[np.int8]: ...
def ones(
    patterns: Words,
) -> Ints: ...
def pairs_above(
    one: Words,
    other: Words,
    ones_one: Ints,
    ones_other: Ints,
    low: Ints,
    high: Ints,
    least: float,
    begin: Ints,
    left: Ints,
    right: Ints,
    found: Floats,
) -> int: ...
def merge(
    left: Ints,
    right: Ints,
    joins: Bytes,
    group: Ints,
) -> tuple[Ints, Bools]: ...
def key_individuals(
    keys: Ints,
    alone: Ints,
    tuple_of: Codes,
    person_of: Codes,
    asked: Ints,
) -> Ints: ...
def smallest_group(
    members: npt.NDArray[np.uint32],
    codes: Codes,
    start: Ints,
    characters: npt.NDArray[np.unsignedinteger[Any]],
    columns: Ints,
    places: Ints,
    weights: Ints,
) -> int: ...
def tallies(
    postings: npt.NDArray[np.uint32],
    edges: Ints,
    flags: Bytes,
) -> Ints: ...
def smallest_tally(
    postings: npt.NDArray[np.uint32],
    edges: Ints,
    flags: Bytes,
    order: Ints,
    best: int,
) -> int: ...
