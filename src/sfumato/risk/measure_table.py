"""What each measure means and how it is printed: a table as text, and as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sfumato.core.measure import Measure, Position
from sfumato.core.number_text import share_text
from sfumato.core.phrases import Phrase

MEANINGS = {
    "records": Phrase("rows of the file"),
    "persons": Phrase("distinct people in the file"),
    "classes": Phrase("groups of records that agree on all quasi-identifiers"),
    "k": Phrase("records in the smallest class (k-anonymity)"),
    "pid_k": Phrase("people in the class with fewest people (PID-based K-anonymity)"),
    "g_balance": Phrase(
        "balance of people's records in the worst class; 0 when one person has them all"
    ),
    "max_gidr": Phrase("largest share of one class's records that belongs to one person"),
    "avg_gidr": Phrase("that share, averaged over classes"),
    "prosecutor": Phrase("highest chance to find a person who is known to be in the file"),
    "journalist": Phrase("highest chance to find a person, with the file as its own population"),
    "marketer": Phrase("share of people found when each is looked for"),
    "average_risk": Phrase("chance to find a person, averaged over records"),
    "records_at_risk": Phrase("share of records in classes with a risk above the threshold"),
    "sample_uniques": Phrase("classes with one person"),
    "sample_unique_records": Phrase("classes with one record"),
    "count_k": Phrase("people who share class and number of records, where fewest do"),
    "exposed_persons": Phrase("share of people alone in their class with their number of records"),
    "max_count_risk": Phrase(
        "highest chance to find a person whose exact number of records is known too"
    ),
    "avg_count_risk": Phrase(
        "that chance, averaged over people; marketer is it without the number"
    ),
    "known_events": Phrase("people found by someone who knows some of their events, too"),
    "households": Phrase("distinct households; a person without one is a household alone"),
    "max_household_risk": Phrase("highest chance to find at least one person of a household"),
    "avg_household_risk": Phrase("that chance, averaged over households"),
    "households_at_risk": Phrase("share of households with a chance above the threshold"),
    "household_k": Phrase(
        "households that have the same members, by their classes, where fewest do"
    ),
    "max_composition_risk": Phrase("highest chance to find a household of known members"),
    "avg_composition_risk": Phrase("that chance, averaged over households"),
    "special_uniques": Phrase("people who stand out by fewer than all quasi-identifiers"),
    "highest_suda_score": Phrase(
        "largest score of a person; higher for more and shorter combinations"
    ),
    "population": Phrase("people of the population"),
    "sampling_fraction": Phrase("share of the population who are in the file"),
    "population_average_risk": Phrase(
        "chance to find a person in the population, averaged over records"
    ),
    "population_records_at_risk": Phrase("share of records with a chance above the threshold"),
    "expected_uniques": Phrase(
        "people alone in their class of the file and of the population (τ1)"
    ),
    "population_uniques": Phrase(
        "share of people alone in their class of the file and of the population"
    ),
    "k_map": Phrase("people of the population who look like a class, where fewest do"),
    "unique_matches": Phrase("people found among those alone in their class of the file (τ2)"),
    "class_count": Phrase("classes of the population"),
    "expected_matches": Phrase("people found when each is looked for"),
    "presence_low": Phrase("share of people of the register who are in the file, where fewest are"),
    "presence_high": Phrase("the same, where most are; 100 % says that a person is in the file"),
    "strangers": Phrase("people of the file without a counterpart of their own in the register"),
    "h_affiliation": Phrase(
        "largest share of one class's people with the same sensitive value (MaxGSAR)"
    ),
    "max_gsar": Phrase("the same number as h_affiliation"),
    "avg_gsar": Phrase(
        "share of a class's people with its most shared value, averaged over classes"
    ),
    "l_distinct": Phrase("fewest distinct sensitive values in a class (distinct l-diversity)"),
    "l_entropy": Phrase(
        "fewest equally common values that would be as mixed (entropy l-diversity)"
    ),
    "t_closeness": Phrase(
        "distance of one class's sensitive values from the whole file's, where largest"
    ),
    "t_closeness_ordered": Phrase("the same distance by ranks (earth mover's)"),
}
"""One sentence per measure, by the name that the code, the docs and the reports use."""

IN_POPULATION = {
    "journalist": Phrase("highest chance to find a person of the file in the population"),
    "marketer": Phrase(
        "share of the file's people found when each is looked for in the population"
    ),
}
"""The same where the file is a sample of a population."""


def recursive_meaning(l: int) -> str:  # noqa: E741
    """What the bound of recursive (c, l)-diversity is."""
    return Phrase("recursive (c, {l})-diversity holds for every c above this", l=l)


def minimal_unique_meaning(size: int) -> str:
    """What a minimal unique on so many quasi-identifiers is."""
    if size == 1:
        return Phrase("values that only one person has")
    return Phrase(
        "combinations of {n} values that only one person has, and no part of them", n=size
    )


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: name, printed value, meaning, and the place it comes from."""

    name: str
    value: str
    meaning: str
    where: Position | None = None


def row(
    name: str,
    value: str,
    where: Position | None = None,
    column: str = "",
    *,
    own_population: bool = True,
) -> Row:
    """A line about a measure, or about a measure of one column, with what it means."""
    meaning = MEANINGS[name] if own_population else IN_POPULATION.get(name, MEANINGS[name])
    return Row(f"{name} [{column}]" if column else name, value, meaning, where)


def share(measure: Measure) -> str:
    """A share as a percentage."""
    return share_text(measure.value)


def number(measure: Measure) -> str:
    """A number with four significant digits; an infinite one as words."""
    return "no c" if measure.value == float("inf") else f"{measure.value:.4g}"


def whole(measure: Measure) -> str:
    """An expected count, with one digit below 100."""
    return f"{measure.value:,.1f}" if measure.value < 100 else f"{measure.value:,.0f}"


def interval(measure: Measure, value: Callable[[Measure], str]) -> str:
    """A measure, and its interval where it is an estimate with one."""
    low, high = measure.low, measure.high
    # Counted in a register all three are one, which would read as an estimate of no error.
    if low is None or high is None or low == high:
        return value(measure)
    ends = (value(replace(measure, value=end)) for end in (low, high))
    return f"{value(measure)} ({' to '.join(ends)})"


def count(value: int) -> str:
    """A count with separators of thousands."""
    return f"{value:,}"


def text(title: str, rows: Sequence[Row], warnings: Sequence[str]) -> str:
    """Lay the rows out in columns."""
    name = max(len(row.name) for row in rows)
    value = max(len(row.value) for row in rows)
    lines = [title]
    lines += [
        f"  {row.name:<{name}}  {row.value:>{value}}  {row.meaning}{_place(row.where)}"
        for row in rows
    ]
    lines += [f"  Warning: {warning}" for warning in warnings]
    return "\n".join(lines)


def html(title: str, rows: Sequence[Row], warnings: Sequence[str]) -> str:
    """Lay the rows out as one HTML table; every text is escaped."""
    from html import escape

    body = "".join(
        f'<tr><th scope="row" style="text-align:left">{escape(row.name)}</th>'
        f'<td style="text-align:right">{escape(row.value)}</td>'
        f'<td style="text-align:left">{escape(row.meaning + _place(row.where))}</td></tr>'
        for row in rows
    )
    notes = "".join(f"<p>Warning: {escape(warning)}</p>" for warning in warnings)
    return (
        f'<table><caption style="text-align:left">{escape(title)}</caption>'
        '<thead><tr><th scope="col" style="text-align:left">measure</th>'
        '<th scope="col" style="text-align:right">value</th>'
        '<th scope="col" style="text-align:left">meaning</th></tr></thead>'
        f"<tbody>{body}</tbody></table>{notes}"
    )


def _place(where: Position | None) -> str:
    return "" if where is None else f" (class {where.equivalence_class}, row {where.row})"
