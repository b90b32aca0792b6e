"""Random series of releases through a ledger; a reader who shares no code goes through them.

Usage: random_series.py [SERIES [FILE]]    (300 unless stated)

What became of each is a line of FILE (random_series.jsonl unless stated); those that are there are
not gone through again.

Each series draws its people, two to four files of them (samples, other columns, other recodings,
rewritten ids, renamed columns, the order of the rows kept), and promises; each release is handed
over if the ledger lets it. The reader knows everybody's values, as each file was made of them, and
all that was handed over, joins records by what they show unchanged, and goes through sets.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import sfumato as sf
from sfumato.core.errors import ConstraintsNotMetError, InputError
from sfumato.ledger.release_ledger import ReleaseLedger, Terms

TOLERABLE = 0.2
KNOWN = {"born": "numeric", "sex": "categorical", "pay": "numeric", "area": "categorical"}
History = tuple[str, ...]
Values = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class File:
    """A file that was handed over: cells and histories, what it was made of by person, its k."""

    cells: list[tuple[dict[str, str], History]]
    known: Values
    k: int


def people(rng: np.random.Generator) -> pd.DataFrame:
    """Visits of 60 to 160 made-up people, with a code that changes or does not."""
    persons = int(rng.integers(60, 160))
    visits = rng.integers(1, 4, persons)
    of = np.repeat(np.arange(persons), visits)
    codes = rng.integers(0, int(rng.choice([4, 30])), persons)
    changing = rng.integers(0, 30, len(of))
    code = codes[of] if rng.random() < 0.5 else changing
    return pd.DataFrame(
        {
            "person": [f"P{each:04d}" for each in of],
            "born": rng.integers(1930, 2005, persons)[of],
            "sex": rng.choice(["F", "M"], persons)[of],
            "pay": rng.integers(10, 200, persons)[of],
            "area": rng.choice([f"A{n}" for n in range(8)], persons)[of],
            "code": [f"C{each:02d}" for each in code],
        }
    )


def drawn_release(
    data: pd.DataFrame, rng: np.random.Generator
) -> tuple[Callable[..., sf.Release], dict[str, str], Values, int]:
    """What makes a release of some; how its columns are called, what it is made of, its k."""
    ids = data["person"].unique()
    some = rng.choice(ids, int(len(ids) * rng.choice([0.6, 0.8, 1.0, 1.0])), replace=False)
    part = data[data["person"].isin(some)].sample(frac=1, random_state=int(rng.integers(1 << 30)))
    shown = list(rng.choice(list(KNOWN), int(rng.integers(1, 4)), replace=False))
    names = {name: f"{name}_2" if rng.random() < 0.15 else name for name in (*shown, "code")}
    if rng.random() < 0.2:
        part = part.assign(pay=part["pay"] // 20 * 20)
    known = part.drop_duplicates("person").set_index("person")[shown].to_dict("index")
    if rng.random() < 0.15:
        part = part.assign(person="X" + part["person"].str[::-1])
    schema = sf.Schema(
        person="person",
        quasi_identifiers={names[each]: KNOWN[each] for each in shown},
        sensitive=[names["code"]],
    )
    k, seed, ordered = int(rng.integers(3, 12)), int(rng.integers(1 << 30)), rng.random() < 0.1
    file = part[["person", *shown, "code"]].rename(columns=names)

    def made(*more: sf.MarketerRisk) -> sf.Release:
        promises: tuple[Any, ...] = (sf.PidKAnonymity(k), *more)
        return sf.anonymize(file, schema, *promises, seed=seed, effort=0, keep_order=bool(ordered))

    return made, {own: name for name, own in names.items()}, known, k


def read(release: sf.Release, names: dict[str, str], known: Values, k: int) -> File:
    """What stands in the released file."""
    rows = release.data.rename(columns=names).astype(str)
    cells = []
    for _, each in rows.groupby("person", sort=False):
        first = {n: each[n].iloc[0] for n in KNOWN if n in each}
        cells.append((first, tuple(sorted(each["code"]))))
    return File(cells, known, k)


def holds(cell: str, value: Any) -> bool:
    """Whether a released cell stands for a value."""
    ends = re.fullmatch(r"(-?\d+)(?:-| to )(-?\d+)", cell)
    if ends is not None:
        return int(ends[1]) <= int(value) <= int(ends[2])
    members = cell.strip("{}").split(", ") if cell.startswith("{") else [cell]
    return cell == "*" or str(value) in members


def candidates(files: list[File], person: str) -> list[int]:
    """By file that holds the person, how many of it fit the person in all of them."""
    fitting = [
        Counter(
            history
            for cell, history in each.cells
            if all(holds(cell[name], value) for name, value in each.known[person].items())
        )
        for each in files
        if person in each.known
    ]
    in_all = set.intersection(*(set(each) for each in fitting)) if fitting else set()
    return [sum(number for history, number in each.items() if history in in_all)
            for each in fitting]  # fmt: skip


ANY = sf.Limits(found=1, person=1, learned=1)
"""Under which every release is ready: what is refused is for those before it."""


def handed_over(book: ReleaseLedger, release: sf.Release, to: str) -> str | None:
    """Why a release is refused; ``None`` where it is not."""
    book.remember(release, "x.csv")
    try:
        book.hand_over(book.remembered()[-1].number, to, limits=ANY)
    except (ConstraintsNotMetError, InputError) as error:
        return str(error)
    return None


def series(seed: int) -> Counter[str]:
    """What became of one series."""
    rng, done = np.random.default_rng(seed), Counter[str]()
    data, files = people(rng), list[File]()
    with tempfile.TemporaryDirectory() as folder:
        book = ReleaseLedger.open(Path(folder) / "b" / "l.sqlite", Path(folder) / "k", make=True)
        book.settle(Terms(tolerable=TOLERABLE), note="drawn", by="benchmark")
        for _ in range(int(rng.integers(2, 5))):
            made, names, known, k = drawn_release(data, rng)
            to, release = f"r{rng.integers(3)}", made()
            refused = handed_over(book, release, to)
            tau = re.search(r"--marketer ([\d.e-]+)", refused or "")
            if tau is not None:
                release = made(sf.MarketerRisk(float(tau[1])))
                refused = handed_over(book, release, to)
                done["handed over as proposed"] += refused is None
            done["handed over" if refused is None else "refused"] += 1
            if refused is None:
                files.append(read(release, names, known, k))
        book.close()
    found = {number: list[int]() for number in range(len(files))}
    for person in data["person"].unique():
        places = [n for n, each in enumerate(files) if person in each.known]
        for place, fit in zip(places, candidates(files, person), strict=True):
            found[place].append(fit)
            done["persons in files"] += 1
            # Nobody fits where a cell cannot be read: nobody was looked for, so that counts, too.
            done["below their k"] += fit < files[place].k
    for those in found.values():
        share = sum(1 / each for each in those if each) / max(len(those), 1)
        done["files found above what is tolerable"] += share > TOLERABLE
    done["several handed over"] += len(files) > 1
    return done


def main() -> None:
    """Go through those that are left; print what became of all of them."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    file = Path(sys.argv[2] if len(sys.argv) > 2 else "random_series.jsonl")
    known = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    done = {each["series"]: Counter[str](each["done"]) for each in map(json.loads, known)}
    for seed in range(number):
        if seed not in done:
            done[seed] = series(seed)
            with file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps({"series": seed, "done": done[seed]}) + "\n")
    total = sum((done[seed] for seed in range(number)), Counter[str]())
    print(f"{number} series")
    for name in (
        *("handed over", "handed over as proposed", "refused", "several handed over"),
        *("persons in files", "below their k", "files found above what is tolerable"),
    ):
        print(f"{name:40}{total[name]:8,}")


if __name__ == "__main__":
    main()
