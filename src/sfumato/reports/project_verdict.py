"""The first page of a project's report: the verdict, the four intruders, what goes out and to whom.

The rows are those of `sfumato.risk.verdict`: here they are only laid out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sfumato.core.measure import ESTIMATED
from sfumato.core.number_text import share_text
from sfumato.release.history_utility import DIVIDED, UNCHANGED
from sfumato.release.lost_columns import nothing_left
from sfumato.reports.audience import Discretion
from sfumato.reports.printed_numbers import SHARE, height, is_small, listed, named, printed, some
from sfumato.reports.project_results import NOTHING, RELEASE, REMOVED, UNTOLD, ProjectResults
from sfumato.risk.verdict import State

_WORST = 3
"""Columns that are named, those that lose most."""
_UNSAID = "The project file does not say"
_KNOWS = {
    "stranger": "Has a register with everybody’s {exact}.",
    "acquaintance": "Knows that the person is in the file, the exact {exact}, and roughly the "
    "number of records (1, 2, 3–4, 5–9, 10–19, …).",
    "insider": "An acquaintance who also knows two values of one column. Each column is tried; the "
    "worst that is not accepted counts{column}.",
    "recipient": "An acquaintance who also has every earlier release.",
}
"""What each intruder knows."""


def first_page(
    content: dict[str, Any], results: ProjectResults, show: Discretion
) -> dict[str, Any]:
    """The verdict, its rows, and what stands below them."""
    lost = results.measured(RELEASE).get("lost", ())
    hidden = nothing_left({each["column"]: each["hidden"] for each in lost})
    verdict = results.verdict
    answers = {
        "What is released": _released(content, results),
        "To whom, and for what": _to_whom(content),
        "How it was checked": _checked(content, results, show),
        "What was not measured": _not_measured(content, results),
    }
    if verdict is None:
        return {
            "ready": False,
            "state": None,
            "headline": f"{hidden}Do not release yet: what intruders find was not measured.",
            "sentences": [],
            "limits": "",
            "people": "",
            "rows": [],
            "helps": [],
            "answers": answers,
        }
    limits = verdict["limits"]
    # The headline has exact shares, the public table below it coarse ones.
    headline = verdict["outline" if show.is_public else "headline"]
    return {
        "ready": verdict["ready"],
        "state": verdict["state"],
        "headline": f"{hidden}{headline}",
        "sentences": [] if show.is_public else verdict["sentences"][:2],
        "limits": f"Limits: {limits['preset']}, at most {share_text(limits['found'])} of people "
        f"found, {share_text(limits['person'])} for one person, {share_text(limits['learned'])} "
        "learned. A row is above if one of its three numbers is.",
        "people": some(content["changes"]["persons"], "person", "people"),
        "rows": [_row(each, verdict, results, show) for each in verdict["rows"]],
        "helps": [] if show.is_public else [each.replace("->", "→") for each in verdict["next"]],
        "answers": answers,
    }


def _row(
    row: Mapping[str, Any], verdict: Mapping[str, Any], results: ProjectResults, show: Discretion
) -> dict[str, Any]:
    """An intruder: what is known, what is found, and what it comes from."""
    exact = listed(list(results.schema["quasi_identifiers"])) or "record"
    column = f": {row['column']}" if "column" in row else ""
    told = {
        "intruder": row["intruder"].capitalize(),
        "knows": _KNOWS[row["intruder"]].format(exact=exact, column=column),
        "state": row["state"],
        "said": row["said"],
        "found": None,
        "ends": None,
        "person": None,
        "learned": None,
        "notes": [] if show.is_public and "found" in row else [f"{row['why'].capitalize()}."],
    }
    if "column" in row and not show.is_public:
        told["notes"] = [f"{row['why'][0].upper()}{row['why'][1:]}."]
    told["notes"] += [
        accepted_words(each, each["column"] or "This", show) for each in row.get("accepted", ())
    ]
    if "found" not in row:
        return told
    shares = {"found": row["found"], "person": row["person"], "learned": _learned(row)}
    for name, share in shares.items():
        if share is None:
            continue
        limit = verdict["limits"][name]
        coarse = show.chance if name == "person" else show.mean
        told[name] = (
            printed(coarse(share["value"]), SHARE)
            if show.is_public
            else share_text(share["value"], limit)
        )
    low, high = (share_text(row["found"][end]).removesuffix(" %") for end in ("low", "high"))
    if low != high and not show.is_public:
        told["ends"] = f"{low} – {high}"
    return told


def accepted_words(acceptance: Mapping[str, Any], what: str, show: Discretion) -> str:
    """Who answers for something, until when and why."""
    who = role_of(acceptance["by"], show)
    return f"{what} is accepted by {who} until {acceptance['until']}: “{acceptance['because']}”."


def role_of(by: str, show: Discretion) -> str:
    """Who answers: outside the role alone, which stands before the bracket with the name."""
    if not show.is_public:
        return by
    role, bracket, _ = by.partition("(")
    return role.strip() if bracket and role.strip() else "a named person"


def _learned(row: Mapping[str, Any]) -> Mapping[str, float] | None:
    """The most that is learned of a sensitive column."""
    every = [each[name] for each in row["learned"] for name in ("beyond", "certain")]
    return max(every, key=lambda each: float(each["high"]), default=None)


def _checked(content: dict[str, Any], results: ProjectResults, show: Discretion) -> list[str]:
    """Promises, attacks and the quality of the linkage, in a line each."""
    request, said = content["request"], []
    if request is not None:
        names = listed([each["name"] for each in request["databases"]])
        said.append(
            f"Every record matches at least {request['k']} people of {names}, whatever a "
            "reader infers from the accepted associations."
        )
        said += _request_risks(request)
    elif content["promises"]:
        promises = content["promises"]
        kept = sum(promise["met"] and promise["promised"] for promise in promises)
        said.append(f"Promises: {kept} of {len(promises)} kept.{_estimated(promises)}")
    failed = [each for each in content["thresholds"] if not each["met"]]
    if content["thresholds"]:
        whole = len(content["thresholds"])
        said.append(
            f"Thresholds: {whole - len(failed)} of {whole} met.{_estimated(content['thresholds'])}"
        )
    said.append(_attacked(content["attack"]))
    said += [content["attack"]["most"]] if content["attack"] and content["attack"]["most"] else []
    if content["linkage"] is not None:
        said.append(_wrong_links(content["linkage"]))
        accepted = ((results.verdict or {}).get("linkage") or {}).get("accepted")
        said += [] if accepted is None else [accepted_words(accepted, "This", show)]
    review = content["review"]
    if review is not None and review["by"] == "simulated":
        said.append("A simulated worker answered the doubtful pairs; no person looked at them.")
    return said


def _not_measured(content: dict[str, Any], results: ProjectResults) -> list[str]:
    """What a reader might take for measured; nothing stands for nothing known."""
    attack, linkage = content["attack"], content["linkage"]
    said = []
    for row in (results.verdict or {}).get("rows", ()):
        if row["state"] == State.DOES_NOT_APPLY:
            continue
        if "found" not in row:
            said.append(f"What the {row['intruder']} finds and learns.")
        elif content["sensitive"] and not row.get("learned"):
            said.append(f"What the {row['intruder']} learns of a sensitive value.")
    if attack is None and not content["request"]:
        said.append("What attacks find: none was simulated.")
    if attack is not None and attack["unpredicted"]:
        said.append(f"Predictions of {attack['unpredicted']} of {attack['attacks']} attacks.")
    if linkage is not None and any(each["released"] is None for each in linkage["quality"]):
        said.append("The quality of the linkage.")
    said += ["The population behind the data."] if content["estimated"] is None else []
    said += [] if content["membership"] else ["How surely it can be learned who is in the file."]
    said.append("What intruders find with other knowledge, or by attacks that were not tried.")
    return said


def _estimated(limits: list[dict[str, Any]]) -> str:
    """Those that only an estimate of the population keeps."""
    found = [limit for limit in limits if limit["met"] and not limit["promised"]]
    names = tuple(dict.fromkeys(each.get("name") or each["measure"] for each in found))
    return f" {ESTIMATED.capitalize()}: {listed(names)}." if found else ""


def _attacked(attack: Mapping[str, Any] | None) -> str:
    """How many simulated attacks there were, and whether one beat its prediction."""
    return "No attack was simulated." if attack is None else str(attack["sentence"])


def _released(content: dict[str, Any], results: ProjectResults) -> list[str]:
    changes, schema = content["changes"], results.schema
    records = some(changes["records"], "record", "records")
    persons = some(changes["persons"], "person", "people")
    sources = content["sources"]["sources"]
    linked = f", linked from {len(sources)} sources" if len(sources) > 1 else ""
    said = [f"A file of {records} about {persons}{linked}."]
    quasi = list(schema["quasi_identifiers"])
    if quasi:
        said.append(f"Made coarser: {named(quasi)}, which others may know of a person.")
    others = [*schema["sensitive"], *schema["insensitive"]]
    done = {each["name"]: each["done"] for each in content["variables"]}
    ways: dict[str, list[str]] = {}
    for name in others:
        ways.setdefault(done[name], []).append(name)
    for how, names in ways.items():
        if how == UNCHANGED:
            said.append(f"As in the original: {named(names)}.")
        elif how == NOTHING:
            said.append(f"Without any value: {named(names)}.")
        elif how == UNTOLD:
            said.append(f"Not measured how cells are written: {named(names)}.")
        elif how != REMOVED:
            said.append(f"Changed, as an intruder may know it: {named(names)} ({how}).")
    removed = [name for name, how in done.items() if how == REMOVED]
    if removed:
        said.append(f"Removed: {named(removed)}.")  # the table of columns names them all
    if schema["person"] and schema["person"] not in removed:
        said.append(
            "A person has one pseudonym or several, which do not say that they are one person’s."
            if done[schema["person"]] == DIVIDED
            else "A pseudonym says which records are of one person."
        )
    out = changes["suppressed_records"]
    if out is not None:
        said.append("No record was left out." if out == 0 else _left_out(out))
    return [*said, *_lost(changes)]


def lost_most(changes: Mapping[str, Any]) -> str:
    """The quasi-identifiers that lose most, with what they lose."""
    worst = sorted(changes["columns"], key=lambda each: height(each["ncp"]), reverse=True)
    return listed(
        [f"{each['name']} {printed(each['ncp'], SHARE)}" for each in worst[:_WORST] if each["ncp"]]
    )


def _lost(changes: Mapping[str, Any]) -> Iterator[str]:
    """What the release costs, and in which quasi-identifiers most."""
    if changes["detail_lost"] is None:
        return
    columns = lost_most(changes)
    yield (
        f"Detail lost: {printed(changes['detail_lost'], SHARE)}; in quasi-identifiers alone "
        f"{printed(changes['ncp'], SHARE)}{f', most in {columns}' if columns else ''}."
    )


def _left_out(out: Any) -> str:
    was = "was" if out == 1 else "were"
    return f"{some(out, 'record', 'records').capitalize()} {was} left out."


def _to_whom(content: dict[str, Any]) -> list[str]:
    context, request = content["context"], content["request"]
    said = []
    if context["recipients"]:
        said.append(f"To {context['recipients']}.")
    if request is not None:
        who = request["requester"] or "A requester without a name"
        said.append(f"{who} asked as {request['role']}, for {request['purpose'] or 'any purpose'}.")
    if not said:
        said.append(f"{_UNSAID} who gets it; the one who signs has to add it.")
    if context["purpose"]:
        said.append(f"For {context['purpose']}.")
    elif request is None:
        said.append(f"{_UNSAID} for what.")
    if context["controls"]:
        said.append(f"Controls: {context['controls']}.")
    else:
        said.append("No controls are stated. The limits for a public release apply.")
    # What the project file says may end with a full stop already.
    return [each.replace("..", ".") for each in said]


def _wrong_links(linkage: dict[str, Any]) -> str:
    by = {each["name"]: each["released"] for each in linkage["quality"]}
    if by["precision"] is None or by["recall"] is None:
        return (
            "How many records of different people are joined, or of one person left apart, was not "
            "measured."
        )
    return (
        "Records of different people may be joined, or of one person left apart. "
        f"{printed(by['precision'], SHARE)} of the links in the release are right, and "
        f"{printed(by['recall'], SHARE)} of those that should be there are found "
        "(estimated after review)."
    )


def _request_risks(request: dict[str, Any]) -> list[str]:
    risk, left = printed(request["risk"], SHARE), request["associations_open"]
    said = [f"Averaged over the linked people, a reader finds a person with a chance of {risk}."]
    if request["exposed"] and not is_small(request["exposed"]):
        said.append(
            f"Earlier releases alone leave {some(request['exposed'], 'person', 'people')} below "
            "k; this one does not make it worse."
        )
    if left:
        which = "1 association waits" if left == 1 else f"{left} associations wait"
        said.append(
            f"{which} for a decision although a reader could infer from "
            f"{'it' if left == 1 else 'them'}: nothing is promised against that."
        )
    return said
