"""``sfumato review status``: how far a review is, and what it has disclosed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from sfumato.cli.output import print_json, progress_bar
from sfumato.cli.parameters import Json
from sfumato.cli.review.options.work import Folder
from sfumato.review.extra import needs_review


def status(folder: Folder, json: Json = False) -> None:
    """Say how far a review is: pairs, KAPR, characters, accuracy on gold pairs, agreement."""
    needs_review()
    from sfumato.review.terminal.begun import begun_in

    with progress_bar() as progress:
        progress("opening", 0.0)
        found = begun_in(folder, progress)
    if json:
        print_json(found)
    else:
        typer.echo("\n".join(_lines(found, folder)))


def _lines(found: dict[str, Any], folder: Path) -> list[str]:
    if not found["workers"]:
        return [f"Nobody has begun. To begin: sfumato review play {folder}"]
    lines = [f"Pairs: {found['pairs']:,}, of them {found['gold']:,} of known truth", ""]
    head = ("worker", "decided", "skipped", "flagged", "KAPR", "limit", "characters", "right")
    rows = [head]
    for each in found["workers"]:
        right, budget = each["accuracy"], each["budget"]
        rows.append(
            (
                each["worker"],
                f"{each['decided']:,}",
                f"{each['skipped']:,}",
                f"{each['flagged']:,}",
                f"{each['kapr']:.4f}",
                "none" if budget is None else f"{budget:g}",
                f"{each['characters']:.1%}",
                f"{right['right']:,} of {right['answered']:,}" if right["answered"] else "-",
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines += [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return [*lines, *_together(found)]


def _together(found: dict[str, Any]) -> list[str]:
    """What several workers come to together."""
    lines = []
    if found["combined_kapr"] is not None:
        lines.append(f"KAPR of all together: {found['combined_kapr']:.4f}")
    agreement = found["agreement"]
    if agreement is not None:
        alpha = agreement["sides"]
        said = "not defined" if alpha is None else f"{alpha:.3f}"
        lines.append(
            f"Pairs with several answers: {agreement['pairs']:,}; "
            f"Krippendorff's alpha of same or different: {said}"
        )
        lines.append(f"Conflicts: {found['conflicts']:,}")
    return ["", *lines] if lines else []
