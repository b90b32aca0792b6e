"""A knob is turned to where thresholds are just met, alone or for a part of another."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.pipeline.tune.limits import KNOBS
from sfumato.pipeline.tune.point import Point
from sfumato.pipeline.tune.trials import Trial
from sfumato.pipeline.tune.tune_search import ALONE_STEPS, Search, Space, bisected, run_together
from sfumato.pipeline.tune_options import Searching
from sfumato.risk.risk_thresholds import Held

NAMES = ("g_balance", "marketer")


def _space():
    return Space({}, {}, NAMES, dict.fromkeys(NAMES, 9.0), "equal")


def _held(value):
    return Held("asked", "", "", "risk", "", "at most", "number", 1.0, None, value)


class Known:
    """Trials of a risk that falls with both constraints, and of a loss that grows with both."""

    def __init__(self, bites=0.0, steep=1.0):
        self.best, self.done, self.bites, self.steep = None, [], bites, steep

    def run(self, points, stage):
        return [self.tried(each, stage) for each in points]

    def tried(self, point, stage=""):
        at = {name: KNOBS[name].position(limit) for name, limit in point.asked}
        g, marketer = (max(at.get(name, 0.0), self.bites) for name in NAMES)
        reached = tuple((name, KNOBS[name].value(self.bites)) for name in NAMES)
        held = (_held(exp(self.steep * (4 - g - marketer))),)
        loss = 1 + g**2 + marketer**2
        trial = Trial(len(self.done), stage, point, held, loss, loss, loss, reached=reached)
        self.done.append(trial)
        if trial.met and (self.best is None or trial.loss < self.best.loss):
            self.best = trial
        return trial


def _at(positions):
    return Point.of({name: KNOBS[name].value(at) for name, at in positions.items()})


def _search(trials):
    return Search(trials, _space(), Searching(suppress=0, cap_records=False, recoding=False))


def test_two_constraints_take_the_place_of_one():
    trials = Known()
    alone = trials.tried(_at({"g_balance": 4.001}))
    assert alone.met
    _search(trials)._exchange()
    assert trials.best.met
    assert set(trials.best.point.limits) == set(NAMES)
    assert trials.best.loss < 0.75 * alone.loss
    assert len(trials.done) < 80


@given(st.floats(0.02, 3.0), st.sampled_from([0.4, 1.0, 2.0]))
def test_a_few_steps_find_where_the_threshold_is_met(missing, steep):
    """However fast the excess falls as the constraint becomes stricter, from where it bites."""
    trials = Known(bites=0.5, steep=steep)
    loosened = trials.tried(_at({"g_balance": 3.5 - missing}))
    trials.best = None
    search = bisected(trials, _space(), "marketer", loosened.point, loosened, steps=ALONE_STEPS)
    (tried,) = run_together(trials, [search], "")
    found = [each for each in tried if each.met]
    assert found
    least = min(KNOBS["marketer"].position(each.point.limits["marketer"]) for each in found)
    assert least == pytest.approx(4 - max(3.5 - missing, 0.5), abs=0.1 * missing + 0.02)


def test_knobs_are_ordered_by_their_loss_for_what_they_take_away():
    """Marketer loses less here: its loss is a tenth of the other's."""
    trials = Known()
    tried = trials.tried

    def cheaper(point, stage=""):
        trial = tried(point, stage)
        at = {name: KNOBS[name].position(limit) for name, limit in point.asked}
        loss = 1 + at.get("g_balance", 0.0) ** 2 + 0.1 * at.get("marketer", 0.0) ** 2
        trials.done[-1] = made = replace(trial, loss=loss)
        return made

    trials.tried = cheaper
    first = trials.tried(_at({}))
    search = _search(trials)
    search._alone(first)
    assert search.order == ["marketer", "g_balance"]


def test_what_loses_more_than_the_best_is_given_up():
    trials = Known()
    trials.best = replace(trials.tried(_at({"g_balance": 5.0})), loss=1.5)
    first = trials.tried(_at({}))
    search = bisected(trials, _space(), "marketer", first.point, first, steps=ALONE_STEPS)
    (tried,) = run_together(trials, [search], "")
    assert all(each.loss < 1.5 for each in tried[:-1])
    assert len(tried) < ALONE_STEPS


def test_the_loosest_end_is_what_a_release_keeps_by_itself():
    space, trials = _space(), Known(bites=0.7)
    trial = trials.tried(_at({"g_balance": 2.0}))
    assert space.bites("g_balance", trial) == pytest.approx(2.0, abs=1e-3)
    assert space.bites("marketer", trial) == pytest.approx(0.7, abs=1e-3)


def test_a_least_measure_of_nothing_says_nothing_of_the_distance():
    """Its excess is infinite: the next limit lies between the ends all the same."""
    trials, space = Known(), _space()
    missed = replace(
        trials.tried(_at({"marketer": 1.0})), held=(replace(_held(0.0), bound="at least"),)
    )
    search = bisected(trials, space, "marketer", missed.point, missed, steps=3)
    first = next(search)
    assert 1.0 < KNOBS["marketer"].position(first.limits["marketer"]) < 9.0
    second = search.send(replace(missed, point=first, loss=0.5))
    ends = [KNOBS["marketer"].position(each.limits["marketer"]) for each in (first, second)]
    assert ends[0] < ends[1] <= 9.0


def test_a_knob_that_takes_all_risk_away_has_a_price():
    """Its excess is 0, of which nothing is a multiple."""
    trials = Known()
    tried = trials.tried

    def free(point, stage=""):
        trial = tried(point, stage)
        trials.done[-1] = made = replace(trial, held=(_held(0.0),)) if trial.met else trial
        trials.best = made if trial.met else trials.best
        return made

    trials.tried = free
    search = _search(trials)
    search._alone(trials.tried(_at({})))
    assert trials.best.excess == 0
    assert sorted(search.order) == sorted(NAMES)
