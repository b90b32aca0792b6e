"""A queue of questions against pairs that are dealt at random, for the same clerks.

Usage: review_queue.py [SEEDS] [ROW ...]

Clerks err about one pair in ten, and know nobody's truth. Dealt: ANSWERS answers to possible
matches in random order, every fifth of them answered twice, or all of them where they are fewer.
Drawn: as many, in two batches of `sfumato link next`. Queue: half as many answers as either, the
worthiest questions per unit of KAPR first, ranked anew after every STEP of them; a question may be
asked again, of another clerk. All answers are weighed alike. A clerk opens all of a pair to answer
it, so that openings are halved with the answers. Gains in F1 over pairs, in points; medians of all
seeds. A way counts where it gains a point. "KAPR" is what the queue's pairs cost, each shown by
itself, in percent of what those cost that were dealt or drawn.

Febrl 1 with four columns guided the ranking. The two of FEBRL with three columns that stand last
were chosen because dealing gains a point there, before the queue was tried on them.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from simulated_reviews import READERS, Truth, answered, asked_of, f1, linked, settled_by
from truth import Row, fake_people, families, febrl

from sfumato.core.arrays import Floats, Ints
from sfumato.core.declaration import silent
from sfumato.linkage.earlier_linkage import Earlier, read_earlier, settled_again
from sfumato.linkage.link_spec import Mode
from sfumato.linkage.next_batch import rows_of_records
from sfumato.linkage.question_order import questions
from sfumato.linkage.review_sample import pair_key
from sfumato.review.disclosure_account import Review
from sfumato.review.review_forecast import expected_units
from sfumato.review.review_project import index_of
from sfumato.review.review_settings import Floor, Settings
from sfumato.review.review_sources import from_linkage

ERRORS, ANSWERS, STEP, AGAIN, FIRST, POINT = 0.1, 240, 10, 5, 301, 0.01
NAMES = ["given_name", "surname", "date_of_birth", "postcode"]


def few_columns(row: Row, names: list[str]) -> Row:
    """The same records with some of their columns, by which they are harder to tell apart."""
    tables, labels, mode = row
    return {name: table.select(names) for name, table in tables.items()}, labels, mode


ROWS: dict[str, Callable[[int], Row]] = {
    "fake_people": lambda _: fake_people(),
    "febrl 1, four columns": lambda _: few_columns(febrl("dataset1"), NAMES),
    "febrl 2, four columns": lambda _: few_columns(febrl("dataset2"), NAMES),
    "febrl 3, four columns": lambda _: few_columns(febrl("dataset3"), NAMES),
    "febrl 3, three columns": lambda _: few_columns(febrl("dataset3"), NAMES[:3]),
    "200 households, four columns": lambda seed: few_columns(
        families(seed=seed, households=200, errors=0.1, missing=0.1),
        ["given_name", "surname", "birth_date", "sex"],
    ),
    "febrl 1, three columns": lambda _: few_columns(febrl("dataset1"), NAMES[:3]),
    "febrl 2, three columns": lambda _: few_columns(febrl("dataset2"), NAMES[:3]),
    "60 people, ten records": lambda seed: families(
        Mode.DEDUPE_ONLY, seed, households=60, sizes=(1.0,), files=1,
        duplicates=10, errors=0.3, missing=0.1,
    ),
}  # fmt: skip


class Prices:
    """What pairs cost whoever opens all of them, each shown by itself, in units of KAPR."""

    def __init__(self, folder: Path, earlier: Earlier) -> None:
        project = from_linkage(folder, np.random.default_rng(FIRST))
        rules = Settings(k_floor=Floor.REPORT)
        row = rows_of_records(earlier, project.records)
        sides = (row[side] for side in (earlier.pairs.left, earlier.pairs.right))
        index = index_of(project, rules, silent)
        self.review = Review(project.attributes, rules, index, *sides)
        self.known: dict[int, float] = {}

    def __call__(self, pairs: Ints) -> Floats:
        new = [pair for pair in pairs.tolist() if pair not in self.known]
        self.known |= zip(new, expected_units(self.review, new, ()).tolist(), strict=True)
        return np.array([self.known[pair] for pair in pairs.tolist()])

    def of(self, earlier: Earlier) -> float:
        """What the answers of a linkage cost; pairs that no rule brought together are left out."""
        answers, count = earlier.answers, earlier.records.count
        assert answers is not None
        keys = pair_key(earlier.pairs.left, earlier.pairs.right, count)[: self.review.pairs]
        place = {key: number for number, key in enumerate(keys.tolist())}
        asked = [place[key] for key in pair_key(answers.left, answers.right, count).tolist()
                 if key in place]  # fmt: skip
        return float(self(np.array(asked, dtype=np.int64)).sum())


def dealt(earlier: Earlier, truth: Truth, seed: int, answers: int) -> Earlier:
    """The possible matches in random order, as far as the answers go, every fifth one twice."""
    rng = np.random.default_rng(seed)
    pairs = np.array([int(pair[1:]) - 1 for pair in earlier.review["pair"].to_pylist()], np.int64)
    first = rng.permutation(pairs)[: answers * AGAIN // (AGAIN + 1)]
    return answered(earlier, first, truth, ERRORS, rng, twice=True)


def queued(
    earlier: Earlier, truth: Truth, seed: int, stops: list[int], prices: Prices
) -> list[tuple[float, float]]:
    """F1 after so many answers, each of a clerk who has not had the question, and their cost."""
    rng, at, found = np.random.default_rng(seed), earlier, []
    readings: Counter[int] = Counter()
    settled = settled_again(at, None)[0]
    for stop in stops:
        while (left := stop - readings.total()) > 0:
            may_ask = np.ones(len(at.pairs), dtype=np.bool_)
            may_ask[[pair for pair, count in readings.items() if count == len(READERS)]] = False
            best = questions(settled, at.pairs, may_ask, prices).pair[: min(STEP, left)]
            if not len(best):
                break
            readings.update(best.tolist())
            at = answered(at, best, truth, ERRORS, rng, twice=False)
            settled = settled_again(at, at.answers)[0]
        found.append((f1(settled.persons.person, truth.person)[0], prices.of(at)))
    return found


def measure(name: str, seed: int) -> tuple[float, ...]:
    """F1 without answers; number of answers, F1 with them, with half queued, and KAPR, twice."""
    links, truth = linked(ROWS[name](seed))
    with tempfile.TemporaryDirectory() as folder:
        made = links.write(Path(folder) / "made")
        earlier = read_earlier(made)
        prices = Prices(made, earlier)
        one = dealt(earlier, truth, seed, ANSWERS)
        two = asked_of(earlier, truth, seed, ERRORS, twice=True, batches=2)
        assert one.answers is not None
        assert two.answers is not None
        counts = [len(one.answers), len(two.answers)]
        gained = [
            f1(settled_again(one, one.answers)[0].persons.person, truth.person)[0],
            settled_by(two, truth)[1][0],
        ]
        stops = [count // 2 for count in sorted(counts)]
        half = queued(earlier, truth, seed, stops, prices)
        half = half if counts[0] <= counts[1] else half[::-1]
        spent = [cost / prices.of(way) for (_, cost), way in zip(half, (one, two), strict=True)]
    none = f1(links.settled.persons.person, truth.person)[0]
    ways = zip(counts, gained, [score for score, _ in half], spent, strict=True)
    return (none, *(each for way in ways for each in way))


def main() -> None:
    """Print a row for each data set, and how many reach what was asked."""
    parser = argparse.ArgumentParser()
    parser.add_argument("seeds", nargs="?", type=int, default=10)
    parser.add_argument("rows", nargs="*")
    asked = parser.parse_intermixed_args()
    heads = (
        "none",
        "answers",
        "dealt",
        "queue",
        "KAPR",
        "answers",
        "drawn",
        "queue",
        "KAPR",
        "CPU s",
    )
    print(f"{'':30}" + "".join(f"{each:>9}" for each in heads))
    counts, reached = [0, 0], [0, 0]
    for name in asked.rows or ROWS:
        started = time.process_time()
        each = np.array([measure(name, FIRST + number) for number in range(asked.seeds)])
        told = np.median(np.where([1, *[0, 1, 1, 0] * 2], each - each[:, :1], each), axis=0)
        text, verdicts = f"{100 * np.median(each[:, 0]):>9.2f}", []
        for way, (answers, gain, half, kapr) in enumerate(told[1:].reshape(2, 4).tolist()):
            text += f"{answers:>9.0f}{100 * gain:>+9.2f}{100 * half:>+9.2f}{100 * kapr:>8.0f}%"
            if gain >= POINT:
                counts[way], reached[way] = counts[way] + 1, reached[way] + (half >= gain)
                verdicts.append("reached" if half >= gain else "OFF")
        spent = time.process_time() - started
        print(f"{name:30}{text}{spent:>9.0f}  {', '.join(verdicts)}", flush=True)
    for way, word in enumerate(("dealing", "drawing")):
        print(f"Half the answers reach what {word} gains in {reached[way]} of {counts[way]} rows.")


if __name__ == "__main__":
    main()
