"""Write what a linkage found, and say it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sfumato.cli.output import print_json, say, warn

if TYPE_CHECKING:
    from sfumato.linkage.encodings.unit.links import EncodedLinks
    from sfumato.linkage.links import Links


def write_with_report(links: Links | EncodedLinks, output: Path) -> None:
    """Write the folder, with the report where the extra for it is installed.

    Parameters
    ----------
    links
        What was found.
    output
        The folder.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    from sfumato.linkage.files import REPORT
    from sfumato.reports import report
    from sfumato.reports.report_files import NEEDED

    if any(find_spec(name) is None for name in NEEDED):
        links.write(output)
        say('No report: it needs the extra "report"; run: pip install "sfumato[report]"')
        return

    def draw(folder: Path) -> None:
        report(links, folder / REPORT)

    links.write(output, also=draw)


def hand_over(links: Links | EncodedLinks, output: Path, *, json: bool) -> None:
    """Print what was found, and say where everything is.

    Parameters
    ----------
    links
        What was found.
    output
        The folder.
    json
        Whether to print JSON.
    """
    warn(links.warnings)
    if json:
        print_json(links.to_json())
    else:
        typer.echo(str(links))
    say(f"Wrote {output}")
