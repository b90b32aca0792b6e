"""My analysis: a table, a mean by group or a regression, before and of each release compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET
from scipy.stats import t

from sfumato.core.arrays import Floats
from sfumato.core.errors import ConstraintsNotMetError, InputError
from sfumato.core.number_text import number as read_number
from sfumato.intruder.released_syntax import interval_of
from sfumato.pipeline.project_folder import RELEASE, ProjectFolder
from sfumato.pipeline.release_stages import release_files
from sfumato.release.release_result import Release
from sfumato.server.workbench.bench import Bench
from sfumato.server.workbench.column_figures import FEWEST, hidden
from sfumato.server.workbench.frame import page, project_view
from sfumato.server.workbench.release_view import drawn_release, promised_people, sampled
from sfumato.table.dependence import codes_of
from sfumato.table.table import Table
from sfumato.table.table_files import open_source

ANALYSES = {
    "table": gettext_lazy("people in each group"),
    "mean": gettext_lazy("mean by group"),
    "regression": gettext_lazy("regression"),
}
CONFIDENCE = 0.95
"""Of the intervals of estimates."""
MOST_GROUPS = 24
"""Groups of a column of an analysis: of more nobody reads a table."""
CONSTANT = "constant"
"""The label of a regression's constant."""
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Estimate:
    """A number with its interval; without one where too few people stand behind it.

    Attributes
    ----------
    label
        Of what: by its place among the groups where values are not shown.
    people
        People behind it; 0 where they are too few to say.
    """

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    people: int = 0


@dataclass(frozen=True)
class Cells:
    """The columns of a file before or after, one value a record, and whose each record is."""

    person: npt.NDArray[np.integer]
    texts: Callable[[str], list[str | None]]

    def number(self, name: str) -> Floats:
        """A column as numbers, of a range its middle; NaN where there is none."""
        return np.array([_middle(text) for text in self.texts(name)], dtype=np.float64)

    def groups(self, name: str) -> tuple[Codes, list[str]]:
        """A column as groups, those of most records first."""
        texts = ["" if text is None else text for text in self.texts(name)]
        names, codes = np.unique(np.array(texts, dtype=object).astype(str), return_inverse=True)
        order = np.argsort(-np.bincount(codes), kind="stable")
        if len(order) > MOST_GROUPS:
            raise InputError(
                f"column '{name}'",
                f"must have at most {MOST_GROUPS} groups",
                found=f"{len(order):,}",
                advice="a number can be what is averaged, or stand in a regression",
            )
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return place[codes], [str(names[at]) for at in order]


def _middle(text: str | None) -> float:
    if text is None:
        return np.nan
    try:
        return float(text)
    except ValueError:
        found = interval_of(text)
        return np.nan if found is None else (found.low + found.high) / 2


def before(table: Table) -> Cells:
    """The cells of the original."""
    coded = {identifier.name: identifier for identifier in table.quasi_identifiers}

    def texts(name: str) -> list[str | None]:
        if name in coded:
            column = coded[name]
            labels = [column.domain.label(code) for code in range(column.domain.size)]
            return [None if code < 0 else labels[code] for code in column.codes.tolist()]
        return _texts(table.source.column(name))

    return Cells(table.person, texts)


def after(release: Release, table: Table) -> Cells:
    """The cells of a release of it."""
    assert release.source_rows is not None
    content = release.content.arrow()
    person = table.person[release.source_rows]
    return Cells(person, lambda name: _texts(_column(content, name)))


def made(place: ProjectFolder) -> Cells:
    """The cells of the release that the project has made; a pseudonym says whose each record is."""
    source = open_source(place.of_stage(RELEASE) / release_files(place)[0])
    content = pa.Table.from_batches(list(source.batches(source.names)))
    named = place.released_schema().person
    person = np.arange(len(content))
    if named in content.column_names:
        person = codes_of(content.column(named).combine_chunks().dictionary_encode())
    return Cells(person, lambda name: _texts(_column(content, name)))


def _column(content: pa.Table, name: str) -> pa.ChunkedArray:
    if name not in content.column_names:
        raise InputError(
            f"column '{name}'", "must be in the release to be analysed", found="none",
            advice="if the release may keep it, choose a role on Data other than undecided "
            "and direct identifier, and run the project again",
        )  # fmt: skip
    return content.column(name)


def _texts(column: pa.ChunkedArray) -> list[str | None]:
    return [None if each is None else str(each) for each in column.to_pylist()]


def counted(cells: Cells, by: str) -> list[Estimate]:
    """People in each group."""
    group, names = cells.groups(by)
    people = _people(cells.person, group)
    gone = hidden(people)
    return [
        Estimate(name, None) if at in gone else Estimate(name, float(people[at]), people=people[at])
        for at, name in enumerate(names)
    ]


def _people(person: npt.NDArray[np.integer], group: Codes) -> list[int]:
    """People in each group, however many records they have in it."""
    places = np.unique(np.stack([group, person.astype(np.int64)]), axis=1)[0]
    return np.bincount(places).tolist()


def means(cells: Cells, of: str, by: str) -> list[Estimate]:
    """The mean in each group over records, its interval over people."""
    values, (group, names) = cells.number(of), cells.groups(by)
    found = []
    for at, name in enumerate(names):
        chosen = (group == at) & np.isfinite(values)
        found.append(_mean(name, values[chosen], cells.person[chosen]))
    return found


def _mean(name: str, values: Floats, person: npt.NDArray[np.integer]) -> Estimate:
    design = np.ones((len(values), 1))
    return _fitted(design, values, person, [name])[0]


def regression(cells: Cells, of: str, by: Sequence[str]) -> list[Estimate]:
    """Least squares of a number on others, columns of groups against their commonest.

    None at all where a group has few people, or few differ from the others in a number: the other
    estimates would tell what these few are.
    """
    values = cells.number(of)
    columns, names = [np.ones(len(values))], [CONSTANT]
    told, numeric = list[npt.NDArray[np.bool_]](), list[Floats]()
    for name in by:
        numbers = cells.number(name)
        if np.isfinite(numbers).mean() > 1 / 2:
            columns.append(numbers)
            names.append(name)
            numeric.append(numbers)
            continue
        group, labels = cells.groups(name)
        sides = [group == at for at in range(len(labels))]
        told += sides
        columns += [side.astype(np.float64) for side in sides[1:]]
        names += [f"{name}: {label}" for label in labels[1:]]
    design = np.column_stack(columns)
    kept = np.isfinite(design).all(axis=1) & np.isfinite(values)
    person = cells.person[kept]
    split = [side for numbers in numeric for side in _sides(numbers[kept])]
    split += [side[kept] for side in told]
    if any(0 < len(np.unique(person[side])) < FEWEST for side in split):
        return [Estimate(name, None) for name in names]
    return _fitted(design[kept], values[kept], person, names)


def _sides(numbers: Floats) -> list[npt.NDArray[np.bool_]]:
    """Who differs from the commonest number; of two numbers also who has it."""
    different, count = np.unique(numbers, return_counts=True)
    if not len(different):
        return []
    commonest = numbers == different[count.argmax()]
    return [~commonest, commonest] if len(different) == 2 else [~commonest]


def _fitted(
    design: Floats, values: Floats, person: npt.NDArray[np.integer], names: Sequence[str]
) -> list[Estimate]:
    """Least squares; intervals by the sandwich over people, as their records are alike.

    Liang and Zeger, Biometrika 1986;73:13, with the factor people / (people - 1).
    """
    _, number = np.unique(person, return_inverse=True)
    people = int(number.max(initial=-1)) + 1
    if people < max(FEWEST, design.shape[1] + 1):
        return [Estimate(name, None) for name in names]
    inverse = np.linalg.pinv(design.T @ design)
    fitted = inverse @ design.T @ values
    scores = np.zeros((people, design.shape[1]))
    np.add.at(scores, number, design * (values - design @ fitted)[:, None])
    spread = inverse @ (scores.T @ scores) @ inverse * people / (people - 1)
    half = t.ppf((1 + CONFIDENCE) / 2, people - 1) * np.sqrt(np.maximum(np.diag(spread), 0))
    return [
        Estimate(name, float(value), float(value - reach), float(value + reach), people)
        for name, value, reach in zip(names, fitted, half, strict=True)
    ]


@require_GET
@project_view("release")
def analysis(request: HttpRequest, bench: Bench) -> HttpResponse:
    """The analysis that is asked for, of the original and of each release that is compared."""
    table, is_sample = sampled(bench)
    schema = table.schema
    names = [*schema.quasi_identifiers, *schema.sensitive, *schema.insensitive]
    chosen = _chosen(request, names)
    parts: dict[str, Any] = {"names": list(enumerate(names)), "analyses": ANALYSES, **chosen}
    parts |= {"records": f"{table.records:,}", "is_sample": is_sample}
    if chosen["asked"]:
        shows = bench.shows_rows
        parts |= {"shows": shows, **_compared(bench, table, chosen, names, shows=shows)}
    return page(request, bench, "release", "workbench/analysis.html", **parts)


def _chosen(request: HttpRequest, names: Sequence[str]) -> dict[str, Any]:
    """What a form asks for: columns by their numbers, so that no address holds a name."""

    def places(key: str) -> list[int]:
        given = (each for each in request.GET.getlist(key) if each.isascii() and each.isdigit())
        return [int(each) for each in given if int(each) < len(names)]

    kind = request.GET.get("analysis", "")
    of, by = places("of"), places("by")
    ready = kind == "table" or bool(of)
    return {
        "kind": kind if kind in ANALYSES else "mean",
        "of": of[0] if of else None,
        "by": by,
        "asked": kind in ANALYSES and bool(by) and ready,
    }


def _compared(
    bench: Bench, table: Table, chosen: dict[str, Any], names: Sequence[str], *, shows: bool
) -> dict[str, Any]:
    of = "" if chosen["of"] is None else names[chosen["of"]]
    by = [names[at] for at in chosen["by"]]

    def estimated(cells: Cells) -> list[Estimate]:
        if chosen["kind"] == "table":
            return counted(cells, by[0])
        return means(cells, of, by[0]) if chosen["kind"] == "mean" else regression(cells, of, by)

    columns = [(_("before"), estimated(before(table)))]
    compared: list[tuple[str, Callable[[], Cells]]] = []
    if bench.made(RELEASE) is not None:
        compared.append((_("the release itself, all records"), partial(made, bench.place)))
    promised = promised_people(bench)
    for people in bench.pins or ([promised] if promised else []):
        head = _("%s people in a class, rough") % people
        compared.append((head, lambda p=people: after(drawn_release(bench, p), table)))  # type: ignore[misc]
    for head, cells_of in compared:
        try:
            columns.append((head, estimated(cells_of())))
        except (ConstraintsNotMetError, InputError) as error:
            bench.tell(str(error).splitlines()[0], bad=True)
            columns.append((head, []))
    labels = list(dict.fromkeys(each.label for _head, found in columns for each in found))
    rows = []
    for at, label in enumerate(labels):
        cells = [
            next((_text(each) for each in found if each.label == label), "–")
            for _head, found in columns
        ]
        # A group's name is a value of the data.
        rows.append(
            (label if shows or label in (CONSTANT, *names) else _("group %s") % (at + 1), cells)
        )
    return {
        "heads": [head for head, _found in columns],
        "rows": rows,
    }


def _text(estimate: Estimate) -> str:
    """An estimate as a table shows it."""
    if estimate.value is None:
        return _("fewer than %s people, or hidden beside them") % FEWEST
    if estimate.low is None or estimate.high is None:
        return read_number(estimate.value)
    low, high = read_number(estimate.low), read_number(estimate.high)
    return f"{read_number(estimate.value)} ({low} – {high})"
