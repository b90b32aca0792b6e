"""The first page: what was released, to whom, under which promise, and what could go wrong."""

from __future__ import annotations

from typing import Any

from sfumato.core.measure import ESTIMATED
from sfumato.release.history_utility import DIVIDED, UNCHANGED
from sfumato.release.lost_columns import nothing_left
from sfumato.release.promises import PROMISES
from sfumato.reports.audience import Discretion, disclosed_measure
from sfumato.reports.printed_numbers import SHARE, at_most, is_small, listed, printed, some
from sfumato.reports.project_results import INSENSITIVE, QUASI, RELEASE, ProjectResults
from sfumato.reports.project_risk import limit_words

QUESTIONS = (
    "What was released",
    "To whom, and for what",
    "Under which promise",
    "What could go wrong",
)
_UNSAID = "The project file does not say"


def first_page(
    content: dict[str, Any], results: ProjectResults, show: Discretion
) -> dict[str, Any]:
    """The verdict and its four answers."""
    answers = (
        _released(content, results),
        _to_whom(content),
        _promised(content),
        _residual_risks(content, results, show),
    )
    lost = results.measured(RELEASE).get("lost", ())
    hidden = {each["column"]: each["hidden"] for each in lost}
    return {
        "met": _is_met(content),
        "promised": all(each["promised"] for each in _limits(content)),
        "headline": f"{nothing_left(hidden)}{_headline(content)}",
        "answers": dict(zip(QUESTIONS, answers, strict=True)),
    }


def _is_met(content: dict[str, Any]) -> bool:
    attack, request = content["attack"], content["request"]
    kept = all(each["met"] for each in _limits(content))
    # On request the rules decide, and there are no promises of one's own.
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
    # What only an estimate keeps is told apart, and is not counted as kept.
    promises = [each for each in promises if each not in estimated]
    kept = sum(each["met"] for each in promises)
    if request is not None:
        said = f"The release keeps what the policy’s rules require: k = {request['k']}"
        if not request["kept"]:
            said = f"The release does not keep what the policy’s rules require: k = {request['k']}"
    elif not promises:
        said = "The release promises nothing"
    elif kept == len(promises):
        whole = "its promise" if kept == 1 else f"all {kept} of its promises"
        said = f"The release keeps {whole}"
    else:
        said = f"The release keeps {kept} of {len(promises)} promises"
    failed = sum(not each["met"] for each in content["thresholds"])
    if failed:
        verb = "is" if failed == 1 else "are"
        said += f"; {failed} of {len(content['thresholds'])} thresholds {verb} not met"
    if estimated:
        said += f"; {ESTIMATED}: {listed(_names(estimated))}"
    if attack is None:
        return f"{said}. No attack on it was simulated."
    if attack["broken"]:
        made = f"{attack['broken']} of {attack['attacks']}"
        return f"{said}. {made} attacks found more than predicted."
    if attack["caught"]:
        exceeded = [each["criterion"] for each in attack["verdict"] if _is_exceeded(each)]
        return f"{said}. Attacks found more than is tolerable: {listed(exceeded)}."
    return f"{said}. None of {attack['attacks']} simulated attacks found more than predicted."


def _is_exceeded(criterion: dict[str, Any]) -> bool:
    return bool(criterion["verdict"] == "exceeded")


def _names(limits: list[dict[str, Any]]) -> tuple[str, ...]:
    """Of each the name of a promise, or the measure of a threshold, once."""
    return tuple(dict.fromkeys(each.get("name") or each["measure"] for each in limits))


def _released(content: dict[str, Any], results: ProjectResults) -> list[str]:
    changes, schema = content["changes"], results.schema
    records = some(changes["records"], "record", "records")
    persons = some(changes["persons"], "person", "persons")
    sources = content["sources"]["sources"]
    linked = f", linked from {len(sources)} sources" if len(sources) > 1 else ""
    said = [f"A file of {records} about {persons}{linked}."]
    quasi = list(schema["quasi_identifiers"])
    if quasi:
        said.append(f"What others may know of a person is made coarser: {listed(quasi)}.")
    others = [*schema["sensitive"], *schema["insensitive"]]
    done = {each["name"]: each["done"] for each in content["variables"]}
    kept = [name for name in others if done[name] == UNCHANGED]
    if kept:
        said.append(f"As in the original: {listed(kept)}.")
    said += [
        f"Of {name}, which an intruder may know, the release says: {done[name]}."
        for name in others
        if name not in kept
    ]
    if schema["direct_identifiers"]:
        said.append(f"Removed: {listed(schema['direct_identifiers'])}.")
    if schema["person"]:
        said.append(
            "A person has one pseudonym or several, which do not say that they are one person’s."
            if done[schema["person"]] == DIVIDED
            else "A pseudonym says which records are of one person."
        )
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
    # What the project file says may end with a full stop already.
    return [each.replace("..", ".") for each in said]


def _promised(content: dict[str, Any]) -> list[str]:
    request = content["request"]
    if request is not None:
        names = listed([each["name"] for each in request["databases"]])
        promise = (
            f"Every record matches at least {request['k']} individuals of {names}, whatever a "
            "reader infers from the accepted associations."
        )
        return [promise]
    quasi = [each["name"] for each in content["variables"] if each["role"] == QUASI]
    said = []
    if quasi:
        said.append(f"A class is all records that show the same {listed(quasi)}.")
    for each in content["promises"]:
        word = "" if each["met"] else " This is not kept."
        if each["met"] and not each["promised"]:
            word = f" This is {ESTIMATED}."
        said.append(f"{_in_short(each)}{word}")
    return [*said, *_threshold_sentences(content["thresholds"])]


def _in_short(promise: dict[str, Any]) -> str:
    """A promise without the formula of its measure, which stands further back."""
    says: str = promise["says"]
    words = PROMISES.get(promise["name"])
    if words is None or not words.in_short or promise["limit"] is None:
        return says
    rest = says.partition(". ")[2]
    return str(words.in_short.format(limit=limit_words(promise), rest=rest)).strip()


def _threshold_sentences(thresholds: list[dict[str, Any]]) -> list[str]:
    """Thresholds of others: all that are met in a sentence, each of the others in one."""
    failed = [each for each in thresholds if not each["met"]]
    estimated = _estimated(thresholds)
    # A source is met only if all of its thresholds are.
    sources = {each["source"] for each in (*failed, *estimated)}
    others = (each["source"] for each in thresholds if each["source"] not in sources)
    met = tuple(dict.fromkeys(others))
    said = [f"That meets the thresholds of {listed(met)}."] if met else []
    return said + [
        f"{word}: {each['source']}, {each['measure']} {limit_words(each)}."
        for word, several in (("Not met", failed), (ESTIMATED.capitalize(), estimated))
        for each in several
    ]


def _residual_risks(
    content: dict[str, Any], results: ProjectResults, show: Discretion
) -> list[str]:
    """What could go wrong, whether or not a promise covers it."""
    if content["request"] is not None:
        said = _request_risks(content["request"])
    else:
        said = [*_can_be_found(content, results, show), *_known_events(results)]
        said += _can_be_learned(content)
    said += _released_unchanged(content, results)
    if content["linkage"] is not None:
        said.append(_wrong_links(content["linkage"]))
    return [*said, *_unreviewed(content), *_attack_succeeded(content)]


def _can_be_found(content: dict[str, Any], results: ProjectResults, show: Discretion) -> list[str]:
    before, after = results.before, results.after

    def measure(name: str, of: Any = after) -> Any:
        return disclosed_measure(name, of[name], of, show)

    known = listed(list(results.schema["quasi_identifiers"]))
    first = (
        f"Somebody who knows that a person is in the file, and {known} of that person exactly, "
        f"finds the person with a chance of {at_most(measure('prosecutor'))} "
        f"({printed(measure('prosecutor', before), SHARE)} before the release); averaged over "
        f"everybody, {printed(measure('marketer'), SHARE)}."
    )
    said = [first]
    if results.schema["person"]:
        said.append(
            f"In the class that is worst off, {printed(measure('max_gidr'), SHARE)} of the records "
            "are one person’s: whoever names that person for one of them is right that often."
        )
    if after["exposed_persons"] > 0:
        covered = any(
            each["name"] in PROMISES and "count_k" in PROMISES[each["name"]].measures
            for each in content["promises"]
        )
        note = "" if covered else " No promise covers this."
        said.append(
            "Somebody who also knows how many records the person has finds "
            f"{printed(measure('exposed_persons'), SHARE)} of the people for certain.{note}"
        )
    return said


def _known_events(results: ProjectResults) -> list[str]:
    """What somebody finds who knows two events of a person, too."""
    told = results.after.get("known_events", ())
    two = next((each for each in told if (each["m"], each["drawn"]) == (2, "random")), None)
    if two is None:
        return []
    columns = results.after["events"]["columns"]
    say = f"{listed(columns)} of a record {'says' if len(columns) == 1 else 'say'}"
    said = (
        f"Somebody who also knows two events of a person (what {say}) finds "
        f"{printed(two['found'], SHARE)} of the people and learns more of "
        f"{printed(two['learned'], SHARE)}; of the people who have most events, more."
    )
    if not results.after["events"]["named"]:
        said += " Nobody has named the events that may be known, and no promise covers this."
    return [said]


def _can_be_learned(content: dict[str, Any]) -> list[str]:
    said = []
    for group in content["sensitive"]:
        highest = next(line["after"] for line in group["lines"] if line["name"] == "max_gsar")
        said.append(
            f"One may learn {group['attribute']} without finding a record: in the class that is "
            f"worst off, {printed(highest, SHARE)} of the people share a value."
        )
    return said


def _released_unchanged(content: dict[str, Any], results: ProjectResults) -> list[str]:
    told = results.after.get("events", {}).get("columns", ())
    names = [
        each["name"]
        for each in content["variables"]
        if each["role"] == INSENSITIVE and each["name"] not in told
    ]
    if not names:
        return []
    said = (
        f"{listed(names)} {'is' if len(names) == 1 else 'are'} released unchanged: whoever knows "
        "that of a person can narrow the search further, which is not measured."
    )
    return [said]


def _wrong_links(linkage: dict[str, Any]) -> str:
    by = {each["name"]: each["released"] for each in linkage["quality"]}
    if by["precision"] is None or by["recall"] is None:
        return (
            "How many records of different people are joined, or of one person left apart, was not "
            "measured."
        )
    return (
        "Records of different people may be joined, or of one person left apart: "
        f"{printed(by['precision'], SHARE)} of the links in the release are right, and "
        f"{printed(by['recall'], SHARE)} of those that should be there are "
        "(estimated after review)."
    )


def _unreviewed(content: dict[str, Any]) -> list[str]:
    review = content["review"]
    if review is None or review["by"] != "simulated":
        return []
    return ["Nobody looked at the doubtful pairs of records: a simulated worker answered."]


def _attack_succeeded(content: dict[str, Any]) -> list[str]:
    attack = content["attack"]
    # Fewer than ten, as the public is told, may be none.
    if attack is None or not attack["exposed"] or is_small(attack["exposed"]):
        return []
    said = (
        f"An attack made {some(attack['exposed'], 'right guess', 'right guesses')} of which it was "
        f"surer than {printed(attack['threshold'], SHARE)}."
    )
    return [said]


def _request_risks(request: dict[str, Any]) -> list[str]:
    risk, left = printed(request["risk"], SHARE), request["associations_open"]
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
