"""The levels of agreement of each kind of column, and the settings that Splink gets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.core.optional_packages import needed
from sfumato.linkage import link_spec
from sfumato.linkage.standardisation import FORMAL, UNIQUE_ID, Compared, comparisons_of


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a comparison; the last one of a comparison takes all that is left.

    Attributes
    ----------
    sql
        When two records are in it; columns end in ``_l`` and ``_r``.
    m
        Share of true matches in it, before anything is estimated.
    u
        Share of other pairs in it, before anything is estimated.
    """

    label: str
    sql: str
    m: float
    u: float
    neutral: bool = False


def left(name: str) -> str:
    """The column of the left record."""
    return f'"{name}_l"'


def right(name: str) -> str:
    """The column of the right record."""
    return f'"{name}_r"'


Sides = tuple[str, str]


def both(name: str) -> Sides:
    """The column of either record."""
    return left(name), right(name)


def equal(name: str) -> str:
    """When both records have the same value."""
    return f"{left(name)} = {right(name)}"


def missing(name: str) -> str:
    """When one of the records has no value."""
    return f"{left(name)} IS NULL OR {right(name)} IS NULL"


def within(sides: Sides, distance: int, *, length: int = 0) -> str:
    """When two values are few insertions, deletions, changes or swaps of neighbours apart.

    A swap is two changes, so the plain distance, which is much faster, rules out most values.
    """
    values = ", ".join(sides)
    conditions = [f"length({side}) >= {length}" for side in sides] if length else []
    # First, as AND stops at the first that fails.
    conditions.append(f"levenshtein({values}) <= {2 * distance}")
    conditions.append(f"damerau_levenshtein({values}) <= {distance}")
    return " AND ".join(conditions)


def similar(sides: Sides, similarity: float) -> str:
    """When the Jaro-Winkler similarity of two values is high: from so much on, in [0, 1]."""
    return f"jaro_winkler_similarity({', '.join(sides)}) >= {similarity}"


def rest(m: float, u: float) -> Level:
    """The last level."""
    return Level("different", "ELSE", m, u)


def postcode_levels(name: str) -> list[Level]:
    """Levels of postcodes."""
    area = f"{link_spec.area_sql(left(name))} = {link_spec.area_sql(right(name))}"
    return [
        Level("equal", equal(name), 0.8, 0.002),
        Level("one character differs", within(both(name), 1, length=4), 0.06, 0.005),
        Level("same area", area, 0.04, 0.02),
        rest(0.1, 0.97),
    ]


def identifier_levels(name: str) -> list[Level]:
    """Levels of numbers of persons and telephones."""
    return [
        Level("equal", equal(name), 0.88, 1e-5),
        Level("one character differs", within(both(name), 1, length=5), 0.05, 1e-5),
        Level("two characters differ", within(both(name), 2, length=7), 0.01, 1e-4),
        rest(0.06, 0.999),
    ]


def email_levels(name: str) -> list[Level]:
    """Levels of e-mail addresses."""
    one, other = (f"split_part({side}, '@', 1)" for side in (left(name), right(name)))
    return [
        Level("equal", equal(name), 0.72, 1e-5),
        # Shorter ones are initials, which many share at different providers.
        Level("same before the @", f"{one} = {other} AND length({one}) > 3", 0.05, 1e-4),
        Level("similar", f"{within(both(name), 2)} OR {similar(both(name), 0.94)}", 0.08, 1e-3),
        rest(0.15, 0.999),
    ]


WITHIN_A_YEAR = 2
"""Level of dates at most one year apart; those above are nearly equal."""


def date_levels(name: str) -> list[Level]:
    """Levels of dates in ISO form; one character is in the year, the month or the day."""
    one, other = left(name), right(name)
    year, month, day = (
        (f"substr({one}, {start}, {size})", f"substr({other}, {start}, {size})")
        for start, size in ((1, 4), (6, 2), (9, 2))
    )
    same_year, same_month, same_day = (f"{a} = {b}" for a, b in (year, month, day))
    swapped = f"{same_year} AND {month[0]} = {day[1]} AND {day[0]} = {month[1]}"
    same = " + ".join(f"CAST({each} AS INTEGER)" for each in (same_year, same_month, same_day))
    years = f"abs(CAST({year[0]} AS INTEGER) - CAST({year[1]} AS INTEGER))"
    return [
        Level("equal", equal(name), 0.9, 0.0002),
        Level("one character differs", f"{same} >= 2 AND {within(both(name), 1)}", 0.05, 0.001),
        Level("day and month swapped", swapped, 0.005, 0.0002),
        Level("two of day, month and year", f"{same} >= 2", 0.02, 0.005),
        Level("at most one year apart", f"{years} <= 1", 0.005, 0.03),
        Level("at most ten years apart", f"{years} <= 10", 0.01, 0.2),
        rest(0.01, 0.76),
    ]


def given_name_levels(name: str, surname: str | None, *, formal: bool) -> list[Level]:
    """Levels of given names, which may have been swapped with the surname's column."""
    levels = [Level("equal", equal(name), 0.8, 0.005)]
    if surname is not None:
        # Two agreements at once, hence the low u; the surname's own level is neutral, or they would
        # count twice.
        levels.append(Level("swapped with the surname", _swapped(name, surname), 0.005, 1e-5))
    if formal:
        levels.append(Level("nickname", equal(name + FORMAL), 0.02, 0.002))
    return [
        *levels,
        Level("similar", _near(both(name)), 0.09, 0.003),
        Level("in part", _in_part(name), 0.02, 0.003),
        Level("somewhat similar", similar(both(name), 0.8), 0.015, 0.01),
        rest(0.05, 0.97),
    ]


def surname_levels(name: str, given: str | None) -> list[Level]:
    """Levels of surnames. That it was swapped with given names counts in their comparison."""
    levels = [Level("equal", equal(name), 0.82, 0.003)]
    if given is not None:
        swapped = _swapped(given, name)
        levels.append(Level("swapped with given names", swapped, 0.001, 0.001, neutral=True))
    return [
        *levels,
        Level("similar", _near(both(name)), 0.08, 0.002),
        Level("in part", _in_part(name), 0.01, 0.0005),
        Level("somewhat similar", similar(both(name), 0.8), 0.02, 0.01),
        rest(0.07, 0.98),
    ]


def _near(sides: Sides, distance: int = 1, length: int = 4) -> str:
    """Alike, or somewhat alike and few slips apart; most values are not even somewhat alike."""
    slip = within(sides, distance, length=length)
    return f"{similar(sides, 0.8)} AND ({similar(sides, 0.92)} OR ({slip}))"


def _swapped(given: str, surname: str) -> str:
    """Each is like the other one, and not equal as it stands."""
    one, other = _near((left(given), right(surname))), _near((left(surname), right(given)))
    return f"NOT ({equal(given)} OR {equal(surname)}) AND {one} AND {other}"


def _in_part(name: str) -> str:
    """One is the first or last word, or the initial, of the other: few values can be."""
    one, other = left(name), right(name)
    ways = []
    for short, long in ((one, other), (other, one)):
        ways += [
            f"starts_with({long}, {short} || ' ')",
            f"ends_with({long}, ' ' || {short})",
            f"left({long}, 1) = {short}",
        ]
    words = (f"contains({one}, ' ')", f"contains({other}, ' ')")
    initials = (f"length({one}) = 1", f"length({other}) = 1")
    return f"({' OR '.join(words + initials)}) AND ({' OR '.join(ways)})"


def address_levels(name: str) -> list[Level]:
    """Levels of streets, suburbs and towns."""
    return [
        Level("equal", equal(name), 0.7, 0.005),
        # Two slips in streets, which are longer, and only where seven characters leave enough in
        # common.
        Level("similar", _near(both(name), 2, 7), 0.13, 0.002),
        Level("somewhat similar", similar(both(name), 0.8), 0.04, 0.01),
        rest(0.13, 0.98),
    ]


def category_levels(name: str) -> list[Level]:
    """Levels of categories."""
    return [Level("equal", equal(name), 0.93, 0.3), rest(0.07, 0.7)]


def number_levels(name: str) -> list[Level]:
    """Levels of numbers."""
    one, other = (f"TRY_CAST({side} AS DOUBLE)" for side in (left(name), right(name)))
    near = f"abs({one} - {other}) <= 1 OR ({within(both(name), 1, length=2)})"
    return [
        Level("equal", equal(name), 0.84, 0.02),
        Level("one apart, or one character differs", near, 0.06, 0.06),
        rest(0.1, 0.92),
    ]


SOURCE = "source_dataset"
"""The column with the source of a record, which Splink makes itself."""
BY_FREQUENCY = frozenset(
    {
        link_spec.ColumnKind.GIVEN_NAME,
        link_spec.ColumnKind.SURNAME,
        link_spec.ColumnKind.ADDRESS,
        link_spec.ColumnKind.CATEGORY,
    }
)
"""The kinds whose rare values count more, where the specification does not say."""

_LEVELS = {
    link_spec.ColumnKind.DATE: date_levels,
    link_spec.ColumnKind.POSTCODE: postcode_levels,
    link_spec.ColumnKind.PHONE: identifier_levels,
    link_spec.ColumnKind.IDENTIFIER: identifier_levels,
    link_spec.ColumnKind.EMAIL: email_levels,
    link_spec.ColumnKind.ADDRESS: address_levels,
    link_spec.ColumnKind.CATEGORY: category_levels,
    link_spec.ColumnKind.NUMBER: number_levels,
}


def settings_from(spec: link_spec.LinkSpec) -> dict[str, Any]:
    """Splink settings of a specification: its own, or made from its columns and rules."""
    if spec.splink is not None:
        settings = link_spec.settings_of(spec.splink)
        # Splink would carry these columns, and so values, into its pairs.
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


def level_sql(comparison: Mapping[str, Any], rarity: str = "") -> str:
    """The level of a pair in a comparison of settings, as SQL: from the last one, 0, upwards.

    Where there is rarity, it is added to the highest level.
    """
    levels, cases = comparison["comparison_levels"], []
    number = sum(not level.get("is_null_level") for level in levels)
    for level in levels:
        value = "-1"
        # Rarity is added to the first level that is no null level: the highest, of equal values.
        if not level.get("is_null_level"):
            number -= 1
            value = str(number) + (f" + {rarity}" if rarity else "")
            rarity = ""
        condition = level["sql_condition"]
        is_else = condition.strip().upper() == "ELSE"
        cases.append(f"ELSE {value}" if is_else else f"WHEN {condition} THEN {value}")
    return f"CAST(CASE {' '.join(cases)} END AS TINYINT)"


_OF_ONE = {"Substring", "Cast", "TryCast", "Case", "SplitPart"}
_SLIP = re.compile(r'damerau_levenshtein\((("\w+"), ("\w+"))\) <= 1\b')
_LETTERS = r"CAST(hash(list_sort(string_split(\{}, ''))) AS UBIGINT)"
_SWAP = rf"(levenshtein(\1) <= 1 OR ({_LETTERS.format(2)} = {_LETTERS.format(3)} AND \g<0>))"


LevelsByRecord = tuple[list[dict[str, Any]], dict[str, str]]
"""Comparisons, and by name the expressions over one record that they ask for."""


def by_record(comparisons: Sequence[dict[str, Any]]) -> LevelsByRecord:
    """Comparisons that take parts of a value once for each record, and not for each of its pairs.

    What they ask of a record beside its columns comes by name, as SQL. Two values that a swap makes
    equal have the same letters: that is seen first, as ``damerau_levenshtein`` takes ten times as
    long as ``levenshtein``.
    """
    sqlglot, names = needed("sqlglot"), dict[str, str]()

    def once(node: Any) -> Any:
        sides = {column.name[-2:] for column in node.find_all(sqlglot.exp.Column)}
        # Only what is of one record can be worked out before its pairs are made.
        if type(node).__name__ not in _OF_ONE or len(sides) != 1:
            return node
        own = node.copy()
        for column in own.find_all(sqlglot.exp.Column):
            column.this.set("this", column.name[:-2])
        name = names.setdefault(own.sql("duckdb"), f"_of_one_{len(names)}")
        return sqlglot.exp.column(name + sides.pop(), quoted=True)

    def condition(sql: str) -> str:
        if sql.strip().upper() == "ELSE":
            return sql
        if "jaro_winkler" not in sql:  # which few values pass before slips are looked for
            sql = _SLIP.sub(_SWAP, sql)
        return str(sqlglot.parse_one(sql, dialect="duckdb").transform(once).sql("duckdb"))

    changed = []
    for comparison in comparisons:
        levels = [
            {**level, "sql_condition": condition(level["sql_condition"])}
            for level in comparison["comparison_levels"]
        ]
        changed.append({**comparison, "comparison_levels": levels})
    return changed, {name: sql for sql, name in names.items()}


def compares_sources(settings: dict[str, Any]) -> bool:
    """Whether records have a source in Splink's eyes."""
    return bool(settings["link_type"] != link_spec.Mode.DEDUPE_ONLY.value.replace("-", "_"))


def rule_sql(rule: Sequence[link_spec.Part], spec: link_spec.LinkSpec) -> str:
    """A blocking rule as SQL over the standardised records ``l`` and ``r``."""
    return " AND ".join(
        " = ".join(link_spec.part_sql(part, spec.columns[part.column].kind, side) for side in "lr")
        for part in rule
    )


def _comparisons(spec: link_spec.LinkSpec) -> list[dict[str, Any]]:
    compared = [comparison for n, c in spec.columns.items() for comparison in comparisons_of(n, c)]
    return [
        {
            "output_column_name": each.name,
            "comparison_description": each.kind.value,
            "comparison_levels": _levels(each, compared, formal=spec.nicknames is not None),
        }
        for each in compared
    ]


def _levels(each: Compared, compared: list[Compared], *, formal: bool) -> list[dict[str, Any]]:
    if each.kind is link_spec.ColumnKind.GIVEN_NAME:
        surname = _partner(each, compared, link_spec.ColumnKind.SURNAME)
        levels = given_name_levels(each.name, surname, formal=formal)
    elif each.kind is link_spec.ColumnKind.SURNAME:
        levels = surname_levels(
            each.name, _partner(each, compared, link_spec.ColumnKind.GIVEN_NAME)
        )
    else:
        levels = _LEVELS[each.kind](each.name)
    null = {"sql_condition": missing(each.name), "label_for_charts": "missing"}
    equal, *others = map(_level, levels)
    by_frequency = each.term_frequency
    if each.kind in BY_FREQUENCY if by_frequency is None else by_frequency:
        equal |= {"tf_adjustment_column": each.name, "tf_adjustment_weight": 1.0}
    return [{**null, "is_null_level": True}, equal, *others]


def _partner(each: Compared, compared: list[Compared], kind: link_spec.ColumnKind) -> str | None:
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
