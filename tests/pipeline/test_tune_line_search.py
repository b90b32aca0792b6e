"""One constraint is exchanged for another where two together lose less, on known functions."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.pipeline.tune.limits import KNOBS
from sfumato.pipeline.tune.line_search import STEPS, Bisection, Space, Tightening, exchange
from sfumato.pipeline.tune.point import Point
from sfumato.pipeline.tune.trials import Trial
from sfumato.risk.risk_thresholds import Held

NAMES = ("g_balance", "marketer")


def _space():
    return Space({}, {}, NAMES, dict.fromkeys(NAMES, 9.0), "equal")


def _held(value):
    return Held("asked", "", "", "risk", "", "at most", "number", 1.0, None, value)


class Known:
    """Trials of a risk that falls with both constraints, and of a loss that grows with both."""

    def __init__(self, bites=0.0):
        self.best, self.done, self.bites = None, [], bites

    def run(self, points, stage):
        return [self.tried(each, stage) for each in points]

    def tried(self, point, stage):
        at = {name: KNOBS[name].position(limit) for name, limit in point.asked}
        g, marketer = (max(at.get(name, 0.0), self.bites) for name in NAMES)
        reached = tuple((name, KNOBS[name].value(self.bites)) for name in NAMES)
        held = (_held(exp(4 - g - marketer)),)
        loss = 1 + g**2 + marketer**2
        trial = Trial(len(self.done), stage, point, held, loss, loss, loss, reached=reached)
        self.done.append(trial)
        if trial.met and (self.best is None or trial.loss < self.best.loss):
            self.best = trial
        return trial


def _at(positions):
    return Point.of({name: KNOBS[name].value(at) for name, at in positions.items()})


def test_two_constraints_take_the_place_of_one():
    trials = Known()
    alone = trials.run([_at({"g_balance": 4.001})], "one constraint")[0]
    assert alone.met
    exchange(trials, _space())
    assert trials.best.met
    assert set(trials.best.point.limits) == set(NAMES)
    assert trials.best.loss < 0.75 * alone.loss
    assert len(trials.done) < 80


def test_without_a_point_that_meets_nothing_is_tried():
    trials = Known()
    exchange(trials, _space())
    assert not trials.done


@given(st.floats(0.02, 3.0))
def test_a_few_steps_find_where_the_threshold_is_met(missing):
    """The excess falls as fast as the constraint becomes stricter, from where it bites."""
    trials = Known(bites=0.5)
    loosened = trials.tried(_at({"g_balance": 3.5 - missing}), "")
    stricter = Tightening(_space(), "marketer", loosened)
    while not stricter.over:
        stricter.tell(trials.tried(stricter.point(), ""), 1e9)
    found = [each for each in stricter.found if each.met]
    assert found
    assert len(stricter.found) <= STEPS
    least = min(KNOBS["marketer"].position(each.point.limits["marketer"]) for each in found)
    assert least == pytest.approx(4 - max(3.5 - missing, 0.5), abs=0.15 * missing + 0.02)


def test_the_loosest_end_is_what_a_release_keeps_by_itself():
    space, trials = _space(), Known(bites=0.7)
    trial = trials.tried(_at({"g_balance": 2.0}), "")
    assert space.bites("g_balance", trial) == pytest.approx(2.0, abs=1e-3)
    assert space.bites("marketer", trial) == pytest.approx(0.7, abs=1e-3)


def test_a_least_measure_of_nothing_says_nothing_of_the_distance():
    """Its excess is infinite: the next limit lies between the ends all the same."""
    held = replace(_held(0.0), bound="at least")
    missed = Trial(1, "", _at({"marketer": 1.0}), (held,), 1.0, 1.0, 1.0)
    met = Trial(2, "", _at({"marketer": 4.0}), (replace(held, value=2.0),), 2.0, 2.0, 2.0)
    search = Bisection(_space(), "marketer", 0.0, 8.0, 8, {})
    search.tell(met, 1e9)
    search.tell(missed, 1e9)
    assert search.low < KNOBS["marketer"].position(search.point().limits["marketer"]) < search.high
