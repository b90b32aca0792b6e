"""What could go wrong with a release, in a few sentences, whether or not a promise covers it."""

from __future__ import annotations

from typing import Any

from sfumato.reports.numbers import listed
from sfumato.reports.project.discretion import Internal
from sfumato.reports.project.measures import told_measure
from sfumato.reports.project.results import ProjectResults
from sfumato.reports.project.risk import before_and_after
from sfumato.reports.project.text import SHARE, at_most, is_small, some, told
from sfumato.reports.project.variables import INSENSITIVE, schema_of


def wrong_of(content: dict[str, Any], results: ProjectResults, show: Internal) -> list[str]:
    """The largest residual risks.

    Parameters
    ----------
    content
        The other parts of the report.
    results
        What the project found.
    show
        How numbers are told.
    """
    if content["request"] is not None:
        said = _on_request(content["request"])
    else:
        said = [*_found(content, results, show), *_learned(content)]
    said += _unchanged(content)
    if content["linkage"] is not None:
        said.append(_joined(content["linkage"]))
    return [*said, *_not_looked_at(content), *_attacked(content)]


def _found(content: dict[str, Any], results: ProjectResults, show: Internal) -> list[str]:
    before, after = before_and_after(results)

    def measure(name: str, of: Any = after) -> Any:
        return told_measure(name, of[name], of, show)

    schema = schema_of(results)
    known = listed(tuple(schema["quasi_identifiers"]))
    first = (
        f"Somebody who knows that a person is in the file, and {known} of that person exactly, "
        f"finds the person with a chance of {at_most(measure('prosecutor'))} "
        f"({told(measure('prosecutor', before), SHARE)} before the release); averaged over "
        f"everybody, {told(measure('marketer'), SHARE)}."
    )
    said = [first]
    if schema["person"]:
        said.append(
            f"In the class that is worst off, {told(measure('max_gidr'), SHARE)} of the records "
            "are one person’s: whoever names that person for one of them is right that often."
        )
    if after["exposed_persons"] > 0:
        covered = any(each["name"] == "shared_counts" for each in content["promises"])
        note = "" if covered else " No promise covers this."
        said.append(
            "Somebody who also knows how many records the person has finds "
            f"{told(measure('exposed_persons'), SHARE)} of the people for certain.{note}"
        )
    return said


def _learned(content: dict[str, Any]) -> list[str]:
    said = []
    for group in content["sensitive"]:
        highest = next(line["after"] for line in group["lines"] if line["name"] == "max_gsar")
        said.append(
            f"One may learn {group['attribute']} without finding a record: in the class that is "
            f"worst off, {told(highest, SHARE)} of the people share a value."
        )
    return said


def _unchanged(content: dict[str, Any]) -> list[str]:
    names = tuple(each["name"] for each in content["variables"] if each["role"] == INSENSITIVE)
    if not names:
        return []
    said = (
        f"{listed(names)} {'is' if len(names) == 1 else 'are'} released unchanged: whoever knows "
        "that of a person can narrow the search further, which is not measured."
    )
    return [said]


def _joined(linkage: dict[str, Any]) -> str:
    checked = all(each["checked"] for each in linkage["quality"])
    by = {each["name"]: each["checked" if checked else "expected"] for each in linkage["quality"]}
    how = "by people’s checks" if checked else "expected by its model, and not checked by people"
    return (
        "Records of different people may be joined, or of one person left apart: "
        f"{told(by['precision'], SHARE)} of the links are right and {told(by['recall'], SHARE)} of "
        f"those that should be there are ({how})."
    )


def _not_looked_at(content: dict[str, Any]) -> list[str]:
    review = content["review"]
    if review is None or review["by"] != "simulated":
        return []
    return ["Nobody looked at the doubtful pairs of records: a simulated worker answered."]


def _attacked(content: dict[str, Any]) -> list[str]:
    attack = content["attack"]
    if attack is None or not attack["exposed"] or is_small(attack["exposed"]):
        return []
    said = (
        f"An attack made {some(attack['exposed'], 'right guess', 'right guesses')} of which it was "
        f"surer than {told(attack['threshold'], SHARE)}."
    )
    return [said]


def _on_request(request: dict[str, Any]) -> list[str]:
    risk, left = told(request["risk"], SHARE), request["associations_open"]
    said = [f"Averaged over the linked people, a reader finds a person with a chance of {risk}."]
    if request["exposed"] and not is_small(request["exposed"]):
        said.append(
            f"Earlier releases alone leave {some(request['exposed'], 'person', 'persons')} below "
            "k; this one does not make it worse."
        )
    if left:
        which = "1 association waits" if left == 1 else f"{left} associations wait"
        said.append(
            f"{which} for a decision although a reader could infer from "
            f"{'it' if left == 1 else 'them'}: nothing is promised against that."
        )
    return said
