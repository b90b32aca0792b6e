"""``sfumato anonymize``: release a file that keeps what was asked."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.output import check_apart, print_json, progress_bar, say, warn
from sfumato.cli.parameters import Data, Delimiter, Json, Report, SchemaFile, Seed, Threshold
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.release.constraints import Budget, Constraint
    from sfumato.release.manifest import Manifest
    from sfumato.release.result import Release
    from sfumato.schema import Schema


class CutWord(StrEnum):
    """Words of ``--cut``; see `sfumato.release.options.Cut`."""

    median = "median"
    search = "search"


class SplitWord(StrEnum):
    """Words of ``--split``; see `sfumato.release.splits.Split`."""

    balance = "balance"
    variance = "variance"
    range = "range"


class DistanceWord(StrEnum):
    """Words of ``--distance``; see `sfumato.release.constraints.TCloseness`."""

    EQUAL = "equal"
    ORDERED = "ordered"


class RecodingWord(StrEnum):
    """Words of ``--recoding``; see `sfumato.release.options.Recoding`."""

    LOCAL = "local"
    FULL_DOMAIN = "full-domain"


class CoarsenWord(StrEnum):
    """Words of ``--coarsen-counts``; see `sfumato.release.coarsen_counts.Coarsening`."""

    DROP = "drop"
    SPLIT = "split"


class ValuesWord(StrEnum):
    """Words of ``--values``; see `sfumato.release.released.Form`."""

    range = "range"
    bounds = "bounds"
    mean = "mean"
    set = "set"
    hierarchy = "hierarchy"


PROMISES, MAKING = "Promises", "Making"
BESIDE_MANIFEST = frozenset(
    {"data", "schema", "output", "repeat", "pseudonym_key", "report", "delimiter", "json"}
)
"""Parameters that may stand beside ``--repeat``; all others are in the manifest."""


def _promise(kind: str, text: str) -> Any:
    return typer.Option(metavar=kind, help=text, rich_help_panel=PROMISES, show_default=False)


def anonymize(
    context: typer.Context,
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
    shared_counts: Annotated[
        int | None,
        _promise("M", "At least M persons share each number of records that a class has."),
    ] = None,
    t_closeness: Annotated[
        float | None,
        _promise("T", "Sensitive values of every class within a distance T of the whole file's."),
    ] = None,
    distance: Annotated[
        DistanceWord,
        typer.Option(
            help="Distance of --t-closeness; ordered by rank, for sensitive numbers.",
            rich_help_panel=PROMISES,
        ),
    ] = DistanceWord.EQUAL,
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
    recoding: Annotated[
        RecodingWord,
        typer.Option(
            help="Class by class, or one level of each hierarchy for all records.",
            rich_help_panel=MAKING,
        ),
    ] = RecodingWord.LOCAL,
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
    coarsen_counts: Annotated[
        CoarsenWord | None,
        typer.Option(
            help="How numbers of records come to keep --shared-counts: drop records, or split "
            "pseudonyms; without it, by larger classes.",
            rich_help_panel=MAKING,
        ),
    ] = None,
    suppress: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="Largest share of persons to suppress: where nothing else meets the promises, and "
            "then those whose suppression gains most for the others.",
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

    declared = load_schema(schema)
    _check_output(output, declared, (data, schema, pseudonym_key))
    if report is not None:
        from sfumato.reports import check_report_path
        from sfumato.reports import report as write_report

        check_report_path(report)
    earlier = None if repeat is None else _earlier(context, repeat, pseudonym_key)
    if earlier is not None:
        _check_same(earlier, data, declared)
        promises = earlier.constraints
        arguments = earlier.options.to_dict() | {"seed": earlier.seed}
    else:
        promises = _constraints(
            {
                "g_balance": g_balance,
                "h_affiliation": h_affiliation,
                "k": k,
                "pid_k": pid_k,
                "l": l,
                "marketer": marketer,
                "shared_counts": shared_counts,
                "t_closeness": t_closeness,
            },
            distance,
        )
        arguments = {
            "cut": cut.value,
            "split": split.value,
            "recoding": recoding.value,
            "values": values.value,
            "keep_order": keep_order,
            "cap_records": cap_records,
            "coarsen_counts": None if coarsen_counts is None else coarsen_counts.value,
            "suppress": suppress,
            "threshold": threshold,
            "seed": seed,
        }
    with progress_bar() as progress:
        release = release_file(
            data,
            declared,
            *promises,
            **arguments,
            pseudonym_key=_key(pseudonym_key),
            delimiter=delimiter,
            progress=progress,
        )
    release = release.write(output)
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
    given: dict[str, float | int | None], distance: DistanceWord
) -> tuple[Constraint | Budget, ...]:
    from sfumato.release.constraints import BY_NAME

    if distance is DistanceWord.ORDERED and given["t_closeness"] is None:
        raise InputError("option --distance", "is for --t-closeness", advice="give both")
    beside = {"t_closeness": {"distance": distance.value}}
    promises = []
    for name, value in given.items():
        if value is None:
            continue
        try:
            promises.append(BY_NAME[name](value, **beside.get(name, {})))
        except InputError as error:
            subject = _option(name)
            raise InputError(subject, error.rule, accepted=error.accepted) from None
    return tuple(promises)


def _option(name: str) -> str:
    return f"option --{name.replace('_', '-')}"


def _check_output(output: Path, declared: Schema, inputs: tuple[Path | None, ...]) -> None:
    """Refuse places for the release and its manifest that cannot or must not be written."""
    from sfumato.core.atomic import check_target
    from sfumato.table.write import check_output_path

    check_output_path(output)
    manifest = output.with_name("release.toml")
    check_target(manifest)
    hierarchies = (quasi.hierarchy for quasi in declared.quasi_identifiers.values())
    check_apart((output, manifest), (*inputs, *(h for h in hierarchies if isinstance(h, Path))))


def _earlier(context: typer.Context, repeat: Path, key: Path | None) -> Manifest:
    """The manifest to repeat, when nothing on the command line contradicts it."""
    from sfumato.release.manifest import load_manifest

    for name in context.params:
        source = context.get_parameter_source(name)
        if name not in BESIDE_MANIFEST and source is not None and source.name == "COMMANDLINE":
            raise InputError(
                "option --repeat",
                "takes promises, options and seed from the manifest",
                found=f"{_option(name)} beside it",
                advice="leave it out",
            )
    manifest = load_manifest(repeat)
    if manifest.keyed != (key is not None):
        raise InputError(
            "option --repeat",
            "must make the same kind of pseudonyms",
            found=f"a manifest {'with' if manifest.keyed else 'without'} keyed pseudonyms",
            advice=f"{'give' if manifest.keyed else 'leave out'} --pseudonym-key",
        )
    return manifest


def _check_same(manifest: Manifest, data: Path, declared: Schema) -> None:
    """Refuse another file or schema: the seed would give its persons the same pseudonyms."""
    from sfumato.release.manifest import file_sha256, schema_sha256

    file = file_sha256(data) if data.is_file() else ""
    for what, before, now in (
        ("DATA", manifest.input_sha256, file),
        ("option --schema", manifest.schema_sha256, schema_sha256(declared)),
    ):
        if before not in ("", now):
            raise InputError(
                what,
                "must be what the manifest of --repeat was made from",
                found="another content",
                advice="release it anew: the same seed would link the persons of two files",
            )


def _key(path: Path | None) -> bytes | None:
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
        lines.append(f"  {constraint.name} ({stated}): met")
    return "\n".join(lines)
