"""``sfumato review simulate``: accuracy against disclosure, before people start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.output import check_apart, print_json, progress_bar, say
from sfumato.cli.parameters import Json
from sfumato.cli.review.options.rules import (
    Budget,
    CostsOption,
    K,
    PolicyOption,
    Start,
    Width,
    given,
)
from sfumato.cli.review.options.work import Folder
from sfumato.core.errors import InputError
from sfumato.review.extra import needs_review

if TYPE_CHECKING:
    from sfumato.review.simulated.trade_off import Point


def simulate(
    folder: Folder,
    truth: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Pairs of known truth (source_l, id_l, source_r, id_r, same), or the persons "
            "of records (the demo's truth.csv: clinic, patient, person).",
            show_default=False,
        ),
    ] = None,
    certainty: Annotated[
        list[float] | None,
        typer.Option(
            min=0.5,
            max=1,
            metavar="SHARE",
            help="How sure a worker must be to open no more, from 0.5 to 1; ten of them when "
            "none is given.",
            show_default=False,
        ),
    ] = None,
    budget: Budget = None,
    k: K = None,
    costs: CostsOption = None,
    mask_width: Width = None,
    policy: PolicyOption = None,
    start: Start = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw the curve: .svg, or .html.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Simulate workers who see renderings only: how right they are, at how much disclosure.

    They open what is expected to tell most per cost, until they are sure enough. Nothing of it is
    kept, and nobody is shown anything.
    """
    needs_review()
    if plot is not None:
        _check_plot(plot)
        check_apart([plot], [truth])
    asked = given(
        budget=budget, k=k, costs=costs, mask_width=mask_width, policy=policy, start=start
    )
    from sfumato.cli.review.simulated import simulated_in

    with progress_bar() as progress:
        progress("opening", 0.0)
        points, facts = simulated_in(folder, truth, certainty, asked, progress)
    if plot is not None:
        _draw(points, plot)
    if json:
        print_json({**facts, "points": [_plain(point) for point in points]})
    else:
        typer.echo("\n".join(_table(points, facts)))
    if plot is not None:
        say(f"Wrote {plot}")


def _plain(point: Point) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(point)


def _table(points: tuple[Point, ...], facts: dict[str, Any]) -> list[str]:
    known = facts["known_truth"]
    lines = [
        f"Pairs: {facts['pairs']:,}" + (f", of them {known:,} of known truth" if known else ""),
        "",
        f"{'sure':>10} {'KAPR':>8} {'characters':>11} {'as in full':>11}"
        + (f" {'right':>8}" if known else ""),
    ]
    for point in points:
        sure = "everything" if point.certainty is None else f"{point.certainty:g}"
        right = "" if point.accuracy is None else f" {point.accuracy:>8.1%}"
        lines.append(
            f"{sure:>10} {point.kapr:>8.4f} {point.characters:>11.1%} "
            f"{point.same_as_full:>11.1%}{right if known else ''}"
        )
    fewest = min(point.judged for point in points)
    if fewest < facts["pairs"]:
        lines += ["", f"Budget or floor kept pairs from being shown: {fewest:,} were judged."]
    return lines


def _check_plot(path: Path) -> None:
    from importlib.util import find_spec

    from sfumato.core.atomic import check_target

    if path.suffix.lower() not in {".svg", ".html"}:
        raise InputError("path of the plot", "must end in .svg or .html")
    if any(find_spec(name) is None for name in ("altair", "vl_convert")):
        raise InputError(
            "a plot",
            "needs the packages altair and vl-convert-python",
            found="no such package",
            advice='install them with: pip install "sfumato[report]"',
        )
    check_target(path)


def _draw(points: tuple[Point, ...], path: Path) -> None:
    from sfumato.core.atomic import write_text
    from sfumato.reports.review_plots import trade_off_page, trade_off_svg

    html = path.suffix.lower() == ".html"
    write_text(path, trade_off_page(points) if html else trade_off_svg(points))
