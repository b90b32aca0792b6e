"""What the compiled module has, for type checkers."""

from typing import Any

from sfumato.kernels.loop_calls import Arrays, Codes, Floats, Ints, Sides

def ordered_cuts(
    order: Codes,
    low: Ints,
    high: Ints,
    node_records: Ints,
    records: Ints,
    position: Codes,
    missing_position: int,
    strict: bool,
    total: Floats,
    square: Floats,
    present: Ints,
) -> tuple[Ints, Ints, Ints, Floats]: ...
def ordered_spreads(
    order: Codes,
    low: Ints,
    high: Ints,
    lowest: Codes,
    highest: Codes,
) -> tuple[Codes, Codes]: ...
def indicator_cuts(
    order: Codes,
    low: Ints,
    high: Ints,
    records: Ints,
    member: Codes,
    offsets: Ints,
    values: Codes,
    counts: Codes,
    columns: int,
) -> tuple[Ints, Codes, Ints, Ints, Ints, Ints]: ...
def mark_cut(
    order: Codes,
    low: Ints,
    high: Ints,
    end: Ints,
    side: Sides,
) -> None: ...
def mark_members(
    order: Codes,
    low: Ints,
    high: Ints,
    column: Codes,
    member: Codes,
    side: Sides,
) -> None: ...
def partition(
    order: Codes,
    low: Ints,
    high: Ints,
    side: Sides,
) -> None: ...
def side_affiliations(
    order: Codes,
    low: Ints,
    high: Ints,
    side: Sides,
    offsets: Ints,
    values: Codes,
    size: int,
) -> tuple[Ints, Ints]: ...
def scan_affiliations(
    order: Codes,
    low: Ints,
    high: Ints,
    offsets: Ints,
    values: Codes,
    size: int,
) -> tuple[Ints, Ints, Ints, Ints]: ...
def scan_losses(
    order: Codes,
    low: Ints,
    high: Ints,
    records: Ints,
    totals: Floats,
    squares: Floats,
    presents: Ints,
    offsets: Ints,
    values: Codes,
    counts: Codes,
    weights: Floats,
) -> tuple[Floats, Floats]: ...
def member_losses(
    order: Codes,
    low: Ints,
    high: Ints,
    member: Codes,
    columns: int,
    records: Ints,
    totals: Floats,
    squares: Floats,
    presents: Ints,
    offsets: Ints,
    values: Codes,
    counts: Codes,
    weights: Floats,
) -> tuple[Ints, Codes, Ints, Ints, Ints, Floats]: ...
def leaf_losses(
    order: Codes,
    low: Ints,
    high: Ints,
    records: Ints,
    totals: Floats,
    presents: Ints,
    lowest: Floats,
    highest: Floats,
    attribute_weights: Floats,
    offsets: Ints,
    values: Codes,
    counts: Codes,
    axis_of: Codes,
    error_weights: Floats,
    width_weights: Floats,
    width_scales: Floats,
) -> Floats: ...
def best_cuts(
    orders: Codes,
    row: int,
    low: Ints,
    high: Ints,
    shares: Floats,
    known: Arrays,
    axes: tuple[Any, ...],
    limits: tuple[Any, ...],
    most: int,
) -> tuple[Ints, Codes, Ints, Ints, Ints, Floats]: ...
def known_of(
    order: Codes,
    start: int,
    stop: int,
    known: Arrays,
) -> Arrays: ...
def subtree_losses(
    orders: Codes,
    row: int,
    low: Ints,
    high: Ints,
    known: Arrays,
    axes: tuple[Any, ...],
    limits: tuple[Any, ...],
    shares: Floats,
    most: int,
) -> Floats: ...
def checked_places(
    order: Codes,
    start: int,
    stop: int,
    known: Arrays,
    axes: tuple[Any, ...],
    limits: tuple[Any, ...],
    most: int,
    lost: Floats,
) -> tuple[Floats, bool]: ...
def place_meets(
    order: Codes,
    start: int,
    end: int,
    stop: int,
    known: Arrays,
    axes: tuple[Any, ...],
    limits: tuple[Any, ...],
    most: int,
) -> tuple[bool, bool]: ...
def members_meet(
    order: Codes,
    start: int,
    stop: int,
    member: int,
    column: int,
    known: Arrays,
    axes: tuple[Any, ...],
    limits: tuple[Any, ...],
    most: int,
) -> tuple[bool, bool]: ...
