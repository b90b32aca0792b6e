"""What the compiled module has, for type checkers."""

from sfumato.kernels.class_counts import Holding
from sfumato.kernels.loop_calls import Bytes, Codes, Floats, Ints, Sides

def number_with_table(
    keys: Ints,
    table: Codes,
    numbers: Codes,
) -> int: ...
def count_parts(
    keys: Ints,
    begin: int,
    end: int,
    bits: int,
    counts: Ints,
) -> None: ...
def scatter(
    keys: Ints,
    begin: int,
    end: int,
    bits: int,
    place: Ints,
    part_keys: Ints,
    part_rows: Codes,
) -> None: ...
def first_rows(
    part_keys: Ints,
    part_rows: Codes,
    slots: Ints,
    first: Codes,
) -> None: ...
def number_first_rows(
    first: Codes,
) -> int: ...
def hashes_of_texts(
    offsets: Ints | Codes,
    data: Bytes,
) -> Ints: ...
def extended_hashes(
    ties: Ints,
    values: Ints,
) -> Ints: ...
def number_strings(
    offsets: Ints | Codes,
    data: Bytes,
    missing: Bytes,
    begin: int,
    slots: Ints,
    known: int,
    known_keys: Ints,
    known_offsets: Ints,
    known_data: Bytes,
    keys: Ints,
    codes: Codes,
    alike: bool = ...,
) -> tuple[int, int]: ...
def move_slots(
    slots: Ints,
    larger: Ints,
) -> None: ...
def group_rows(
    person: Codes,
    persons: int,
) -> tuple[Codes, Ints]: ...
def sums(
    rows: Codes,
    starts: Ints,
    codes: Codes,
    values: Floats,
) -> tuple[Floats, Floats, Ints, Codes, Codes]: ...
def mean_keys(
    rows: Codes,
    starts: Ints,
    codes: Codes,
    points: Ints,
    most: int,
) -> Ints: ...
def rank(
    keys: Ints,
    ascending: Ints,
    ranks: Ints,
) -> int: ...
def modes(
    rows: Codes,
    starts: Ints,
    codes: Codes,
    size: int,
) -> Codes: ...
def distinct(
    rows: Codes,
    starts: Ints,
    codes: Codes,
) -> tuple[Ints, Codes, Codes]: ...
def take_rows(
    offsets: Ints,
    values: Codes,
    counts: Codes,
    chosen: Codes,
) -> tuple[Ints, Codes, Codes]: ...
def count_records(
    class_of: Codes,
    counts: Codes,
) -> None: ...
def order_classes(
    class_of: Codes,
    person: Codes,
    starts: Ints,
    begin: int,
    large: int,
    place: Ints,
    keys: Ints,
) -> None: ...
def order_by_person(
    person: Codes,
    place: Ints,
    rows: Codes,
) -> None: ...
def order_by_class(
    class_of: Codes,
    person: Codes,
    by_person: Codes,
    place: Ints,
    keys: Ints,
) -> None: ...
def take(
    codes: Codes,
    rows: Codes,
    taken: Codes,
) -> None: ...
def count_persons(
    rows: Codes,
    starts: Ints,
    owners: Codes,
    out: Ints,
    most: Codes,
) -> None: ...
def count_values(
    rows: Codes,
    starts: Ints,
    owners: Codes,
    codes: Codes,
    file: Floats,
    scratch: Ints,
    out: Codes,
    spread: Floats,
) -> None: ...
def longest_run(
    shown: Codes,
) -> int: ...
def count_sharing(
    rows: Codes,
    starts: Ints,
    person: Codes,
    shown: Codes,
    scratch: Ints,
    runs: Codes,
    out: Codes,
    risks: Floats,
) -> None: ...
def side_sharing(
    order: Codes,
    low: Ints,
    high: Ints,
    side: Sides,
    records: Ints,
    seen: Ints,
    fewest: Ints,
) -> None: ...
def scan_sharing(
    order: Codes,
    low: Ints,
    high: Ints,
    records: Ints,
    seen: Ints,
    numbers: Ints,
    fewest: Ints,
) -> None: ...
def side_distances(
    order: Codes,
    low: Ints,
    high: Ints,
    side: Sides,
    offsets: Ints,
    values: Codes,
    counts: Codes,
    share: Floats,
) -> Floats: ...
def side_ordered_distances(
    order: Codes,
    low: Ints,
    high: Ints,
    side: Sides,
    offsets: Ints,
    values: Codes,
    counts: Codes,
    rank: Codes,
    below: Floats,
    sums: Floats,
) -> Floats: ...
def class_ordered_distances(
    rows: Codes,
    low: Ints,
    high: Ints,
    codes: Codes,
    rank: Codes,
    below: Floats,
    sums: Floats,
) -> Floats: ...
def count_holders(
    sets: Codes,
    persons: Codes,
    holding: Holding,
    ids_of: Codes,
    found: Floats,
    learned: Floats,
    holders: Codes,
) -> int: ...
