"""Options that name thresholds: presets, and a file of the custodian's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sfumato.risk.risk_thresholds import Preset

Presets = Annotated[
    list[str] | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help="Hold the measures against the thresholds of a preset; 'sfumato presets' lists them.",
        show_default=False,
    ),
]
ThresholdsFile = Annotated[
    Path | None,
    typer.Option(
        "--thresholds",
        metavar="FILE",
        help="Hold them against thresholds of your own too: TOML, as in the docs.",
        show_default=False,
    ),
]


def chosen_presets(names: list[str] | None, file: Path | None) -> tuple[Preset, ...]:
    """The presets of the two options, none where neither is given.

    Raises
    ------
    InputError
        If there is no preset of a name, one states no number, or the file breaks a rule.
    """
    if not names and file is None:
        return ()
    from sfumato.risk.risk_thresholds import thresholds
    from sfumato.risk.threshold_checks import check_numbers

    chosen = thresholds(*(names or ()), file=file)
    check_numbers(chosen)
    return chosen
