"""Work in threads: the same results in the same order, whatever the number of processors."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels import loop_calls


@pytest.fixture(params=[1, 3])
def processors(request, monkeypatch):
    monkeypatch.setattr(loop_calls, "processors", lambda: request.param)


@pytest.mark.usefixtures("processors")
def test_results_keep_the_order_of_the_tasks():
    def slow(number):
        time.sleep(0.002 * (5 - number))
        return loop_calls.in_threads([lambda: number, lambda: -number])

    assert loop_calls.in_threads([lambda n=n: slow(n) for n in range(5)]) == [
        [n, -n] for n in range(5)
    ]
    for alone in (True, False):
        coming = loop_calls.one_by_one([lambda: 1, lambda: 1 // 0, lambda: 3], alone=alone)
        assert next(coming) == 1
        with pytest.raises(ZeroDivisionError):
            next(coming)


@pytest.mark.usefixtures("processors")
def test_reading_ahead_gives_the_items_and_then_the_error():
    def items():
        yield from range(3)
        raise ValueError

    ahead = loop_calls.read_ahead(items())
    assert [next(ahead) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError):  # noqa: PT011
        next(ahead)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=60), st.integers(0, 100))
def test_parts_cover_all_segments(lengths, least):
    runs = loop_calls.parts(np.cumsum(lengths), least)
    assert [i for run in runs for i in range(run.start, run.stop)] == list(range(len(lengths)))
    assert len(runs) <= loop_calls.PARTS
