"""``sfumato policy convert``: TOML for people, Turtle for exchange."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.output import check_apart, say
from sfumato.cli.policy.options import PolicyFile


class FormWord(StrEnum):
    """Words of ``--to``."""

    TOML = "toml"
    TTL = "ttl"


def convert(
    policy: PolicyFile,
    to: Annotated[
        FormWord, typer.Option("--to", help="TOML with comments, or Turtle.", show_default=False)
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write here, not to the terminal."),
    ] = None,
) -> None:
    """Turn a policy from TOML to RDF (Turtle) or back, without loss.

    Paths in it stay relative: to the new file, where one is written to another folder.
    """
    from sfumato.core.atomic import check_target, write_text
    from sfumato.semantics.policy import dump_policy, load_policy
    from sfumato.semantics.policy.load import relocated

    if output is not None:
        check_target(output)
        check_apart((output,), (policy,))
    loaded = load_policy(policy, locate=False)
    if output is None:
        typer.echo(dump_policy(loaded, to.value), nl=False)
        return
    moved = relocated(loaded, policy.parent, output.parent)
    write_text(output, dump_policy(moved, to.value))
    say(f"Wrote {output}.")
