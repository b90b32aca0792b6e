import numpy as np
import numpy.typing as npt

from sfumato.kernels.loop_calls import Bytes, Codes, Floats, Ints

MOST_DIVIDED: int
NO_PLACE: int

class Histories:
    def __init__(self, *arrays: object) -> None: ...
    def in_table(self, cells: npt.NDArray[np.void]) -> None: ...
    def recode(
        self,
        first: int,
        last: int,
        rates: Floats,
        share: float,
        sweeps: int,
        rung: object,
        found: object,
        spent: Floats,
    ) -> None: ...
    def divide(
        self,
        first: int,
        last: int,
        rung: object,
        kept: Floats,
        silent: object,
        rate: float,
        share: float,
        weight: float,
        learned: bool,
        parts: object,
        spent: Floats,
    ) -> None: ...
    def risks(
        self,
        first: int,
        last: int,
        rung: object,
        parts: object,
        silent: object,
        learned: bool,
        found: Floats,
    ) -> None: ...

def count_dated(
    sets: Ints,
    keys: Codes,
    dates: Ints,
    key_start: Ints,
    key_rows: Ints,
    pair_keys: Ints,
    pair_aparts: Ints,
    pair_rows: Ints,
    row_key: Codes,
    row_unit: Codes,
    row_date: Ints,
    undated: Bytes,
    unit_rows: Ints,
    unit_low: Ints,
    unit_high: Ints,
    spread: int,
    first_set: int,
    last_set: int,
    stamps: Ints,
    fitting: Codes,
) -> None: ...
