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
from sfumato.core.number_text import counted, share_text
from sfumato.core.phrases import Listed, Phrase, Plural, Sentence, listed
from sfumato.core.signatures import Decision
from sfumato.reports import dossier_items as told
from sfumato.reports.audience import Audience, Discretion
from sfumato.reports.dossier_items import ASSUMED, GAP, MEASURED, NONE, Item, Made
from sfumato.reports.printed_numbers import sentence
from sfumato.reports.project_page import draw_version
from sfumato.reports.project_results import ProjectResults
from sfumato.reports.project_verdict import accepted_words, role_of
from sfumato.risk.verdict import THE

_CONTROLS = ("contract", "means", "training", "security", "retention", "incidents")
_SAYS = Phrase("as the project file says")
_STATED = {
    "recipients": Phrase("Recipients"),
    "purpose": Phrase("Purpose"),
    "controls": Phrase("Controls"),
    "context": Phrase("Context"),
}
"""What the project file says of a release."""
_DECISIONS = {
    Decision.RELEASED: Phrase("Released"),
    Decision.REFUSED: Phrase("Refused"),
}
"""What was decided, as it begins a sentence."""


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
        Phrase("Recipient and context"): _context(made),
        Phrase("Every variable"): told.variables(made),
        Phrase("Intruders and attacks"): told.attacks(made),
        Phrase("Limits and promises"): told.limits(made),
        Phrase("Risk before and after"): told.risk(made),
        Phrase("Singling out, linkability, inference"): told.three_questions(made),
        Phrase("Attributes and membership"): told.attributes(made),
        Phrase("Detail lost and records left out"): told.loss(made),
        Phrase("Linkage and review"): told.linkage(made),
        Phrase("Assumptions and limitations"): _assumptions(made),
        Phrase("Signature and review date"): _signature(made),
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
        many = counted(len(others), "other recipient")
        if not made.show.is_public:
            many = Phrase("{many}: {names}", many=many, names=listed(others))
        yield Phrase("This release was handed over to {many}.", many=many)
    if signed and signed["decision"] == Decision.REFUSED:
        yield Phrase(
            "Refused by {by} on {time}.",
            by=role_of(signed["by"], made.show),
            time=signed["time"][:10],
        )
    elif signed and not made.report["verdict"]["ready"]:
        yield Phrase("It was signed on {time}, before this verdict.", time=signed["time"][:10])


def _rows(made: Made) -> list[Mapping[str, Any]]:
    """The rows of the verdict, as it has them."""
    return list((made.results.verdict or {}).get("rows", ()))


def _recipient(made: Made) -> Iterator[str]:
    """What the recipient finds with all that left, and what that was."""
    who = Phrase("The recipient") if made.show.is_public else Sentence("{begin}", begin=made.to)
    row, handed = made.row("recipient"), made.results.handed
    if row.get("found"):
        limit = share_text((made.results.verdict or {})["limits"]["found"])
        yield Phrase(
            "{who} finds {share} of {people} (limit {limit}): {state}. Highest chance for one "
            "person: {person}.",
            who=who,
            share=row["found"],
            people=made.people,
            limit=limit,
            state=row["said"],
            person=row["person"],
        )
    else:
        said = Phrase("Not measured: what the recipient finds with all that left.")
        yield Listed((said, *row.get("notes", ())), " ")
    if handed is None:
        yield Phrase("Not measured: what left before. No ledger remembers it.")
        return
    others = handed["others"]
    left = sum(not each["compared"] for each in others)
    if not others:
        yield Phrase("No other release was handed over.")
    elif left:
        yield Plural(
            "{n} other release was handed over; {left} of them not compared.",
            "{n} other releases were handed over; {left} of them not compared.",
            len(others),
            n=len(others),
            left=left,
        )
    else:
        yield Plural(
            "{n} other release was handed over.",
            "{n} other releases were handed over.",
            len(others),
            n=len(others),
        )
    if not made.show.is_public:
        yield from (Phrase("Not known: {what}.", what=each) for each in handed["unknown"])


def _context(made: Made) -> Iterator[Item]:
    context, handed = made.report["context"], made.results.handed
    if not is_known(made.results, made.to):
        yield Item(
            Phrase("Recipient"),
            Phrase("Not known: the ledger and [dossier] do not have the name."),
            GAP,
        )
    for name, title in _STATED.items():
        yield told.given(title, context[name], told.key(name, "project"), _SAYS)
    if request := made.report["request"]:
        asked = Phrase(
            "As {role}, for linkage {linkage}, k = {k}.",
            role=request["role"],
            linkage=request["linkage"],
            k=request["k"],
        )
        yield Item(Phrase("Request"), asked, ASSUMED, Phrase("as the rules of a policy allow"))
    if handed is None:
        yield Item(Phrase("Hand-over"), Phrase("Not noted: no ledger remembers the release."), GAP)
    else:
        when = (
            Phrase("On {day}.", day=handed["handed"][:10])
            if handed["handed"]
            else Phrase("Not yet.")
        )
        yield Item(Phrase("Hand-over"), when, MEASURED, Phrase("noted in the ledger"))
    yield Item(
        Phrase("Other ledgers"), Phrase("Not known: releases that left without this ledger."), GAP
    )
    yield from (told.stated(made, name) for name in _CONTROLS)


def _assumptions(made: Made) -> Iterator[Item]:
    linked = ((made.results.verdict or {}).get("linkage") or {}).get("accepted")
    accepted = [one for row in _rows(made) for one in row.get("accepted", ())]
    alike: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for each in [*accepted, *([linked] if linked else [])]:
        alike.setdefault((each["by"], each["because"], each["until"]), []).append(each)
    for every in alike.values():
        names = Listed(each["column"] or THE[each["intruder"]] for each in every)
        yield Item(Phrase("Accepted"), accepted_words(every[0], names, made.show), ASSUMED)
    for each in made.results.expired:
        who, what = role_of(each["by"], made.show), each["column"] or THE[each["intruder"]]
        said = f"{what}: accepted by {who} until {each['until']}."
        yield Item(Phrase("Acceptance expired"), said, GAP)
    for each in (made.results.handed or {}).get("waived", ()):
        if made.show.is_public:  # names of people and of recipients
            said, how = Phrase("The custodian waived a comparison with what left."), ""
        else:
            said, how = (
                Listed((each["waived"], f"{each['note']}."), ": "),
                Phrase("by {who}, {day}", who=each["by"], day=each["time"][:10]),
            )
        yield Item(Phrase("Not compared"), said, ASSUMED, how)
    if not alike:
        yield Item(Phrase("Accepted"), Phrase("Nothing above a limit is accepted."), NONE)
    for each in made.report["manifest"]["warnings"]:
        yield Item(Phrase("Warning"), sentence(each["says"]), MEASURED, Phrase("noted by the run"))
    for point in made.report["assumptions"]:
        yield Item(
            point["title"], point["text"], ASSUMED, Phrase("taken for granted by every number")
        )
    for point in made.report["limits"]:
        yield Item(point["title"], Phrase("Not measured: {text}", text=point["text"]), GAP)


def _signature(made: Made) -> Iterator[Item]:
    signed = (made.results.handed or {}).get("signed")
    if signed is None:
        yield Item(Phrase("Signature"), Phrase("Not signed: sfumato sign."), GAP)
    else:
        said = Phrase(
            "{decision}, by {who}.",
            decision=_DECISIONS.get(signed["decision"], signed["decision"]),
            who=role_of(signed["by"], made.show),
        )
        yield Item(
            Phrase("Signature"),
            said,
            ASSUMED,
            Phrase("noted in the ledger on {time}", time=signed["time"][:10]),
        )
        if signed.get("to") not in (made.to, "", None):
            whom = Phrase("another recipient") if made.show.is_public else signed["to"]
            said = Phrase("Not signed for this recipient: it is for {whom}.", whom=whom)
            yield Item(Phrase("Signature for the recipient"), said, GAP)
    day = made.report["context"]["review_date"]
    if day and day < made.report["report"]["date"]:
        yield Item(
            Phrase("To be reviewed on"),
            Phrase("Not reviewed since: it was due on {day}.", day=day),
            GAP,
        )
    else:
        yield told.given(
            Phrase("To be reviewed on"), day, told.key("review_date", "project"), _SAYS
        )
    if not made.show.is_public:
        sha256 = made.report["manifest"]["release_sha256"]
        kind, how = (MEASURED, Phrase("of the file as it was written")) if sha256 else (GAP, "")
        yield Item(Phrase("Released file (SHA-256)"), sha256 or Phrase("Not noted."), kind, how)
