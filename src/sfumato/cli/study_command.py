"""``sfumato study``: the tables of a paper again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.output import print_json, progress_bar, say
from sfumato.cli.parameters import Json, argument, option


def study(
    name: Annotated[
        str,
        argument(
            metavar="NAME",
            help="The study: kartal-li-2020, dankar-elemam-2010, mindfirl-2019 or "
            "lu-sinnott-verspoor-2017.",
        ),
    ],
    data: Annotated[
        Path | None,
        option(
            metavar="FOLDER",
            help="Where the paper's data is, as published. kartal-li-2020: INFORMS 2008 "
            "(conditions_2005.parquet, demographics_2005.parquet), MovieLens 100K (u.data, "
            "u.user), PKDD'99 bank (client.asc, account.asc, disp.asc, trans.asc, district.asc). "
            "dankar-elemam-2010: adult.csv, demographics_2005.parquet. mindfirl-2019: FEBRL "
            "(dataset3.csv). lu-sinnott-verspoor-2017 reads none. What is absent is left out. "
            "Without it: the worked example, or generated data, only.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        option("--output", "-o", metavar="FOLDER", help="Write Markdown, JSON and plots here."),
    ] = None,
    repetitions: Annotated[
        int | None,
        option(
            metavar="NUMBER",
            help="Samples at each fraction, for dankar-elemam-2010 (20 when not given); draws, "
            "for lu-sinnott-verspoor-2017 (30).",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        option(
            metavar="NUMBER",
            help="Seed of the samples, for dankar-elemam-2010 (2010 when not given), or of the "
            "draws, for lu-sinnott-verspoor-2017 (2017).",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Compute a paper's tables again, beside the numbers that it printed."""
    from sfumato.core.errors import InputError
    from sfumato.studies import DRAWN, STUDIES

    if name not in STUDIES:
        raise InputError("study", "must be one that is known", accepted=", ".join(STUDIES))
    numbers = {"repetitions": repetitions, "seed": seed}
    given = {each: number for each, number in numbers.items() if number is not None}
    for each in given if name not in DRAWN else ():
        raise InputError(
            f"option --{each}",
            "must come with a study that draws samples",
            accepted=", ".join(sorted(DRAWN)),
        )
    if output is not None:
        from sfumato.studies.study_document import check_study_folder

        check_study_folder(output)
    with progress_bar() as progress:
        result = STUDIES[name](data, progress=progress, **given)
    if output is not None:
        for path in result.write(output):
            say(f"Wrote {path}")
    if json:
        print_json(result.to_json())
    else:
        typer.echo(result.to_markdown())
