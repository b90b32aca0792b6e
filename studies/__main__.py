"""Compute a paper's tables again: ``python -m studies NAME``, or ``make study NAME=...``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from sfumato.cli.output import progress_bar
from sfumato.core.errors import InputError
from studies import DRAWN, STUDIES
from studies.study_document import check_study_folder


def main(words: Sequence[str] | None = None) -> int:
    """Print a study, and write it where asked: 0, or 1 after bad input."""
    parser = argparse.ArgumentParser("studies", description=__doc__)
    parser.add_argument("name", choices=sorted(STUDIES), help="the study")
    parser.add_argument(
        "--data", type=Path, metavar="FOLDER",
        help="the papers' data as published (docs/studies.md); what is absent is left out",
    )  # fmt: skip
    parser.add_argument("--output", "-o", type=Path, metavar="FOLDER",
                        help="write Markdown, JSON and plots here")  # fmt: skip
    parser.add_argument("--repetitions", type=int, help=f"draws, for {', '.join(sorted(DRAWN))}")
    parser.add_argument("--seed", type=int, help="seed of the draws")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args(words)
    drawn = {name: getattr(given, name) for name in ("repetitions", "seed")}
    drawn = {name: number for name, number in drawn.items() if number is not None}
    if drawn and given.name not in DRAWN:
        parser.error(f"--{next(iter(drawn))} must come with {' or '.join(sorted(DRAWN))}")
    try:
        if given.output is not None:
            check_study_folder(given.output)
        with progress_bar() as progress:
            study = STUDIES[given.name](given.data, progress=progress, **drawn)
        written = [] if given.output is None else study.write(given.output)
    except InputError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    for path in written:
        print(f"Wrote {path}", file=sys.stderr)
    print(json.dumps(study.to_json(), indent=2) if given.json else study.to_markdown())
    return 0


if __name__ == "__main__":
    sys.exit(main())
