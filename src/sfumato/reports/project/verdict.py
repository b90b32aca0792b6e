"""The first page: what was released, to whom, under which promise, and what could go wrong."""

from __future__ import annotations

from typing import Any

from sfumato.core.measure import ESTIMATED
from sfumato.reports.numbers import listed
from sfumato.reports.project.discretion import Internal
from sfumato.reports.project.promises import limit_of
from sfumato.reports.project.results import ProjectResults
from sfumato.reports.project.text import some
from sfumato.reports.project.variables import QUASI, schema_of
from sfumato.reports.project.wrong import wrong_of

QUESTIONS = (
    "What was released",
    "To whom, and for what",
    "Under which promise",
    "What could go wrong",
)
_UNSAID = "The project file does not say"


def verdict_of(content: dict[str, Any], results: ProjectResults, show: Internal) -> dict[str, Any]:
    """The verdict and its four answers.

    Parameters
    ----------
    content
        The other parts of the report.
    results
        What the project found.
    show
        How numbers are told.
    """
    met = _is_met(content)
    return {
        "met": met,
        "promised": all(each["promised"] for each in _limits(content)),
        "headline": _headline(content),
        "answers": dict(
            zip(
                QUESTIONS,
                (
                    _released(content, results),
                    _to_whom(content),
                    _promised(content),
                    wrong_of(content, results, show),
                ),
                strict=True,
            )
        ),
    }


def _is_met(content: dict[str, Any]) -> bool:
    attack, request = content["attack"], content["request"]
    kept = all(each["met"] for each in _limits(content))
    if request is not None:
        kept = request["kept"]
    return kept and (attack is None or not attack["caught"])


def _limits(content: dict[str, Any]) -> list[dict[str, Any]]:
    return [*content["promises"], *content["thresholds"]]


def _estimated(limits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that only an estimate of the population keeps."""
    return [each for each in limits if each["met"] and not each["promised"]]


def _headline(content: dict[str, Any]) -> str:
    promises, attack, request = content["promises"], content["attack"], content["request"]
    estimated = _estimated(_limits(content))
    promises = [each for each in promises if each not in estimated]
    kept = sum(each["met"] for each in promises)
    if request is not None:
        said = f"The release keeps what the policy’s rules require: k = {request['k']}"
        if not request["kept"]:
            said = f"The release does not keep what the policy’s rules require: k = {request['k']}"
    elif not promises:
        said = "The release promises nothing"
    elif kept == len(promises):
        said = f"The release keeps {_all(kept)}"
    else:
        said = f"The release keeps {kept} of {len(promises)} promises"
    failed = sum(not each["met"] for each in content["thresholds"])
    if failed:
        said += f"; {failed} of {len(content['thresholds'])} thresholds {_are(failed)} not met"
    if estimated:
        said += f"; {ESTIMATED}: {listed(_names(estimated))}"
    if attack is None:
        return f"{said}. No attack on it was simulated."
    if attack["broken"]:
        made = f"{attack['broken']} of {attack['attacks']}"
        return f"{said}. {made} attacks found more than predicted."
    if attack["caught"]:
        return f"{said}. An attack found persons whom it was sure of."
    return f"{said}. None of {attack['attacks']} simulated attacks found more than predicted."


def _names(limits: list[dict[str, Any]]) -> tuple[str, ...]:
    """Of each the name of a promise, or the measure of a threshold, once."""
    return tuple(dict.fromkeys(each.get("name") or each["measure"] for each in limits))


def _all(kept: int) -> str:
    return "its promise" if kept == 1 else f"all {kept} of its promises"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _released(content: dict[str, Any], results: ProjectResults) -> list[str]:
    changes, schema = content["changes"], schema_of(results)
    records = some(changes["records"], "record", "records")
    persons = some(changes["persons"], "person", "persons")
    sources = content["sources"]["sources"]
    linked = f", linked from {len(sources)} sources" if len(sources) > 1 else ""
    said = [f"A file of {records} about {persons}{linked}."]
    quasi = tuple(schema["quasi_identifiers"])
    if quasi:
        said.append(f"What others may know of a person is made coarser: {listed(quasi)}.")
    kept = (*schema["sensitive"], *schema["insensitive"])
    if kept:
        said.append(f"As in the original: {listed(kept)}.")
    direct = tuple(schema["direct_identifiers"])
    if direct:
        said.append(f"Removed: {listed(direct)}.")
    if schema["person"]:
        said.append("A pseudonym says which records are of one person.")
    out = changes["suppressed_records"]
    if out is not None:
        said.append("No record was left out." if out == 0 else _left_out(out))
    return said


def _left_out(out: Any) -> str:
    was = "was" if out == 1 else "were"
    return f"{some(out, 'record', 'records').capitalize()} {was} left out."


def _to_whom(content: dict[str, Any]) -> list[str]:
    context, request = content["context"], content["request"]
    said = []
    if context["recipients"]:
        said.append(f"To {context['recipients']}.")
    if request is not None:
        who = request["requester"] or "Somebody"
        said.append(f"{who} asked as {request['role']}, for {request['purpose'] or 'any purpose'}.")
    if not said:
        said.append(f"{_UNSAID} to whom; whoever signs has to add it.")
    if context["purpose"]:
        said.append(f"For {context['purpose']}.")
    elif request is None:
        said.append(f"{_UNSAID} for what.")
    if context["controls"]:
        said.append(f"Controls: {context['controls']}.")
    else:
        said.append("No controls are named: read the numbers as if an attack were certain.")
    return [each.replace("..", ".") for each in said]


def _promised(content: dict[str, Any]) -> list[str]:
    request = content["request"]
    if request is not None:
        names = listed(tuple(each["name"] for each in request["databases"]))
        promise = (
            f"Every record matches at least {request['k']} individuals of {names}, whatever a "
            "reader infers from the accepted associations."
        )
        return [promise]
    quasi = [each["name"] for each in content["variables"] if each["role"] == QUASI]
    said = []
    if quasi:
        said.append(f"A class is all records that show the same {listed(tuple(quasi))}.")
    for each in content["promises"]:
        word = "" if each["met"] else " This is not kept."
        if each["met"] and not each["promised"]:
            word = f" This is {ESTIMATED}."
        said.append(f"{_in_short(each)}{word}")
    return [*said, *_held(content["thresholds"])]


def _in_short(promise: dict[str, Any]) -> str:
    """A promise without the formula of its measure, which stands further back."""
    says: str = promise["says"]
    if promise["name"] != "g_balance" or promise["limit"] is None:
        return says
    least = says.partition(". ")[2]
    return f"No person’s records dominate a class (g-balance {limit_of(promise)}). {least}".strip()


def _held(thresholds: list[dict[str, Any]]) -> list[str]:
    """Thresholds of others: all that are met in a sentence, each of the others in one."""
    failed = [each for each in thresholds if not each["met"]]
    estimated = _estimated(thresholds)
    sources = {each["source"] for each in (*failed, *estimated)}
    others = (each["source"] for each in thresholds if each["source"] not in sources)
    met = tuple(dict.fromkeys(others))
    said = [f"That meets the thresholds of {listed(met)}."] if met else []
    return said + [
        f"{word}: {each['source']}, {each['measure']} {limit_of(each)}."
        for word, several in (("Not met", failed), (ESTIMATED.capitalize(), estimated))
        for each in several
    ]
