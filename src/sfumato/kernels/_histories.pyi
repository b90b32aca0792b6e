from sfumato.kernels.loop_calls import Codes, Floats, Ints

class Histories:
    def __init__(self, *arrays: object) -> None: ...
    def in_table(self, keys: Ints, stamps: Codes, counts: Codes, weights: Floats) -> None: ...
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
    def risks(self, first: int, last: int, rung: object, found: Floats) -> None: ...

def count_dated(
    sets: Ints,
    groups: Codes,
    labels: Codes,
    dates: Ints,
    label_span: int,
    list_keys: Ints,
    list_rows: Ints,
    row_unit: Codes,
    row_label: Codes,
    row_date: Ints,
    unit_rows: Ints,
    spread: int,
    low: int,
    high: int,
    stamps: Ints,
    fitting: Codes,
) -> None: ...
