"""What a dossier says of a release: each number with its method and what it is counted over.

A number that nobody made is a named gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from sfumato.core.measure import is_estimate
from sfumato.core.number_text import share_text
from sfumato.reports import project_results
from sfumato.reports.attack_tables import most_found
from sfumato.reports.audience import AVERAGE, MAXIMUM, WHOLE, Discretion
from sfumato.reports.printed_numbers import COUNT, NUMBER, SHARE, height, listed, printed
from sfumato.reports.project_results import STATED, UNDECIDED, UNTOLD, ProjectResults, alike
from sfumato.reports.project_risk import GAPS, limit_words
from sfumato.reports.project_verdict import lost_most, role_of
from sfumato.risk.verdict import PRESETS, Limits, limits_of

MEASURED, ASSUMED, GAP, NONE = "measured", "assumed", "gap", "does not apply"
"""What stands behind an item."""
_WORST = 3
"""Sensitive columns that have an item of their own."""
_PEOPLE, _RECORDS, _CLASSES, _HOUSEHOLDS = "people", "records", "classes", "households"
_UNITS = {
    "avg_gidr": _CLASSES,
    "avg_gsar": _CLASSES,
    "sample_uniques": _CLASSES,
    "records_at_risk": _RECORDS,
    "max_household_risk": _HOUSEHOLDS,
    "avg_household_risk": _HOUSEHOLDS,
    "households_at_risk": _HOUSEHOLDS,
}
"""What a measure is counted over; else classes where it is of the worst, and people."""
_METHODS = {MAXIMUM: "the worst of {}", AVERAGE: "mean over {}", WHOLE: "of {}"}
_LOSSES = {
    "detail_lost": ("Detail lost", "over all columns", SHARE),
    "ncp": ("Detail lost in quasi-identifiers alone (NCP)", "mean over cells", SHARE),
    "query_error": ("Relative error of range counts", "median over random counts", SHARE),
    "correlation_change": ("Change of correlations", "mean over pairs of columns", NUMBER),
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


class Made(NamedTuple):
    """What the items are made of: the project's report for an audience, and what it rests on."""

    report: Mapping[str, Any]
    results: ProjectResults
    to: str
    show: Discretion

    @property
    def others(self) -> list[Mapping[str, Any]]:
        """The other releases that left, by the ledger."""
        return list((self.results.handed or {}).get("others", ()))

    @property
    def people(self) -> str:
        """The people who were released."""
        return f"{printed(self.report['changes']['persons'], COUNT)} people"

    @property
    def records(self) -> str:
        """The records that were released."""
        return f"{printed(self.report['changes']['records'], COUNT)} records"

    def row(self, intruder: str) -> Mapping[str, Any]:
        """A row of the first page; an empty one where nothing was judged."""
        rows = self.report["verdict"]["rows"]
        return next((each for each in rows if each["intruder"].lower() == intruder), {})

    def size(self, unit: str) -> str:
        """How many of a unit a number is counted over: of the release, and of the file before."""
        name = {_PEOPLE: "persons"}.get(unit, unit)
        before, after = self.results.before.get(name), self.results.after.get(name)
        if after is None:
            return f"{printed(self.show.count(before), COUNT)} {unit} before"
        # Outside both numbers together would tell how few were left out.
        told = "left out here" if self.show.is_public else printed(before, COUNT)
        return f"{printed(self.show.count(after), COUNT)} {unit} (before: {told})"


def is_blank(text: str | None) -> bool:
    """Whether a text shows no sign, as that of spaces or of signs without a width."""
    return not any(sign.isprintable() and not sign.isspace() for sign in text or "")


def given(title: str, text: str | None, key: str, how: str) -> Item:
    """What a person states; a gap where it is blank."""
    if is_blank(text):
        return Item(title, f"Not stated: {key}.", GAP)
    return Item(title, str(text), ASSUMED, how)


def stated(made: Made, name: str) -> Item:
    """What the custodian states of the recipient; outside only that it is stated, and by whom."""
    every = made.results.stated.get(made.to, {})
    text = every.get(name)
    if made.show.is_public and not is_blank(text):
        text = "Stated; the words stay inside."
    how = f"stated by {role_of(every['by'], made.show)} on {every['on']}" if every else ""
    return given(STATED[name], text, f"{name} under [dossier]", how)


def variables(made: Made) -> Iterator[Item]:
    """Sizes of the file, of each table, and what was done with every column."""
    file, lines = made.report["sources"]["file"], made.report["variables"]
    if file and file["records"] is not None:
        before = f"{printed(file['records'], COUNT)} records of {printed(file['persons'], COUNT)}"
        yield Item("Before the release", f"{before} people.", MEASURED, "counted")
    yield Item("Released", f"{made.records} of {made.people}.", MEASURED, "counted")
    for each in made.report["tables"]:
        rows = f"{printed(each['after'], COUNT)} rows"
        rows += "" if each["before"] is None else f" of {printed(each['before'], COUNT)}"
        undated = f"; without the dates of {listed(each['undated'])}" if each["undated"] else ""
        yield Item(f"Table {each['name']}", f"{rows} released{undated}.", MEASURED, "counted")
        for column, ways in each["shown"].items():
            told = [f"{printed(share, SHARE)} {way}" for way, share in ways.items()]
            if column not in each["undated"]:
                yield Item(f"Kept of {each['name']}.{column}", f"{', '.join(told)}.", MEASURED,
                           "of records that say something")  # fmt: skip
    for group in alike(lines):
        unknown = group["role"] == UNDECIDED or group["done"] == UNTOLD
        many = len(group["names"])
        title = group["role"] if many == 1 else f"{group['role']}, {many} columns"
        said = f"{', '.join(group['names'])}: {group['done']}."
        yield Item(title.capitalize(), said, GAP if unknown else ASSUMED, group["why"])
    own = sum(each["custodians_reason"] for each in lines)
    if own < len(lines):
        missing = f"Not stated: the custodian’s own reason for {len(lines) - own} of {len(lines)} "
        yield Item("Justification", f"{missing}columns (project.reasons).", GAP)


def attacks(made: Made) -> Iterator[Item]:
    """What simulated attacks found, and what people who tried it did."""
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
    yield stated(made, "intruder_test")


def _most_found(made: Made) -> Iterator[Item]:
    """Of each intruder the attack that found most people; guesses of values are no finds."""
    evidence = made.results.measured(project_results.ATTACK)["evidence"]
    for each in most_found(evidence, made.report["attack"]["outcomes"]):
        beside = each["predicted"]
        told = "not predicted" if beside is None else f"predicted {_told(beside, SHARE)}"
        said = f"{each['title']}: {_told(each['success'], SHARE)} of its guesses right, {told}."
        guesses = [printed(each[name], COUNT) for name in ("right", "attempts")]
        of = "" if each["attempts"] is None else f"{' of '.join(guesses)} guesses; "
        yield Item(
            f"Most found, {each['row']}", said, MEASURED, f"{of}people who were found, counted"
        )


def limits(made: Made) -> Iterator[Item]:
    """Limits and promises, and whether they are kept."""
    verdict = made.results.verdict
    if verdict is None:
        yield Item("Limits", "Not measured: what intruders find was held against no limits.", GAP)
    else:
        own = limits_of(verdict)
        of = f"from {PRESETS[own.preset][3]}" if own == Limits(own.preset) else "the project’s own"
        # The first sentence of the first page: why the preset was taken stands under controls.
        said = made.report["verdict"]["limits"].removeprefix("Limits: ").partition(". ")[0]
        yield Item("Limits", f"{said}.", ASSUMED, of)
    if made.report["request"]:
        said = " ".join(made.report["verdict"]["answers"]["How it was checked"])
        yield Item("Rules of the policy", said, MEASURED, f"counted over {made.people}")
    yield from _kept("Promise", made.report["promises"], "name", "reached")
    yield from _kept("Limit", made.report["thresholds"], "measure", "value")
    if not (made.report["promises"] or made.report["request"]):
        yield Item("Promises", "Not promised: anything about classes.", GAP)
    for title, kept in (("In use elsewhere, kept", True), ("In use elsewhere, not kept", False)):
        told = [
            # One source may ask for several: what it asks for tells them apart.
            f"{each['source']} ({', '.join(map(limit_words, each['held']))})"
            for each in made.report["practice"]
            if each["held"] and all(one["met"] for one in each["held"]) is kept
        ]
        if told:
            yield Item(title, f"{'; '.join(told)}.", MEASURED, "for orientation")


def _kept(what: str, lines: Iterable[Mapping[str, Any]], key: str, reached: str) -> Iterator[Item]:
    """Promises or limits; those of many columns in one item, which shows the worst."""
    grouped: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for each in lines:
        # Two presets may ask the same of all columns together: each is a limit of its own.
        own = id(each) if each["attribute"] is None else 0
        grouped.setdefault((each[key], each["limit"], own), []).append(each)
    for (name, *_), every in grouped.items():
        least = every[0]["bound"] == "at least"
        worst = sorted(every, key=lambda each: height(each[reached]), reverse=not least)
        kept = sum(each["met"] for each in every)
        first = min(worst, key=lambda each: each["met"])
        says, of = first.get("says") or f"{limit_words(first)}.", "kept" if kept else "not kept"
        if len(every) > 1:
            says, of = f"{limit_words(first)}.", f"kept for {kept} of {len(every)} columns"
        sure = "" if first["promised"] else "estimated, not promised; "
        why = first.get("reason") or first.get("source") or "not stated: why this number"
        # Of a number of a small class the public version says no more than that.
        value = first[reached]
        told = of if value is None else f"reached {_told(value, first['scale'])}: {of}"
        said = f"{says[:1].upper()}{says[1:]} {told[:1].upper()}{told[1:]}."
        yield Item(f"{what} {name}", said, MEASURED, f"{sure}{why}")


def risk(made: Made) -> Iterator[Item]:
    """What each measure was, and what it is."""
    lines = [each for group in made.report["risk"] for each in group["lines"]]
    yield from (_before_after(each, made) for each in lines)
    estimated = made.report["estimated"]
    if estimated is None:
        yield Item("Against the population", GAPS["population"], GAP)
        return
    of = f"against a population of {printed(estimated['population'], COUNT)} people"
    yield from (_before_after(each, made, of) for each in estimated["lines"])


def _before_after(line: Mapping[str, Any], made: Made, against: str = "") -> Item:
    """A measure of the data and of the release in one unit; a gap where neither has a number."""
    above = f" {_told(line['above'], SHARE)}" if "above" in line else ""
    title = f"{line['means'][:1].upper()}{line['means'][1:]}{above}"
    ends = [each for each in (line["before"], line["after"]) if each is not None]
    told = [_told(each, line["scale"]) for each in ends]
    if not line["measured"]:
        return Item(title, f"Not measured: {line['name']}.", GAP)
    after = "" if line["after"] is not None else " before the release"
    said = f"{' → '.join(told)}{after}" if told else "Left out here: it tells of few people."
    unit = _UNITS.get(line["name"], _CLASSES if line["over"] == MAXIMUM else _PEOPLE)
    counted = against or _METHODS[line["over"]].format(made.size(unit))
    guessed = [isinstance(each, dict) and is_estimate(each.get("estimator")) for each in ends]
    if all(guessed) and guessed:
        return Item(title, said, MEASURED, f"estimated {against}, with the 95 % interval")
    if any(guessed):  # what a file has and what is expected of its population are no one unit
        said = f"{told[0]} in the file before; {told[-1]} of the release in its population"
        return Item(title, said, MEASURED, "the first counted, the second estimated (95 %)")
    return Item(title, said, MEASURED, f"counted, {counted}")


def three_questions(made: Made) -> Iterator[Item]:
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
    yield from _linkability(made)
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


def _linkability(made: Made) -> Iterator[Item]:
    row, title = made.row("recipient"), "Linkability: releases joined"
    if not row.get("found"):
        yield Item(title, "Not measured: what several releases tell together.", GAP)
        return
    left = [each for each in made.others if not each["compared"]]
    of = f"{len(made.others) - len(left)} of {len(made.others)}"
    by = f"those that were compared ({of})" if left else "all that left"
    said = f"{row['found']} of {made.people} are found by {by if made.others else 'it alone'}."
    how = "counted over the ledger" if made.others else "the ledger knows no other release"
    yield Item(title, said, MEASURED, how)
    if left:
        said = f"Not compared: {len(left)} of {len(made.others)} releases."
        yield Item("Linkability: not compared", said, GAP)


def attributes(made: Made) -> Iterator[Item]:
    """What classes say of sensitive columns, the worst first, and of membership."""
    every = [
        next(line for line in group["lines"] if line["name"] == "max_gsar")
        | {"means": f"Largest share of a class’s people with one value: {group['attribute']}"}
        for group in made.report["sensitive"]
    ]
    lines = [each for each in every if each["measured"]]
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


def loss(made: Made) -> Iterator[Item]:
    """What the release lost, and what was left out."""
    changes = made.report["changes"]
    for name, (title, how, scale) in _LOSSES.items():
        if changes[name] is not None:
            told = _told(changes[name], scale)
            yield Item(title, told, MEASURED, f"{how}, {made.records}")
    if worst := lost_most(changes):
        yield Item("Columns that lose most (NCP)", f"{worst}.", MEASURED, "mean over cells")
    out = changes["suppressed_records"]
    if out is None or (made.results.is_of_tables and not made.report["tables"]):
        yield Item("Left out", "Not measured: records left out.", GAP)
    elif not made.report["tables"]:  # rows of each table stand under the variables
        people = printed(changes["suppressed_persons"], COUNT)
        said = f"{printed(out, COUNT)} records, {people} people."
        yield Item("Left out", said.capitalize(), MEASURED, "counted")
    yield stated(made, "analysis")


def linkage(made: Made) -> Iterator[Item]:
    """The quality of the linkage, and what its review showed."""
    found, review = made.report["linkage"], made.report["review"]
    if found is None:
        yield Item("Linkage", GAPS["linkage"], NONE)
        return
    for each in found["quality"]:
        if each["released"] is None:
            yield Item(each["name"].capitalize(), f"Not measured: {each['says']}.", GAP)
        else:
            of = f"estimated after review, {printed(found['matches'], COUNT)} links"
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
