"""Proposals held against truth: roles, persons, direct identifiers, questions; then a release.

Usage: intake.py [FILES] [--release] [--first SEED]

Generated files of the six countries of the package, the same number of five countries that nobody
looked at while the proposal was made, both with headers in five manners, and the public data. With
--release each of them goes on, its questions answered as proposed: assess, anonymize, attack.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from messy_files import Country, MessyFile, messy_file
from unseen_countries import UNSEEN

import sfumato as sf
from sfumato.core.errors import SfumatoError
from sfumato.schema.roles import RECIPE_SOURCE

DATA = Path(os.environ.get("SFUMATO_DATA", "../shared/data"))
HIDDEN = {"direct identifier", "household", "person", "undecided", RECIPE_SOURCE}


@dataclass
class Score:
    """What was right in some files."""

    files: int = 0
    columns: int = 0
    right: int = 0
    persons: int = 0
    found: int = 0
    direct: int = 0
    hidden: int = 0
    questions: Counter[int] = field(default_factory=Counter)
    failed: int = 0
    wrong: Counter[str] = field(default_factory=Counter)

    def add(self, made: MessyFile, guess: sf.Guess) -> None:
        """Hold a proposal against the truth of its file."""
        final = {n: role for role, names in guess.answered().roles().items() for n in names}
        left = {n: role for role, names in guess.schema.roles().items() for n in names}
        self.files += 1
        self.questions[len(guess.questions)] += 1
        if made.person is not None:
            self.persons += 1
            self.found += final[made.person] == "person"
        for name, accepted in made.roles.items():
            self.columns += 1
            good = final[name] in accepted
            self.right += good
            if not good:
                self.wrong[f"{made.held[name]} as {final[name]}"] += 1
            if accepted <= {"direct identifier", "household"}:
                self.direct += 1
                self.hidden += left[name] in HIDDEN

    def __str__(self) -> str:
        asked = sum(number for count, number in self.questions.items() if count <= 3)
        return (
            f"{self.files} files: {self.right} of {self.columns} roles right "
            f"({self.right / self.columns:.1%}), person {self.found} of {self.persons}, direct "
            f"identifiers {self.hidden} of {self.direct}, at most three questions in {asked} "
            f"({dict(sorted(self.questions.items()))}); failed {self.failed}"
        )


def files(
    number: int, first: int, countries: Mapping[str, Country] | None, folder: Path
) -> Iterator[tuple[MessyFile, Path]]:
    """Generated files, written."""
    for seed in range(first, first + number):
        made = messy_file(seed, countries)
        path = folder / f"{seed}.csv"
        made.write(path)
        yield made, path


def released(path: Path, guess: sf.Guess) -> str:
    """Take a file on to a release and an attack; the error where there is one."""
    schema = guess.answered()
    try:
        sf.assess(path, schema)
        release = sf.anonymize(path, schema, sf.PidKAnonymity(5))
        sf.attack(release, original=path)
    except SfumatoError as error:
        return f"{path.name}: {error}"
    return ""


def main() -> None:
    """Print the figures of docs/EVIDENCE.md."""
    parser = argparse.ArgumentParser()
    parser.add_argument("files", type=int, nargs="?", default=50)
    parser.add_argument("--release", action="store_true")
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    failed = 0
    for title, countries in (("six countries", None), ("five unseen countries", UNSEEN)):
        started, score = time.process_time(), Score()
        with tempfile.TemporaryDirectory() as folder:
            for made, path in files(given.files, given.first, countries, Path(folder)):
                guess = sf.guess_schema(path)
                score.add(made, guess)
                said = released(path, guess) if given.release else ""
                score.failed += bool(said)
                if said:
                    print(said)
        print(f"{title}: {score}; {time.process_time() - started:.0f} CPU s", flush=True)
        for what, times in score.wrong.most_common(8):
            print(f"    {times} {what}")
        failed += score.failed
    for path in sorted(DATA.glob("*/*.*")):
        if path.suffix not in {".csv", ".parquet"} or "hierarchy" in path.name:
            continue
        guess = sf.guess_schema(path)
        said = released(path, guess) if given.release else ""
        failed += bool(said)
        print(
            f"{path.name}: person {guess.schema.person}, {len(guess.questions)} questions. {said}"
        )
    sys.exit(min(failed, 1))


if __name__ == "__main__":
    main()
