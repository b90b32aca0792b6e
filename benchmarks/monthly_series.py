"""Series of monthly files, read by a foreign program that knows who came, left or withdrew when.

Usage: monthly_series.py [PEOPLE [TIMED]]    (5,000; no times unless TIMED people are stated)

A registry (3 % come, 1 % leave, 2 % move a month), a panel (5 % leave and are replaced a wave,
values change seldom) and ratings (of each person the genre of the month; 5 % come and leave) are
released twelve times; then again, where 0.2 % of the people withdraw each month from the third on.
The reader joins the written files by pseudonym and looks for everybody among those of the same
cells and the same month of entry; for who left, among those of them whose rows have not changed
since; for who withdrew, among those of them who are gone. With TIMED people each file of a registry
is noted in a ledger and handed over.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import sfumato as sf
from sfumato.ledger.release_ledger import ReleaseLedger, Terms

MONTHS, K, NEWCOMERS_K = 12, 15, 12
WITHDRAW = 0.002
RATES = {"registry": (0.03, 0.01, 1.0), "panel": (0.05, 0.05, 0.15), "ratings": (0.05, 0.05, 0.7)}
"""Shares of people who come, leave, and have another sensitive value than the month before."""
VALUES = {"registry": 8, "panel": 6, "ratings": 18}
SCHEMA = sf.Schema(
    person="id",
    quasi_identifiers={"born": "numeric", "sex": "categorical", "zip": "numeric"},
    sensitive=["value"],
)
KNOWN = ["born", "sex", "zip"]
ANY = sf.Limits(found=1, person=1, learned=1)


def months(kind: str, people: int, seed: int) -> Iterator[pd.DataFrame]:
    """The files of a made-up source, one a month."""
    rng, (new, leave, change) = np.random.default_rng(seed), RATES[kind]

    def some(count: int, first: int) -> pd.DataFrame:
        ages = np.clip(rng.gamma(5, 9, count).astype(int), 0, 95)
        data = pd.DataFrame({"id": range(first, first + count), "born": 2020 - ages})
        data["sex"] = rng.choice(["f", "m"], count)
        data["zip"] = 10_000 + rng.zipf(1.3, count) % 800
        # Few values are common, as of genres and of activities.
        return data.assign(value=np.minimum(rng.zipf(1.6, count), VALUES[kind]))

    now, following = some(people, 0), people
    for number in range(MONTHS):
        if number:
            now = now[rng.random(len(now)) >= leave].copy()
            moved, other = rng.random(len(now)) < 0.02, rng.random(len(now)) < change
            now.loc[moved, "zip"] = some(int(moved.sum()), 0)["zip"].to_numpy()
            now.loc[other, "value"] = some(int(other.sum()), 0)["value"].to_numpy()
            came = int(new * len(now))
            now = pd.concat([now, some(came, following)], ignore_index=True)
            following += came
        yield now


class Reader:
    """What somebody sees in the files, and the truth about whose rows they are."""

    def __init__(self) -> None:
        self.rows: list[dict[str, tuple[str, ...]]] = []
        self.came: dict[str, int] = {}
        self.pseudonym: dict[Any, str] = {}
        self.left: dict[str, int] = {}
        self.found: dict[str, list[float]] = {"entry": [], "exit": [], "leavers": []}
        self.withdrawn: list[float] = []
        self.fewest = sys.maxsize

    def read(self, file: Path, data: pd.DataFrame, release: sf.Release) -> None:
        """Read the next file; only the truth is taken from elsewhere."""
        table = pd.read_csv(file, dtype=str).fillna("")
        rows = {
            row[0]: tuple(row[1:]) for row in table[["id", *KNOWN, "value"]].itertuples(index=False)
        }
        number = len(self.rows)
        self.rows.append(rows)
        for name in rows:
            self.came.setdefault(name, number)
        ids = data["id"].tolist()
        assert release.source_rows is not None
        for name, row in zip(table["id"], release.source_rows.tolist(), strict=True):
            if row < len(ids):
                self.pseudonym.setdefault(ids[row], name)
        here = set(ids)
        for one, name in self.pseudonym.items():
            if one not in here and name in rows:
                self.left.setdefault(name, number - 1)
        self._measure(rows)

    def _measure(self, rows: dict[str, tuple[str, ...]]) -> None:
        home = {name: (self.came[name], *row[:-1]) for name, row in rows.items()}
        sizes = Counter(home.values())
        self.fewest = min(self.fewest, *sizes.values())
        entry = [1 / sizes[own] for own in home.values()]
        since = Counter[tuple[Any, ...]]()
        for name, own in home.items():
            number = len(self.rows) - 1
            while number and self.rows[number - 1].get(name, ("",))[-1] == rows[name][-1]:
                number -= 1
                since[number, own] += 1
        leavers = [1 / since[self.left[name], home[name]] for name in rows if name in self.left]
        stay = [1 / sizes[home[name]] for name in rows if name not in self.left]
        self.found["entry"].append(float(np.mean(entry)))
        self.found["exit"].append(float(np.mean(stay + leavers)))
        self.found["leavers"].append(float(np.mean(leavers or [0.0])))

    def missing(self, ids: set[Any]) -> None:
        """Look in the last file for people who withdrew, as it no longer shows them."""
        before, after = self.rows[-2:]
        gone = {name for name in before if name not in after}
        alike = Counter((self.came[name], *before[name][:-1]) for name in gone)
        for one in ids:
            name = self.pseudonym.get(one)
            if name in before:
                self.withdrawn.append(1 / alike[self.came[name], *before[name][:-1]])


def series(kind: str, people: int, withdrawing: float, seed: int = 1) -> None:
    """Release a source month by month, a share withdrawing each, and print what is found."""
    rng, reader, out = np.random.default_rng(seed + 100), Reader(), set[Any]()
    lost, waiting, made = list[float](), list[int](), None
    with tempfile.TemporaryDirectory() as folder:
        for number, everybody in enumerate(months(kind, people, seed)):
            withdraw = set[Any]()
            if number >= 2:
                shown = [
                    one for one in everybody["id"] if one in reader.pseudonym and one not in out
                ]
                withdraw = set(
                    rng.choice(shown, int(len(shown) * withdrawing), replace=False).tolist()
                )
                out |= withdraw
            data = everybody[~everybody["id"].isin(out)]
            if made is None:
                made = sf.anonymize(
                    data, SCHEMA, sf.PidKAnonymity(K), series="snapshot", newcomers_k=NEWCOMERS_K
                )
            else:
                gone = pd.DataFrame({"id": sorted(withdraw)}) if withdraw else None
                made = sf.anonymize(data, SCHEMA, continues=made, withdrawn=gone)
            place = Path(folder) / f"{number}"
            place.mkdir()
            made.write(place / "out.csv")
            reader.read(place / "out.csv", data, made)
            reader.missing(withdraw) if withdraw else None
            lost.append(made.utility.ncp)
            waiting.append(made.manifest.series.get("waiting", 0))
    most = {name: max(shares) for name, shares in reader.found.items()}
    # In every second file nobody waits, and newcomers of two months are shown.
    print(
        f"{kind} | {most['entry']:.3f} | {most['exit']:.3f} | {most['leavers']:.3f} | "
        f"{np.mean(reader.withdrawn or [0]):.3f} of {len(reader.withdrawn)} | {reader.fewest} | "
        f"{sum(each > 0 for each in waiting)} | {lost[-2] / lost[0]:.2f} | "
        f"{len(reader.rows[-1]):,}",
        flush=True,
    )


def times(people: int) -> None:
    """Release a registry month by month beside a ledger, and print the CPU seconds of each."""
    made, seconds, shown = None, list[float](), list[int]()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        ledger = ReleaseLedger.open(place / "book/l.sqlite", place / "keys", make=True)
        ledger.settle(Terms(tolerable=1.0, unkept=1.0), note="timed", by="benchmark")
        for number, data in enumerate(months("registry", people, 1)):
            (place / f"{number}").mkdir()
            begun = time.process_time()
            if made is None:
                made = sf.anonymize(data, SCHEMA, sf.PidKAnonymity(K), series="snapshot")
            else:
                made = sf.anonymize(data, SCHEMA, continues=made)
            made = made.write(place / f"{number}" / "out.csv", memory=ledger)
            ledger.hand_over(ledger.remembered()[-1].number, "a university", limits=ANY)
            seconds.append(time.process_time() - begun)
            shown.append(made.risk.persons)
            print(f"month {number + 1}: {seconds[-1]:.2f} s, {shown[-1]:,} people", flush=True)
        ledger.close()
    ratio, more = seconds[-1] / seconds[1], shown[-1] / shown[1]
    print(f"month {MONTHS} / month 2: {ratio:.2f}, of {more:.2f} times the people")


def main() -> None:
    """Print a row of each source, then times where they are wanted."""
    people = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    print(
        "source | entry | exit | leavers | withdrawn | fewest | files with waiting | NCP | people"
    )
    for kind in RATES if people else ():
        for withdrawing in (0.0, WITHDRAW):
            series(kind, people, withdrawing)
    if len(sys.argv) > 2:
        times(int(sys.argv[2]))


if __name__ == "__main__":
    main()
