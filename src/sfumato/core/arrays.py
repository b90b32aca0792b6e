"""The types of the arrays that all rooms pass on, named for what they hold."""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
"""Whole numbers: counts, rows, persons."""
Codes = npt.NDArray[np.int32]
"""Codes of values, classes, groups."""
Levels = npt.NDArray[np.int8]
"""Levels of a hierarchy, or of agreement."""
Integers = npt.NDArray[np.integer]
"""Whole numbers of any width."""
Words = npt.NDArray[np.uint64]
"""Sets of bits, 64 in a word."""
Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
