"""Reviews of a linkage by people who know the truth: coverage of intervals, and errors halved.

Usage: simulated_reviews.py [REVIEWS] [--errors SHARE | --clerks | --cost] [ROW ...]

Each data set is linked once, written, and reviewed REVIEWS times with another seed: four batches of
50 pairs, drawn, answered and applied as `sfumato link next` and `sfumato link apply` do, but for
the files between. People are right, or wrong about a SHARE of the pairs, when two of them look at
every fifth one. At least 93 % of all intervals must hold the truth of the persons then, and the
mean error of the printed precision must be at most half of that which was printed before. "bias" is
what is printed less the truth; "floor" the mean error of the share that is right among as many
pairs of the persons drawn at random: what lies below it, so many answers cannot tell.

With --clerks REVIEWS data sets of each kind are made, each with another seed, linked, and reviewed
once, in two batches, by clerks who err about 0, 5, 10 and 20 % of the pairs, and by some of whom
the first takes people born on one day for one person. Every fifth pair has a second reader, and
each that is asked again has a reader who has not seen it. The same answers then count in two ways:
as evidence, and as certain, the majority of them. Mean F1 of pairs, and of people whose records are
all theirs, must be at most .1 points below those without any answers, and nine of ten intervals
hold ("OFF" where not).

With --cost: CPU seconds of a linkage of 20,000 people, and of its people alone, with and without
answers.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow.parquet as pq
from truth import ROWS, Row, clinics, families, rates, ten_records

from sfumato.linkage import person_clusters, person_inference
from sfumato.linkage.answer_evidence import Weighed, Worlds
from sfumato.linkage.earlier_linkage import Earlier, read_earlier, settled_again
from sfumato.linkage.link import link
from sfumato.linkage.link_options import NextPairs
from sfumato.linkage.link_spec import LinkSpec
from sfumato.linkage.linkage_result import Links
from sfumato.linkage.match_decisions import SAME, Decisions, Verdicts, together
from sfumato.linkage.next_batch import begun, drawn
from sfumato.linkage.spec_suggestion import suggest_links

SMALL = (
    "clinics 1,000", "fake_people", "families, duplicates", "families, many errors",
    "families, twins", "ten records a person", "ten records a person, again",
    "three files, held out", "three files, again", "families, movers",
)  # fmt: skip
OF_CLERKS: dict[str, Callable[[int], Row]] = {
    "families with twins": lambda seed: families(seed=seed, twins=0.3),
    "ten records a person": ten_records,
    "400 people, clinics": lambda seed: clinics(400, seed=seed),
}
OF_CLERKS_BATCHES, FIRST, LOSS, OF_TEN = 2, 201, 0.001, 0.9
"""Of how many batches each review is, the first seed, of which nothing was looked for, and what is
accepted."""
BATCHES, PAIRS, COVERED, HALF, AGAIN = 4, 50, 0.93, 0.5, 5
ANSWERS = BATCHES * PAIRS
QUALITY = ("precision", "recall")


@dataclass(frozen=True)
class Truth:
    """Whose each record is, and on which day they were born."""

    person: np.ndarray
    born: np.ndarray


OF_COST = 240, 5_000
"""Numbers of answered pairs, a fifth of them answered twice."""
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


def asked_of(
    earlier: Earlier,
    truth: Truth,
    seed: int,
    errors: float | str,
    *,
    twice: bool,
    batches: int = BATCHES,
) -> Earlier:
    """The linkage with all answers of a review."""
    rng = np.random.default_rng(seed)
    identifying = pq.read_table(earlier.identifying)
    at, wider = begun(earlier, identifying, NextPairs(seed=seed), 1)
    at = at.with_review(earlier.pairs, at.asked, None)
    for number in range(1, batches + 1):
        at, batch, _ = drawn(at, wider, ANSWERS // batches, number)
        at = answered(at, batch, truth, errors, rng, twice=twice)
    return at


def settled_by(at: Earlier, truth: Truth) -> tuple[np.ndarray, tuple[float, float]]:
    """Value, low and high after a review, and the truth then, of precision and recall; and F1."""
    settled, review = settled_again(at, at.answers)
    assert review is not None
    true = rates(settled.persons.person.tolist(), truth.person.tolist())
    found = np.array([[e.value, e.low, e.high, true[e.name]] for e in review.quality])
    return found, f1(settled.persons.person, truth.person)


def certain(verdicts: Verdicts, worlds: Worlds, _: Any, draws: int, __: Any) -> Weighed:
    """The answers as they count where nobody is thought to err: what most say is true."""
    open_ = np.broadcast_to(worlds.together, (draws, len(verdicts)))
    same = np.where(verdicts.result == 0, open_, verdicts.result == SAME)
    # Log odds of one in a trillion: what is certain, as a number.
    evidence = (27.6 * verdicts.result).astype(np.float64)
    return Weighed((1 + verdicts.result) / 2, evidence, same, 0.0, ())


def linked(row: Row, *, once: bool = False) -> tuple[Links, Truth]:
    """The linkage of a row, and the truth."""
    tables, labels, mode = row
    suggestion = suggest_links(tables, mode=mode)
    if once:
        declared = {**dict(suggestion.spec), "one_per_source": list(tables)}
        suggestion = replace(suggestion, spec=LinkSpec(**declared))
    born = [
        str(value)
        for table in tables.values()
        for value in table[next(n for n in table.column_names if "b" in n and "d" in n)].to_pylist()
    ]
    person, birth = (np.unique(each, return_inverse=True)[1] for each in (labels, born))
    return link(tables, suggestion, seed=1), Truth(person, birth)


Seen = tuple[np.ndarray, tuple[float, float]]
"""Intervals and truth of a review, and F1."""


def of_clerks(row: Row, seed: int) -> tuple[tuple[float, float], dict[tuple[Any, str], Seen]]:
    """F1 without answers, and what is seen with those of each kind, counted in each way."""
    links, truth = linked(row)
    made = {}
    with tempfile.TemporaryDirectory() as folder:
        earlier = read_earlier(links.write(Path(folder) / "made"))
        for kind in CLERKS:
            at = asked_of(earlier, truth, seed, kind, twice=True, batches=OF_CLERKS_BATCHES)
            made[kind, "evidence"] = settled_by(at, truth)
            with ExitStack() as ways:
                for module in (person_inference, person_clusters):
                    ways.enter_context(patch.object(module, "weigh", certain))
                made[kind, "certain"] = settled_by(at, truth)
    return f1(links.settled.persons.person, truth.person), made


def print_clerks(name: str, every: list[Any]) -> None:
    """A row for each kind of clerk and way in which answers count."""
    alone, reviews = np.array([each for each, _ in every]), len(every)
    none = alone.mean(axis=0)
    print(f"{name + ', without answers':36}{100 * none[0]:>8.2f}{100 * none[1]:>8.2f}", flush=True)
    for which in every[0][1]:
        found = [made[which] for _, made in every]
        _, low, high, true = np.moveaxis(np.array([each for each, _ in found]), 2, 0)
        held = ((low <= true + 1e-12) & (true <= high + 1e-12)).sum(axis=0)
        both = np.array([each for _, each in found])
        mean = both.mean(axis=0)
        # By how much the mean may differ by chance, in so many data sets.
        error = (both - alone).std(axis=0) / reviews**0.5
        off = np.any(mean < none - LOSS) or np.any(held < OF_TEN * reviews)
        cells = "".join(f"{100 * e:>8.2f}" for e in (*mean, *error, *(high - low).mean(axis=0)))
        cells += f"{held[0]:>5}{held[1]:>4}/{reviews} {'OFF' if off else ''}"
        print(f"{'  {} {}'.format(*which):36}{cells}", flush=True)


def print_cost() -> None:
    """CPU seconds of a linkage, and of its people again without answers and with some."""
    started = time.process_time()
    links, truth = linked(clinics(20_000))
    print(f"linkage{time.process_time() - started:>20.1f} CPU s", flush=True)
    rng, score = np.random.default_rng(1), links.pairs.score
    doubt = score * (1 - score) + 1e-6
    with tempfile.TemporaryDirectory() as folder:
        earlier = read_earlier(links.write(Path(folder) / "made"))
        for count in (0, *OF_COST):
            batch = rng.choice(len(score), count, replace=False, p=doubt / doubt.sum())
            at = answered(earlier, batch, truth, 0.05, rng, twice=True) if count else earlier
            started = time.process_time()
            settled_again(at, at.answers)
            spent = time.process_time() - started
            print(f"people, {count:>5,} answers{spent:>9.2f} CPU s", flush=True)


def measure(name: str, reviews: int, errors: float) -> tuple[np.ndarray, float, float, float]:
    """Print a row; gives which intervals hold, and the errors of precision before and after.

    The last is the floor of precision.
    """
    started = time.process_time()
    links, truth = linked(ROWS[name](), once="one per source" in name)
    true = rates(links.settled.persons.person.tolist(), truth.person.tolist())
    inferred = links.settled.persons.inferred
    told = {} if inferred is None else {each.name: each.value for each in inferred.quality}
    before = [abs(told.get(e, 0.5) - true[e]) for e in QUALITY]
    with tempfile.TemporaryDirectory() as folder:
        earlier = read_earlier(links.write(Path(folder) / "made"))
        made = [
            settled_by(asked_of(earlier, truth, n, errors, twice=errors > 0), truth)
            for n in range(reviews)
        ]
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
    parser.add_argument("--cost", action="store_true")
    asked = parser.parse_intermixed_args()
    if asked.cost:
        print_cost()
        return
    if asked.clerks:
        heads = ("pairs", "people", "±", "±", "P wide", "R wide")
        print(" " * 36 + "".join(f"{each:>8}" for each in heads) + f"{'held':>9}")
        for name in asked.rows or OF_CLERKS:
            seeds = range(FIRST, FIRST + asked.reviews)
            print_clerks(name, [of_clerks(OF_CLERKS[name](seed), seed) for seed in seeds])
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
