"""Change of the correlation matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.release.utility import correlations
from sfumato.release.utility.correlations import correlation_change
from sfumato.schema import Kind


def naive(case):
    """Pairwise-complete correlations of values and of class means, a pair at a time."""
    columns = [
        c
        for c in case.kept_columns()
        if c.domain.size == 2 or (c.kind is not Kind.CATEGORICAL and c.domain.size > 1)
    ]
    before, after = [], []
    for column in columns:
        value = np.append(column.domain.normalized, np.nan)[column.codes]
        mean = np.array(
            [
                np.nanmean(v)
                if len(v := value[case.class_of == t]) and not np.isnan(v).all()
                else np.nan
                for t in case.class_of
            ]
        )
        before.append(value)
        after.append(np.where(np.isnan(value), np.nan, mean))

    def matrix(vectors):
        out = np.eye(len(vectors))
        for i, x in enumerate(vectors):
            for j, y in enumerate(vectors):
                both = ~np.isnan(x) & ~np.isnan(y)
                if i != j and both.any() and min(x[both].std(), y[both].std()) > 1e-9:
                    out[i, j] = np.corrcoef(x[both], y[both])[0, 1]
        return out

    return [c.name for c in columns], matrix(before), matrix(after)


@given(data=st.data(), chunk=st.sampled_from([3, 1 << 18]))
def test_correlations_agree_with_numpy(data, chunk, cases) -> None:
    case = data.draw(cases())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(correlations, "CHUNK", chunk)
        found = correlation_change(case.kept_columns(), case.class_of, case.classes)
    names, before, after = naive(case)
    assert found.columns == tuple(names)
    if names:
        assert np.array(found.before) == pytest.approx(before, abs=1e-7)
        assert np.array(found.after) == pytest.approx(after, abs=1e-7)
    change = [abs(after[i, j] - before[i, j]) for j in range(len(names)) for i in range(j)]
    assert found.max_change == pytest.approx(max(change, default=0.0), abs=1e-7)
    assert found.mean_change == pytest.approx(np.mean(change) if change else 0.0, abs=1e-7)


def test_a_column_with_a_heavy_tail_keeps_its_correlation(column) -> None:
    rng = np.random.default_rng(4)
    ages = rng.integers(20, 80, 500)
    incomes = ages * 1000 + rng.integers(0, 9000, 500)
    incomes[0] = 10**14
    columns = [
        column("age", Kind.NUMERIC, ages.tolist()),
        column("income", Kind.NUMERIC, incomes.tolist()),
    ]
    alone = np.arange(500, dtype=np.int32)
    found = correlation_change(columns, alone, 500)
    assert found.before[0][1] == pytest.approx(np.corrcoef(ages, incomes)[0, 1], abs=1e-9)
    assert found.max_change == pytest.approx(0.0, abs=1e-12)
