"""``sfumato attack``: attack a released file for real, and compare with what was predicted."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from sfumato.cli import output
from sfumato.cli.declared_options import Given, values_of, with_declared
from sfumato.cli.own_process import keep_memory
from sfumato.cli.parameters import Details, Json, Report, argument, check_report, file_option
from sfumato.cli.release_checks import MANIFEST, key_of, opened, secret_of
from sfumato.core.declaration import Place, is_database, layout_of
from sfumato.core.errors import InputError, unreadable_file
from sfumato.core.number_text import share_text, wrapped
from sfumato.core.secret_keys import Secrets
from sfumato.core.workspace import Workspace
from sfumato.intruder.attack_options import Circumstances, Holding, Judging, Referee

if TYPE_CHECKING:
    from sfumato.core.declaration import LayoutGiven, Progress
    from sfumato.intruder.attack_result import Attack
    from sfumato.intruder.referee.attack_odds import Outcome
    from sfumato.release.release_manifest import Manifest
    from sfumato.release.release_result import Release
    from sfumato.schema import Schema

HELD, TRUTH, JUDGED = (
    "What the intruder holds",
    "Whose the records are (for the referee)",
    "How it is judged",
)
"""Headings under which the help lists options."""
ADVICE = "say whose the records are with --truth or --same-order"


@with_declared(Circumstances)
@with_declared(Judging, panel=JUDGED)
@with_declared(Holding, panel=HELD)
@with_declared(Referee, panel=TRUTH)
def attack(
    release: Annotated[
        str | None,
        argument(
            metavar="[RELEASE]",
            help="The released file, of sfumato or anybody, or the URL of its table in a "
            "database. It may be left out with --review.",
        ),
    ] = None,
    schema: Annotated[
        Path | None,
        file_option(
            help="What each column of RELEASE is, as TOML; 'sfumato schema guess' proposes one."
        ),
    ] = None,
    same_order: Annotated[
        bool,
        typer.Option(
            "--same-order",
            help="The records of RELEASE are those of the original, in its order.",
            rich_help_panel=TRUTH,
        ),
    ] = False,
    pseudonym_key: Annotated[
        Path | None,
        file_option(
            "--pseudonym-key",
            help="The key of the release's pseudonyms, where it had one.",
            rich_help_panel=TRUTH,
        ),
    ] = None,
    secret: Annotated[
        Path | None,
        file_option(
            "--secret",
            help="The secret of the release; release.secret beside it when not given.",
            rich_help_panel=TRUTH,
        ),
    ] = None,
    series: Annotated[
        Path | None,
        typer.Option(
            "--series",
            metavar="FOLDER",
            show_default=False,
            help="In the place of RELEASE all files of a series, each in a folder with what was "
            "written beside it: found by who knows when people came, and left. What is "
            "learned of them is not measured.",
        ),
    ] = None,
    report: Report = None,
    json: Json = False,
    details: Details = False,
    *,
    given: Given,
) -> int:
    """Attack a released file for real, beside what is measured of it.

    The intruder reads RELEASE as an outsider does; only the referee is told whose each record is.
    With --review it is, or is also, what the screens of a review showed. The layout is that of
    RELEASE; of --original and --register where they cannot be read without it.

    Exit codes: 0 every intruder is below the limits, 1 bad input, 2 one is above (or a review
    showed more than it accounts for), 4 one was not measured.
    """
    keep_memory()
    from sfumato.intruder.attack import attack as attack_file
    from sfumato.schema import load_schema
    from sfumato.table.table_files import open_source

    if series is not None:
        beside = {"key": pseudonym_key, "secret": secret, "order": same_order, "details": details}
        _check_alone(release, {**given, **beside})
        return _attack_series(series, schema, given["limits"], report, json=json)
    _check_given(release, schema, given["review"])
    original: Any = given["original"]
    truth = _truth(given["truth"], same_order=same_order)
    # A truth says whose the records are: nothing needs to be repeated to find out.
    repeated = release if original is not None and truth is None else None
    for option, file in (("--pseudonym-key", pseudonym_key), ("--secret", secret)):
        if file is None or repeated is not None:
            continue
        raise InputError(
            f"option {option}",
            "must stand beside RELEASE and --original, where a release is repeated",
            found="nothing to repeat",
        )
    declared = None if schema is None else load_schema(schema)
    several = declared is not None and bool(declared.tables)
    check_report(report)
    with output.progress_bar() as progress:
        target: Any = release
        around = values_of(Circumstances, given)
        if several:
            protection = Protection(pseudonym_key, secret)
            target = repeated_database(release, original, declared, protection, progress)
            declared = original = None
        elif repeated and original and declared:
            # The released file is only compared, byte by byte: what is laid out is the original.
            layout, around = layout_of(around), {"seed": around["seed"]}
            target = repeated_release(
                repeated,
                original,
                declared,
                register=given["register"],
                protection=Protection(pseudonym_key, secret),
                layout=layout,
                progress=progress,
            )
            original = open_source(original, **layout) if layout else original
        found = attack_file(
            target,
            schema=declared,
            original=original,
            truth=truth,
            progress=progress,
            **values_of(Holding, given),
            **values_of(Judging, given),
            **around,
        )
    output.write_report(found, report)
    output.hand_over(found, report, json=json, text="" if details or json else _brief(found))
    return found.exit_code


def _brief(found: Attack) -> str:
    """What the attacks found on one screen: the rows of the verdict, the worst attacks."""
    from sfumato.reports.adversaries import attack_title

    lines = [
        *output.few([f"Warning: {each}" for each in found.warnings], "warning"),
        *output.few(found.held, "note"),
    ]
    if found.verdict is not None:
        lines += ["", *found.verdict.lines(False)]
    if found.claims.detail_lost is not None:
        lines += ["", f"Detail lost: {share_text(found.claims.detail_lost)}."]
        lines += output.few([f"Promise: {each}" for each in found.claims.promises], "promise")
    # As many as the sentence counts: what had nothing to guess is a detail.
    worst = sorted((each for each in found.outcomes if each.attempts), key=lambda each: each.rank)
    heads = ("evidence for", "right", "share", "predicted", "at most", "attack")
    unshown = {each.attack for each in found.evidence if each.unshown}
    rows = [
        _row(each, attack_title(each.attack) + " (no row shows it)" * (each.attack in unshown))
        for each in worst
    ]
    said = wrapped(found.sentence)
    if advice := [] if found.verdict is None else [*_advice(found)]:
        said += ["", *output.then(advice)]
    # Two more lines say how many attacks are left and where the report is.
    left = max(1, output.SCREEN - 5 - len(lines) - len(said))
    table = output.columns([heads, *rows], (1, 2, 3, 4))
    return "\n".join([*lines, "", *output.cut(table, left, "attack"), "", *said])


def _advice(found: Attack) -> Iterator[str]:
    """What may be done about what was found."""
    if found.broken or found.exit_code == output.ABOVE:
        yield "Release less of the original: sfumato anonymize with --promise-limits"
        yield "Or a person answers for what is above, in a project: sfumato init, run, accept"
    elif found.exit_code == output.READY:
        yield "Sign it and hand it over, in a project: sfumato init, run, sign"


def _row(each: Outcome, title: str) -> tuple[str, ...]:
    """An attack in a row, last its title, which says where it found more than was predicted."""
    at_most = each.allowed
    shares = (
        (each.success.value if each.attempts else None, at_most),
        (None if each.predicted is None else each.predicted.value, None),
        (at_most, None),
    )
    mark = "BEATEN: " if each.broken else "by chance: " if each.above else ""
    if at_most is not None and each.predicted is not None and at_most < each.predicted.value:
        title = f"{title} (in whole records)"
    return (
        each.intruder,
        f"{each.right:,} of {each.attempts:,}",
        *("-" if share is None else share_text(share, limit) for share, limit in shares),
        f"{mark}{title}",
    )


def _truth(truth: Place | None, *, same_order: bool) -> str | None:
    """The truth that was given: the path of a file, the word for the same order, or nothing."""
    from sfumato.intruder.attack_subject import SAME_ORDER

    if truth is not None and same_order:
        raise InputError(
            "option --truth",
            "must be the only one that says whose the records are",
            found="--same-order beside it",
        )
    if same_order:
        return SAME_ORDER
    # A file may be called same-order: its whole path is not taken for the word.
    return truth if truth is None or is_database(truth) else str(Path(truth).absolute())


def _check_alone(release: str | None, given: Given) -> None:
    """Refuse what an attack on a series does not take: it has its own referee."""
    # A whole number is a seed, and given where it is 0, too.
    beside = [
        name for name, value in given.items() if name != "limits" and (value or type(value) is int)
    ]
    if release is not None or beside:
        raise InputError(
            "option --series",
            "must stand in the place of RELEASE, with --schema, --limits and --report alone",
            found="another argument or option",
        )


def _attack_series(
    folder: Path, schema: Path | None, named: str | None, report: Path | None, *, json: bool
) -> int:
    """Attack all files of a series, print a row for each, and write the page."""
    from sfumato.intruder.series_attack import attack_series
    from sfumato.risk.verdict import Limits
    from sfumato.schema import load_schema

    if schema is None:
        raise InputError("option --schema", "must say what each column is", found="none")
    check_report(report)
    limits = Limits(named) if named else Limits()
    found = attack_series(folder, load_schema(schema), limits)
    rows: list[tuple[str, ...]] = [
        ("file", "people", "left", "found, came", "and left", "of who left", "one", "fewest")
    ]
    for each in found.months:
        of_leavers = "-" if each.of_leavers is None else share_text(each.of_leavers)
        shares = (
            share_text(each.came),
            share_text(each.left),
            of_leavers,
            share_text(each.person),
        )
        counts = f"{each.people:,}", f"{each.leavers:,}"
        rows.append((each.label, *counts, *shares, f"{each.fewest}"))
    lines = [*wrapped(found.sentence), "", *output.columns(rows, range(1, len(rows[0])))]
    output.print_found(found.to_json(), lines, json=json)
    if report is not None:
        from sfumato.reports.report_files import write_attacked_series

        output.say(f"Report: {write_attacked_series(found, report)}")
    return found.exit_code


def _check_given(release: str | None, schema: Path | None, review: Path | None) -> None:
    if release is None and review is None:
        raise InputError("argument RELEASE", "must be given, or --review FOLDER", found="neither")
    if release is not None and schema is None:
        raise InputError(
            "option --schema",
            "must say what each column of RELEASE is",
            found="none",
            advice="'sfumato schema guess' proposes one",
        )


class Protection(NamedTuple):
    """Files with the key of a release's pseudonyms and with its secret.

    Without the latter it is ``release.secret`` beside the release.
    """

    key: Path | None = None
    secret: Path | None = None


def repeated_release(
    place: Place,
    original: Place,
    declared: Schema,
    *,
    register: Place | None,
    protection: Protection,
    layout: LayoutGiven,
    progress: Progress,
) -> Release:
    """The release that the manifest beside a released file describes, made again.

    Parameters
    ----------
    place
        Where the released file is.
    declared
        What each of its columns is.
    register
        The register that it was released with, if any.
    layout
        How the original's file is laid out, as far as that is said.
    progress
        Told how far the work is.

    Raises
    ------
    InputError
        If there is no manifest or no secret, it was made from other files, or what comes out is
        not the released file.
    """
    from sfumato.release.assembly import make_release
    from sfumato.release.release_manifest import file_sha256
    from sfumato.risk.register_presence import open_register
    from sfumato.table.door import open_table

    if is_database(place):
        raise InputError(
            "RELEASE",
            "must be a file with its manifest beside it, to be repeated",
            found="a table of a database",
            advice=ADVICE,
        )
    released = Path(place)
    if not released.is_file():
        raise unreadable_file(f"file {released.name}", FileNotFoundError())
    manifest = _manifest_beside(released)
    # Before it is made again, which takes as long as it did the first time.
    _check_same(manifest, released, original, declared)
    _check_key_and_register(manifest, register, protection.key)
    inputs = (released, original, register)
    # Data is no secret: a file that is read must not be named as one.
    secrets = Secrets.of(
        secret_of(protection.secret, released.with_name(MANIFEST), inputs, "option --original"),
        key_of(protection.key, inputs),
    )
    table = open_table(original, declared, **layout, progress=progress)
    # A register that the release was not made with is the intruder's alone.
    counted = register if manifest.register_sha256 else None
    everybody = None if counted is None else open_register(counted, table.schema)
    release = make_release(table, manifest, secrets, progress, everybody)
    # Only its hash is wanted: the copy lies in a folder of its own, and goes with it.
    with Workspace() as workspace:
        # The ending decides about the format, and so about the bytes.
        again = release.write(workspace.path / f"again{released.suffix}")
    if again.manifest.output_sha256 != file_sha256(released):
        raise InputError(
            f"file {released.name}",
            "must be what its manifest gives when it is repeated",
            found="another content, as other versions of libraries may give",
            advice=ADVICE,
        )
    return release


def repeated_database(
    place: str | None,
    original: Place | None,
    declared: Schema | None,
    protection: Protection,
    progress: Progress,
) -> Release:
    """The release of a database that the manifest in its folder describes, made again.

    Raises
    ------
    InputError
        If no originals are given, or what comes out is not what is in the folder.
    """
    from sfumato.release.anonymize import anonymize
    from sfumato.release.written_tables import folder_sha256, manifest_of

    if place is None or original is None or declared is None:
        raise InputError(
            "option --original", "must name the folder of the tables that were released"
        )
    folder = Path(place)
    beside = manifest_of(folder)
    manifest = _manifest_beside(beside.with_name(folder.resolve().name))
    tables, inputs = opened(original, declared), (folder, original)
    _check_key_and_register(manifest, None, protection.key)
    found = folder_sha256(folder, declared.tables)
    if (manifest.output_sha256, manifest.input_sha256) != (found, tables.sha256):
        raise InputError(
            "RELEASE", f"must be what its {MANIFEST} speaks of", found="another content"
        )
    return anonymize(
        tables,
        *manifest.constraints,
        **manifest.options.to_dict(),
        seed=manifest.seed,
        secret=secret_of(protection.secret, beside, inputs, "option --original"),
        pseudonym_key=key_of(protection.key, inputs),
        progress=progress,
    )


def _manifest_beside(released: Path) -> Manifest:
    from sfumato.core.declaration import Engine
    from sfumato.release.release_manifest import load_manifest

    path = released.with_name(MANIFEST)
    if not path.is_file():
        raise InputError(
            f"file {released.name}",
            f"must have its {MANIFEST} beside it, to be repeated",
            found="none",
            advice=ADVICE,
        )
    if _is_on_request(path):
        raise InputError(
            f"file {released.name}",
            "must be made by sfumato anonymize, to be repeated from its original",
            found="a release on request",
            advice="attack what sf.anonymize_requested returns, in Python, or " + ADVICE,
        )
    manifest = load_manifest(path)
    if manifest.engine is not Engine.EMBEDDED:
        raise InputError(
            f"file {released.name}",
            "must be made in one process, to be repeated from its original",
            found=f"a release made on the engine {manifest.engine.value}",
            advice=ADVICE,
        )
    return manifest


def _is_on_request(manifest: Path) -> bool:
    try:
        return "request" in tomllib.loads(manifest.read_text(encoding="utf-8"))
    # What cannot be read is refused with a reason where it is loaded.
    except (OSError, ValueError):
        return False


def _check_same(manifest: Manifest, released: Path, original: Place, declared: Schema) -> None:
    from sfumato.release.release_manifest import file_sha256
    from sfumato.schema import schema_sha256
    from sfumato.table.table_files import data_sha256

    for what, before, now in (
        ("RELEASE", manifest.output_sha256, file_sha256(released)),
        ("option --original", manifest.input_sha256, data_sha256(original)),
        ("option --schema", manifest.schema_sha256, schema_sha256(declared)),
    ):
        if before != now:
            raise InputError(
                what,
                f"must be what the {MANIFEST} beside RELEASE speaks of",
                found="another content",
                advice=f"give the right file, or {ADVICE}",
            )


def _check_key_and_register(manifest: Manifest, register: Place | None, key: Path | None) -> None:
    from sfumato.table.table_files import data_sha256

    if manifest.keyed != (key is not None):
        raise InputError(
            "option --pseudonym-key",
            f"must {'be' if manifest.keyed else 'not be'} given for this release",
            found=f"a manifest {'with' if manifest.keyed else 'without'} keyed pseudonyms",
        )
    if not manifest.register_sha256:
        return
    if register is None or data_sha256(register) != manifest.register_sha256:
        raise InputError(
            "option --register",
            "must be the register that the release was made with",
            found="none" if register is None else "another content",
            advice=f"give that register, or {ADVICE}",
        )
