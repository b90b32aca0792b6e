"""Pairs drawn for clerical checks, and what their answers say of the whole linkage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sfumato.core.measure import Measure
from sfumato.linkage.persons.verdicts import SAME, Verdicts
from sfumato.linkage.quality.checked import checked_quality
from sfumato.linkage.quality.plan import draw_checks, plan_checks
from sfumato.linkage.values import Floats, Ints, Pairs


@dataclass(frozen=True, eq=False)
class Checks:
    """Pairs drawn from all scores, so that precision and recall get intervals.

    Attributes
    ----------
    half_width
        Wanted half width of both 95 % intervals.
    upper
        Least score of a match when they were drawn.
    number
        Their numbers, ascending.
    table
        The pairs as they are shown to people.
    """

    half_width: float
    upper: float
    number: Ints
    table: pa.Table


@dataclass(frozen=True)
class Checked:
    """What the answers say, once some of every stratum of scores have one.

    Attributes
    ----------
    drawn, answered
        Number of pairs drawn, and of those that somebody decided.
    quality
        Precision and recall of the matches by score, with 95 % intervals; ``None`` until every
        stratum has an answer.
    """

    drawn: int
    answered: int
    quality: tuple[Measure, Measure] | None


def draw_pairs(
    pairs: Pairs, probability: Floats, upper: float, half_width: float, rng: np.random.Generator
) -> Ints:
    """Numbers of the pairs to check: as few as give intervals as narrow as wanted.

    Parameters
    ----------
    pairs
        The candidate pairs.
    probability
        Probability of each.
    upper
        Least score of a match.
    half_width
        Wanted half width of both 95 % intervals, in (0, 0.5).
    rng
        Source of randomness.

    Raises
    ------
    InputError
        If the half width is out of range.
    """
    plan = plan_checks(pairs.score, upper, half_width, probability=probability)
    return draw_checks(plan, pairs.score, rng)


def check_answers(checks: Checks, pairs: Pairs, verdicts: Verdicts, lost: float) -> Checked:
    """Precision and recall of the matches from the checked pairs.

    Parameters
    ----------
    checks
        The pairs that were drawn.
    pairs
        The candidate pairs.
    verdicts
        What people decided.
    lost
        Expected number of true matches that blocking has lost.
    """
    plan = plan_checks(pairs.score, checks.upper, checks.half_width)
    decided = (verdicts.result != 0) & np.isin(verdicts.pair, checks.number)
    score = pairs.score[verdicts.pair[decided]]
    whole = set(plan.stratum(score).tolist()) == set(range(len(plan.pairs)))
    quality = None
    if whole:
        quality = checked_quality(plan, score, verdicts.result[decided] == SAME, lost=lost)
    return Checked(len(checks.number), int(np.count_nonzero(decided)), quality)
