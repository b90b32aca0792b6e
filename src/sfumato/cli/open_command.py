"""``sfumato open``: the workbench, from files to a signed release in the browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.output import progress_bar, say
from sfumato.cli.parameters import argument, option
from sfumato.core.optional_packages import check_installed

Files = Annotated[
    list[Path] | None,
    argument(
        metavar="[FILE...|PROJECT]",
        help="Tables, of which a project is made; or a project file, or its folder; or what "
        "'sfumato link' wrote, to review it. Without any you choose among the files here.",
    ),
]


def open_(
    files: Files = None,
    browser: Annotated[
        bool,
        typer.Option(
            "--browser/--no-browser",
            help="Open the browser, or print a link that opens the workbench once.",
        ),
    ] = True,
    port: Annotated[
        int, option(metavar="NUMBER", min=0, max=65535, help="The port; any free one without it.")
    ] = 0,
) -> None:
    """Open the workbench: Data, Link, Release, Attack, Sign in your browser, on this machine.

    No other person can reach it. On a remote machine: --no-browser --port N, and here
    ssh -L N:127.0.0.1:N MACHINE.
    """
    from sfumato.server.workbench.explore import PACKAGES

    check_installed("the workbench", {package: package for package in PACKAGES}, extra="workbench")
    from sfumato.pipeline.project_text import PROJECT_FILE
    from sfumato.review.review_session import is_reviewed
    from sfumato.server.workbench.bench import DESK
    from sfumato.server.workbench.serve_local import LocalServer, has_browser

    DESK.folders = (Path.cwd(),)
    if files and len(files) == 1 and files[0].is_dir() and not (files[0] / PROJECT_FILE).exists():
        DESK.here = files[0].resolve()
        DESK.folders = (DESK.here,)
        DESK.alone = DESK.here if is_reviewed(DESK.here) else None
    elif files:
        with progress_bar() as progress:
            progress("reading", 0.0)
            DESK.open_any(files)
    LocalServer(port, tell=_tell).serve(browser=browser and has_browser())
    say("Ended.")


def _tell(line: str) -> None:
    """Print a line at once: who started this may read it from a pipe."""
    typer.echo(line)
    sys.stdout.flush()
