"""The tables of the page of a linkage, and odds in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.core.measure import Measure
from sfumato.core.number_text import NONE, count, number, percent
from sfumato.core.phrases import Figure, Listed, Phrase, listed
from sfumato.linkage import match_thresholds
from sfumato.linkage.encoding_linkage import EncodedLinks
from sfumato.linkage.linkage_result import Found, Links
from sfumato.linkage.person_inspection import Inspection
from sfumato.reports.printed_numbers import interval

_UNKNOWN = Phrase("not known")
LARGE = {
    1e12: Phrase("{number} trillion", number=""),
    1e9: Phrase("{number} billion", number=""),
    1e6: Phrase("{number} million", number=""),
}
"""Words for sizes of numbers."""
_BY_SCORE = (Phrase("Precision by score"), Phrase("Recall by score"))
_AMONG_SIMILAR = Phrase("Recall among similar pairs")
"""What the scores of encodings tell of recall: matches that look unlike are not in it."""
_FREQUENCY = {None: Phrase("where it is usual"), True: Phrase("yes"), False: Phrase("no")}

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
    heads = (Phrase("Right, of the pairs joined"), Phrase("Joined, of the true pairs"))
    quality: list[Mapping[str, Any]] = [persons["precision"], persons["recall"]]
    if links.contradicted and links.checked is not None:
        heads = (Phrase("Checked precision by score"), Phrase("Checked recall by score"))
        quality = [each.to_json() for each in links.checked.quality or ()]
    shares = [_share(each) for each in quality]
    cells = (Phrase("Linkage"), count(links.model.candidates), *shares, number(links.lost))
    names = ("", Phrase("Candidate pairs"), *heads, Phrase("Lost to blocking"))
    return Table(Phrase("At a glance"), names, [cells], 4, "glance")


def encodings_glance(links: EncodedLinks) -> Table:
    """A linkage of encodings in four numbers."""
    names = (
        "",
        Phrase("Pairs kept"),
        Phrase("Precision"),
        Phrase("Recall"),
        Phrase("Matches not among the pairs"),
    )
    shares = [_share(each.to_json()) for each in links.quality]
    # Encodings tell the ends of recall alone: its value is none to read.
    cells = (
        Phrase("Linkage"),
        count(len(links.pairs)),
        shares[0],
        shares[1][1],
        number(links.lost),
    )
    return Table(Phrase("At a glance"), names, [cells], 4, "glance")


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
    heads = _BY_SCORE if looked_at else (_BY_SCORE[0], _AMONG_SIMILAR)
    cells = []
    for row in rows:
        least = with_odds(row.threshold)
        if row.threshold == upper:
            least = Phrase("{score} (taken)", score=least)
        cells.append(
            (
                least,
                count(row.matches),
                NONE if row.precision is None else percent(row.precision, 2),
                percent(row.recall_of_all, 2),
                *((percent(row.recall, 2), count(row.review)) if looked_at else ()),
            )
        )
    return Table(
        Phrase("If pairs from a score on were called matches"),
        (
            Phrase("Least score of a match"),
            Phrase("Matches"),
            *heads,
            *(
                (Phrase("Recall among candidate pairs"), Phrase("Pairs between"))
                if looked_at
                else ()
            ),
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
            _FREQUENCY[column.term_frequency] if column.compare else Phrase("not compared"),
        )
        for name, column in links.spec.columns.items()
    ]
    return Table(
        Phrase("Compared columns"),
        (Phrase("Column"), Phrase("Kind"), Phrase("Rare values count more")),
        rows,
    )


def rules(links: Links) -> Table:
    """Blocking rules, and the pairs that each makes."""
    words = (
        [rule.rule for rule in links.model.rules]
        if links.spec.splink is not None
        else [listed(rule) for rule in links.spec.blocking]
    )
    pairs = (count(rule.pairs) for rule in links.model.rules)
    return Table(
        Phrase("Blocking rules: two records are compared if they agree on all parts of one rule"),
        (Phrase("Rule"), Phrase("Pairs that no rule before it makes")),
        list(zip(words, pairs, strict=True)),
        1,
        code=True,
    )


def levels(links: Links) -> Table:
    """Comparison levels and their weights."""
    rows = [
        (
            each.comparison,
            (each.label, Phrase("adjusted by the value’s frequency") if each.by_frequency else ""),
            number(each.m),
            number(each.u),
            times(each.weight),
        )
        for each in links.model.weights
    ]
    heads = (Phrase("Comparison"), Phrase("Level"), "m", "u", Phrase("Times as frequent"))
    return Table(Phrase("Comparison levels"), heads, rows, 3)


def looked_at(looked: Inspection) -> list[Table]:
    """People to look at: those of most records, and those who hang on one pair."""
    sizes = ("records", "sources", "likely_pairs", "chained_pairs")
    largest = [(each["person"], *(count(each[size]) for size in sizes)) for each in looked.largest]
    heads = (
        Phrase("Person"),
        Phrase("Records"),
        Phrase("Sources"),
        Phrase("Likely pairs"),
        Phrase("Pairs that others hold together"),
    )
    bridges = [(each["pair"], each["person"], count(each["parts"])) for each in looked.bridges]
    tables = (
        Table(Phrase("The people with most records"), heads, largest, 4, code=True),
        Table(
            Phrase("Pairs without which a person falls in two"),
            (Phrase("Pair"), Phrase("Person"), Phrase("Records of the smaller part")),
            bridges,
            1,
            code=True,
        ),
    )
    return [each for each in tables if each.rows]


def contradictions(decisions: Mapping[str, Any]) -> Table:
    """Decisions that cannot all be true, of what `to_json` says of them."""
    rows = [
        (
            each["different"] or Phrase("one record per person in the table"),
            ", ".join(each["same"]),
        )
        for each in decisions["contradictions"]
    ]
    heads = (Phrase("Called different"), Phrase("Called same"))
    return Table(Phrase("Decisions that cannot all be true"), heads, rows)


def matched(links: EncodedLinks) -> Table:
    """Sources with encodings that were compared."""
    rows = []
    for each in links.matched:
        drawn = each.pairs.blocking
        together = Phrase("all")
        if drawn is not None:
            together = Phrase(
                "those that agree in all of {bits} places of the encoding, drawn at random "
                "{tables} times",
                bits=drawn.bits,
                tables=drawn.tables,
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
    heads = (
        Phrase("Sources"),
        Phrase("Brought together"),
        Phrase("Pairs of records"),
        Phrase("Pairs kept"),
    )
    similar = Phrase("Dice similarity of matches, from")
    return Table(Phrase("Sources with encodings that were compared"), (*heads, similar), rows, 3)


def times(bits: float) -> str:
    """How many times as many a weight stands for."""
    size = large(2 ** abs(bits))
    return Listed(("÷" if bits < 0 and size != "1" else "×", size), " ")


def odds(bits: float) -> str:
    """The odds that a weight stands for."""
    size = large(2 ** abs(bits))
    return Listed(("1", size) if bits < 0 else (size, "1"), " : ")


def with_odds(score: float) -> str:
    """A score and its odds."""
    if not 0 < score < 1:
        return number(score)
    of = score / (1 - score)
    said = Listed((large(of, 3), "1") if of >= 1 else ("1", large(1 / of, 3)), " : ")
    return Phrase("{score} ({odds})", score=number(score), odds=said)


def large(value: float, digits: int = 2) -> str:
    """A number of some digits, with a word for its size."""
    # Rounded first: what rounds to a million is one.
    value = float(f"{value:.{digits}g}")
    scale = next((each for each in LARGE if value >= each), 1.0)
    shown = value / scale
    told = Figure(f"{shown:,.0f}" if shown >= 10 else f"{shown:g}")
    return Phrase(LARGE[scale].message, number=told) if scale in LARGE else told
