"""``sfumato review``: what needs no screen of a review at the workbench or in the browser."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli import server_commands
from sfumato.cli.declared_options import Given, with_declared
from sfumato.cli.output import check_apart, columns, print_found, progress_bar, say
from sfumato.cli.parameters import Json, argument, file_option, option
from sfumato.core.atomic import all_or_none
from sfumato.core.errors import InputError
from sfumato.core.number_text import counted, percentage
from sfumato.review.review_extra import needs_review
from sfumato.review.review_settings import CHOSEN, Settings

if TYPE_CHECKING:
    from sfumato.review.review_forecast import Point
    from sfumato.server.store.models import Account

RULES, WORK = "The rules", "The work"
"""Headings under which the help lists options."""
# What all workers may spend together is the project's; hints are for people.
_OF_SIMULATED = tuple(name for name in CHOSEN if name not in ("project_budget", "hints"))

Folder = Annotated[
    Path, argument(metavar="FOLDER", help="What 'sfumato link' wrote, or a review's project.")
]
LinkFolder = Annotated[Path, argument(metavar="FOLDER", help="What 'sfumato link' wrote.")]
Title = Annotated[
    str, typer.Option(metavar="TEXT", help="What it is called.  [default: the folder's name]")
]
Custodian = Annotated[
    str, typer.Option(metavar="NAME", help="Who owns the data.  [default: the only custodian]")
]
Manager = Annotated[
    str, typer.Option(metavar="NAME", help="Who deals the work.  [default: the only manager]")
]
Gold = Annotated[
    Path | None,
    file_option(
        help="Pairs of known truth: source_l, id_l, source_r, id_r, same.", rich_help_panel=WORK
    ),
]
GoldShare = Annotated[
    float,
    typer.Option(
        min=0,
        max=0.5,
        metavar="SHARE",
        help="Share of pairs of known truth among a worker's.",
        rich_help_panel=WORK,
    ),
]
Overlap = Annotated[
    int,
    typer.Option(
        min=1, max=20, metavar="NUMBER", help="Workers who decide each pair.", rich_help_panel=WORK
    ),
]
PageSize = Annotated[
    int,
    typer.Option(min=1, max=50, metavar="NUMBER", help="Pairs on a page.", rich_help_panel=WORK),
]

app = typer.Typer(no_args_is_help=True)


@app.callback()
def review() -> None:
    """Review doubtful pairs, masked, within a budget of disclosure."""


def chosen_rules(given: Given) -> dict[str, Any]:
    """The rules that a command line gives.

    Parameters
    ----------
    given
        What was given with all declared options.
    """
    return {name: given[name] for name in CHOSEN if given.get(name) is not None}


@app.command()
def export(
    folder: Annotated[
        Path,
        argument(
            metavar="FOLDER",
            help="What 'sfumato link' wrote, or a review's project; or the ID of a closed "
            "project of the web application.",
        ),
    ],
    output: Annotated[
        Path | None,
        file_option(
            "--output",
            "-o",
            help="Where the answers go: Parquet with pair, worker, answer, time, withdrawn.",
        ),
    ] = None,
    shown: Annotated[
        Path | None,
        file_option(
            help="Where all cells go that screens showed: Parquet, for an attack. It holds "
            "identifying text."
        ),
    ] = None,
    shown_truth: Annotated[
        Path | None,
        file_option(
            help="With --shown: the person of each of its rows, for those who score the attack."
        ),
    ] = None,
    data: server_commands.Data = server_commands.DATA,
    keys: server_commands.KeyFolder = None,
    database: server_commands.Database = "",
) -> None:
    """Write the answers of all workers who have reviewed in a folder, or in a project.

    --shown is for a folder: a custodian gives it to the one who attacks, and keeps --shown-truth.

    --data, --keys and --database are for a project of the web application.
    """
    needs_review()
    _check_asked(output, shown, shown_truth)
    number = server_commands.project_id(folder)
    if number is not None:
        if output is None or shown is not None:
            raise InputError(
                "option --shown", "must be about a folder", found="a project of the web application"
            )
        server_commands.export_project(number, output, data, keys, database)
        return
    from sfumato.review.review_decisions import write_decisions
    from sfumato.review.review_journal import answers_in, journals_in
    from sfumato.review.review_sources import open_folder
    from sfumato.review.shown_rows import check_shown_path
    from sfumato.table.table_files import check_output_path

    journals = journals_in(folder)
    if not journals:
        raise InputError(
            f"folder {folder.name or folder}",
            "must hold a review",
            found="no review.state",
            advice="begin with: sfumato open FOLDER",
        )
    for target in (each for each in (output, shown, shown_truth) if each is not None):
        # The folder's own file of answers may be written again; others must stay.
        others = (
            folder.glob("*.parquet")
            if target is not output or output.name != "decisions.parquet"
            else ()
        )
        check_apart([target], [*journals, *others])
        (check_output_path if target is output else check_shown_path)(target)
    said = []
    with all_or_none():
        if output is not None:
            project = open_folder(folder).project
            answers = answers_in(folder, project)
            write_decisions(answers, project.of_linkage, output)
            pairs = f"{len(answers.answers):,} of {counted(len(project.pair_ids), 'pair')}"
            said.append(f"{pairs} answered: {output}")
        if shown is not None:
            said.append(_write_shown(folder, shown, shown_truth))
    for each in said:
        say(each)


def _check_asked(output: Path | None, shown: Path | None, truth: Path | None) -> None:
    if output is None and shown is None:
        raise InputError("option --output", "must say where the answers go", found="none")
    if truth is not None and shown is None:
        raise InputError("option --shown-truth", "goes with --shown", found="none")
    targets = [each.absolute() for each in (output, shown, truth) if each is not None]
    if len(set(targets)) < len(targets):
        raise InputError("options --output, --shown and --shown-truth", "must name several files")


def _write_shown(folder: Path, target: Path, truth: Path | None) -> str:
    """Write what screens showed; what there is to say of it."""
    import numpy as np

    from sfumato.review.shown_rows import shown_in, write_shown

    with progress_bar() as progress:
        # Without a seed: nobody else must be able to tell which name stands for which row.
        shown = shown_in(folder, np.random.default_rng(), progress)
    write_shown(shown, target, truth)
    return f"{counted(sum(len(each.truth) for each in shown), 'row')} shown: {target}"


@app.command()
@with_declared(Settings, only=CHOSEN, panel=RULES, optional=True)
def create(
    folder: LinkFolder,
    data: server_commands.Data = server_commands.DATA,
    keys: server_commands.KeyFolder = None,
    database: server_commands.Database = "",
    title: Title = "",
    custodian: Custodian = "",
    manager: Manager = "",
    gold: Gold = None,
    gold_share: GoldShare = 0.0,
    overlap: Overlap = 2,
    page_size: PageSize = 10,
    *,
    given: Given,
) -> None:
    """Make a project of a linkage's possible matches in the web application.

    As on its page /projects/new, and without that page's limits of size. Attributes are those
    that the linkage compared. The linkage's own files are kept, encrypted, so that the linked
    file can be downloaded once the project is closed.
    """
    server_commands.existing(data, keys, database)
    import numpy as np

    from sfumato.review.review_sources import from_linkage
    from sfumato.server.config import Role
    from sfumato.server.live.new_projects import make_project
    from sfumato.server.manager.dealing import keep_linkage

    chief = _person(manager, Role.MANAGER)
    # Somebody else, as nobody consents to rules of their own.
    owner = _person(custodian, Role.CUSTODIAN, other_than=chief)
    settings = Settings(**chosen_rules(given))
    with progress_bar() as progress:
        progress("reading", 0.0)
        project = from_linkage(folder, np.random.default_rng(), settings=settings, gold=gold)
        progress("storing", 0.3)
        made = make_project(
            project,
            title=title or folder.resolve().name,
            custodian=owner,
            manager=chief,
            page_size=page_size,
            overlap=overlap,
            gold_share=gold_share,
        )
        kept = keep_linkage(
            made, {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        )
    typer.echo(str(made.id))
    say(f"{counted(len(project.pairs), 'pair')} of {counted(len(project.records), 'record')}.")
    say(f"{owner.name} is to accept the rules before pairs are dealt.")
    if not kept:
        say("The linked file cannot be written there: the folder lacks what is analysed.")


def _person(name: str, role: str, other_than: Account | None = None) -> Account:
    """An account with a role, by its name or as the only one, and not that of `other_than`."""
    from sfumato.server.store.models import Account

    active = Account.objects.filter(is_active=True).order_by("name")
    able: list[Account] = [each for each in active if each.has_role(role)]
    able = [each for each in able if other_than is None or each.pk != other_than.pk]
    found = [each for each in able if each.name == name] if name else able
    if len(found) == 1:
        return found[0]
    raise InputError(
        f"option --{role}",
        f"must name an account with the role {role}",
        found="another, or the manager" if name else f"{len(able)} of them",
        advice="accounts are made at the web application's own pages",
    )


@app.command()
def status(folder: Folder, json: Json = False) -> None:
    """Say how far a review is: pairs, KAPR, characters, accuracy on gold pairs, agreement."""
    needs_review()
    from sfumato.review.reviewer_agreement import review_progress

    with progress_bar() as progress:
        progress("opening", 0.0)
        found = review_progress(folder, progress)
    print_found(found, _status_lines(found, folder), json=json)


def _status_lines(found: dict[str, Any], folder: Path) -> list[str]:
    if not found["workers"]:
        return [f"No worker has begun. To begin: sfumato open {folder}"]
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
                percentage(each["characters"]),
                f"{right['right']:,} of {right['answered']:,}" if right["answered"] else "-",
            )
        )
    lines += columns(rows, range(1, len(head)))
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


@app.command()
@with_declared(Settings, only=_OF_SIMULATED, panel=RULES, optional=True)
def simulate(
    folder: Folder,
    truth: Annotated[
        Path | None,
        file_option(
            help="Pairs of known truth (source_l, id_l, source_r, id_r, same), or the people "
            "of records (the demo's truth.csv: clinic, patient, person)."
        ),
    ] = None,
    certainty: Annotated[
        list[float] | None,
        option(
            min=0.5,
            max=1,
            metavar="SHARE",
            help="How sure a worker must be to open no more, from 0.5 to 1; ten of them when "
            "none is given.",
        ),
    ] = None,
    plot: Annotated[Path | None, file_option(help="Draw the curve: .svg, or .html.")] = None,
    json: Json = False,
    *,
    given: Given,
) -> None:
    """Simulate workers who see renderings only: how right they are, at how much disclosure.

    They open what is expected to tell most per cost, until they are sure enough. Nothing of it is
    kept, and no person is shown anything.
    """
    needs_review()
    if plot is not None:
        _check_plot(plot)
        check_apart([plot], [truth])
    from sfumato.review.review_forecast import simulated_in

    with progress_bar() as progress:
        progress("opening", 0.0)
        points, facts = simulated_in(folder, truth, certainty, chosen_rules(given), progress)
    if plot is not None:
        _draw(points, plot)
    plain = {**facts, "points": [asdict(point) for point in points]}
    print_found(plain, _table(points, facts), json=json)
    if plot is not None:
        say(f"Wrote {plot}")


def _table(points: tuple[Point, ...], facts: dict[str, Any]) -> list[str]:
    known = facts["known_truth"]
    lines = [
        f"Pairs: {facts['pairs']:,}" + (f", of them {known:,} of known truth" if known else ""),
        "",
    ]
    rows = [("sure", "KAPR", "characters shown", "answers as by all", "right")]
    for point in points:
        sure = "all that may be" if point.certainty is None else f"{point.certainty:g}"
        right = "-" if point.accuracy is None else percentage(point.accuracy)
        shares = (percentage(point.characters), percentage(point.same_as_full))
        rows.append((sure, f"{point.kapr:.4f}", *shares, right))
    table = rows if known else [row[:-1] for row in rows]
    lines += columns(table, range(len(table[0])))
    fewest = min(point.judged for point in points)
    if fewest < facts["pairs"]:
        lines += ["", f"Budget or floor kept pairs from being shown: {fewest:,} judged."]
    return lines


def _check_plot(path: Path) -> None:
    from importlib.util import find_spec

    from sfumato.core.atomic import check_target
    from sfumato.core.optional_packages import install_command

    if path.suffix.lower() not in {".svg", ".html"}:
        raise InputError("path of the plot", "must end in .svg or .html")
    if any(find_spec(name) is None for name in ("altair", "vl_convert")):
        raise InputError(
            "a plot",
            "needs the packages altair and vl-convert-python",
            found="no such package",
            advice=f"install them with: {install_command('report')}",
        )
    # Drawing takes long: what cannot be written is refused before the workers are simulated.
    check_target(path)


def _draw(points: tuple[Point, ...], path: Path) -> None:
    from sfumato.core.atomic import write_text
    from sfumato.reports.review_plots import trade_off_page, trade_off_svg

    html = path.suffix.lower() == ".html"
    write_text(path, trade_off_page(points) if html else trade_off_svg(points))
