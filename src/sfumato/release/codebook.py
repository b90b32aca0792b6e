"""The codebook of a release: what each column is, what was done to it, how its cells are read.

It goes out with the release: it tells nothing of the original that the release does not show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from sfumato.core.number_text import counted
from sfumato.core.phrases import Phrase
from sfumato.release.full_domain import Levels
from sfumato.release.release_options import Ends, Form, Options
from sfumato.schema import Kind, Schema
from sfumato.schema.recipe import StepCount
from sfumato.table.sources import Labels, is_moment, is_number

MOST_VALUES = 200
"""Values of a column that are listed with their labels."""
_SPREAD = {
    Kind.NUMERIC: Phrase("the range from its class’s lowest to its highest value"),
    Kind.ORDERED: Phrase("the range from its class’s lowest to its highest category"),
    Kind.CATEGORICAL: Phrase("its value where the whole class has it, else “*”"),
}
_CELLS = (
    ("`84-86`", "from 84 to 86, both included"),
    ("`a to b`", "the same for dates, categories in their order and negative numbers"),
    ("`90 or more`, `17 or less`", "a value from 90 on, or up to 17"),
    ("`{a, b}`", "one of these values; members are quoted as in CSV where they need it"),
    ("`*`", "any value, a missing one included"),
    ("an empty cell", "the value is missing; of `_low` and `_high`, nothing is said of that end"),
    ("a label in double quotes", "a value that would read as one of the above"),
)


def codebook_name(path: str) -> str:
    """The name of the codebook beside a released file: ``visits.codebook.md`` of ``visits.csv``."""
    return f"{Path(path).stem}.codebook.md"


def codebook_text(
    name: str,
    columns: Mapping[str, pa.DataType | None],
    schema: Schema,
    options: Options,
    *,
    size: tuple[int, int],
    keyed: bool,
    levels: Levels | None,
    preparation: tuple[StepCount, ...],
    treatments: Mapping[str, str],
    labels: Labels,
) -> str:
    """The codebook as Markdown.

    Parameters
    ----------
    columns
        The released columns in their order, and their types where they are known.
    preparation
        What the recipe did to the columns, without its counts.
    treatments
        What was done to columns, where it is not what was done to all of their kind: to those of
        events about which a promise is made, or to quasi-identifiers on request.
    labels
        Labels of the released columns, and of those of their values that occur.
    """
    told = _Told(schema, options, keyed, levels, preparation, treatments)
    records, persons = size
    people = f" of {counted(persons, 'person')}" if schema.person is not None else ""
    lines = [
        f"# Codebook of {name}",
        "",
        f"{counted(records, 'record')}{people}.",
        "",
        "| column | about | cells | what was done |",
        "|---|---|---|---|",
    ]
    for column, kind in columns.items():
        about = _cell(labels.columns.get(column, ""))
        lines.append(f"| `{_cell(column)}` | {about} | {_type(kind)} | {told.done(column)} |")
    if schema.quasi_identifiers:
        lines += ["", "## Cells of generalised columns", "", "| cell | means |", "|---|---|"]
        lines += [f"| {cell} | {meaning} |" for cell, meaning in _CELLS]
    lines += _value_lines(labels)
    order = "as in the original" if options.keep_order else "random; it means nothing"
    lines += ["", f"The order of the records is {order}.", ""]
    return "\n".join(lines)


class _Told:
    """What was done to each column, in words."""

    def __init__(
        self,
        schema: Schema,
        options: Options,
        keyed: bool,
        levels: Levels | None,
        preparation: tuple[StepCount, ...],
        treatments: Mapping[str, str],
    ) -> None:
        self._schema, self._options, self._keyed = schema, options, keyed
        self._treatments = treatments
        self._levels = {each.name: each for each in (() if levels is None else levels.columns)}
        self._steps: dict[str, str] = {}
        for step_count in preparation:
            self._steps[step_count.column] = (
                f"{self._steps.get(step_count.column, '')}{step_count.what}; "
            )

    def _origin(self, column: str) -> str:
        """The column of the original; a bound of a range has a name of its own."""
        if column in self._schema.columns():
            return column
        return column.removesuffix("_low").removesuffix("_high")

    def done(self, column: str) -> str:
        """What was done to a released column."""
        own = self._origin(column)
        return f"{self._steps.get(own, '')}{self._treatment(column, own)}"

    def _treatment(self, column: str, own: str) -> str:
        schema = self._schema
        if own == schema.person and own not in self._treatments:
            if self._keyed:
                return "the person: a pseudonym made with a key, the same in every release by it"
            return "the person: a pseudonym, which means nothing outside this file"
        quasi = schema.quasi_identifiers.get(own)
        if quasi is None or own in self._treatments:
            return self._treatments.get(own, "unchanged")
        if column != own:
            end = "lowest" if column.endswith("_low") else "highest"
            grid = "a point of a grid around " if self._options.ends == Ends.SNAPPED else ""
            open_ = "" if quasi.kind is Kind.ORDERED else "; empty where nothing is said of it"
            return f"generalised: {grid}the {end} value of the record’s class{open_}"
        if own in self._levels:
            level = self._levels[own]
            return f"recoded: level {level.level} of {level.height} of its hierarchy"
        kind = quasi.kind or Kind.CATEGORICAL
        words = cell_words(
            self._options.values,
            kind,
            "",
            has_hierarchy=quasi.hierarchy is not None,
            ends=self._options.ends,
        )
        return f"generalised: each record shows {words}"


def cell_words(
    form: str, kind: Kind, columns: str, *, has_hierarchy: bool, ends: str | None = Ends.TIGHT
) -> str:
    """What a cell of a generalised column shows of its class, and the ends of a range in two."""
    categorical = kind is Kind.CATEGORICAL
    if form == Form.SET and (ends == Ends.TIGHT or kind is not Kind.NUMERIC):
        if ends == Ends.SNAPPED:
            return Phrase(
                "one value, or a set of at least four neighbours that covers those of its class"
            )
        return Phrase("the set of the values of its class")
    if has_hierarchy and (categorical or form == Form.HIERARCHY):
        return Phrase("the lowest label of the hierarchy that covers its class")
    if form == Form.MEAN and kind is Kind.NUMERIC:
        return Phrase("the mean of its class")
    words = _SPREAD[kind]
    if ends == Ends.SNAPPED and not categorical:
        words = Phrase("{shown}, between points of a grid", shown=words)
    if form == Form.BOUNDS and not categorical:
        words = Phrase("{shown}{columns}", shown=words, columns=columns)
    return words


def _type(kind: pa.DataType | None) -> str:
    if kind is None:
        return ""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if is_number(kind):
        return "number"
    if pa.types.is_boolean(kind):
        return "true or false"
    return "date" if is_moment(kind) else "text"


def _cell(text: str) -> str:
    """A text within a table of Markdown."""
    # A bar or a line break in a text would end the cell.
    return " ".join(text.replace("|", "\\|").split())


def _value_lines(labels: Labels) -> Iterator[str]:
    """The labels of each column's values."""
    for name, known in labels.values.items():
        yield from ("", f"## Values of `{_cell(name)}`", "", "| value | means |", "|---|---|")
        shown = list(known.items())[:MOST_VALUES]
        for value, said in shown:
            # Statistical packages keep codes as doubles. Their users know them as whole numbers.
            whole = isinstance(value, float) and value.is_integer()
            yield f"| {_cell(str(int(value) if whole else value))} | {_cell(said)} |"
        if len(known) > len(shown):
            yield f"| … | {len(known) - len(shown):,} more |"
