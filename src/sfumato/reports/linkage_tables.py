"""The tables of the page of a linkage, and odds in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.core.measure import Measure
from sfumato.core.number_text import NONE, count, number, percent
from sfumato.linkage import match_thresholds
from sfumato.linkage.encoding_linkage import EncodedLinks
from sfumato.linkage.linkage_result import Found, Links
from sfumato.linkage.person_inspection import Inspection
from sfumato.reports.printed_numbers import interval

_UNKNOWN = "unknown"
_LARGE = {1e12: " trillion", 1e9: " billion", 1e6: " million"}
_BY_SCORE = ("Precision by score", "Recall by score")
AMONG_SIMILAR = "recall among similar pairs"
"""What the scores of encodings tell of recall: matches that look unlike are not in it."""
_FREQUENCY = {None: "where it is usual", True: "yes", False: "no"}

Cell = str | tuple[str, str]


@dataclass(frozen=True)
class Table:
    """A table as a page prints it.

    Attributes
    ----------
    rows
        A cell for each heading; of two parts the second stands in small letters.
    numbers
        How many of the last columns are numbers.
    marked
        Place of the row that stands out.
    code
        Whether the first column holds ids or rules.
    """

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    numbers: int = 0
    kind: str = ""
    marked: int | None = None
    code: bool = False


def glance(links: Links, persons: Mapping[str, Any]) -> Table:
    """The linkage in four numbers: how good the people are, where that is known.

    Parameters
    ----------
    persons
        What `to_json` says of them.
    """
    heads = ("Right, of the pairs joined", "Joined, of the true pairs")
    quality: list[Mapping[str, Any]] = [persons["precision"], persons["recall"]]
    if links.contradicted and links.checked is not None:
        heads = ("Checked precision by score", "Checked recall by score")
        quality = [each.to_json() for each in links.checked.quality or ()]
    shares = [_share(each) for each in quality]
    cells = ("Linkage", count(links.model.candidates), *shares, number(links.lost))
    names = ("", "Candidate pairs", *heads, "Lost to blocking")
    return Table("At a glance", names, [cells], 4, "glance")


def encodings_glance(links: EncodedLinks) -> Table:
    """A linkage of encodings in four numbers."""
    names = ("", "Pairs kept", "Precision", "Recall", "Matches not among the pairs")
    shares = [_share(each.to_json()) for each in links.quality]
    # Encodings tell the ends of recall alone: its value is none to read.
    cells = ("Linkage", count(len(links.pairs)), shares[0], shares[1][1], number(links.lost))
    return Table("At a glance", names, [cells], 4, "glance")


def _share(quality: Mapping[str, Any]) -> Cell:
    if quality["value"] is None:
        return _UNKNOWN
    ends = interval(quality["low"], quality["high"], lambda end: percent(end, 2))
    return percent(quality["value"], 2), ends


def by_score(quality: tuple[Measure, Measure]) -> list[str]:
    """Precision and recall of the matches by score."""
    return [percent(each.value, 2) for each in quality]


def thresholds(links: Found, upper: float | None) -> Table:
    """What each least score of a match would give."""
    rows = match_thresholds.threshold_table(
        links.pairs.score,
        thresholds={*match_thresholds.THRESHOLDS, *([] if upper is None else [upper])},
        lower=links.thresholds.lower,
        probability=links.settled.probability,
        lost=links.lost,
    )
    looked_at = isinstance(links, Links)
    heads = _BY_SCORE if looked_at else (_BY_SCORE[0], AMONG_SIMILAR.capitalize())
    cells = []
    for row in rows:
        taken = " (taken)" if row.threshold == upper else ""
        cells.append(
            (
                f"{with_odds(row.threshold)}{taken}",
                count(row.matches),
                NONE if row.precision is None else percent(row.precision, 2),
                percent(row.recall_of_all, 2),
                *((percent(row.recall, 2), count(row.review)) if looked_at else ()),
            )
        )
    return Table(
        "If pairs from a score on were called matches",
        (
            "Least score of a match",
            "Matches",
            *heads,
            *(("Recall among candidate pairs", "Pairs between") if looked_at else ()),
        ),
        cells,
        5 if looked_at else 3,
        marked=next((n for n, row in enumerate(rows) if row.threshold == upper), None),
    )


def compared(links: Links) -> Table:
    """Compared columns: name, kind, and whether rare values count more."""
    rows = [
        (
            name,
            column.kind.value,
            _FREQUENCY[column.term_frequency] if column.compare else "not compared",
        )
        for name, column in links.spec.columns.items()
    ]
    return Table("Compared columns", ("Column", "Kind", "Rare values count more"), rows)


def rules(links: Links) -> Table:
    """Blocking rules, and the pairs that each makes."""
    words = (
        [rule.rule for rule in links.model.rules]
        if links.spec.splink is not None
        else [" and ".join(rule) for rule in links.spec.blocking]
    )
    pairs = (count(rule.pairs) for rule in links.model.rules)
    return Table(
        "Blocking rules: two records are compared if they agree on all parts of one rule",
        ("Rule", "Pairs that no rule before it makes"),
        list(zip(words, pairs, strict=True)),
        1,
        code=True,
    )


def levels(links: Links) -> Table:
    """Comparison levels and their weights."""
    rows = [
        (
            each.comparison,
            (each.label, "adjusted by the value’s frequency" if each.by_frequency else ""),
            number(each.m),
            number(each.u),
            times(each.weight),
        )
        for each in links.model.weights
    ]
    heads = ("Comparison", "Level", "m", "u", "Times as frequent")
    return Table("Comparison levels", heads, rows, 3)


def looked_at(looked: Inspection) -> list[Table]:
    """People to look at: those of most records, and those who hang on one pair."""
    sizes = ("records", "sources", "likely_pairs", "chained_pairs")
    largest = [(each["person"], *(count(each[size]) for size in sizes)) for each in looked.largest]
    heads = ("Person", "Records", "Sources", "Likely pairs", "Pairs that others hold together")
    bridges = [(each["pair"], each["person"], count(each["parts"])) for each in looked.bridges]
    tables = (
        Table("The people with most records", heads, largest, 4, code=True),
        Table(
            "Pairs without which a person falls in two",
            ("Pair", "Person", "Records of the smaller part"),
            bridges,
            1,
            code=True,
        ),
    )
    return [each for each in tables if each.rows]


def contradictions(decisions: Mapping[str, Any]) -> Table:
    """Decisions that cannot all be true, of what `to_json` says of them."""
    rows = [
        (each["different"] or "one record per person in the table", ", ".join(each["same"]))
        for each in decisions["contradictions"]
    ]
    heads = ("Called different", "Called same")
    return Table("Decisions that cannot all be true", heads, rows)


def matched(links: EncodedLinks) -> Table:
    """Sources whose encodings were compared."""
    rows = []
    for each in links.matched:
        drawn = each.pairs.blocking
        together = "all"
        if drawn is not None:
            together = (
                f"those that agree in all of {drawn.bits} places of the encoding, drawn at "
                f"random {drawn.tables} times"
            )
        rows.append(
            (
                each.left if each.left == each.right else f"{each.left}, {each.right}",
                together,
                count(each.comparisons),
                count(len(each.pairs.left)),
                number(each.pairs.threshold),
            )
        )
    heads = ("Sources", "Brought together", "Pairs of records", "Pairs kept")
    similar = "Dice similarity of matches, from"
    return Table("Sources whose encodings were compared", (*heads, similar), rows, 3)


def times(bits: float) -> str:
    """How many times as many a weight stands for."""
    size = large(2 ** abs(bits))
    return f"{'÷' if bits < 0 and size != '1' else '×'} {size}"


def odds(bits: float) -> str:
    """The odds that a weight stands for."""
    size = large(2 ** abs(bits))
    return f"1 : {size}" if bits < 0 else f"{size} : 1"


def with_odds(score: float) -> str:
    """A score and its odds."""
    if not 0 < score < 1:
        return number(score)
    of = score / (1 - score)
    said = f"{large(of, 3)} : 1" if of >= 1 else f"1 : {large(1 / of, 3)}"
    return f"{number(score)} ({said})"


def large(value: float, digits: int = 2) -> str:
    """A number of some digits, with a word for its size."""
    # Rounded first: what rounds to a million is one.
    value = float(f"{value:.{digits}g}")
    scale = next((each for each in _LARGE if value >= each), 1.0)
    shown = value / scale
    return f"{f'{shown:,.0f}' if shown >= 10 else f'{shown:g}'}{_LARGE.get(scale, '')}"
