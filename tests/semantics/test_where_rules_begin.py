"""Where rules about meaning begin and end: each is shown on both of its sides."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from sfumato.semantics import requested_release, sla


class Why:
    """A derivation of so many lines of what an association asks for."""

    atom = "enforce(association(1))"

    def __init__(self, lines):
        self._lines = lines

    def lines(self):
        return map(str, range(self._lines))


@pytest.mark.parametrize(("lines", "told"), [(60, 60), (61, 61), (500, 61)])
def test_sixty_lines_of_a_derivation_are_told(lines, told):
    enforced = SimpleNamespace(
        requirements=SimpleNamespace(
            enforcements=SimpleNamespace(alike=np.zeros(1)), explain_tuple=lambda _: [Why(lines)]
        )
    )
    found = requested_release._explained(enforced, [0], 1)
    assert len(found) == told
    assert (found[-1] == "...") is (lines > 60)


def test_losses_that_agree_in_nine_decimals_are_equal():
    def loss(value):
        search = SimpleNamespace(_losses=[np.array([[value]])], _codes=[0])
        return sla._TupleSearch._loss(search, (0,))

    assert loss(0.1 + 4e-10) == 0.1
    assert loss(0.1 + 6e-10) > 0.1
