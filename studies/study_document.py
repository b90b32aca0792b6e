"""A study: sections of words and tables, and plots that are drawn when asked for."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sfumato.core.atomic import all_or_none, write_text
from sfumato.core.errors import InputError
from sfumato.core.optional_packages import install_command

Cell = str | int | float | bool | None
DRAWN_WITH = ("altair", "vl_convert")
"""What plots need beyond the core; the extra ``report`` brings them."""


@dataclass(frozen=True)
class Column:
    """A column of a table of a study.

    Attributes
    ----------
    key
        Its name in JSON.
    label
        Its head in Markdown.
    digits
        Decimal places printed; ``None`` prints the value as it is.
    percent
        Whether a share in [0, 1] is printed in percent. JSON keeps the share.
    signed
        Whether numbers above 0 are printed with a plus.
    """

    key: str
    label: str
    digits: int | None = None
    percent: bool = False
    signed: bool = False

    def show(self, cell: Cell) -> str:
        """The printed cell; nothing where there is no value."""
        if cell is None:
            return ""
        if isinstance(cell, bool):
            return "yes" if cell else "no"
        if self.digits is not None and isinstance(cell, (int, float)):
            printed = f"{100 * cell if self.percent else cell:+.{self.digits}f}"
            if not float(printed):
                return printed.lstrip("+-")
            return printed if self.signed else printed.removeprefix("+")
        return str(cell)


_FORMAT = re.compile(r" (\+?)\.(\d)(%?)$")


def columns(listing: str) -> tuple[Column, ...]:
    """Columns from a listing such as ``"fraction=Fraction; risk=Risk % .2%"``.

    Parameters
    ----------
    listing
        Per column its key, an equals sign, its label and, after a space, a point with the number
        of decimal places, ``%`` after them for a share and ``+`` before the point for a sign;
        semicolons between.
    """
    made = []
    for each in listing.split(";"):
        key, _, label = each.strip().partition("=")
        form = _FORMAT.search(label)
        if form is None:
            made.append(Column(key, label))
        else:
            sign, digits, percent = form.groups()
            made.append(Column(key, label[: form.start()], int(digits), bool(percent), bool(sign)))
    return tuple(made)


@dataclass(frozen=True)
class Grid:
    """A table of a study.

    Attributes
    ----------
    name
        Its name in JSON.
    caption
        What it shows.
    rows
        Its cells, one tuple of as many cells as columns per row.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def records(self) -> list[dict[str, Cell]]:
        """One mapping from column key to cell per row."""
        keys = [column.key for column in self.columns]
        return [dict(zip(keys, row, strict=True)) for row in self.rows]

    def to_markdown(self) -> str:
        """The caption and a pipe table; numbers are aligned to the right."""
        right = [
            not any(isinstance(cell, (str, bool)) for cell in cells)
            for cells in zip(*self.rows, strict=True)
        ]
        lines = [
            [column.label for column in self.columns],
            ["--:" if each else "---" for each in right],
            *(
                [column.show(cell) for column, cell in zip(self.columns, row, strict=True)]
                for row in self.rows
            ),
        ]
        table = "\n".join(f"| {' | '.join(_escaped(line))} |" for line in lines)
        return f"**{self.caption}**\n\n{table}"


@dataclass(frozen=True)
class Section:
    """A part of a study.

    Attributes
    ----------
    text
        Paragraphs, in Markdown.
    grids
        Its tables.
    plots
        Names of its plots.
    """

    title: str
    text: tuple[str, ...] = ()
    grids: tuple[Grid, ...] = ()
    plots: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values: title, text, tables by name, names of plots."""
        return {
            "title": self.title,
            "text": list(self.text),
            "tables": {
                grid.name: {"caption": grid.caption, "rows": grid.records()} for grid in self.grids
            },
            "plots": list(self.plots),
        }


@dataclass(frozen=True)
class Drawing:
    """A plot that is drawn when asked for.

    Attributes
    ----------
    description
        What it shows, for people who do not see it.
    draw
        Draws it as SVG text.
    """

    description: str
    draw: Callable[[], str]


@dataclass(frozen=True, eq=False)
class Study:
    """A paper's tables again.

    Attributes
    ----------
    name
        Its name on the command line.
    sections
        Its words and tables.
    drawings
        Its plots by name, not drawn yet.
    """

    name: str
    title: str
    sections: tuple[Section, ...]
    drawings: Mapping[str, Drawing]

    @cached_property
    def plots(self) -> Mapping[str, str]:
        """The SVG text of each plot, by name.

        Raises
        ------
        InputError
            If the extra ``report`` is not installed.
        """
        _check_drawn_with()
        return MappingProxyType({name: drawing.draw() for name, drawing in self.drawings.items()})

    def grid(self, name: str) -> Grid:
        """The table with this name.

        Raises
        ------
        InputError
            If there is none.
        """
        grids = {grid.name: grid for section in self.sections for grid in section.grids}
        if name not in grids:
            raise InputError("the table", "must be one of the study's", accepted=", ".join(grids))
        return grids[name]

    def to_json(self) -> dict[str, Any]:
        """Plain values; shares lie in [0, 1]."""
        return {
            "name": self.name,
            "title": self.title,
            "sections": [section.to_json() for section in self.sections],
        }

    def to_markdown(self) -> str:
        """The whole study as one page; plots are named by the files of `write`."""
        parts = [f"# {self.title}"]
        for section in self.sections:
            parts += [f"## {section.title}", *section.text]
            parts += [grid.to_markdown() for grid in section.grids]
            parts += [f"![{self.drawings[name].description}]({name}.svg)" for name in section.plots]
        return "\n\n".join(parts) + "\n"

    def write(self, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
        """Write ``study.md``, ``study.json`` and the plots, each whole or not at all.

        Parameters
        ----------
        folder
            Where to write; made when it does not exist.

        Raises
        ------
        InputError
            If the folder cannot be made or written, or the extra ``report`` is not installed.
        """
        content = json.dumps(self.to_json(), indent=2, ensure_ascii=False, allow_nan=False)
        texts = {f"{name}.svg": svg for name, svg in self.plots.items()}
        texts |= {"study.json": content + "\n", "study.md": self.to_markdown()}
        target = Path(folder)
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError:
            raise InputError(
                "output folder", "must be a folder that exists or can be made"
            ) from None
        paths = tuple(target / name for name in texts)
        with all_or_none():
            for path, text in zip(paths, texts.values(), strict=True):
                write_text(path, text)
        return paths


def check_study_folder(folder: str | os.PathLike[str]) -> None:
    """Refuse a folder that no study can be written to, before one is computed.

    Parameters
    ----------
    folder
        The folder; it need not exist.

    Raises
    ------
    InputError
        If it cannot be made or written, or the extra ``report`` is not installed.
    """
    _check_drawn_with()
    target = Path(folder).absolute()
    there = next(each for each in (target, *target.parents) if os.path.lexists(each))
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise InputError("output folder", "must be a folder that exists or can be made")


def _check_drawn_with() -> None:
    if any(find_spec(module) is None for module in DRAWN_WITH):
        raise InputError(
            "plots",
            "need the extra 'report', which is not installed",
            advice=f"run: {install_command('report')}",
        )


def _escaped(cells: list[str]) -> list[str]:
    """Cells that do not break a pipe table."""
    return [cell.replace("|", "\\|").replace("*", "\\*") for cell in cells]
