"""Options of a release on request: the policy, the request, local data, the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.core.errors import InputError

REQUESTED = "On request"
BESIDE_POLICY = frozenset(
    {
        "association_confidence",
        "association_support",
        "data",
        "json",
        "keep_order",
        "keys",
        "ledger",
        "local",
        "output",
        "policy",
        "pseudonym_key",
        "report",
        "request",
        "schema",
        "seed",
        "site_rules",
    }
)
"""Parameters that may stand beside ``--policy``; the rules decide all others."""
ONLY_WITH_POLICY = (
    "request",
    "local",
    "ledger",
    "keys",
    "site_rules",
    "association_support",
    "association_confidence",
)

PolicyFile = Annotated[
    Path | None,
    typer.Option(
        "--policy",
        metavar="FILE",
        help="Release what this policy's rules allow for --request, instead of promises.",
        rich_help_panel=REQUESTED,
        show_default=False,
    ),
]
RequestName = Annotated[
    str | None,
    typer.Option(
        "--request",
        metavar="NAME",
        help="The policy's request that is answered.",
        rich_help_panel=REQUESTED,
        show_default=False,
    ),
]
LocalFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--local",
        metavar="NAME=FILE",
        help="The data of a database whose readers ask. Repeatable.",
        rich_help_panel=REQUESTED,
        show_default=False,
    ),
]
LedgerOption = Annotated[
    Path | None,
    typer.Option(
        "--ledger",
        metavar="FILE",
        envvar="SFUMATO_LEDGER",
        help="What was released before, and where this release is noted; made where there is none.",
        rich_help_panel=REQUESTED,
        show_default=False,
    ),
]
KeysOption = Annotated[
    Path | None,
    typer.Option(
        "--keys",
        metavar="FOLDER",
        envvar="SFUMATO_LEDGER_KEYS",
        help="Where the ledger's keys are, outside its folder.  "
        "[default: sfumato/ledger-keys under ~/.config]",
        rich_help_panel=REQUESTED,
        show_default=False,
    ),
]
SiteRules = Annotated[
    list[Path] | None,
    typer.Option(
        "--site-rules",
        "--rules",
        metavar="FILE",
        help="A file with more rules, beside those that the policy names. Repeatable.",
        rich_help_panel=REQUESTED,
        show_default=False,
    ),
]
AssociationSupport = Annotated[
    float,
    typer.Option(
        metavar="SHARE",
        help="Least share of individuals with its condition for an association to be proposed.",
        rich_help_panel=REQUESTED,
    ),
]
AssociationConfidence = Annotated[
    float,
    typer.Option(
        metavar="SHARE",
        help="Least share of these with its conclusion, too.",
        rich_help_panel=REQUESTED,
    ),
]


def is_requested(context: typer.Context, policy: Path | None) -> bool:
    """Whether the command line asks for a release on request, and for nothing beside it.

    Parameters
    ----------
    context
        The command line.
    policy
        The policy's file.

    Raises
    ------
    InputError
        If it has promises beside the policy, or a request without one.
    """
    given = [
        name
        for name in context.params
        if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    ]
    if policy is None:
        without = [name for name in given if name in ONLY_WITH_POLICY]
        if without:
            raise InputError(f"option {_option(without[0])}", "needs --policy beside it")
        return False
    beside = [name for name in given if name not in BESIDE_POLICY]
    if beside:
        raise InputError(
            "option --policy",
            "lets the rules decide what must hold",
            found=f"option {_option(beside[0])} beside it",
            advice="leave it out, or ask for it in the policy",
        )
    return True


def local_files(given: list[str] | None) -> dict[str, Path]:
    """Files by the name of their database.

    Parameters
    ----------
    given
        What stands behind ``--local``.

    Raises
    ------
    InputError
        If one is not of the form ``NAME=FILE``, or a name is there twice.
    """
    found: dict[str, Path] = {}
    for each in given or ():
        name, _, file = each.partition("=")
        if not (name and file):
            raise InputError("option --local", "must have the form NAME=FILE")
        if name in found:
            raise InputError("option --local", "must name each database once", found=f"'{name}'")
        found[name] = Path(file)
    return found


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
