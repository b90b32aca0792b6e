"""What the compiled search reads: persons, axes and thresholds in flat arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class Known(NamedTuple):
    """What is known of each person.

    Attributes
    ----------
    records
        Number of records; shape (persons,).
    positions
        Rank along each ordered axis; shape (ordered axes, persons).
    members
        Column of each indicator axis that the person belongs to, -1 for none; shape
        (indicator axes, persons).
    totals, presents, lowest, highest
        Sum of the values of each ordered attribute, their number, least and greatest; shape
        (persons, attributes).
    squares
        Sum of the squared values, over all ordered attributes.
    offsets, values, counts
        Per person (CSR) the 0/1 columns of all indicator axes that hold, and for how many
        records.
    sensitive_offsets, sensitive
        Per person (CSR) the distinct sensitive values of all attributes.
    """

    records: Ints
    positions: Codes
    members: Codes
    totals: Floats
    presents: Ints
    lowest: Floats
    highest: Floats
    squares: Floats
    offsets: Ints
    values: Codes
    counts: Codes
    sensitive_offsets: Ints
    sensitive: Codes


class Axes(NamedTuple):
    """What is known of the axes and of what their values weigh.

    Attributes
    ----------
    strict
        Whether equal positions of an ordered axis stay together.
    missing
        Position of persons without a value, per ordered axis.
    columns
        Number of 0/1 columns of each indicator axis.
    complete
        Whether all records have all values of the ordered attributes.
    attribute_weights, weights, axis_of, error_weights, width_weights, width_scales
        As in `scans.scan_losses` and `scans.leaf_losses`.
    """

    strict: Bools
    missing: Ints
    columns: Ints
    complete: bool
    attribute_weights: Floats
    weights: Floats
    axis_of: Codes
    error_weights: Floats
    width_weights: Floats
    width_scales: Floats


class Limits(NamedTuple):
    """What every class must keep; a class of fewer persons than it says cannot.

    Attributes
    ----------
    records, persons
        Least number of them.
    squares
        Largest sum of the persons' squared numbers of records, as a share of the square of all.
    attribute_of
        Sensitive attribute of each sensitive value.
    affiliation
        Largest share of persons who share a value, per sensitive attribute; infinite for any.
    distinct
        Least number of distinct values, per sensitive attribute.
    sharing
        Least number of persons who share each number of records that occurs; 1 for any.
    """

    records: int
    persons: int
    squares: float
    attribute_of: Codes
    affiliation: Floats
    distinct: Ints
    sharing: int


class Chosen(NamedTuple):
    """One cut per node (or per share of a node); every array has one entry each.

    Attributes
    ----------
    axis
        Index of the axis: the ordered ones first, then the indicators; -1 where nothing is cut.
    column
        The 0/1 column of an indicator; 0 for ordered axes.
    left, left_records, left_squares
        Persons, records and squared record counts on the left.
    lost
        Squared distance from the means of both sides together.
    """

    axis: Ints
    column: Codes
    left: Ints
    left_records: Ints
    left_squares: Ints
    lost: Floats
