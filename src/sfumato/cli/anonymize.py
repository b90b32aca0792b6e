"""``sfumato anonymize``: release a file that keeps what was asked."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.output import print_json, progress_bar, say, warn
from sfumato.cli.parameters import Data, Delimiter, Json, Report, SchemaFile, Seed, Threshold

if TYPE_CHECKING:
    from sfumato.release.constraints import Budget, Constraint
    from sfumato.release.result import Release


class CutWord(StrEnum):
    """Words of ``--cut``; see `sfumato.release.options.Cut`."""

    median = "median"


class SplitWord(StrEnum):
    """Words of ``--split``; see `sfumato.release.splits.Split`."""

    balance = "balance"
    variance = "variance"
    range = "range"


class ValuesWord(StrEnum):
    """Words of ``--values``; see `sfumato.release.released.Form`."""

    range = "range"
    bounds = "bounds"
    mean = "mean"
    set = "set"
    hierarchy = "hierarchy"


PROMISES, MAKING, WRITING = "Promises", "Making", "Writing"


def _promise(kind: str, text: str) -> Any:
    return typer.Option(metavar=kind, help=text, rich_help_panel=PROMISES, show_default=False)


def anonymize(
    data: Data,
    schema: SchemaFile,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The release: .csv, .tsv or .parquet; release.toml is written beside it.",
            show_default=False,
        ),
    ],
    g_balance: Annotated[
        float | None, _promise("G", "g-balance of every class at least G, in [0, 1).")
    ] = None,
    h_affiliation: Annotated[
        float | None, _promise("H", "h-affiliation of every class at most H, in (0, 1].")
    ] = None,
    k: Annotated[int | None, _promise("K", "At least K records in every class.")] = None,
    pid_k: Annotated[int | None, _promise("K", "At least K persons in every class.")] = None,
    l: Annotated[  # noqa: E741
        int | None,
        typer.Option(
            "--l",
            metavar="L",
            help="At least L distinct sensitive values in every class.",
            rich_help_panel=PROMISES,
            show_default=False,
        ),
    ] = None,
    marketer: Annotated[
        float | None,
        _promise("T", "Marketer risk of the release at most T, the file being its population."),
    ] = None,
    repeat: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Repeat the release of this release.toml: its promises, options and seed.",
            rich_help_panel=MAKING,
            show_default=False,
        ),
    ] = None,
    cut: Annotated[
        CutWord, typer.Option(help="Where a column is cut.", rich_help_panel=MAKING)
    ] = CutWord.median,
    split: Annotated[
        SplitWord,
        typer.Option(
            help="Which cut is tried first: least balance-variance ratio, largest variance, "
            "widest range.",
            rich_help_panel=MAKING,
        ),
    ] = SplitWord.balance,
    values: Annotated[
        ValuesWord,
        typer.Option(help="Form of released quasi-identifiers.", rich_help_panel=MAKING),
    ] = ValuesWord.range,
    cap_records: Annotated[
        int | None,
        typer.Option(
            metavar="M",
            help="Keep at most M records of a person, drawn at random.",
            rich_help_panel=MAKING,
        ),
    ] = None,
    suppress: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="Largest share of persons to suppress if nothing else meets the promises.",
            rich_help_panel=MAKING,
        ),
    ] = 0.0,
    keep_order: Annotated[
        bool,
        typer.Option(
            "--keep-order",
            help="Do not shuffle the records; their order may give persons away.",
            rich_help_panel=MAKING,
        ),
    ] = False,
    pseudonym_key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Key for pseudonyms that are the same in every release; random without it.",
            rich_help_panel=MAKING,
        ),
    ] = None,
    seed: Seed = None,
    threshold: Threshold = 0.2,
    report: Report = None,
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Release a file whose every equivalence class keeps the promises asked for.

    Exit codes: 0 released and met, 1 bad input, 2 the promises cannot be met.
    """
    from sfumato.release.anonymize import anonymize as release_file
    from sfumato.schema import load_schema
    from sfumato.table.write import check_output_path

    declared = load_schema(schema)
    check_output_path(output)
    if report is not None:
        from sfumato.reports import check_report_path
        from sfumato.reports import report as write_report

        check_report_path(report)
    promises, arguments = _asked(
        _constraints(g_balance, h_affiliation, k, pid_k, l, marketer),
        {
            "cut": cut.value,
            "split": split.value,
            "values": values.value,
            "keep_order": keep_order,
            "cap_records": cap_records,
            "suppress": suppress,
            "threshold": threshold,
            "seed": seed,
        },
        repeat,
    )
    with progress_bar() as progress:
        release = release_file(
            data,
            declared,
            *promises,
            **arguments,
            pseudonym_key=_key(pseudonym_key),
            delimiter=delimiter,
            progress=progress,
        ).write(output)
    if report is not None:
        write_report(release, report)
    if json:
        warn(release.warnings)
        print_json(release.to_json())
    else:
        typer.echo(_summary(release))
    say(f"Release:  {output}\nManifest: {output.with_name('release.toml')} (keep it inside)")
    if report is not None:
        say(f"Report:   {report}")


def _constraints(
    g_balance: float | None,
    h_affiliation: float | None,
    k: int | None,
    pid_k: int | None,
    l: int | None,  # noqa: E741
    marketer: float | None,
) -> tuple[Constraint | Budget, ...]:
    from sfumato.release.constraints import BY_NAME

    given = {
        "g_balance": g_balance,
        "h_affiliation": h_affiliation,
        "k": k,
        "pid_k": pid_k,
        "l": l,
        "marketer": marketer,
    }
    return tuple(BY_NAME[name](value) for name, value in given.items() if value is not None)


def _asked(
    promises: tuple[Constraint | Budget, ...], arguments: dict[str, Any], repeat: Path | None
) -> tuple[tuple[Constraint | Budget, ...], dict[str, Any]]:
    """What to do: as given, or as the manifest of an earlier release says."""
    if repeat is None:
        return promises, arguments
    from sfumato.core.errors import InputError
    from sfumato.release.manifest import load_manifest

    if promises:
        raise InputError(
            "option --repeat",
            "takes the promises from the manifest",
            found="promises beside it",
            advice="leave them out",
        )
    manifest = load_manifest(repeat)
    return manifest.constraints, manifest.options.to_dict() | {"seed": manifest.seed}


def _key(path: Path | None) -> bytes | None:
    from sfumato.core.errors import InputError

    if path is None:
        return None
    try:
        return path.read_bytes().strip()
    except OSError:
        raise InputError("option --pseudonym-key", "must be a file that can be read") from None


def _summary(release: Release) -> str:
    lines = [str(release.risk), "", str(release.utility), "", "Promises"]
    for constraint in release.constraints:
        stated = ", ".join(f"{name} = {value}" for name, value in constraint.parameters().items())
        lines.append(f"  {constraint.name} ({stated}): met by every class of the release")
    return "\n".join(lines)
