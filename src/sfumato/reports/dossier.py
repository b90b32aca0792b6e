"""The dossier for one recipient of a release: under each heading numbers, assumptions and gaps.

Its headings are those that regulators expect. Every number is one of the project's report, told to
an audience as there; here it gets its denominator and its method, and what is missing gets a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple

from sfumato.core.errors import InputError
from sfumato.core.measure import is_estimate
from sfumato.core.signatures import Decision
from sfumato.release.history_utility import UNCHANGED
from sfumato.reports import project_results
from sfumato.reports.audience import AVERAGE, MAXIMUM, WHOLE, Audience, Discretion
from sfumato.reports.printed_numbers import (
    COUNT,
    NUMBER,
    SHARE,
    fill_template,
    listed,
    plain_number,
    printed,
)
from sfumato.reports.project_results import STATED, UNDECIDED, ProjectResults
from sfumato.reports.project_risk import GAPS, limit_words
from sfumato.reports.project_verdict import accepted_words, role_of
from sfumato.risk.verdict import PRESETS, Limits, limits_of, share_text

MEASURED, ASSUMED, GAP, NONE = "measured", "assumed", "gap", "does not apply"
"""What stands behind an item."""
_WORST = 3
"""Sensitive columns, and columns by detail lost, that have an item of their own."""
_CONTROLS = ("contract", "means", "training", "security", "retention", "incidents")
_SAYS = "as the project file says"
_METHODS = {
    MAXIMUM: "counted, the worst {classes}",
    AVERAGE: "counted, mean over {people} released",
    WHOLE: "counted, {records} of {people} released",
}
_LOSSES = {
    "ncp": "Detail lost: values that a released cell may stand for, share of its column’s",
    "query_error": "Relative error of random range counts, median",
    "correlation_change": "Change of the correlation of two columns, mean",
}


class Item(NamedTuple):
    """A line of the dossier.

    Attributes
    ----------
    how
        The denominator and the method of a number, or who answers for an assumption.
    """

    title: str
    says: str
    kind: str
    how: str = ""


class _Made(NamedTuple):
    """What the items are made of: the project's report for an audience, and what it rests on."""

    report: Mapping[str, Any]
    results: ProjectResults
    to: str
    show: Discretion

    @property
    def has_tables(self) -> bool:
        """Whether the release is of several tables."""
        return "tables" in self.results.settings(project_results.RELEASE).get("schema", {})

    @property
    def others(self) -> list[Mapping[str, Any]]:
        """The other releases that left, by the ledger."""
        return list((self.results.handed or {}).get("others", ()))

    @property
    def people(self) -> str:
        return f"{printed(self.report['changes']['persons'], COUNT)} people"

    @property
    def records(self) -> str:
        return f"{printed(self.report['changes']['records'], COUNT)} records"

    @property
    def classes(self) -> str:
        told = self.report["changes"]["classes"]
        return "class" if told is None else f"of {printed(told, COUNT)} classes"

    def row(self, intruder: str) -> Mapping[str, Any]:
        """A row of the first page; an empty one where nothing was judged."""
        rows = self.report["verdict"]["rows"]
        return next((each for each in rows if each["intruder"].lower() == intruder), {})


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
    if _is_blank(recipient):
        raise InputError("recipient", "must name who gets the release", found="nothing")
    made = _Made(report, results, recipient, Discretion(Audience(report["report"]["audience"])))
    headings = {
        "Recipient and context": _context(made),
        "Every variable": _variables(made),
        "Intruders and attacks": _attacks(made),
        "Limits and promises": _limits(made),
        "Risk before and after": _risk(made),
        "Singling out, linkability, inference": _three(made),
        "Attributes and membership": _attributes(made),
        "Detail lost and records left out": _loss(made),
        "Linkage and review": _linkage(made),
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
    return fill_template(
        "dossier.html",
        c=content,
        title=content["report"]["title"],
        public=content["report"]["audience"] == Audience.PUBLIC,
        made=date.fromisoformat(content["report"]["date"]),
        GAP=GAP,
    )


def _first_page(made: _Made) -> dict[str, Any]:
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


def _standing(made: _Made) -> Iterator[str]:
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


def _rows(made: _Made) -> list[Mapping[str, Any]]:
    """The rows of the verdict, as it has them."""
    return list((made.results.verdict or {}).get("rows", ()))


def _recipient(made: _Made) -> Iterator[str]:
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


def _given(title: str, text: str | None, key: str, how: str) -> Item:
    """What a person states; a gap where it is blank."""
    if _is_blank(text):
        return Item(title, f"Not stated: {key}.", GAP)
    return Item(title, str(text), ASSUMED, how)


def _is_blank(text: str | None) -> bool:
    """Whether a text shows no sign, as that of spaces or of signs without a width."""
    return not any(sign.isprintable() and not sign.isspace() for sign in text or "")


def _stated(made: _Made, name: str) -> Item:
    """What the custodian states of the recipient; outside only that it is stated, and by whom."""
    stated = made.results.stated.get(made.to, {})
    text = stated.get(name)
    if made.show.is_public and not _is_blank(text):
        text = "Stated; the words stay inside."
    how = f"stated by {role_of(stated['by'], made.show)} on {stated['on']}" if stated else ""
    return _given(STATED[name], text, f"{name} under [dossier]", how)


def _context(made: _Made) -> Iterator[Item]:
    context, handed = made.report["context"], made.results.handed
    for name in ("recipients", "purpose", "controls", "context"):
        yield _given(name.capitalize(), context[name], f"{name} under [project]", _SAYS)
    if request := made.report["request"]:
        asked = f"As {request['role']}, for linkage {request['linkage']}, k = {request['k']}."
        yield Item("Request", asked, ASSUMED, "as the rules of a policy allow")
    if handed is None:
        yield Item("Hand-over", "Not noted: no ledger remembers the release.", GAP)
    else:
        when = f"on {handed['handed'][:10]}" if handed["handed"] else "not yet"
        yield Item("Hand-over", f"{when.capitalize()}.", MEASURED, "noted in the ledger")
    yield Item("Other ledgers", "Not known: releases that left without this ledger.", GAP)
    yield from (_stated(made, name) for name in _CONTROLS)


def _variables(made: _Made) -> Iterator[Item]:
    file = made.report["sources"]["file"]
    if file and file["records"] is not None:
        before = f"{printed(file['records'], COUNT)} records of {printed(file['persons'], COUNT)}"
        yield Item("Before the release", f"{before} people.", MEASURED, "counted")
    yield Item("Released", f"{made.records} of {made.people}.", MEASURED, "counted")
    grouped: dict[tuple[str, str, str], list[str]] = {}
    lines = made.report["variables"]
    for each in lines:
        # Of several tables the run notes no coding of events.
        unknown = made.has_tables and each["done"] == UNCHANGED
        done = "not measured how its cells are written" if unknown else each["done"]
        grouped.setdefault((each["role"], done, each["why"]), []).append(each["name"])
    for (role, done, why), names in grouped.items():
        kind = GAP if role == UNDECIDED or done.startswith("not measured") else ASSUMED
        many = role if len(names) == 1 else f"{role}, {len(names)} columns"
        yield Item(many.capitalize(), f"{', '.join(names)}: {done}.", kind, why)
    own = sum(each["custodians_reason"] for each in lines)
    if made.has_tables:
        for each in made.report["manifest"]["warnings"]:
            yield Item("Warning", each["says"], MEASURED, "noted by the run")
    if own < len(lines):
        missing = f"Not stated: the custodian’s own reason for {len(lines) - own} of {len(lines)} "
        yield Item("Justification", f"{missing}columns (project.reasons).", GAP)


def _attacks(made: _Made) -> Iterator[Item]:
    attack = made.report["attack"]
    if attack is None:
        yield Item("Simulated attacks", GAPS["attack"], GAP)
    else:
        how = "each against the released file"
        yield Item("Simulated attacks", attack["sentence"], MEASURED, how)
        if attack["unpredicted"]:
            said = f"Not predicted: {attack['unpredicted']} of {attack['attacks']} attacks."
            yield Item("Without a prediction", said, GAP)
        yield from _most_found(made)
    yield _stated(made, "intruder_test")


def _most_found(made: _Made) -> Iterator[Item]:
    """Of each intruder the attack that found most people; guesses of values are no finds."""
    evidence = made.results.measured(project_results.ATTACK)["evidence"]
    shares = {
        each["attack"]: each["people"]["low"] for each in evidence if each["number"] == "found"
    }
    tried = made.report["attack"]["outcomes"]
    found = [each for each in tried if each["attack"] in shares and each["success"]]
    best = {each["row"]: each for each in sorted(found, key=lambda one: shares[one["attack"]])}
    for intruder, each in best.items():
        beside = each["predicted"]
        told = "not predicted" if beside is None else f"predicted {_told(beside, SHARE)}"
        said = f"{each['title']}: {_told(each['success'], SHARE)} of its guesses right, {told}."
        guesses = [printed(each[name], COUNT) for name in ("right", "attempts")]
        of = "" if each["attempts"] is None else f"{' of '.join(guesses)} guesses; "
        yield Item(f"Most found, {intruder}", said, MEASURED, f"{of}people who were found, counted")


def _limits(made: _Made) -> Iterator[Item]:
    verdict = made.results.verdict
    if verdict is None:
        yield Item("Limits", "Not measured: what intruders find was held against no limits.", GAP)
    else:
        limits = limits_of(verdict)
        own = limits != Limits(limits.preset)
        of = "numbers of the project’s own" if own else f"from {PRESETS[limits.preset][3]}"
        # The first sentence of the first page: why the preset was taken stands under controls.
        said = made.report["verdict"]["limits"].removeprefix("Limits: ").partition(". ")[0]
        yield Item("Limits", f"{said}.", ASSUMED, of)
    if made.report["request"]:
        said = " ".join(made.report["verdict"]["answers"]["How it was checked"])
        yield Item("Rules of the policy", said, MEASURED, f"counted over {made.people}")
    yield from _kept("Promise", made.report["promises"], "name")
    yield from _kept("Limit", made.report["thresholds"], "measure")
    if not (made.report["promises"] or made.report["request"]):
        yield Item("Promises", "Not promised: anything about classes.", GAP)
    for word, kept in (("kept", True), ("not kept", False)):
        names = [
            each["source"]
            for each in made.report["practice"]
            if each["held"] and all(one["met"] for one in each["held"]) is kept
        ]
        if names:
            title = f"In use elsewhere, {word}"
            told = "; ".join(dict.fromkeys(names))
            yield Item(title, f"{told}.", MEASURED, "for orientation")


def _kept(what: str, lines: Iterable[Mapping[str, Any]], key: str) -> Iterator[Item]:
    """Promises or limits; those of many columns in one item, which shows the worst."""
    grouped: dict[tuple[str, Any], list[Mapping[str, Any]]] = {}
    for each in lines:
        grouped.setdefault((each[key], each["limit"]), []).append(each)
    for (name, _), every in grouped.items():
        reached = "reached" if key == "name" else "value"
        least = every[0]["bound"] == "at least"
        worst = sorted(every, key=lambda each: _rank(each[reached]), reverse=not least)
        kept = sum(each["met"] for each in every)
        first = min(worst, key=lambda each: each["met"])
        says, of = first.get("says") or f"{limit_words(first)}.", "kept" if kept else "not kept"
        if len(every) > 1:
            says, of = f"{limit_words(first)}.", f"kept for {kept} of {len(every)} columns"
        sure = "" if first["promised"] else "estimated, not promised; "
        why = first.get("reason") or first.get("source") or "not stated: why this number"
        value = _told(first[reached], first["scale"])
        said = f"{says[:1].upper()}{says[1:]} Reached {value}: {of}."
        yield Item(f"{what} {name}", said, MEASURED, f"{sure}{why}")


def _risk(made: _Made) -> Iterator[Item]:
    lines = [each for group in made.report["risk"] for each in group["lines"]]
    yield from (_before_after(each, made) for each in lines)
    estimated = made.report["estimated"]
    if estimated is None:
        yield Item("Against the population", GAPS["population"], GAP)
        return
    of = f"against a population of {printed(estimated['population'], COUNT)} people"
    yield from (_before_after(each, made, of) for each in estimated["lines"])


def _before_after(line: Mapping[str, Any], made: _Made, against: str = "") -> Item:
    """A measure of the data and of the release in one unit; a gap where neither has a number."""
    above = f" {_told(line['above'], SHARE)}" if "above" in line else ""
    title = f"{line['means'][:1].upper()}{line['means'][1:]}{above}"
    ends = [each for each in (line["before"], line["after"]) if each is not None]
    told = [_told(each, line["scale"]) for each in ends]
    if not line["measured"]:
        return Item(title, f"Not measured: {line['name']}.", GAP)
    after = "" if line["after"] is not None else " before the release"
    said = f"{' → '.join(told)}{after}" if told else "Left out here: it tells of few people."
    sizes = {"people": made.people, "records": made.records, "classes": made.classes}
    counted = f"counted {against}" if against else _METHODS[line["over"]].format(**sizes)
    guessed = [isinstance(each, dict) and is_estimate(each.get("estimator")) for each in ends]
    if all(guessed) and guessed:
        return Item(title, said, MEASURED, f"estimated {against}, with the 95 % interval")
    if any(guessed):  # what a file has and what is expected of its population are no one unit
        said = f"{told[0]} in the file before; {told[-1]} of the release in its population"
        return Item(title, said, MEASURED, "the first counted, the second estimated (95 %)")
    return Item(title, said, MEASURED, counted)


def _three(made: _Made) -> Iterator[Item]:
    """The three questions of the European opinion on anonymisation."""
    lines = {each["name"]: each for group in made.report["risk"] for each in group["lines"]}
    if "sample_uniques" in lines:
        line = lines["sample_uniques"]
        yield _before_after(line | {"means": "Singling out: classes with one person"}, made)
    else:
        yield Item("Singling out", "Not measured: classes with one person.", GAP)
    for each in (made.report["attack"] or {"outcomes": ()})["outcomes"]:
        if each["attack"].startswith("singling_out") and each["success"]:
            said = f"{_told(each['success'], SHARE)} of the guesses right."
            yield Item(f"Singling out: {each['title'].lower()}", said, MEASURED, "simulated attack")
    row = made.row("recipient")
    if row.get("found"):
        left = [each for each in made.others if not each["compared"]]
        of = f"{len(made.others) - len(left)} of {len(made.others)}"
        by = f"those that were compared ({of})" if left else "all that left"
        said = f"{row['found']} of {made.people} are found by {by if made.others else 'it alone'}."
        how = "counted over the ledger" if made.others else "the ledger knows no other release"
        yield Item("Linkability: releases joined", said, MEASURED, how)
        if left:
            said = f"Not compared: {len(left)} of {len(made.others)} releases."
            yield Item("Linkability: not compared", said, GAP)
    else:
        said = "Not measured: what several releases tell together."
        yield Item("Linkability: releases joined", said, GAP)
    title = "Inference: value learned"
    if not made.report["sensitive"]:
        yield Item(title, "No column is sensitive.", NONE)
        return
    rows = made.report["verdict"]["rows"]
    for each in rows or [{"learned": None}]:
        who = f"{title}, {each['intruder'].lower()}" if rows else title
        if each["learned"]:
            how = f"of {made.people}, beyond guesses without the file"
            yield Item(who, str(each["learned"]), MEASURED, how)
        else:
            yield Item(who, "Not measured: what is learned of a sensitive value.", GAP)


def _attributes(made: _Made) -> Iterator[Item]:
    every = [
        next(line for line in group["lines"] if line["name"] == "max_gsar")
        | {"means": f"Largest share of a class’s people with one value: {group['attribute']}"}
        for group in made.report["sensitive"]
    ]
    lines = [each for each in every if each["measured"]]
    lines.sort(key=lambda each: _rank(_latest(each)), reverse=True)
    yield from (_before_after(each, made) for each in lines[:_WORST])
    if len(lines) > _WORST:
        told = "told to be " if made.show.is_public else ""
        said = f"{len(lines) - _WORST} columns, none {told}above these."
        yield Item("Further sensitive columns", said, MEASURED, "counted likewise")
    if len(lines) < len(every):
        said = f"Not measured: the classes of {len(every) - len(lines)} of {len(every)} columns."
        yield Item("Other sensitive columns", said, GAP)
    if not every:
        yield Item("Attributes", "No column is sensitive.", NONE)
    yield from (_before_after(each, made) for each in made.report["membership"])
    if not made.report["membership"]:
        yield Item("Membership", GAPS["membership"], GAP)


def _loss(made: _Made) -> Iterator[Item]:
    changes = made.report["changes"]
    for name, title in _LOSSES.items():
        if changes[name] is not None:
            scale = NUMBER if name == "correlation_change" else SHARE
            yield Item(title, _told(changes[name], scale), MEASURED, f"over {made.records}")
    worst = sorted(changes["columns"], key=lambda each: _rank(each["ncp"]), reverse=True)[:_WORST]
    if worst:
        told = [f"{each['name']} {_told(each['ncp'], SHARE)}" for each in worst]
        yield Item("Columns that lose most", f"{listed(told)}.", MEASURED, "mean over cells")
    out = changes["suppressed_records"]
    if out is None or made.has_tables:
        yield Item("Left out", "Not measured: records left out of each table.", GAP)
    else:
        people = printed(changes["suppressed_persons"], COUNT)
        said = f"{printed(out, COUNT)} records, {people} people."
        yield Item("Left out", said.capitalize(), MEASURED, "counted")
    yield _stated(made, "analysis")


def _linkage(made: _Made) -> Iterator[Item]:
    linkage, review = made.report["linkage"], made.report["review"]
    if linkage is None:
        yield Item("Linkage", GAPS["linkage"], NONE)
        return
    for each in linkage["quality"]:
        if each["released"] is None:
            yield Item(each["name"].capitalize(), f"Not measured: {each['says']}.", GAP)
        else:
            of = f"estimated after review, {printed(linkage['matches'], COUNT)} links"
            told = _told(each["released"], SHARE)
            yield Item(each["name"].capitalize(), f"{told}: {each['says']}.", MEASURED, of)
    if review is None:
        yield Item("Review", "Not made: no person looked at doubtful pairs.", GAP)
        return
    pairs = f"{printed(review['possible_matches'], COUNT)} doubtful pairs"
    kind = GAP if review["by"] == "simulated" else MEASURED
    yield Item("Review", f"{pairs.capitalize()}, {review['by_words']}.", kind, "counted")
    if review["most_kapr"] is not None:
        told = printed(review["most_kapr"], NUMBER)
        yield Item("Shown to one reviewer (KAPR)", told, MEASURED, "1 if every row were shown")


def _assumptions(made: _Made) -> Iterator[Item]:
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
    for point in made.report["assumptions"]:
        yield Item(point["title"], point["text"], ASSUMED, "taken for granted by every number")
    for point in made.report["limits"]:
        yield Item(point["title"], f"Not measured: {point['text']}", GAP)


def _signature(made: _Made) -> Iterator[Item]:
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
        yield _given("To be reviewed on", day, "review_date under [project]", _SAYS)
    if not made.show.is_public:
        sha256 = made.report["manifest"]["release_sha256"]
        kind, how = (MEASURED, "of the file as it was written") if sha256 else (GAP, "")
        yield Item("Released file (SHA-256)", sha256 or "Not noted.", kind, how)


def _latest(line: Mapping[str, Any]) -> Any:
    """What is told of the release, or of the file before where nothing is."""
    return line["before"] if line["after"] is None else line["after"]


def _rank(told: Any) -> tuple[float, int]:
    """How high a number is that is told: what is more than a bound stands above it."""
    value, keys = plain_number(told), told.keys() if isinstance(told, dict) else ()
    beyond = ("more_than" in keys or "above" in keys) - ("fewer_than" in keys or "below" in keys)
    return -1.0 if value is None else value, beyond


def _told(value: Any, scale: str) -> str:
    """A number as the first page prints it: shares with two digits, what is coarse in its words."""
    if scale != SHARE:
        return printed(value, scale)
    if isinstance(value, (int, float)):
        return share_text(value)
    exact = value.get("value") if isinstance(value, dict) else None
    if not isinstance(exact, (int, float)):
        return printed(value, scale)
    low, high = value.get("low"), value.get("high")
    if low is None or high is None or low == high:
        return share_text(exact)
    by = f", {value['estimator']}" if value.get("estimator") else ""
    return f"{share_text(exact)} ({share_text(low)[:-2]} to {share_text(high)}{by})"
