"""Long arrays in blocks that fit a processor's cache, and the parameters that are accepted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError

Floats = npt.NDArray[np.float64]
FloatsLike = npt.NDArray[np.integer] | npt.NDArray[np.floating] | int | float
"""Numbers of any kind, one or many."""

_BLOCK = 8_192


def in_blocks(function: Callable[..., Floats], *parameters: Floats) -> Floats:
    """What an elementwise function gives for parameters that broadcast together.

    Parameters
    ----------
    function
        From one-dimensional arrays of equal length to one such array.
    parameters
        Arrays whose shapes broadcast; the result has the common shape.
    """
    together = np.broadcast_arrays(*parameters)
    flat = [np.ravel(parameter) for parameter in together]
    result = np.empty(len(flat[0]))
    for low in range(0, len(result), _BLOCK):
        block = slice(low, low + _BLOCK)
        result[block] = function(*(parameter[block] for parameter in flat))
    return result.reshape(together[0].shape)


def class_sizes(sizes: FloatsLike) -> Floats:
    """The sizes of classes in the sample, as floats.

    Raises
    ------
    InputError
        If one is not a whole number of at least 1.
    """
    found = np.asarray(sizes, dtype=np.float64)
    if not np.all((found >= 1) & (found == np.floor(found)) & np.isfinite(found)):
        raise InputError(
            "parameter sizes",
            "must be the sizes of classes that the sample has",
            found="another number",
            accepted="whole numbers of at least 1",
        )
    return found


def not_negative(name: str, values: FloatsLike) -> Floats:
    """A parameter that is finite and at least 0, as floats.

    Raises
    ------
    InputError
        If one of its values is negative or not finite.
    """
    found = np.asarray(values, dtype=np.float64)
    if not np.all((found >= 0) & np.isfinite(found)):
        raise InputError(
            f"parameter {name}",
            "must be finite and not negative",
            found="another number",
            accepted="numbers of at least 0",
        )
    return found


def probabilities(name: str, values: FloatsLike) -> Floats:
    """A parameter that is a probability above 0, as floats.

    Raises
    ------
    InputError
        If one of its values is not in (0, 1].
    """
    found = np.asarray(values, dtype=np.float64)
    if not np.all((found > 0) & (found <= 1)):
        raise InputError(
            f"parameter {name}",
            "must be a probability above 0",
            found="another number",
            accepted="numbers in (0, 1]",
        )
    return found
