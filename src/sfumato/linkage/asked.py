"""The tables by name, and the specification that is meant."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sfumato.core.errors import InputError
from sfumato.core.shared_options import Progress
from sfumato.linkage.earlier import Earlier
from sfumato.linkage.spec.model import MAX_PAIRS, LinkSpec
from sfumato.linkage.spec.toml import load_link_spec
from sfumato.linkage.suggest.suggest import Suggestion, suggest
from sfumato.schema import Schema

Tables = Mapping[str, object] | Sequence[str | os.PathLike[str]]
Spec = LinkSpec | Suggestion | str | os.PathLike[str]


def named_tables(tables: Tables) -> dict[str, object]:
    """The tables by the names of their sources.

    Parameters
    ----------
    tables
        The tables by name, or their paths.

    Raises
    ------
    InputError
        If two paths have the same name, or tables without names are no paths.
    """
    if isinstance(tables, Mapping):
        if not all(str(name).strip() for name in tables):
            raise InputError("parameter tables", "must have a name as text for each table")
        return dict(tables)
    if isinstance(tables, (str, os.PathLike)) or not all(
        isinstance(each, (str, os.PathLike)) for each in tables
    ):
        raise InputError(
            "parameter tables",
            "must be tables by their names, or a list of paths",
            found="something else",
        )
    named: dict[str, object] = {}
    for each in tables:
        name = stem_of(Path(each))
        if name in named:
            raise InputError(
                "the tables",
                "must have file names that differ",
                found="two of one name without ending",
                advice="rename one, or in Python give the tables by name",
            )
        named[name] = each
    return named


def stem_of(path: Path) -> str:
    """Name of the source that a file is: the file's name without its endings.

    Parameters
    ----------
    path
        The file.
    """
    return Path(path.stem).stem if path.suffix.lower() == ".gz" else path.stem


def asked_specification(
    tables: Mapping[str, object],
    spec: Spec | None,
    schema: Schema | None,
    earlier: Earlier | None,
    progress: Progress,
    *,
    id_column: str | None = None,
    allow_pairs: int | None = None,
) -> Suggestion:
    """The specification as it was given, that of a linkage before, or a proposed one.

    Parameters
    ----------
    tables
        The tables by name.
    spec
        What was given.
    schema
        What the columns are.
    earlier
        The linkage before.
    progress
        Told when a proposal begins.
    id_column
        The column of ids, instead of the specification's.
    allow_pairs
        Most candidate pairs, instead of the specification's.

    Raises
    ------
    InputError
        If the file cannot be read, or nothing can be proposed.
    """
    if isinstance(spec, Suggestion):
        made = spec
    elif isinstance(spec, LinkSpec):
        made = Suggestion(spec, {})
    elif spec is not None:
        made = Suggestion(load_link_spec(spec), {})
    elif earlier is not None:
        made = Suggestion(earlier.spec, {})
    else:
        progress("suggest", 0.0)
        most = allow_pairs or MAX_PAIRS
        made = suggest(tables, schema, id_column=id_column, max_pairs=most)
    changes: dict[str, object] = {}
    if allow_pairs is not None:
        changes["max_pairs"] = allow_pairs
    if id_column is not None:
        changes["id"] = id_column
    return replace(made, spec=changed(made.spec, changes)) if changes else made


def changed(spec: LinkSpec, changes: Mapping[str, object]) -> LinkSpec:
    """A specification with other values in some fields, checked again.

    Parameters
    ----------
    spec
        The specification.
    changes
        New values by field.

    Raises
    ------
    InputError
        If the changed one breaks a rule.
    """
    fields = {name: getattr(spec, name) for name in type(spec).model_fields}
    return LinkSpec(**{**fields, **changes})
