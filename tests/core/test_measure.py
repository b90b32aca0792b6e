"""What numbers of intervals rest on."""

import pytest
from scipy.special import ndtri

from sfumato.core.measure import NORMAL


def test_intervals_of_95_percent_reach_to_the_normal_quantile() -> None:
    assert pytest.approx(ndtri(0.975), rel=1e-12) == NORMAL
