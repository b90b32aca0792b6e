"""Reviews of a linkage by people who know the truth: coverage of intervals, and errors halved.

Usage: simulated_reviews.py [REVIEWS] [--errors SHARE | --clerks] [ROW ...]

Each data set is linked once, written, and reviewed REVIEWS times with another seed: four batches of
50 pairs, drawn, answered and applied as `sfumato link next` and `sfumato link apply` do, but for
the files between. People are right, or wrong about a SHARE of the pairs, when two of them look at
every fifth one. At least 93 % of all intervals must hold the truth of the persons then, and the
mean error of the printed precision must be at most half of that which was printed before. "bias" is
what is printed less the truth; "floor" the mean error of the share that is right among as many
pairs of the persons drawn at random: what lies below it, so many answers cannot tell.

With --clerks reviews have clerks who err about 0, 5, 10 and 20 % of the pairs, and one who takes
people born on one day for one person. Every fifth pair has a second reader, and each that is asked
again has a reader who has not seen it. F1 of pairs, and of people whose records are all theirs,
must be at most .1 points below those without any answers ("OFF" where not).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from truth import ROWS, rates

from sfumato.linkage.earlier_linkage import Earlier, read_earlier, settled_again
from sfumato.linkage.link import link
from sfumato.linkage.link_options import NextPairs
from sfumato.linkage.link_spec import LinkSpec
from sfumato.linkage.linkage_result import Links
from sfumato.linkage.match_decisions import Decisions, together
from sfumato.linkage.next_batch import begun, drawn
from sfumato.linkage.spec_suggestion import suggest_links

SMALL = (
    "clinics 1,000", "fake_people", "families, duplicates", "families, many errors",
    "families, twins", "ten records a person", "ten records a person, again",
    "three files, held out", "three files, again", "families, movers",
)  # fmt: skip
OF_CLERKS, LOSS = ("families, twins", "ten records a person"), 0.001
BATCHES, PAIRS, COVERED, HALF, AGAIN = 4, 50, 0.93, 0.5, 5
ANSWERS = BATCHES * PAIRS
QUALITY = ("precision", "recall")


@dataclass(frozen=True)
class Truth:
    """Whose each record is, and on which day they were born."""

    person: np.ndarray
    born: np.ndarray


READERS = ("one", "two", "three")
CLERKS: tuple[float | str, ...] = (0.0, 0.05, 0.1, 0.2, "twins")
"""Shares of the pairs that clerks judge wrongly; or the first clerk takes twins for one person."""


def answered(
    earlier: Earlier,
    batch: np.ndarray,
    truth: Truth,
    errors: float | str,
    rng: np.random.Generator,
    *,
    twice: bool,
) -> Earlier:
    """The linkage with the answers to a batch; each by a clerk who has not seen the pair."""
    had = earlier.answers
    keys = [] if had is None else zip(had.left.tolist(), had.right.tolist(), strict=True)
    seen = Counter(keys)
    given = []
    for place, pair in enumerate(batch.tolist()):
        ends = int(earlier.pairs.left[pair]), int(earlier.pairs.right[pair])
        first = min(seen[ends], len(READERS) - 1)
        readers = 2 if twice and not first and place % AGAIN == 0 else 1
        given += [(*ends, worker) for worker in READERS[first : first + readers]]
    left, right, worker = (np.array(each) for each in zip(*given, strict=True))
    same = truth.person[left] == truth.person[right]
    if isinstance(errors, str):
        same |= (worker == READERS[0]) & (truth.born[left] == truth.born[right])
    else:
        same ^= rng.random(len(left)) < errors
    own = Decisions(
        left, right,
        worker=worker.astype(np.object_),
        answer=np.where(same, 3, -3).astype(np.int8),
        time=np.arange(len(left)), withdrawn=np.zeros(len(left), dtype=np.bool_),
    )  # fmt: skip
    every = own if had is None else together(had, own)
    return earlier.with_review(earlier.pairs, earlier.asked, every)


def f1(person: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """Of pairs of records, and of people all of whose records are one person's."""
    of_pairs = rates(person.tolist(), truth.tolist())
    both = sum(of_pairs.values())
    joint, count = np.unique(np.stack([person, truth]), axis=1, return_counts=True)
    sizes = [np.unique(each, return_inverse=True, return_counts=True) for each in (person, truth)]
    whole = [
        number[np.searchsorted(values, own)]
        for own, (values, _, number) in zip(joint, sizes, strict=True)
    ]
    exact = np.count_nonzero((whole[0] == count) & (whole[1] == count))
    people = sum(len(values) for values, *_ in sizes)
    return 2 * of_pairs["precision"] * of_pairs[
        "recall"
    ] / both if both else 0.0, 2 * exact / people


def reviewed(
    earlier: Earlier, truth: Truth, seed: int, errors: float | str, *, twice: bool
) -> tuple[np.ndarray, tuple[float, float]]:
    """Value, low and high after a review, and the truth then, of precision and recall; and F1."""
    rng = np.random.default_rng(seed)
    identifying = pq.read_table(earlier.identifying)
    at, wider = begun(earlier, identifying, NextPairs(seed=seed), 1)
    at = at.with_review(earlier.pairs, at.asked, None)
    for number in range(1, BATCHES + 1):
        at, batch, _ = drawn(at, wider, PAIRS, number)
        at = answered(at, batch, truth, errors, rng, twice=twice)
    settled, review = settled_again(at, at.answers)
    assert review is not None
    true = rates(settled.persons.person.tolist(), truth.person.tolist())
    found = np.array([[e.value, e.low, e.high, true[e.name]] for e in review.quality])
    return found, f1(settled.persons.person, truth.person)


def linked(name: str) -> tuple[Links, Truth]:
    """The linkage of a row, and the truth."""
    tables, labels, mode = ROWS[name]()
    suggestion = suggest_links(tables, mode=mode)
    if "one per source" in name:
        once = {**dict(suggestion.spec), "one_per_source": list(tables)}
        suggestion = replace(suggestion, spec=LinkSpec(**once))
    born = [
        str(value)
        for table in tables.values()
        for value in table[next(n for n in table.column_names if "b" in n and "d" in n)].to_pylist()
    ]
    person, birth = (np.unique(each, return_inverse=True)[1] for each in (labels, born))
    return link(tables, suggestion, seed=1), Truth(person, birth)


def of_clerks(name: str, reviews: int) -> None:
    """Print a row for each kind of clerk."""
    links, truth = linked(name)
    alone = f1(links.settled.persons.person, truth.person)
    print(f"{name}, without answers{100 * alone[0]:>8.2f}{100 * alone[1]:>8.2f}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        earlier = read_earlier(links.write(Path(folder) / "made"))
        for errors in CLERKS:
            made = [reviewed(earlier, truth, seed, errors, twice=True) for seed in range(reviews)]
            _, low, high, true = np.moveaxis(np.array([found for found, _ in made]), 2, 0)
            held = ((low <= true + 1e-12) & (true <= high + 1e-12)).sum(axis=0)
            mean = np.mean([each for _, each in made], axis=0)
            less = "OFF" if np.any(mean < np.array(alone) - LOSS) else ""
            cells = "".join(f"{100 * each:>8.2f}" for each in (*mean, *(high - low).mean(axis=0)))
            print(f"  {errors!s:>24}{cells}{held[0]:>5}{held[1]:>4}/{reviews} {less}", flush=True)


def measure(name: str, reviews: int, errors: float) -> tuple[np.ndarray, float, float, float]:
    """Print a row; gives which intervals hold, and the errors of precision before and after.

    The last is the floor of precision.
    """
    started = time.process_time()
    links, truth = linked(name)
    true = rates(links.settled.persons.person.tolist(), truth.person.tolist())
    inferred = links.settled.persons.inferred
    told = {} if inferred is None else {each.name: each.value for each in inferred.quality}
    before = [abs(told.get(e, 0.5) - true[e]) for e in QUALITY]
    with tempfile.TemporaryDirectory() as folder:
        earlier = read_earlier(links.write(Path(folder) / "made"))
        made = [reviewed(earlier, truth, n, errors, twice=errors > 0) for n in range(reviews)]
    value, low, high, after = np.moveaxis(np.array([found for found, _ in made]), 2, 0)
    holds = (low <= after + 1e-12) & (after <= high + 1e-12)
    floor = {each: np.sqrt(2 / np.pi * true[each] * (1 - true[each]) / ANSWERS) for each in QUALITY}
    cells = [f"{name:26}"]
    for place, each in enumerate(QUALITY):
        bias = value[:, place] - after[:, place]
        now = (after[:, place].mean(), abs(bias).mean(), bias.mean())
        figures = (true[each], before[place], floor[each], *now)
        cells.append("".join(f"{100 * e:>8.2f}" for e in figures))
        width = (high - low)[:, place].mean()
        cells.append(f"{100 * width:>7.2f}{np.count_nonzero(holds[:, place]):>5}/{reviews}")
    print(f"{''.join(cells)}{time.process_time() - started:>7.0f}", flush=True)
    return holds, before[0], float(abs(value - after)[:, 0].mean()), float(floor["precision"])


def main() -> None:
    """Print a row for each linkage, and what all reviews together say."""
    parser = argparse.ArgumentParser()
    parser.add_argument("reviews", nargs="?", type=int, default=40)
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--errors", type=float, default=0.0)
    parser.add_argument("--clerks", action="store_true")
    asked = parser.parse_intermixed_args()
    if asked.clerks:
        print(f"{'':26}{'pairs':>8}{'people':>8}{'P wide':>8}{'R wide':>8}{'held':>9}")
        for name in asked.rows or OF_CLERKS:
            of_clerks(name, asked.reviews)
        return
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
