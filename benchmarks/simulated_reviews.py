"""Reviews of a linkage by people who know the truth: coverage of intervals, and errors halved.

Usage: simulated_reviews.py [REVIEWS] [--errors SHARE] [ROW ...]

Each data set is linked once, written, and reviewed REVIEWS times with another seed: four batches of
50 pairs, drawn, answered and applied as `sfumato link next` and `sfumato link apply` do, but for
the files between. People are right, or wrong about a SHARE of the pairs, when two of them look at
every fifth one. At least 93 % of all intervals must hold the truth of the persons then, and the
mean error of the printed precision must be at most half of that which was printed before. "bias" is
what is printed less the truth; "floor" the mean error of the share that is right among as many
pairs of the persons drawn at random: what lies below it, so many answers cannot tell.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from truth import ROWS, rates

from sfumato.linkage.earlier_linkage import Earlier, read_earlier, settled_again
from sfumato.linkage.link import link
from sfumato.linkage.link_options import NextPairs
from sfumato.linkage.link_spec import LinkSpec
from sfumato.linkage.match_decisions import Decisions, together
from sfumato.linkage.next_batch import begun, drawn
from sfumato.linkage.spec_suggestion import suggest_links

SMALL = (
    "clinics 1,000", "fake_people", "families, duplicates", "families, many errors",
    "families, twins", "ten records a person", "ten records a person, again",
    "three files, held out", "three files, again", "families, movers",
)  # fmt: skip
BATCHES, PAIRS, COVERED, HALF, AGAIN = 4, 50, 0.93, 0.5, 5
ANSWERS = BATCHES * PAIRS
QUALITY = ("precision", "recall")


def answered(
    earlier: Earlier, batch: np.ndarray, labels: np.ndarray, errors: float, rng: np.random.Generator
) -> Earlier:
    """The linkage with the answers to a batch; of every fifth pair two, where people err."""
    worker = np.repeat(["one", "two"], [len(batch), len(batch[::AGAIN]) if errors else 0])
    batch = np.append(batch, batch[::AGAIN])[: len(worker)]
    left, right = earlier.pairs.left[batch], earlier.pairs.right[batch]
    count = len(batch)
    same = (labels[left] == labels[right]) ^ (rng.random(count) < errors)
    own = Decisions(
        left, right,
        worker=worker.astype(np.object_),
        answer=np.where(same, 3, -3).astype(np.int8),
        time=np.arange(count), withdrawn=np.zeros(count, dtype=np.bool_),
    )  # fmt: skip
    every = own if earlier.answers is None else together(earlier.answers, own)
    return earlier.with_review(earlier.pairs, earlier.asked, every)


def reviewed(earlier: Earlier, labels: np.ndarray, seed: int, errors: float) -> np.ndarray:
    """Value, low and high after a review, and the truth then, of precision and recall."""
    rng = np.random.default_rng(seed)
    identifying = pq.read_table(earlier.identifying)
    at, wider = begun(earlier, identifying, NextPairs(seed=seed), 1)
    at = at.with_review(earlier.pairs, at.asked, None)
    for number in range(1, BATCHES + 1):
        at, batch, _ = drawn(at, wider, PAIRS, number)
        at = answered(at, batch, labels, errors, rng)
    settled, review = settled_again(at, at.answers)
    assert review is not None
    true = rates(settled.persons.person.tolist(), labels.tolist())
    return np.array([[e.value, e.low, e.high, true[e.name]] for e in review.quality])


def measure(name: str, reviews: int, errors: float) -> tuple[np.ndarray, float, float, float]:
    """Print a row; gives which intervals hold, and the errors of precision before and after.

    The last is the floor of precision.
    """
    started = time.process_time()
    tables, labels, mode = ROWS[name]()
    suggestion = suggest_links(tables, mode=mode)
    if "one per source" in name:
        once = {**dict(suggestion.spec), "one_per_source": list(tables)}
        suggestion = replace(suggestion, spec=LinkSpec(**once))
    links = link(tables, suggestion, seed=1)
    labels = np.unique(labels, return_inverse=True)[1]
    true = rates(links.settled.persons.person.tolist(), labels.tolist())
    inferred = links.settled.persons.inferred
    told = {} if inferred is None else {each.name: each.value for each in inferred.quality}
    before = [abs(told.get(e, 0.5) - true[e]) for e in QUALITY]
    with tempfile.TemporaryDirectory() as folder:
        earlier = read_earlier(links.write(Path(folder) / "made"))
        found = np.array([reviewed(earlier, labels, seed, errors) for seed in range(reviews)])
    value, low, high, truth = np.moveaxis(found, 2, 0)
    holds = (low <= truth + 1e-12) & (truth <= high + 1e-12)
    floor = {each: np.sqrt(2 / np.pi * true[each] * (1 - true[each]) / ANSWERS) for each in QUALITY}
    cells = [f"{name:26}"]
    for place, each in enumerate(QUALITY):
        bias = value[:, place] - truth[:, place]
        after = (truth[:, place].mean(), abs(bias).mean(), bias.mean())
        figures = (true[each], before[place], floor[each], *after)
        cells.append("".join(f"{100 * e:>8.2f}" for e in figures))
        width = (high - low)[:, place].mean()
        cells.append(f"{100 * width:>7.2f}{np.count_nonzero(holds[:, place]):>5}/{reviews}")
    print(f"{''.join(cells)}{time.process_time() - started:>7.0f}", flush=True)
    return holds, before[0], float(abs(value - truth)[:, 0].mean()), float(floor["precision"])


def main() -> None:
    """Print a row for each linkage, and what all reviews together say."""
    parser = argparse.ArgumentParser()
    parser.add_argument("reviews", nargs="?", type=int, default=40)
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--errors", type=float, default=0.0)
    asked = parser.parse_intermixed_args()
    part = "".join(f"{e:>8}" for e in ("true", "error", "floor", "true", "error", "bias"))
    part += f"{'width':>7}{'held':>{6 + len(str(asked.reviews))}}"
    print(f"{'':26}{'precision before | after':^{len(part)}}{'recall before | after':^{len(part)}}")
    print(f"{'':26}{part}{part}{'CPU s':>7}")
    rows = asked.rows or SMALL
    found = [measure(name, asked.reviews, asked.errors) for name in rows]
    held = np.mean([holds.mean(axis=0) for holds, *_ in found], axis=0)
    halved = sum(after <= HALF * before for _, before, after, _ in found)
    told = [after <= HALF * before for _, before, after, floor in found if before > floor]
    before, after = (np.mean([each[k] for each in found]) for k in (1, 2))
    print(
        f"\nIntervals that hold: precision {100 * held[0]:.1f} %, recall {100 * held[1]:.1f} % "
        f"(asked {100 * COVERED:g}). Error of precision halved in {halved} of {len(rows)} rows, in "
        f"{sum(told)} of the {len(told)} where it was above the floor; "
        f"on average {100 * before:.2f} before, {100 * after:.2f} after."
    )


if __name__ == "__main__":
    main()
