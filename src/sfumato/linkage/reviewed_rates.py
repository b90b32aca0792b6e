"""Rates of matches among pairs of one kind, by the model and by what people answered of some."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from sfumato.core.arrays import Bools, Floats, Ints

# The 2.5 % quantile then lies between the 12th and 13th draw, steady enough for an interval.
DRAWS = 500
_STEPS, _MORE_STEPS, _NEWTON, _LEAST_STEP = 8, 120, 20, 1e-3
_SHIFT, _SLOPE, _PATTERN, _OWN = 1.0, 0.15, 0.7, 0.5
"""Standard errors of the model's log odds, in nats: of all cells alike; for each nat away from 0,
up to ten, as a model is too sure or not sure enough; of the cells whose pairs differ in the same
columns; of those of one kind."""
# Beyond it the slope would give pairs at the ends of the scale a doubt without limit.
_FARTHEST = 10.0
NO_PATTERN = -1


@dataclass(frozen=True, eq=False)
class Cells:
    """Kinds of pairs, each of which has a rate of matches; arrays of shape (cells,).

    Attributes
    ----------
    odds
        Log odds of a match by the model.
    pattern
        A number of the columns that the pairs differ in; `NO_PATTERN` where they are mixed.
    kind
        A number that cells have in common which are told apart only by their columns.
    """

    odds: Floats
    pattern: Ints
    kind: Ints

    def __getitem__(self, own: Bools) -> Cells:
        """Some of the cells."""
        return Cells(self.odds[own], self.pattern[own], self.kind[own])

    def and_these(self, others: Cells) -> Cells:
        """These cells and others behind them."""
        return Cells(
            np.append(self.odds, others.odds),
            np.append(self.pattern, others.pattern),
            np.append(self.kind, others.kind),
        )

    def covariance(self) -> Floats:
        """How the errors of the log odds go together; shape (cells, cells)."""
        alike = (self.pattern[:, None] == self.pattern) & (self.pattern != NO_PATTERN)
        far = np.clip(self.odds, -_FARTHEST, _FARTHEST)
        # Errors a + b · odds with independent a and b: their covariance is σ_a² + σ_b² x x'.
        common = _SHIFT**2 + _SLOPE**2 * np.outer(far, far)
        kin = self.kind[:, None] == self.kind
        return np.asarray(common + _PATTERN**2 * alike + _OWN**2 * kin)

    def centre(self) -> Floats:
        """Log odds around which errors are drawn, so that the mean rate is that of a usual model.

        Of rates near 0 and 1 errors of log odds raise the mean of the rarer kind by exp(σ²/2).
        """
        # tanh(x/2) is 2p − 1: the correction is +σ²/2 near p = 1, −σ²/2 near 0, none at ½.
        half = np.diag(self.covariance()) / 2
        return np.asarray(self.odds + half * np.tanh(self.odds / 2))


def draw_rates(
    cells: Cells,
    same: Floats,
    answered: Floats,
    rng: np.random.Generator,
    *,
    scale: float,
    error: Floats | float = 0.0,
) -> Floats:
    """Log odds of a match in each cell, drawn given the answers; shape (draws, cells).

    Answers of a cell are binomial. Log odds are those of the model with a Gaussian error, which
    shrinks the rate of a cell to that of its neighbours and to the model (as Belin and Rubin 1995,
    JASA 90:694-707, let a few reviewed pairs calibrate all): its covariance is `Cells.covariance`
    times the square of a scale. The cells that have answers are drawn by elliptical slice sampling
    (Murray, Adams and MacKay 2010, AISTATS) from Laplace's approximation on, all others given
    those.

    Parameters
    ----------
    same
        Answers of each cell that say one person, such as depend on each other as one; shape
        (cells,).
    scale
        How many times as wrong as usual the model may be.
    error
        Share of the answers that are wrong, of all cells or of each.
    """
    # Cells alike in all have equal rows, of which there is no Cholesky factor without a little more
    # on the diagonal.
    covariance = scale**2 * cells.covariance() + 1e-9 * np.eye(len(cells.odds))
    odds, prior = cells.centre(), np.linalg.cholesky(covariance)
    drawn = np.asarray(rng.standard_normal((DRAWS, len(odds))) @ prior.T)
    seen = np.flatnonzero(answered)
    if not len(seen):
        return np.asarray(odds + drawn)
    own, said, unsaid = covariance[np.ix_(seen, seen)], same[seen], (answered - same)[seen]
    root = np.linalg.cholesky(own)
    wrong = np.broadcast_to(error, odds.shape)[seen]

    def likelihood(errors: Floats) -> Floats:
        at = odds[seen] + errors
        if np.any(wrong):
            # P("same") = p (1 − e) + (1 − p) e = e + (1 − 2e) p.
            rate = wrong + (1 - 2 * wrong) * expit(at)
            return np.asarray(np.log(rate) @ said + np.log1p(-rate) @ unsaid)
        # log p = min(x, 0) − log(1 + e^−|x|): no exponential of a large number.
        over = np.log1p(np.exp(-np.abs(at)))
        right = np.minimum(at, 0) @ said - np.maximum(at, 0) @ unsaid
        return np.asarray(right - over @ (said + unsaid))

    at = _near_mode(own, odds[seen], said, unsaid, rng)
    value = likelihood(at)
    # Where answers may be wrong there may be other modes than Laplace's, which takes more steps.
    for _ in range(_MORE_STEPS if np.any(wrong) else _STEPS):
        aside = rng.standard_normal(at.shape) @ root.T
        at, value = _slice_step(at, value, aside, likelihood, rng)
    # What is drawn for all, moved to where the cells with answers are (Matheron's rule).
    drawn += cho_solve((root, True), (at - drawn[:, seen]).T).T @ covariance[seen]
    return np.asarray(odds + drawn)


def _near_mode(
    covariance: Floats, odds: Floats, said: Floats, unsaid: Floats, rng: np.random.Generator
) -> Floats:
    """Errors drawn by Laplace's approximation, from which chains begin; shape (DRAWS, cells).

    Newton's method and the algebra are of Rasmussen and Williams 2006, Gaussian Processes for
    Machine Learning, Algorithm 3.1; a step that leads past the mode is halved.
    """
    mode, force, whole = np.zeros(len(odds)), np.zeros(len(odds)), said + unsaid

    def worth(mode: Floats, force: Floats) -> float:
        at = odds + mode
        return float(said @ at - whole @ np.logaddexp(0, at) - force @ mode / 2)

    for _ in range(_NEWTON):
        rate = expit(odds + mode)
        # W^½ of the algorithm; the 1e−9 keeps it invertible where a rate is 0 or 1.
        curved = np.sqrt(whole * rate * (1 - rate) + 1e-9)
        # B = I + W^½ K W^½ has eigenvalues of 1 or more, so that K is never inverted.
        factor = cho_factor(np.eye(len(odds)) + curved[:, None] * covariance * curved)
        slope = curved**2 * mode + said - whole * rate
        step = slope - curved * cho_solve(factor, curved * (covariance @ slope)) - force
        ahead, best = covariance @ step, worth(mode, force)
        share = 1.0
        # The log posterior is concave, so that a short enough step always climbs.
        while share > _LEAST_STEP and worth(mode + share * ahead, force + share * step) < best:
            share /= 2
        mode, force = mode + share * ahead, force + share * step
    aside = rng.standard_normal((DRAWS, len(odds))) @ np.linalg.cholesky(covariance).T
    # Posterior draws by moving draws of the prior (Matheron's rule), with pseudo-answers of
    # variance 1/W.
    noise = rng.standard_normal(aside.shape)
    back = cho_solve(factor, (aside * curved + noise).T).T * curved
    return np.asarray(mode + aside - back @ covariance)


def _slice_step(
    at: Floats,
    value: Floats,
    aside: Floats,
    likelihood: Callable[[Floats], Floats],
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """A step of each chain on the ellipse through where it is and a draw of the prior."""
    # The slice: log likelihood less an exponential variate.
    level = value + np.log(rng.random(len(at)))
    angle = rng.random(len(at)) * 2 * np.pi
    # The bracket is the whole ellipse, and shrinks towards angle 0, which is where the chain is.
    low, high = angle - 2 * np.pi, angle.copy()
    at, value, moving = at.copy(), value.copy(), np.arange(len(at))
    before = at.copy()
    while len(moving):
        turn = angle[moving, None]
        there = before[moving] * np.cos(turn) + aside[moving] * np.sin(turn)
        found = likelihood(there)
        taken = found >= level[moving]
        at[moving[taken]], value[moving[taken]] = there[taken], found[taken]
        # Each chain shrinks for itself; those that have moved drop out of the computation.
        moving = moving[~taken]
        below = angle[moving] < 0
        low[moving[below]] = angle[moving[below]]
        high[moving[~below]] = angle[moving[~below]]
        angle[moving] = rng.uniform(low[moving], high[moving])
    return at, value


def instrument(
    left: Ints,
    mean: Floats,
    variance: Floats,
    weight: Floats,
    change: Floats,
    found: Floats,
    size: int,
) -> Floats:
    """How many pairs of each stratum the next batch is expected to hold; shape (strata,).

    In the manner of OASIS (Marchant and Rubinstein 2017, PVLDB 10:1322-1333): the distribution
    over strata mixes the one that is best for what is estimated, by all answers so far, with that
    of the pairs themselves, so that no stratum is passed over for good. The best one spreads the
    batch so that the variance left is least, the answers so far counted with it (Neyman's
    allocation for Beta rates of the same mean and variance). A third of the batch goes by how
    many pairs of records in persons an answer is expected to change.

    Parameters
    ----------
    left
        Pairs of each stratum that nobody was asked about.
    weight
        What the rate moves in precision and recall.
    change
        Expected number of pairs of records that answers about the whole stratum would change.
    found
        Pairs within persons, where a third of the batch is to be spread over them: nothing that a
        model is sure of is looked at else; 0 elsewhere.
    """
    by_found = BY_FOUND if np.any(found) else 0.0
    spread = np.maximum(mean * (1 - mean), 1e-12)
    # A Beta(a, b) has variance m (1 − m) / (a + b + 1): a + b is the number of answers it is worth.
    known = spread / np.maximum(variance, 1e-15) - 1
    known = np.maximum(known, 0.0)
    # Neyman: n_h ∝ |w_h| σ_h; answers known so far are taken off, so that they are not drawn twice.
    use = np.abs(weight) * np.sqrt(spread)
    low, high = 0.0, (size + float(known.max(initial=0.0))) / max(float(use.max()), 1e-300)
    # Water-filling by bisection: there is no closed form where strata are exhausted or known
    # already.
    for _ in range(100):
        middle = (low + high) / 2
        enough = np.minimum(np.maximum(middle * use - known, 0), left).sum() >= size
        low, high = (low, middle) if enough else (middle, high)
    best = np.minimum(np.maximum(high * use - known, 0), left)
    shares = [
        (1 - BY_CHANGE - UNDERLYING - by_found, best),
        (UNDERLYING, left),
        (BY_CHANGE, change),
        (by_found, found),
    ]
    wanted = np.zeros(len(left))
    for share, by in shares:
        total = float(np.sum(by))
        wanted += share * (by / total if total > 0 else left / max(int(left.sum()), 1))
    expected = np.zeros(len(left))
    # What full strata cannot hold goes to the others, which may fill up in turn.
    for _ in range(len(left)):
        free = expected < left
        missing = size - float(expected.sum())
        if missing <= 1e-9 or not np.any(free & (wanted > 0)):
            break
        expected[free] += missing * wanted[free] / float(wanted[free].sum())
        expected = np.minimum(expected, left)
    return expected


# A choice; OASIS needs a share of the pairs' own distribution above 0, or a stratum could starve.
BY_CHANGE, UNDERLYING, BY_FOUND = 0.3, 0.05, 0.33
"""Shares of a batch that go by what answers change, by how many pairs a stratum has, and by how
many of those are within persons, where the model is not to be relied on."""


def rounded(expected: Floats, rng: np.random.Generator) -> Ints:
    """Whole numbers of the same expectation and total, at random (systematic sampling)."""
    # One random start for all: each number is the floor or the ceiling of what is expected, the
    # total exact.
    ends = np.floor(np.cumsum(expected) + rng.random() + 1e-9)
    return np.diff(ends, prepend=0).astype(np.int64)
