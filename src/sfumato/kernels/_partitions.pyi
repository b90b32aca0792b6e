"""What the compiled module has, for type checkers."""

from sfumato.kernels.loop_calls import Codes, Floats, Ints, Words

def partitions(
    start: Ints,
    edges: Ints,
    other: Codes,
    weight: Floats,
    owner: Codes,
    order: Ints,
    size: Ints,
    held: Words,
    apart: float,
    best: bool,
    warm: int,
    thin: int,
    seed: Words,
    label: Codes,
) -> int: ...
