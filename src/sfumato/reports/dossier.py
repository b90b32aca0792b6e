"""The dossier for one recipient of a release: under each heading numbers, assumptions and gaps.

Its headings are those that regulators expect. Every number is one of the project's report, told to
an audience as there; here it gets its denominator and its method, and what is missing gets a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sfumato.core.errors import InputError
from sfumato.core.number_text import share_text
from sfumato.core.signatures import Decision
from sfumato.reports import dossier_items as told
from sfumato.reports.audience import Audience, Discretion
from sfumato.reports.dossier_items import ASSUMED, GAP, MEASURED, NONE, Item, Made
from sfumato.reports.printed_numbers import listed, sentence
from sfumato.reports.project_page import draw_version
from sfumato.reports.project_results import ProjectResults
from sfumato.reports.project_verdict import accepted_words, role_of

_CONTROLS = ("contract", "means", "training", "security", "retention", "incidents")
_SAYS = "as the project file says"


def is_known(results: ProjectResults, recipient: str) -> bool:
    """Whether the ledger or ``[dossier]`` names a recipient: else the name may be mistyped."""
    handed = results.handed or {}
    others = [to for each in handed.get("others", ()) for to in each["to"]]
    signed = (handed.get("signed") or {}).get("to")
    return bool(handed.get("handed")) or recipient in (*results.stated, *others, signed)


def without_name(results: ProjectResults, recipient: str) -> ProjectResults:
    """The results with the custodian's own words as the public version has them.

    Where they name the recipient they say so in general.
    """
    if told.is_blank(recipient):
        return results
    name = re.compile(rf"(?<!\w){re.escape(recipient.strip())}(?!\w)", re.IGNORECASE)

    def hidden(words: Any) -> Any:
        if isinstance(words, Mapping):
            return {key: hidden(each) for key, each in words.items()}
        return name.sub("[recipient]", words) if isinstance(words, str) else words

    def accepted(each: Mapping[str, Any]) -> dict[str, Any]:
        return {**each, **hidden({key: each[key] for key in ("by", "because")})}

    verdict = None
    if results.verdict is not None:
        rows = [
            {**row, "accepted": [accepted(each) for each in row.get("accepted", ())]}
            for row in results.verdict["rows"]
        ]
        linked = dict(results.verdict.get("linkage") or {})
        if linked.get("accepted"):
            linked["accepted"] = accepted(linked["accepted"])
        verdict = {**results.verdict, "rows": rows, "linkage": linked or None}
    return replace(
        results,
        name=hidden(results.name),
        context=hidden(results.context),
        reasons=hidden({**results.schema["accepted"], **results.reasons}),
        verdict=verdict,
        expired=[accepted(each) for each in results.expired],
    )


def dossier_content(
    report: Mapping[str, Any], results: ProjectResults, recipient: str
) -> dict[str, Any]:
    """The dossier as plain values.

    Parameters
    ----------
    report
        The report of the project for the same audience, as `project_content` gives it.

    Raises
    ------
    InputError
        If the recipient has no name.
    """
    if told.is_blank(recipient):
        raise InputError("recipient", "must name who gets the release", found="nothing")
    made = Made(report, results, recipient, Discretion(Audience(report["report"]["audience"])))
    headings = {
        "Recipient and context": _context(made),
        "Every variable": told.variables(made),
        "Intruders and attacks": told.attacks(made),
        "Limits and promises": told.limits(made),
        "Risk before and after": told.risk(made),
        "Singling out, linkability, inference": told.three_questions(made),
        "Attributes and membership": told.attributes(made),
        "Detail lost and records left out": told.loss(made),
        "Linkage and review": told.linkage(made),
        "Assumptions and limitations": _assumptions(made),
        "Signature and review date": _signature(made),
    }
    items = {title: [each._asdict() for each in every] for title, every in headings.items()}
    kinds = [each["kind"] for every in items.values() for each in every]
    return {
        "report": {**report["report"], "about": "dossier"},
        "recipient": "" if made.show.is_public else recipient,
        "verdict": _first_page(made),
        "others": [] if made.show.is_public else (results.handed or {}).get("others", []),
        "counted": {kind: kinds.count(kind) for kind in (MEASURED, ASSUMED, GAP)},
        "headings": items,
    }


def draw_dossier(content: Mapping[str, Any]) -> str:
    """The dossier, self-contained and printable."""
    return draw_version("dossier.html", content, GAP=GAP)


def _first_page(made: Made) -> dict[str, Any]:
    """The first page of the report, with what the recipient finds and holds.

    Who accepts what stands under the assumptions.
    """
    first = {name: each for name, each in made.report["verdict"].items() if name != "answers"}
    first["sentences"] = [*_standing(made), *first["sentences"], *_recipient(made)]
    accepted = {each["intruder"]: len(each.get("accepted", ())) for each in _rows(made)}
    first["rows"] = []
    for row in made.report["verdict"]["rows"]:
        intruder = row["intruder"].lower()
        notes = row["notes"][: len(row["notes"]) - accepted[intruder]]
        # What the recipient holds is said above the rows: it may be less than all that left.
        held = intruder == "recipient" and row["found"]
        first["rows"].append({**row, "notes": [] if held else notes})
    return first


def _standing(made: Made) -> Iterator[str]:
    """What was decided and done of this release before: it may be for others, or no longer hold."""
    handed = made.results.handed or {}
    others, signed = handed.get("elsewhere", ()), handed.get("signed")
    if others:
        names = "" if made.show.is_public else f": {listed(others)}"
        many = "1 other recipient" if len(others) == 1 else f"{len(others)} other recipients"
        yield f"This release was handed over to {many}{names}."
    if signed and signed["decision"] == Decision.REFUSED:
        yield f"Refused by {role_of(signed['by'], made.show)} on {signed['time'][:10]}."
    elif signed and not made.report["verdict"]["ready"]:
        yield f"It was signed on {signed['time'][:10]}, before this verdict."


def _rows(made: Made) -> list[Mapping[str, Any]]:
    """The rows of the verdict, as it has them."""
    return list((made.results.verdict or {}).get("rows", ()))


def _recipient(made: Made) -> Iterator[str]:
    """What the recipient finds with all that left, and what that was."""
    who = "The recipient" if made.show.is_public else f"{made.to[:1].upper()}{made.to[1:]}"
    row, handed = made.row("recipient"), made.results.handed
    if row.get("found"):
        limit = share_text((made.results.verdict or {})["limits"]["found"])
        yield (
            f"{who} finds {row['found']} of {made.people} (limit {limit}): {row['said']}. Highest "
            f"chance for one person: {row['person']}."
        )
    else:
        why = " ".join(row.get("notes", ()))
        yield f"Not measured: what the recipient finds with all that left. {why}".strip()
    if handed is None:
        yield "Not measured: what left before. No ledger remembers it."
        return
    others = handed["others"]
    many = f"{len(others)} other releases were" if len(others) > 1 else "1 other release was"
    left = sum(not each["compared"] for each in others)
    not_compared = f"; {left} of them not compared" if left else ""
    yield f"{many if others else 'No other release was'} handed over{not_compared}."
    if not made.show.is_public:
        yield from (f"Not known: {each}." for each in handed["unknown"])


def _context(made: Made) -> Iterator[Item]:
    context, handed = made.report["context"], made.results.handed
    if not is_known(made.results, made.to):
        yield Item("Recipient", "Not known: the name is in neither ledger nor [dossier].", GAP)
    for name in ("recipients", "purpose", "controls", "context"):
        yield told.given(name.capitalize(), context[name], f"{name} under [project]", _SAYS)
    if request := made.report["request"]:
        asked = f"As {request['role']}, for linkage {request['linkage']}, k = {request['k']}."
        yield Item("Request", asked, ASSUMED, "as the rules of a policy allow")
    if handed is None:
        yield Item("Hand-over", "Not noted: no ledger remembers the release.", GAP)
    else:
        when = f"on {handed['handed'][:10]}" if handed["handed"] else "not yet"
        yield Item("Hand-over", f"{when.capitalize()}.", MEASURED, "noted in the ledger")
    yield Item("Other ledgers", "Not known: releases that left without this ledger.", GAP)
    yield from (told.stated(made, name) for name in _CONTROLS)


def _assumptions(made: Made) -> Iterator[Item]:
    linked = ((made.results.verdict or {}).get("linkage") or {}).get("accepted")
    accepted = [one for row in _rows(made) for one in row.get("accepted", ())]
    alike: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for each in [*accepted, *([linked] if linked else [])]:
        alike.setdefault((each["by"], each["because"], each["until"]), []).append(each)
    for every in alike.values():
        names = [each["column"] or each["intruder"] for each in every]
        yield Item("Accepted", accepted_words(every[0], ", ".join(names), made.show), ASSUMED)
    for each in made.results.expired:
        who, what = role_of(each["by"], made.show), each["column"] or each["intruder"]
        said = f"{what}: accepted by {who} until {each['until']}."
        yield Item("Acceptance expired", said, GAP)
    for each in (made.results.handed or {}).get("waived", ()):
        if made.show.is_public:  # names of people and of recipients
            said, how = "The custodian waived a comparison with what left.", ""
        else:
            said, how = (
                f"{each['waived']}: {each['note']}.",
                f"by {each['by']}, {each['time'][:10]}",
            )
        yield Item("Not compared", said, ASSUMED, how)
    if not alike:
        yield Item("Accepted", "Nothing above a limit is accepted.", NONE)
    for each in made.report["manifest"]["warnings"]:
        yield Item("Warning", sentence(each["says"]), MEASURED, "noted by the run")
    for point in made.report["assumptions"]:
        yield Item(point["title"], point["text"], ASSUMED, "taken for granted by every number")
    for point in made.report["limits"]:
        yield Item(point["title"], f"Not measured: {point['text']}", GAP)


def _signature(made: Made) -> Iterator[Item]:
    signed = (made.results.handed or {}).get("signed")
    if signed is None:
        yield Item("Signature", "Not signed: sfumato sign.", GAP)
    else:
        said = f"{signed['decision'].capitalize()}, by {role_of(signed['by'], made.show)}."
        yield Item("Signature", said, ASSUMED, f"noted in the ledger on {signed['time'][:10]}")
        if signed.get("to") not in (made.to, "", None):
            whom = "another recipient" if made.show.is_public else signed["to"]
            said = f"Not signed for this recipient: it is for {whom}."
            yield Item("Signature for the recipient", said, GAP)
    day = made.report["context"]["review_date"]
    if day and day < made.report["report"]["date"]:
        yield Item("To be reviewed on", f"Not reviewed since: it was due on {day}.", GAP)
    else:
        yield told.given("To be reviewed on", day, "review_date under [project]", _SAYS)
    if not made.show.is_public:
        sha256 = made.report["manifest"]["release_sha256"]
        kind, how = (MEASURED, "of the file as it was written") if sha256 else (GAP, "")
        yield Item("Released file (SHA-256)", sha256 or "Not noted.", kind, how)
