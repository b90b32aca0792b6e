"""What an executor does to Arrow batches, with errors that hold no value of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa

from sfumato.core.errors import SfumatoError

Batches = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
Tables = Callable[[pa.Table], pa.Table]


class WithoutValues:
    """A function for `mapInArrow` whose errors name their kind only: Spark logs their words.

    Parameters
    ----------
    function
        The function; its own `SfumatoError` are handed on.
    """

    def __init__(self, function: Batches) -> None:
        self._function = function

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Hand on what the function makes of the batches.

        Parameters
        ----------
        batches
            What Spark gives.

        Raises
        ------
        SfumatoError
            If the function fails.
        """
        try:
            yield from self._function(batches)
        except SfumatoError:
            raise
        except (
            pa.ArrowException,
            ArithmeticError,
            AttributeError,
            LookupError,
            TypeError,
            ValueError,
        ) as error:
            raise SfumatoError(f"an executor stopped with {type(error).__name__}.") from None


def without_values(function: Tables) -> Tables:
    """The same for `applyInArrow`: a function of the rows of a group.

    Parameters
    ----------
    function
        The function; its own `SfumatoError` are handed on.

    Returns
    -------
    Callable
        A function whose annotations Spark can read.
    """

    def batches(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from function(pa.Table.from_batches(rows)).to_batches()

    def checked(rows: pa.Table) -> pa.Table:
        return pa.Table.from_batches(WithoutValues(batches)(iter(rows.to_batches())))

    return checked


def gathered(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Batches of at least so many rows, but for the last; Spark's are of 10,000.

    Parameters
    ----------
    batches
        Batches of one schema.
    rows
        The least number of rows.
    """
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += batch.num_rows
        if count >= rows:
            yield _one(waiting)
            waiting, count = [], 0
    if count:
        yield _one(waiting)


def _one(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)
