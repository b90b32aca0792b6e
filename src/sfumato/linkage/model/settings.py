"""Splink settings from a linkage specification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.linkage.model.levels.codes import email_levels, identifier_levels, postcode_levels
from sfumato.linkage.model.levels.dates import date_levels
from sfumato.linkage.model.levels.level import Level, missing
from sfumato.linkage.model.levels.names import given_name_levels, surname_levels
from sfumato.linkage.model.levels.texts import address_levels, category_levels, number_levels
from sfumato.linkage.spec.blocking import Part, part_sql
from sfumato.linkage.spec.kinds import ColumnKind
from sfumato.linkage.spec.model import LinkSpec, Mode, settings_of
from sfumato.linkage.standardise.columns import Compared, comparisons_of
from sfumato.linkage.standardise.standardise import UNIQUE_ID

SOURCE = "source_dataset"
"""The column with the source of a record, which Splink makes itself."""
BY_FREQUENCY = frozenset(
    {ColumnKind.GIVEN_NAME, ColumnKind.SURNAME, ColumnKind.ADDRESS, ColumnKind.CATEGORY}
)
"""The kinds whose rare values count more, where the specification does not say."""

_LEVELS = {
    ColumnKind.DATE: date_levels,
    ColumnKind.POSTCODE: postcode_levels,
    ColumnKind.PHONE: identifier_levels,
    ColumnKind.IDENTIFIER: identifier_levels,
    ColumnKind.EMAIL: email_levels,
    ColumnKind.ADDRESS: address_levels,
    ColumnKind.CATEGORY: category_levels,
    ColumnKind.NUMBER: number_levels,
}


def settings_from(spec: LinkSpec) -> dict[str, Any]:
    """Splink settings of a specification: its own, or made from its columns and rules.

    Parameters
    ----------
    spec
        The specification.
    """
    if spec.splink is not None:
        settings = settings_of(spec.splink)
        settings["additional_columns_to_retain"] = []
        settings.pop("sql_dialect", None)
    else:
        settings = {
            "link_type": spec.mode.value.replace("-", "_"),
            "comparisons": _comparisons(spec),
            "blocking_rules_to_generate_predictions": [
                {"blocking_rule": rule_sql(rule, spec)} for rule in spec.rules
            ],
        }
    return {
        **settings,
        "unique_id_column_name": UNIQUE_ID,
        "source_dataset_column_name": SOURCE,
        "linker_uid": "sfumato",
        "retain_matching_columns": True,
        "retain_intermediate_calculation_columns": False,
    }


def compares_sources(settings: dict[str, Any]) -> bool:
    """Whether records have a source in Splink's eyes."""
    return bool(settings["link_type"] != Mode.DEDUPE_ONLY.value.replace("-", "_"))


def rule_sql(rule: Sequence[Part], spec: LinkSpec) -> str:
    """A blocking rule as SQL over the standardised records ``l`` and ``r``.

    Parameters
    ----------
    rule
        Its parts.
    spec
        The specification that it belongs to.
    """
    return " AND ".join(
        " = ".join(part_sql(part, spec.columns[part.column].kind, side) for side in "lr")
        for part in rule
    )


def _comparisons(spec: LinkSpec) -> list[dict[str, Any]]:
    compared = [each for n, c in spec.columns.items() for each in comparisons_of(n, c)]
    return [
        {
            "output_column_name": each.name,
            "comparison_description": each.kind.value,
            "comparison_levels": _levels(each, compared, formal=spec.nicknames is not None),
        }
        for each in compared
    ]


def _levels(each: Compared, compared: list[Compared], *, formal: bool) -> list[dict[str, Any]]:
    if each.kind is ColumnKind.GIVEN_NAME:
        surname = _partner(each, compared, ColumnKind.SURNAME)
        levels = given_name_levels(each.name, surname, formal=formal)
    elif each.kind is ColumnKind.SURNAME:
        levels = surname_levels(each.name, _partner(each, compared, ColumnKind.GIVEN_NAME))
    else:
        levels = _LEVELS[each.kind](each.name)
    null = {"sql_condition": missing(each.name), "label_for_charts": "missing"}
    equal, *others = map(_level, levels)
    by_frequency = each.term_frequency
    if each.kind in BY_FREQUENCY if by_frequency is None else by_frequency:
        equal |= {"tf_adjustment_column": each.name, "tf_adjustment_weight": 1.0}
    return [{**null, "is_null_level": True}, equal, *others]


def _partner(each: Compared, compared: list[Compared], kind: ColumnKind) -> str | None:
    """The other part of a name: of the same full name, else the first given name and surname."""
    same = [c.name for c in compared if c.kind is kind and c.column == each.column]
    if same:
        return same[0]
    own = [c for c in compared if c.kind is each.kind]
    other = [c.name for c in compared if c.kind is kind]
    return other[0] if other and own[0] == each else None


def _level(level: Level) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "sql_condition": level.sql,
        "label_for_charts": level.label,
        "m_probability": level.m,
        "u_probability": level.u,
    }
    if level.neutral:
        settings |= {"fix_m_probability": True, "fix_u_probability": True}
    return settings
