"""The tables of measures, original beside release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sfumato.core.measure import Measure
from sfumato.reports.asked import Asked
from sfumato.reports.numbers import count, measured, percent, place
from sfumato.risk.disclosure_risk import Risk, SensitiveRisk
from sfumato.risk.measure_table import IN_POPULATION, MEANINGS
from sfumato.risk.measure_table import minimal_unique_meaning as minimal_words
from sfumato.risk.measure_table import recursive_meaning as recursive_words

BY_RECORDS = "_by_records"


@dataclass(frozen=True, slots=True)
class Cell:
    """A printed value and the place it comes from."""

    value: str
    where: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a table of measures.

    Attributes
    ----------
    name
        Name of the measure, as in the code, the docs and the command line.
    meaning
        What it means, in plain words.
    cells
        One for each file: the original and the release, or the assessed file alone.
    held
        What it is held against, or an empty text.
    met
        Whether the last file keeps that; ``None`` where there is nothing to keep.
    asked
        Whether what it is held against was asked of the release, or is for orientation.
    """

    name: str
    meaning: str
    cells: tuple[Cell, ...]
    held: str = ""
    met: bool | None = None
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Lines of a table under one heading."""

    title: str
    note: str
    lines: tuple[Line, ...]


Asks = Mapping[tuple[str, str], Asked]


def risk_groups(risks: Sequence[Risk], asks: Asks) -> list[Group]:
    """The measures of whole files, grouped by the question that they answer.

    Parameters
    ----------
    risks
        The original and the release, or the assessed file alone.
    asks
        What was asked, by name and attribute.
    """
    return [
        Group(
            "How large are the classes?",
            "",
            (
                *(_counted(name, risks, asks) for name in ("records", "persons", "classes")),
                *(_counted(name, risks, asks) for name in ("k", "pid_k")),
                _counted("sample_uniques", risks, asks),
                _counted("sample_unique_records", risks, asks),
            ),
        ),
        Group(
            "Whose record is it? (several records per person)",
            "",
            (
                _of("g_balance", risks, asks, share=False),
                _of("max_gidr", risks, asks),
                _of("avg_gidr", risks, asks),
            ),
        ),
        Group(
            "Can a person be found? (counting persons)",
            "",
            tuple(_of(name, risks, asks) for name in _REIDENTIFICATION),
        ),
        Group(
            "The same, by somebody who also knows how many records the person has",
            "Kartal & Li 2016: records are counted in the class, under one pseudonym. Without "
            "that knowledge the same numbers are pid_k, sample_uniques, prosecutor and marketer.",
            (
                _counted("count_k", risks, asks, "shared_counts"),
                *(
                    _of(name, risks, asks)
                    for name in ("exposed_persons", "max_count_risk", "avg_count_risk")
                ),
            ),
        ),
        Group(
            "The same counting records, as tools do that know no persons",
            "These understate the risk where people have several records.",
            tuple(_by_records(name, risks) for name in _REIDENTIFICATION),
        ),
        *_households(risks),
        *_special_uniques(risks[-1]),
        *_presence(risks[-1]),
    ]


def sensitive_groups(risks: Sequence[Risk], asks: Asks) -> list[Group]:
    """The measures of each sensitive attribute, one group per attribute."""
    return [Group(name, "", tuple(_attribute(name, risks, asks))) for name in risks[-1].sensitive]


_REIDENTIFICATION = ("prosecutor", "journalist", "marketer", "average_risk", "records_at_risk")


def _households(risks: Sequence[Risk]) -> list[Group]:
    own = [risk.household for risk in risks if risk.household is not None]
    if len(own) < len(risks):
        return []
    cells = tuple(Cell(count(each.households)) for each in own)
    lines = [Line("households", MEANINGS["households"], cells)]
    for name in ("max_household_risk", "avg_household_risk", "households_at_risk"):
        measures = [getattr(each, name) for each in own]
        found = tuple(_cell(measure, True) for measure in measures)
        lines.append(Line(name, MEANINGS[name], found, *_oriented(measures[-1])))
    note = "As if persons were found independently of each other."
    return [Group("Can somebody of a household be found?", note, tuple(lines))]


def _special_uniques(risk: Risk) -> list[Group]:
    own = risk.special_uniques
    if own is None:
        return []
    score = Cell(
        count(own.highest_suda_score), place(own.highest_where[0][0] if own.highest_where else None)
    )
    lines = [
        Line("special_uniques", MEANINGS["special_uniques"], (Cell(count(own.special_uniques)),)),
        *(
            Line(f"minimal_uniques_{k}", minimal_words(k), (Cell(count(n)),))
            for k, n in own.minimal_uniques.items()
        ),
        Line("highest_suda_score", MEANINGS["highest_suda_score"], (score,)),
    ]
    most = max(own.contribution, key=own.contribution.__getitem__)
    note = (
        f"The column “{most}” is part of {percent(own.contribution[most])} of the scores of all "
        "combinations (SUDA, Elliot et al. 2002)."
    )
    return [Group("Who stands out by few quasi-identifiers already?", note, tuple(lines))]


def _presence(risk: Risk) -> list[Group]:
    own = risk.presence
    if own is None:
        return []
    lines = [
        Line(name, MEANINGS[name], (Cell(count(getattr(own, name))),))
        for name in ("population", "strangers")
    ]
    lines[1:1] = [
        Line(one.name, MEANINGS[one.name], (_cell(one, True),))
        for one in (own.presence_low, own.presence_high)
    ]
    note = "δ-presence (Nergiz et al. 2007), among people who agree on all quasi-identifiers."
    return [Group("Who of the population is in the file?", note, tuple(lines))]


def _counted(name: str, risks: Sequence[Risk], asks: Asks, constraint: str = "") -> Line:
    cells = tuple(
        Cell(count(getattr(risk, name)), place(getattr(risk, f"{name}_where", None)))
        for risk in risks
    )
    return Line(name, MEANINGS[name], cells, *_held(asks.get((constraint or name, ""))))


def _of(name: str, risks: Sequence[Risk], asks: Asks, *, share: bool = True) -> Line:
    measures = [getattr(risk, name) for risk in risks]
    asked = asks.get((name, ""))
    held = _held(asked) if asked else _oriented(measures[-1])
    meaning = MEANINGS[name]
    if risks[-1].population is not None:
        meaning = IN_POPULATION.get(name, meaning)
    if name == "records_at_risk":
        meaning = f"{meaning} of {percent(risks[-1].threshold)}"
    return Line(name, meaning, tuple(_cell(each, share) for each in measures), *held)


def _by_records(name: str, risks: Sequence[Risk]) -> Line:
    measures = [getattr(risk.by_records, name) for risk in risks]
    cells = tuple(_cell(each, True) for each in measures)
    return Line(name + BY_RECORDS, f"{MEANINGS[name]}, counting records", cells)


def _attribute(name: str, risks: Sequence[Risk], asks: Asks) -> list[Line]:
    own = [risk.sensitive[name] for risk in risks]
    distinct = tuple(Cell(count(each.l_distinct), place(each.l_distinct_where)) for each in own)
    far = ["t_closeness"]
    if all(each.t_closeness_ordered is not None for each in own):
        far.append("t_closeness_ordered")
    return [
        _spread("h_affiliation", own, True, asks.get(("h_affiliation", name))),
        _spread("avg_gsar", own, True, None),
        Line("l_distinct", MEANINGS["l_distinct"], distinct, *_held(asks.get(("l", name)))),
        _spread("l_entropy", own, False, None),
        *(_recursive(l, own) for l in sorted(own[-1].recursive)),  # noqa: E741
        *(_spread(each, own, False, asks.get((each, name))) for each in far),
    ]


def _spread(name: str, own: Sequence[SensitiveRisk], share: bool, asked: Asked | None) -> Line:
    cells = tuple(_cell(getattr(each, name), share) for each in own)
    return Line(name, MEANINGS[name], cells, *_held(asked))


def _recursive(l: int, own: Sequence[SensitiveRisk]) -> Line:  # noqa: E741
    cells = tuple(_cell(each.recursive[l], False) for each in own)
    return Line(f"recursive_{l}", recursive_words(l), cells)


def _cell(measure: Measure, share: bool) -> Cell:
    return Cell(measured(measure, share), place(measure.where))


def _held(asked: Asked | None) -> tuple[str, bool | None, bool]:
    if asked is None:
        return "", None, False
    return f"{asked.bound} {asked.threshold}", asked.met, True


def _oriented(measure: Measure) -> tuple[str, bool | None, bool]:
    if measure.threshold is None:
        return "", None, False
    return f"at most {percent(measure.threshold)}", measure.met, False
