"""Limits of the workbench: each is shown on both of its sides."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest


def test_ends_of_a_mean_are_students_for_95_in_100() -> None:
    """Of 1,000 people the mean's are 1.962 standard errors away, which are about 1 / √1000."""
    from sfumato.server.workbench.analysis_view import _fitted

    values = np.random.default_rng(1).standard_normal(1_000)
    [mean] = _fitted(np.ones((1_000, 1)), values, np.arange(1_000), ["mean"])
    assert mean.low is not None
    assert mean.value is not None
    assert (mean.value - mean.low) / (values.std(ddof=1) / 1_000**0.5) == pytest.approx(
        1.962, abs=1e-3
    )


@pytest.mark.parametrize(("seconds", "admitted"), [(59, True), (61, False)])
def test_a_token_can_be_used_within_a_minute(
    seconds: int, admitted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.server.workbench import local_guard

    now = [1_000.0]
    monkeypatch.setattr(local_guard.time, "monotonic", lambda: now[0])
    guard = local_guard.Entrance()
    token = guard.token()
    now[0] += seconds
    assert (guard.admit(token) is not None) is admitted
    assert guard.admit(token) is None


@pytest.mark.parametrize(("values", "shown"), [(20, 20), (21, 20)])
def test_twenty_values_of_a_column_are_shown(values: int, shown: int) -> None:
    import pyarrow as pa

    from sfumato.server.workbench import column_figures

    array = pa.chunked_array(
        [[f"v{n}" for n in range(values) for _ in range(5)]]
    ).dictionary_encode()
    columns: Any = SimpleNamespace(columns=SimpleNamespace(column=lambda _: array))
    assert len(column_figures.TableFigures.values(columns, "a")) == shown
