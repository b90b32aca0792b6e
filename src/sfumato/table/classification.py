"""Whether every column of a file is classified, and which column may be that of the persons.

Every release asks this before it is made: what nobody has decided about does not go out, and a file
of several records per person is not counted as if each record were another person.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Unpack

import pyarrow as pa

from sfumato.core.declaration import LayoutGiven, Progress, silent
from sfumato.core.errors import InputError, typed
from sfumato.schema import Schema, check_schema
from sfumato.schema.roles import Unclassified
from sfumato.table import person_candidates
from sfumato.table.dependence import check_leaks, column_figures
from sfumato.table.door import check_columns, open_table
from sfumato.table.preparation import prepared
from sfumato.table.sources import Source, from_numpy, from_texts, listed
from sfumato.table.table import MISSING, Codes, Table
from sfumato.table.table_files import open_source

NOT_NAMED = "the schema does not name it"


def open_classified(
    data: object,
    schema: Schema,
    unclassified: Unclassified = Unclassified.REFUSE,
    *,
    progress: Progress = silent,
    **layout: Unpack[LayoutGiven],
) -> Table:
    """Open a file that is to be released, where somebody has said what each of its columns is."""
    check_schema(schema)
    if isinstance(data, Table):
        subject, names = "data", data.columns
        candidates = partial(_candidates_in, data)
    else:
        data = data if isinstance(data, Source) else open_source(data, **layout)
        if schema.recipe:
            data = prepared(data, schema)
        subject, names = data.subject, data.names
        candidates = partial(person_candidates.person_candidates_of, data)
    given = classified(subject, names, schema, unclassified, candidates)
    table = open_table(data, schema, progress=progress)
    # Asked of the codes: they tell persons as well as values do, and the file is not read again.
    if schema.person is None:
        check_person(schema, partial(_candidates_in, table), names)
    table = check_leaks(table)
    if given is schema:
        return table
    # What is undecided stays until here, as one of these columns may turn out to be the person's.
    return replace(
        table,
        schema=table.schema.model_copy(update={"undecided": given.undecided}),
        source=table.source.drop_columns(list(given.undecided)),
    )


def refused_columns(data: object, schema: Schema) -> dict[str, str]:
    """The columns that a release by a schema would be refused for, each with what it does."""
    table = open_table(prepared(open_source(data), schema) if schema.recipe else data, schema)
    columns = {
        figure.column: f"it {figure.leak}" for figure in column_figures(table) if figure.leak
    }
    if schema.person is None:
        columns |= {
            candidate.name: candidate.reason
            for candidate in _candidates_in(table, schema.sensitive)
        }
    return columns


def leave_out() -> str:
    """What to type so that columns without a role are left out."""
    return typed("unclassified='drop'", "--unclassified drop")


def classified(
    subject: str,
    names: Sequence[str],
    schema: Schema,
    unclassified: Unclassified,
    candidates: Callable[[Sequence[str]], Sequence[person_candidates.PersonCandidate]],
) -> Schema:
    """The schema that a release is made by: what it does not name is undecided, and left out.

    Which columns may be the person's is asked only before a refusal.
    """
    check_columns(subject, names, schema)
    unnamed = unnamed_columns(names, schema)
    check_decided(subject, unnamed, schema, unclassified, candidates)
    if not unnamed:
        return schema
    return schema.model_copy(update={"undecided": dict.fromkeys(unnamed, NOT_NAMED)})


def check_decided(
    subject: str,
    unnamed: Sequence[str],
    schema: Schema,
    unclassified: Unclassified,
    candidates: Callable[[Sequence[str]], Sequence[person_candidates.PersonCandidate]],
) -> None:
    """Refuse a file that may not be released as long as nobody says more about its columns."""
    if schema.undecided:
        raise InputError(
            f"column{_plural(schema.undecided)} {listed(schema.undecided)} of {subject}",
            "must be decided about before a release",
            found="a question under [undecided] of the schema",
            advice="answer it: give the column a role, and take it from [undecided]",
        )
    if not unnamed or unclassified is Unclassified.DROP:
        return
    # Nobody should copy a line that lets the person out.
    found = candidates(unnamed) if schema.person is None else ()
    persons = "".join(f'; person = "{each.name}", as {each.reason}' for each in found)
    harmless = [name for name in unnamed if name not in {each.name for each in found}]
    line = ", ".join(f'"{name}"' for name in (*schema.insensitive, *harmless))
    raise InputError(
        f"column{_plural(unnamed)} {listed(unnamed)} of {subject}",
        "must be classified before a release",
        found="no role in the schema",
        accepted="quasi_identifiers, sensitive, direct_identifiers, insensitive; or [undecided], "
        "with the question that is open",
        advice="give each a role"
        + persons
        + (f"; insensitive = [{line}], if no intruder knows them" if harmless else "")
        + f"; {leave_out()} leaves them out",
    )


def unnamed_columns(names: Sequence[str], schema: Schema) -> list[str]:
    """The columns of a file that the schema does not name, in the file's order."""
    named = set(schema.columns())
    return [name for name in names if name not in named]


def check_person(
    schema: Schema,
    candidates: Callable[[Sequence[str]], Sequence[person_candidates.PersonCandidate]],
    names: Sequence[str],
) -> None:
    """Refuse a file whose persons are not named, where a column looks like theirs.

    Sensitive columns are asked about, and those that are left out because nobody classified them;
    a column that has another role, or is accepted with a reason, somebody has thought about.
    """
    unexplained = (*schema.sensitive, *unnamed_columns(names, schema))
    found = candidates([name for name in unexplained if name not in schema.accepted])
    if not found:
        return
    first, *others = found
    also = f" (as does {listed([other.name for other in others])})" if others else ""
    raise InputError(
        "the schema",
        "must name the person column of a file with several records per person",
        found=f"none, while column '{first.name}' looks like one{also}: {first.reason}",
        advice=f'write person = "{first.name}", or say why it is none: by another role, or under '
        f'[accepted] with {first.name} = "the reason"',
    )


def _candidates_in(table: Table, among: Sequence[str]) -> list[person_candidates.PersonCandidate]:
    return person_candidates.person_candidates(_columns(table), among) if among else []


def _columns(table: Table) -> pa.Table:
    """The columns of an encoded file, as far as they are at hand, missing values as null."""
    found = {
        identifier.name: _with_nulls(identifier.codes) for identifier in table.quasi_identifiers
    }
    # Labels where it matters how a value looks, as that of a person's id: in the sensitive columns.
    for attribute in table.sensitive:
        labels = from_texts(attribute.domain.label(code) for code in range(attribute.domain.size))
        found[attribute.name] = pa.DictionaryArray.from_arrays(_with_nulls(attribute.codes), labels)
    found |= {name: table.source[name] for name in table.source.column_names if name not in found}
    return pa.table(found)


def _with_nulls(codes: Codes) -> pa.Array:
    return from_numpy(codes, codes == MISSING)


def _plural(names: Collection[str]) -> str:
    return "s" if len(names) > 1 else ""
