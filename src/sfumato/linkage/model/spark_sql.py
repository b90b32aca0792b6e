"""DuckDB's SQL as Spark's, with the functions for names that Splink brings to Spark."""

from __future__ import annotations

from typing import Any

from sfumato.core.optional_packages import needed

_NAMES = {
    "jaro_winkler_similarity": "jaro_winkler",
    "jarowinkler_similarity": "jaro_winkler",
    "jaro_similarity": "jaro_sim",
    "damerau_levenshtein": "damerau_levenshtein",
    "jaccard": "jaccard",
}
"""Functions of DuckDB, as sqlglot writes them, and what Splink calls them in Spark."""


def spark_sql(sql: str) -> str:
    """A query or condition of DuckDB in Spark's SQL.

    Parameters
    ----------
    sql
        The text; ``ELSE``, the last level of a comparison, stays.
    """
    if sql.strip().upper() == "ELSE":
        return sql
    sqlglot = needed("sqlglot")
    exp = sqlglot.exp

    def renamed(node: Any) -> Any:
        if not isinstance(node, exp.Func):
            return node
        name = node.name if isinstance(node, exp.Anonymous) else node.sql_name()
        other = _NAMES.get(str(name).lower())
        if other is None:
            return node
        values = [each for each in node.iter_expressions() if isinstance(each, exp.Expression)]
        return exp.Anonymous(this=other, expressions=values)

    tree = sqlglot.parse_one(sql, dialect="duckdb")
    return str(tree.transform(renamed).sql(dialect="spark"))


def spark_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Splink settings with all SQL in them as Spark's.

    Parameters
    ----------
    settings
        Settings with the SQL of DuckDB; they are left as they are.
    """
    rules = settings["blocking_rules_to_generate_predictions"]
    return {
        **{key: value for key, value in settings.items() if key != "sql_dialect"},
        "comparisons": [
            {
                **comparison,
                "comparison_levels": [
                    {**level, "sql_condition": spark_sql(level["sql_condition"])}
                    for level in comparison["comparison_levels"]
                ],
            }
            for comparison in settings["comparisons"]
        ],
        "blocking_rules_to_generate_predictions": [
            {**_without_dialect(rule), "blocking_rule": spark_sql(rule["blocking_rule"])}
            if isinstance(rule, dict)
            else spark_sql(rule)
            for rule in rules
        ],
    }


def _without_dialect(rule: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in rule.items() if key != "sql_dialect"}
