"""Which columns Splink settings refer to."""

from __future__ import annotations

from typing import Any

from sfumato.core.errors import InputError
from sfumato.core.optional_packages import needed
from sfumato.linkage.spec.model import settings_of


def columns_of_settings(text: str) -> tuple[str, ...]:
    """Names of the columns that Splink settings compare, block on or adjust by.

    Parameters
    ----------
    text
        The settings as JSON.

    Raises
    ------
    InputError
        If the SQL in them cannot be read.
    """
    settings = settings_of(text)
    own = {settings.get("unique_id_column_name"), settings.get("source_dataset_column_name")}
    found: set[str] = set().union(*columns_by_comparison(settings).values())
    for rule in rules_in(settings):
        found |= columns_in(rule, sided=False)
    return tuple(sorted(found - own))


def rules_in(settings: dict[str, Any]) -> list[str]:
    """The blocking rules of Splink settings, as SQL.

    Parameters
    ----------
    settings
        The settings.

    Raises
    ------
    InputError
        If they have none, or rules of another form.
    """
    rules = settings.get("blocking_rules_to_generate_predictions")
    texts = [rule.get("blocking_rule") if isinstance(rule, dict) else rule for rule in rules or ()]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise InputError("Splink settings", "must have blocking rules as SQL")
    return [str(text) for text in texts]


def columns_by_comparison(settings: dict[str, Any]) -> dict[str, frozenset[str]]:
    """The columns that each comparison uses, by its name or, without one, its number.

    Parameters
    ----------
    settings
        Splink settings.

    Raises
    ------
    InputError
        If they are of another form, or their SQL cannot be read.
    """
    found = {}
    try:
        for number, comparison in enumerate(settings["comparisons"]):
            used: set[str] = set()
            for level in comparison["comparison_levels"]:
                if level["sql_condition"].strip().upper() != "ELSE":
                    used |= columns_in(level["sql_condition"], sided=True)
                if level.get("tf_adjustment_column"):
                    used.add(level["tf_adjustment_column"].strip('"'))
            found[comparison.get("output_column_name") or str(number)] = frozenset(used)
    except (AttributeError, KeyError, TypeError):
        raise InputError(
            "Splink settings", "must have comparisons with comparison_levels and sql_condition"
        ) from None
    return found


def columns_in(sql: str, *, sided: bool) -> set[str]:
    """Names of the columns in a condition.

    Parameters
    ----------
    sql
        The condition.
    sided
        Whether names end in ``_l`` and ``_r``, as in comparisons; blocking rules have ``l.`` and
        ``r.`` before them.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    sqlglot = needed("sqlglot")
    try:
        tree = sqlglot.parse_one(sql, dialect="duckdb")
        names = {str(column.name) for column in tree.find_all(sqlglot.exp.Column)}
    except sqlglot.errors.SqlglotError:
        raise InputError(
            "Splink settings", "must hold SQL that can be read", found="another text"
        ) from None
    if not sided:
        return names
    return {name[:-2] if name[-2:].lower() in {"_l", "_r"} else name for name in names}
