"""``sfumato sign``, ``verify`` and ``key``: a release signed or refused, and checked by others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import ABOVE, NOT_MEASURED, READY, columns, print_found, say
from sfumato.cli.parameters import Json, argument, file_option, option
from sfumato.cli.project_commands import ProjectFile

if TYPE_CHECKING:
    from sfumato.core.signatures import Checked

keys = typer.Typer(no_args_is_help=True)


@keys.callback()
def key() -> None:
    """The key that a person signs releases with."""


@keys.command()
def new(
    file: Annotated[
        Path, argument(metavar="FILE", help="A new file; FILE.pub gets the public key.")
    ],
) -> None:
    """Make a key: FILE stays with the person who signs, FILE.pub goes to everybody."""
    from sfumato.core.signatures import PUBLIC_SUFFIX, new_key

    print_ = new_key(file)
    typer.echo(f"Key:         {file} (keep it; only its owner can read it)")
    typer.echo(f"Public key:  {file}{PUBLIC_SUFFIX} (give it to those who check signatures)")
    typer.echo(f"Fingerprint: {print_} (compare it over the telephone)")


def sign(
    file: ProjectFile = Path("sfumato.toml"),
    *,
    key: Annotated[
        Path,
        file_option(envvar="SFUMATO_SIGNING_KEY", help="The key, as 'sfumato key new' makes it."),
    ],
    by: Annotated[
        str, option(metavar="NAME", envvar="SFUMATO_CUSTODIAN", help="Who signs: role (name).")
    ],
    because: Annotated[str, option(metavar="WHY", help="Why; the signature says it.")],
    to: Annotated[
        str, option(metavar="RECIPIENT", help="Who gets it, unless \\[ledger] says so.")
    ] = "",
    refuse: Annotated[
        bool, option("--refuse", help="Sign that the release is refused; nothing is handed over.")
    ] = False,
) -> None:
    """Sign the release of a project: hand it over, or refuse it.

    The signature is about the release, its reports, the verdict and what was accepted. The ledger
    notes it. 'sfumato verify' checks it anywhere.

    Exit codes: 0 signed, 1 bad input, 2 not ready, or with earlier releases above a limit.
    """
    from sfumato.core.signatures import Decision, load_key
    from sfumato.pipeline.project_folder import open_project
    from sfumato.pipeline.signing import sign as signed

    decision = Decision.REFUSED if refuse else Decision.RELEASED
    made = signed(open_project(file), decision, load_key(key), by=by, because=because, to=to)
    typer.echo(f"Signed, {decision.value}: {made}")
    if not refuse:
        say("Hand over the release folder with it, and the fingerprint of the key by another way.")


def verify(
    file: Annotated[
        Path, argument(metavar="SIGNATURE", help="The signature.json, or the folder that holds it.")
    ],
    signer: Annotated[
        Path | None, file_option(help="The public key of the person who should have signed.")
    ] = None,
    schema: Annotated[
        Path | None,
        file_option(
            help="The schema of a released set of tables: the files in its folder are measured "
            "again instead, and held against their release.toml."
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Check that a release is as it was signed, and who signed it; needs no project.

    With --schema: that the files of a set of tables are as they were released: hashes, keys,
    references, records, no other file, and every promise of which the files tell.

    Exit codes: 0 unchanged and signed by that key, 1 bad input. 2: changed, refused, with a file
    added, a promise broken or another key. 4: the signer is unknown, a file is missing, or the
    files do not tell of a promise.
    """
    from sfumato.core.signatures import Decision, check_signature

    if schema is not None:
        from sfumato.release.written_tables import measured_again
        from sfumato.schema import load_schema

        found = measured_again(file, load_schema(schema))
        print_found(found.to_json(), found.lines, json=json)
        if not found.is_kept:
            return ABOVE
        return READY if found.is_measured else NOT_MEASURED
    checked = check_signature(file, signer)
    print_found(checked.to_json(), _lines(checked), json=json)
    if checked.fault or checked.statement.decision is Decision.REFUSED:
        return ABOVE
    return READY if checked.is_measured else NOT_MEASURED


def _lines(checked: Checked) -> list[str]:
    """What a signature says, the result of the check first; each of its texts on one line."""
    from sfumato.core.signatures import one_line

    said = checked.statement
    lines = [
        checked.sentence,
        "",
        f"Decision:  {said.decision.value}" + (f" to {said.to}" if said.to else ""),
        f"By:        {said.by}, {said.time[:16].replace('T', ' ')} UTC",
        f"Because:   {said.because}",
        f"Verdict:   {said.headline}",
        f"Key:       {checked.signer}",
        "",
    ]
    files = [(name, state.value) for name, state in checked.files.items()]
    return [*map(one_line, lines), *columns([("file", "state"), *files], ())]
