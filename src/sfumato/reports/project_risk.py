"""What a project's report says of risk: promises, thresholds, before and after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sfumato.core.measure import is_estimate
from sfumato.core.phrases import Phrase
from sfumato.release.promises import PROMISES, restored
from sfumato.release.promises.shared_events import KnownEvents
from sfumato.reports.audience import (
    AVERAGE,
    FEWEST,
    MAXIMUM,
    Discretion,
    disclosed_measure,
    measure_kind,
)
from sfumato.reports.printed_numbers import COUNT, height, printed
from sfumato.reports.project_results import ASSESS, RELEASE, ProjectResults
from sfumato.reports.promise_words import bounded
from sfumato.risk.measure_table import IN_POPULATION, MEANINGS
from sfumato.risk.risk_thresholds import KINDS, Part

_WORST = Phrase("worst class")
GAPS = {
    "attack": Phrase(
        "No attack was simulated: the numbers of this report were not put to the test. A section "
        "[attack] in the project file does it."
    ),
    "population": Phrase(
        "Nothing is known of the population behind the data, so the file is taken as its own. "
        "That overstates the risk from an intruder who does not know who is in it."
    ),
    "membership": Phrase(
        "Membership was not measured: no register of the population was given. The intruders "
        "above are taken to know who is in the file."
    ),
    "linkage": Phrase("Nothing was linked."),
}
"""What was not measured, in the words of every report of a project."""
_GROUPS = {
    Phrase("Can a person be found?"): (
        "prosecutor",
        "marketer",
        "records_at_risk",
        "sample_uniques",
        "pid_k",
    ),
    Phrase("Whose record is it?"): ("max_gidr", "avg_gidr", "g_balance"),
    Phrase("Can a person be found whose exact number of records is known, too?"): (
        "max_count_risk",
        "avg_count_risk",
        "exposed_persons",
    ),
    Phrase("Can a person of a household be found?"): (
        "max_household_risk",
        "avg_household_risk",
        "households_at_risk",
    ),
}
_SENSITIVE = ("max_gsar", "avg_gsar", "l_distinct", "t_closeness")
_ESTIMATED = (
    "journalist",
    "marketer",
    "population_average_risk",
    "population_records_at_risk",
    "expected_uniques",
    "unique_matches",
)
_PRESENCE = ("presence_low", "presence_high")
_MEANINGS = MEANINGS | {
    "pid_k": Phrase("people in the class with fewest people"),
    "max_gsar": Phrase("largest share of one class’s people with the same value (GSAR)"),
    "avg_gsar": Phrase(
        "share of a class’s people with its most shared value, averaged over classes"
    ),
    "records_at_risk": Phrase("records with a risk above"),
    "exposed_persons": Phrase("people who are alone in their class with their number of records"),
    "avg_count_risk": Phrase("the same chance, averaged over people"),
    "avg_gidr": Phrase("the same share, averaged over classes"),
}


def promises(results: ProjectResults, show: Discretion) -> list[dict[str, Any]]:
    """What was promised, one line for each promise and sensitive attribute."""
    asked = results.stages[RELEASE].about.get("asked", ())
    return [_promise(each, results, show) for each in asked]


def _promise(asked: Mapping[str, Any], results: ProjectResults, show: Discretion) -> dict[str, Any]:
    name, attribute, limit = asked["name"], asked.get("attribute") or "", asked.get("threshold")
    promise = restored({**asked.get("parameters", {}), "name": name}) if name in PROMISES else None
    measured = results.measured(RELEASE)
    measure = "" if promise is None else promise.measure
    if isinstance(promise, KnownEvents):
        value = promise.among(measured["known_events"])
        reached = show.chance(value, promise.risk) if promise.k else show.mean(value)
    elif measure and KINDS[measure].part in (Part.PRESENCE, Part.POPULATION):
        value = measured.get("population", {}).get(measure)
        reached = disclosed_measure(measure, value, measured, show)
    else:
        value = _of_attribute(measured, measure, attribute)
        reached = disclosed_measure(measure, value, measured, show)
    says = "" if promise is None else promise.sentence(attribute)
    kind = measure_kind(measure)
    return {
        "name": name,
        "attribute": attribute or None,
        "says": says or Phrase("A promise of the custodian’s own."),
        "over": AVERAGE if kind.over == AVERAGE else _WORST,
        "bound": "" if promise is None else promise.bound,
        "limit": limit,
        "scale": kind.scale,
        "reached": reached,
        "met": bool(asked["met"]),
        "promised": bool(asked.get("promised", True)),
        "reason": results.reasons.get(name),
    }


def thresholds(results: ProjectResults, show: Discretion) -> list[dict[str, Any]]:
    """The thresholds that the project file names, and how the release stands to them."""
    measured = results.measured(RELEASE)
    return [_threshold(each, measured, show) for each in measured.get("thresholds", ())]


def practice(results: ProjectResults, show: Discretion) -> list[dict[str, Any]]:
    """Thresholds in use elsewhere, and how the release stands to them."""
    measured = results.measured(RELEASE)
    return [
        {
            "source": each["source"],
            "says": each["says"],
            "evidence": each["evidence"],
            "held": [
                _threshold(one, measured, show)
                for one in each["held"]
                if not _tells_more(one, show)
            ],
        }
        for each in results.stages[RELEASE].about.get("practice", ())
    ]


def _tells_more(held: Mapping[str, Any], show: Discretion) -> bool:
    """Whether keeping a threshold tells more of a small class than its size is told by."""
    kind = measure_kind(held["measure"])
    if not show.is_public or kind.over != MAXIMUM:
        return False
    return bool(held["limit"] < FEWEST if kind.scale == COUNT else held["limit"] > 1 / FEWEST)


def _threshold(
    held: Mapping[str, Any], measured: Mapping[str, Any], show: Discretion
) -> dict[str, Any]:
    value = {key: held.get(key) for key in ("value", "low", "high", "estimator")}
    plain = held["value"] if held.get("estimator") is None else value
    name = held["measure"]
    return {
        "preset": held["preset"],
        "source": held["source"],
        "evidence": held["evidence"],
        "measure": name,
        "attribute": held.get("attribute") or None,
        "bound": held["bound"],
        "limit": held["limit"],
        "scale": measure_kind(name).scale,
        "value": disclosed_measure(name, plain, measured, show),
        "met": bool(held["met"]),
        "promised": not is_estimate(held.get("estimator")),
        "met_over_interval": held.get("met_over_interval"),
    }


def limit_words(line: Mapping[str, Any]) -> str:
    """The limit of a line of `promises` or `thresholds` as people read it."""
    if line["limit"] is None:
        return ""
    return bounded(line["bound"], printed(line["limit"], line["scale"]))


def risk_groups(results: ProjectResults, show: Discretion) -> list[dict[str, Any]]:
    """Groups of measures, each before and after; after is empty for a release on request."""
    before, after = results.before, results.after
    groups = []
    for title, names in _GROUPS.items():
        lines = _lines(names, before, after, show)
        for line in lines:
            if line["name"] == "records_at_risk":
                line["above"] = (after or before).get("threshold")
        if lines:
            groups.append({"title": title, "lines": lines})
    return groups


def sensitive_groups(results: ProjectResults, show: Discretion) -> list[dict[str, Any]]:
    """What can be learned of a person: one group for each sensitive attribute, the worst first."""
    groups = [
        {
            "attribute": name,
            "lines": [
                _line(measure, results.before, results.after, show, name) for measure in _SENSITIVE
            ],
        }
        for name in results.schema["sensitive"]
    ]
    # By what is told: an order by exact numbers would tell more outside.
    return sorted(groups, key=_shared, reverse=True)


def _shared(group: Mapping[str, Any]) -> list[tuple[float, int]]:
    """The largest and the mean share of one value in a class of the release."""
    return [
        height(line["before"] if line["after"] is None else line["after"])
        for line in group["lines"][:2]
    ]


def population_risk(results: ProjectResults, show: Discretion) -> dict[str, Any] | None:
    """Risks in the population that the data comes from; ``None`` where nothing is known of it."""
    before, against = results.measured(ASSESS), results.measured(RELEASE).get("population", {})
    # With a register `population` of the assessment is its size as well.
    persons = before.get("population") or against.get("persons")
    known = before if "population_average_risk" in before else {}
    of_release = {"marketer": against["marketer"]} if "marketer" in against else {}
    if persons is None or not (known or of_release):
        return None
    return {
        "population": show.count(persons),
        "of_release": bool(of_release),
        "lines": _lines(_ESTIMATED, known, of_release, show),
    }


def membership(results: ProjectResults, show: Discretion) -> list[dict[str, Any]]:
    """How surely somebody of a register is in the file, where a register was given."""
    before, after = results.measured(ASSESS), results.measured(RELEASE).get("population", {})
    return _lines(_PRESENCE, before, after, show)


def _lines(
    names: Iterable[str], before: Mapping[str, Any], after: Mapping[str, Any], show: Discretion
) -> list[dict[str, Any]]:
    """One line for each of the measures that was made of one of the two files."""
    return [_line(name, before, after, show) for name in names if name in before or name in after]


def _line(
    name: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    show: Discretion,
    attribute: str = "",
) -> dict[str, Any]:
    estimate = isinstance(before.get(name), dict) and not attribute
    meaning = IN_POPULATION.get(name) if estimate else None
    kind = measure_kind(name)
    values = [_of_attribute(each, name, attribute) for each in (before, after)]
    return {
        "name": name,
        "means": meaning or _MEANINGS[name],
        "over": kind.over,
        "scale": kind.scale,
        "measured": any(each is not None for each in values),
        "before": disclosed_measure(name, values[0], before, show),
        "after": disclosed_measure(name, values[1], after, show),
    }


def _of_attribute(measured: Mapping[str, Any], name: str, attribute: str) -> Any:
    """A measure of a sensitive attribute, whether one or several were measured."""
    value = measured.get(name)
    if isinstance(value, dict) and "value" not in value:
        return value.get(attribute)
    return value
