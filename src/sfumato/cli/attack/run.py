"""``sfumato attack``: attack a released file for real, and compare with what was predicted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.attack.options.held import (
    Counts,
    Hierarchies,
    Knows,
    Missing,
    Noise,
    Priors,
    Register,
    Review,
    files_of,
    shares_of,
)
from sfumato.cli.attack.options.judged import Names, Population, Threshold
from sfumato.cli.attack.options.truth import Key, Original, SameOrder, TruthFile, given_truth
from sfumato.cli.output import MET, NOT_MET, print_json, progress_bar, say, warn
from sfumato.cli.parameters import Delimiter, Json, Report, Seed
from sfumato.cli.process import keep_memory
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.intruder.result import Attack

Released = Annotated[
    Path | None,
    typer.Argument(
        metavar="[RELEASE]",
        help="The released file, of sfumato or anybody. It may be left out with --review.",
        show_default=False,
    ),
]
Schema = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="What each column of RELEASE is, as TOML; 'sfumato schema guess' proposes one.",
        show_default=False,
    ),
]


def attack(
    release: Released = None,
    schema: Schema = None,
    original: Original = None,
    register: Register = None,
    prior: Priors = None,
    truth: TruthFile = None,
    same_order: SameOrder = False,
    pseudonym_key: Key = None,
    knows: Knows = None,
    counts: Counts = False,
    noise: Noise = None,
    missing: Missing = None,
    review: Review = None,
    hierarchy: Hierarchies = None,
    attack: Names = None,
    population: Population = None,
    threshold: Threshold = 0.2,
    seed: Seed = None,
    report: Report = None,
    delimiter: Delimiter = None,
    json: Json = False,
) -> int:
    """Attack a released file for real, and compare with what was predicted.

    The intruder reads RELEASE as an outsider does; only the referee is told whose each record is.
    With --review it is, or is also, what the screens of a review showed.

    Exit codes: 0 nothing was exceeded, 1 bad input, 2 a prediction was exceeded, or somebody was
    exposed in a file that comes without a prediction of its own.
    """
    keep_memory()
    from sfumato.intruder.attack import attack as attack_file
    from sfumato.schema import load_schema

    _check_given(release, schema, review)
    stated = given_truth(truth, same_order=same_order)
    repeated = release if original is not None and stated is None else None
    if pseudonym_key is not None and repeated is None:
        raise InputError(
            "option --pseudonym-key",
            "must stand beside RELEASE and --original, where a release is repeated",
            found="nothing to repeat",
        )
    declared = None if schema is None else load_schema(schema)
    held: dict[str, Any] = {
        "noise": shares_of("--noise", noise),
        "missing": shares_of("--missing", missing),
        "hierarchies": files_of(hierarchy),
    }
    if report is not None:
        from sfumato.reports import check_report_path

        check_report_path(report)
    with progress_bar() as progress:
        target: Any = release
        if repeated and original and declared:
            from sfumato.cli.attack.repeated import repeated_release

            target = repeated_release(
                repeated,
                original,
                declared,
                register=register,
                key=pseudonym_key,
                progress=progress,
            )
        found = attack_file(
            target,
            register=register,
            original=original,
            truth=stated,
            priors=prior or (),
            schema=declared,
            knows=knows or None,
            counts=counts,
            review=review,
            population=population,
            threshold=threshold,
            attacks=attack or None,
            seed=seed,
            delimiter=delimiter,
            progress=progress,
            **held,
        )
    _hand_over(found, report, json=json)
    return NOT_MET if found.caught else MET


def _check_given(release: Path | None, schema: Path | None, review: Path | None) -> None:
    if release is None and review is None:
        raise InputError("argument RELEASE", "must be given, or --review FOLDER", found="neither")
    if release is not None and schema is None:
        raise InputError(
            "option --schema",
            "must say what each column of RELEASE is",
            found="none",
            advice="'sfumato schema guess' proposes one",
        )


def _hand_over(found: Attack, report: Path | None, *, json: bool) -> None:
    """Write the report, print what was found."""
    if report is not None:
        from sfumato.reports import report as write_report

        write_report(found, report)
    if json:
        warn(found.warnings)
        print_json(found.to_json())
    else:
        typer.echo(str(found))
    if report is not None:
        say(f"Report: {report}")
