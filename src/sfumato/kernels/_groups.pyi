"""What the compiled module has, for type checkers."""

from typing import Any

from sfumato.kernels.loop_calls import Bools, Codes

def nearest_points(
    space: tuple[Any, ...], person_of: Codes, wanted: int, seed: int, leaf: int
) -> Codes: ...
def improved(
    space: tuple[Any, ...],
    group_of: Codes,
    room: int,
    values: int,
    seed: int,
    once: bool,
    heat: float,
    changed: Bools,
) -> tuple[Codes, Codes, Bools, float, float]: ...
