"""What a dossier says of a release: each number with its method and what it is counted over.

A number that nobody made is a named gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from sfumato.core.measure import ESTIMATED, is_estimate
from sfumato.core.number_text import counted, share_text
from sfumato.core.phrases import Figure, Listed, Phrase, Sentence, listed
from sfumato.reports import project_results
from sfumato.reports.attack_tables import most_found
from sfumato.reports.audience import AVERAGE, MAXIMUM, WHOLE, Discretion
from sfumato.reports.printed_numbers import COUNT, NUMBER, SHARE, height, printed, some
from sfumato.reports.project_results import STATED, UNDECIDED, UNTOLD, ProjectResults, alike
from sfumato.reports.project_risk import GAPS, limit_words
from sfumato.reports.project_verdict import CHECKED, limits_text, lost_most, role_of
from sfumato.risk.verdict import PRESETS, THE, WHO, Limits, limits_of

MEASURED, ASSUMED = Phrase("measured"), Phrase("assumed")
GAP, NONE = Phrase("gap"), Phrase("does not apply")
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
_METHODS = {
    MAXIMUM: Phrase("counted, the worst of {size}", size=""),
    AVERAGE: Phrase("counted, mean over {size}", size=""),
    WHOLE: Phrase("counted, of {size}", size=""),
}
_LOSSES = {
    "detail_lost": (Phrase("Detail lost"), Phrase("over all columns"), SHARE),
    "ncp": (
        Phrase("Detail lost in quasi-identifiers alone (NCP)"),
        Phrase("mean over cells"),
        SHARE,
    ),
    "query_error": (
        Phrase("Relative error of range counts"),
        Phrase("median over random counts"),
        SHARE,
    ),
    "correlation_change": (
        Phrase("Change of correlations"),
        Phrase("mean over pairs of columns"),
        NUMBER,
    ),
}
_SIZES = {
    _PEOPLE: Phrase("{n} people", n=""),
    _RECORDS: Phrase("{n} records", n=""),
    _CLASSES: Phrase("{n} classes", n=""),
    _HOUSEHOLDS: Phrase("{n} households", n=""),
}
_KEPT_WAYS = {
    "exact": Phrase("{share} exact", share=""),
    "coarser": Phrase("{share} coarser", share=""),
    "*": Phrase("{share} *", share=""),
}
"""How cells of a column are written, with the share of records."""


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
        return some(self.report["changes"]["persons"], "person")

    @property
    def records(self) -> str:
        """The records that were released."""
        return some(self.report["changes"]["records"], "record")

    def row(self, intruder: str) -> Mapping[str, Any]:
        """A row of the first page; an empty one where nothing was judged."""
        rows = self.report["verdict"]["rows"]
        return next((each for each in rows if each["intruder"].lower() == intruder), {})

    def size(self, unit: str) -> str:
        """How many of a unit a number is counted over: of the release, and of the file before."""
        name = {_PEOPLE: "persons"}.get(unit, unit)
        before, after = self.results.before.get(name), self.results.after.get(name)
        number = printed(self.show.count(before if after is None else after), COUNT)
        size = Phrase(_SIZES[unit].message, n=number)
        if after is None:
            return Phrase("{size} before", size=size)
        # Outside both numbers together would tell how few were left out.
        told = Phrase("left out here") if self.show.is_public else printed(before, COUNT)
        return Phrase("{size} (before: {before})", size=size, before=told)


def is_blank(text: str | None) -> bool:
    """Whether a text shows no sign, as that of spaces or of signs without a width."""
    return not any(sign.isprintable() and not sign.isspace() for sign in text or "")


def key(name: str, section: str) -> Phrase:
    """Where a project file says something."""
    return Phrase("{key} under [{section}]", key=name, section=section)


def given(title: str, text: str | None, where: str, how: str) -> Item:
    """What a person states; a gap where it is blank."""
    if is_blank(text):
        return Item(title, Phrase("Not stated: {what}.", what=where), GAP)
    return Item(title, text or "", ASSUMED, how)


def stated(made: Made, name: str) -> Item:
    """What the custodian states of the recipient; outside only that it is stated, and by whom."""
    every = made.results.stated.get(made.to, {})
    text = every.get(name)
    if made.show.is_public and not is_blank(text):
        text = Phrase("Stated; the words stay inside.")
    how = ""
    if every:
        who = role_of(every["by"], made.show)
        how = Phrase("stated by {who} on {day}", who=who, day=every["on"])
    return given(STATED[name], text, key(name, "dossier"), how)


def variables(made: Made) -> Iterator[Item]:
    """Sizes of the file, of each table, and what was done with every column."""
    file, lines = made.report["sources"]["file"], made.report["variables"]
    if file and file["records"] is not None:
        sizes = some(file["records"], "record"), some(file["persons"], "person")
        said = Phrase("{records} of {people}.", records=sizes[0], people=sizes[1])
        yield Item(Phrase("Before the release"), said, MEASURED, Phrase("counted"))
    said = Phrase("{records} of {people}.", records=made.records, people=made.people)
    yield Item(Phrase("Released"), said, MEASURED, Phrase("counted"))
    for each in made.report["tables"]:
        number = printed(each["after"], COUNT)
        rows = Phrase("{n} rows released", n=number)
        if each["before"] is not None:
            every = printed(each["before"], COUNT)
            rows = Phrase("{n} rows released of {all}", n=number, all=every)
        if each["undated"]:
            dates = listed(each["undated"])
            rows = Phrase("{rows}; without the dates of {columns}", rows=rows, columns=dates)
        title = Phrase("Table {name}", name=each["name"])
        yield Item(title, Phrase("{said}.", said=rows), MEASURED, Phrase("counted"))
        for column, ways in each["shown"].items():
            told = Listed(
                Phrase(_KEPT_WAYS[way].message, share=printed(share, SHARE))
                for way, share in ways.items()
            )
            if column not in each["undated"]:
                title = Phrase("Kept of {column}", column=f"{each['name']}.{column}")
                said = Phrase("{said}.", said=told)
                yield Item(title, said, MEASURED, Phrase("of records that say something"))
    for group in alike(lines):
        unknown = group["role"] == UNDECIDED or group["done"] == UNTOLD
        many = len(group["names"])
        title = Sentence("{begin}", begin=group["role"])
        if many > 1:
            title = Phrase("{role}, {columns}", role=title, columns=counted(many, "column"))
        said = Phrase("{columns}: {done}.", columns=", ".join(group["names"]), done=group["done"])
        yield Item(title, said, GAP if unknown else ASSUMED, group["why"])
    own = sum(each["custodians_reason"] for each in lines)
    if own < len(lines):
        missing = Phrase(
            "Not stated: the custodian’s own reason for {n} of {all} columns (project.reasons).",
            n=len(lines) - own,
            all=len(lines),
        )
        yield Item(Phrase("Justification"), missing, GAP)


def attacks(made: Made) -> Iterator[Item]:
    """What simulated attacks found, and what people who tried it did."""
    attack = made.report["attack"]
    if attack is None:
        yield Item(Phrase("Simulated attacks"), GAPS["attack"], GAP)
    else:
        how = Phrase("each against the released file")
        yield Item(Phrase("Simulated attacks"), attack["sentence"], MEASURED, how)
        if attack["unpredicted"]:
            said = Phrase(
                "Not predicted: {unpredicted} of {attacks} attacks.",
                unpredicted=attack["unpredicted"],
                attacks=attack["attacks"],
            )
            yield Item(Phrase("Without a prediction"), said, GAP)
        yield from _most_found(made)
    yield stated(made, "intruder_test")


def _most_found(made: Made) -> Iterator[Item]:
    """Of each intruder the attack that found most people; guesses of values are no finds."""
    evidence = made.results.measured(project_results.ATTACK)["evidence"]
    for each in most_found(evidence, made.report["attack"]["outcomes"]):
        beside = each["predicted"]
        told = (
            Phrase("not predicted")
            if beside is None
            else Phrase("predicted {share}", share=_told(beside, SHARE))
        )
        said = Phrase(
            "{attack}: {share} of its guesses right, {predicted}.",
            attack=each["title"],
            share=_told(each["success"], SHARE),
            predicted=told,
        )
        how = Phrase("people who were found, counted")
        if each["attempts"] is not None:
            right, attempts = (printed(each[name], COUNT) for name in ("right", "attempts"))
            how = Phrase(
                "{some} of {all} guesses; people who were found, counted", some=right, all=attempts
            )
        title = Phrase("Most found, {who}", who=THE.get(each["row"], each["row"]))
        yield Item(title, said, MEASURED, how)


def limits(made: Made) -> Iterator[Item]:
    """Limits and promises, and whether they are kept."""
    verdict = made.results.verdict
    if verdict is None:
        yield Item(
            Phrase("Limits"),
            Phrase("Not measured: what intruders find was held against no limits."),
            GAP,
        )
    else:
        own = limits_of(verdict)
        of = Phrase("the project’s own")
        if own == Limits(own.preset):
            of = Phrase("from {source}", source=PRESETS[own.preset][3])
        said = Phrase("{said}.", said=limits_text(verdict["limits"]))
        yield Item(Phrase("Limits"), said, ASSUMED, of)
    if made.report["request"]:
        checked = Listed(made.report["verdict"]["answers"][CHECKED], " ")
        how = Phrase("counted over {people}", people=made.people)
        yield Item(Phrase("Rules of the policy"), checked, MEASURED, how)
    yield from _kept("promise", made.report["promises"], "name", "reached")
    yield from _kept("limit", made.report["thresholds"], "measure", "value")
    if not (made.report["promises"] or made.report["request"]):
        yield Item(Phrase("Promises"), Phrase("Not promised: anything about classes."), GAP)
    for title, kept in (
        (Phrase("In use elsewhere, kept"), True),
        (Phrase("In use elsewhere, not kept"), False),
    ):
        told = [
            # One source may ask for several: what it asks for tells them apart.
            Phrase(
                "{source} ({limits})",
                source=each["source"],
                limits=Listed(map(limit_words, each["held"])),
            )
            for each in made.report["practice"]
            if each["held"] and all(one["met"] for one in each["held"]) is kept
        ]
        if told:
            said = Phrase("{said}.", said=Listed(told, "; "))
            yield Item(title, said, MEASURED, Phrase("for orientation"))


def _kept(
    what: Literal["promise", "limit"], lines: Iterable[Mapping[str, Any]], key: str, reached: str
) -> Iterator[Item]:
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
        limit = Phrase("{said}.", said=limit_words(first))
        says: str = first.get("says") or limit
        of: Phrase = Phrase("kept") if kept else Phrase("not kept")
        if len(every) > 1:
            filled = {"n": kept, "all": len(every)}
            says, of = limit, Phrase("kept for {n} of {all} columns", **filled)
        why = first.get("reason") or first.get("source") or Phrase("not stated: why this number")
        how = [why] if first["promised"] else [ESTIMATED, why]
        # Of a number of a small class the public version says no more than that.
        if (value := first[reached]) is not None:
            of = Phrase("reached {value}: {kept}", value=_told(value, first["scale"]), kept=of)
        said = Listed((Sentence("{begin}", begin=says), Sentence("{begin}.", begin=of)), " ")
        title = (
            Phrase("Promise {name}", name=name)
            if what == "promise"
            else Phrase("Limit {name}", name=name)
        )
        yield Item(title, said, MEASURED, Listed(how, "; "))


def risk(made: Made) -> Iterator[Item]:
    """What each measure was, and what it is."""
    lines = [each for group in made.report["risk"] for each in group["lines"]]
    yield from (_before_after(each, made) for each in lines)
    estimated = made.report["estimated"]
    if estimated is None:
        yield Item(Phrase("Against the population"), GAPS["population"], GAP)
        return
    people = printed(estimated["population"], COUNT)
    yield from (_before_after(each, made, people) for each in estimated["lines"])


def _before_after(line: Mapping[str, Any], made: Made, population: str = "") -> Item:
    """A measure of the data and of the release in one unit; a gap where neither has a number.

    Parameters
    ----------
    population
        How many people it is against; nothing of a measure of the file alone.
    """
    title: str = Sentence("{begin}", begin=line["means"])
    if "above" in line:
        title = Listed((title, _told(line["above"], SHARE)), " ")
    ends = [each for each in (line["before"], line["after"]) if each is not None]
    told = [_told(each, line["scale"]) for each in ends]
    if not line["measured"]:
        return Item(title, Phrase("Not measured: {what}.", what=line["name"]), GAP)
    said: str = Listed(told, " → ") if told else Phrase("Left out here: it tells of few people.")
    if told and line["after"] is None:
        said = Phrase("{value} before the release", value=said)
    unit = _UNITS.get(line["name"], _CLASSES if line["over"] == MAXIMUM else _PEOPLE)
    guessed = [isinstance(each, dict) and is_estimate(each.get("estimator")) for each in ends]
    if all(guessed) and guessed:
        how = Phrase(
            "estimated against a population of {people} people, with the 95 % interval",
            people=population,
        )
        return Item(title, said, MEASURED, how)
    if any(guessed):  # what a file has and what is expected of its population are no one unit
        said = Phrase(
            "{before} in the file before; {after} of the release in its population",
            before=told[0],
            after=told[-1],
        )
        how = Phrase("the first counted, the second estimated (95 %)")
        return Item(title, said, MEASURED, how)
    how = Phrase("counted, against a population of {people} people", people=population)
    if not population:
        how = Phrase(_METHODS[line["over"]].message, size=made.size(unit))
    return Item(title, said, MEASURED, how)


def three_questions(made: Made) -> Iterator[Item]:
    """The three questions of the European opinion on anonymisation."""
    lines = {each["name"]: each for group in made.report["risk"] for each in group["lines"]}
    if "sample_uniques" in lines:
        line = lines["sample_uniques"]
        means = Phrase("Singling out: classes with one person")
        yield _before_after(line | {"means": means}, made)
    else:
        yield Item(Phrase("Singling out"), Phrase("Not measured: classes with one person."), GAP)
    for each in (made.report["attack"] or {"outcomes": ()})["outcomes"]:
        if each["attack"].startswith("singling_out") and each["success"]:
            said = Phrase("{share} of the guesses right.", share=_told(each["success"], SHARE))
            title = Phrase("Singling out: {attack}", attack=each["title"])
            yield Item(title, said, MEASURED, Phrase("simulated attack"))
    yield from _linkability(made)
    title = Phrase("Inference: value learned")
    if not made.report["sensitive"]:
        yield Item(title, Phrase("No column is sensitive."), NONE)
        return
    rows = made.report["verdict"]["rows"]
    for each in rows or [{"learned": None}]:
        who = title
        if rows:
            named = WHO[each["intruder"].lower()]
            who = Phrase("{title}, {who}", title=title, who=named)
        if each["learned"]:
            how = Phrase("of {people}, beyond guesses without the file", people=made.people)
            yield Item(who, each["learned"], MEASURED, how)
        else:
            yield Item(who, Phrase("Not measured: what is learned of a sensitive value."), GAP)


def _linkability(made: Made) -> Iterator[Item]:
    row, title = made.row("recipient"), Phrase("Linkability: releases joined")
    if not row.get("found"):
        yield Item(title, Phrase("Not measured: what several releases tell together."), GAP)
        return
    left = [each for each in made.others if not each["compared"]]
    by = Phrase("all that left") if made.others else Phrase("it alone")
    if left:
        by = Phrase(
            "those that were compared ({n} of {all})",
            n=len(made.others) - len(left),
            all=len(made.others),
        )
    said = Phrase(
        "{share} of {people} are found by {releases}.",
        share=row["found"],
        people=made.people,
        releases=by,
    )
    how = (
        Phrase("counted over the ledger")
        if made.others
        else Phrase("the ledger knows no other release")
    )
    yield Item(title, said, MEASURED, how)
    if left:
        said = Phrase("Not compared: {n} of {n2} releases.", n=len(left), n2=len(made.others))
        yield Item(Phrase("Linkability: not compared"), said, GAP)


def attributes(made: Made) -> Iterator[Item]:
    """What classes say of sensitive columns, the worst first, and of membership."""
    every = [
        next(line for line in group["lines"] if line["name"] == "max_gsar")
        | {
            "means": Phrase(
                "Largest share of a class’s people with one value: {column}",
                column=group["attribute"],
            )
        }
        for group in made.report["sensitive"]
    ]
    lines = [each for each in every if each["measured"]]
    yield from (_before_after(each, made) for each in lines[:_WORST])
    if len(lines) > _WORST:
        more = counted(len(lines) - _WORST, "column")
        said = (
            Phrase("{columns}, none told to be above these.", columns=more)
            if made.show.is_public
            else Phrase("{columns}, none above these.", columns=more)
        )
        yield Item(Phrase("Further sensitive columns"), said, MEASURED, Phrase("counted likewise"))
    if len(lines) < len(every):
        said = Phrase(
            "Not measured: the classes of {what} of {n} columns.",
            what=len(every) - len(lines),
            n=len(every),
        )
        yield Item(Phrase("Other sensitive columns"), said, GAP)
    if not every:
        yield Item(Phrase("Attributes"), Phrase("No column is sensitive."), NONE)
    yield from (_before_after(each, made) for each in made.report["membership"])
    if not made.report["membership"]:
        yield Item(Phrase("Membership"), GAPS["membership"], GAP)


def loss(made: Made) -> Iterator[Item]:
    """What the release lost, and what was left out."""
    changes = made.report["changes"]
    for name, (title, how, scale) in _LOSSES.items():
        if changes[name] is not None:
            told = _told(changes[name], scale)
            yield Item(title, told, MEASURED, Listed((how, made.records)))
    if worst := lost_most(changes):
        said = Phrase("{said}.", said=worst)
        yield Item(
            Phrase("Columns that lose most (NCP)"), said, MEASURED, Phrase("mean over cells")
        )
    out = changes["suppressed_records"]
    if out is None or (made.results.is_of_tables and not made.report["tables"]):
        yield Item(Phrase("Left out"), Phrase("Not measured: records left out."), GAP)
    elif not made.report["tables"]:  # rows of each table stand under the variables
        people = some(changes["suppressed_persons"], "person")
        said = Sentence("{records}, {people}.", records=some(out, "record"), people=people)
        yield Item(Phrase("Left out"), said, MEASURED, Phrase("counted"))
    yield stated(made, "analysis")


def linkage(made: Made) -> Iterator[Item]:
    """The quality of the linkage, and what its review showed."""
    found, review = made.report["linkage"], made.report["review"]
    if found is None:
        yield Item(Phrase("Linkage"), GAPS["linkage"], NONE)
        return
    for each in found["quality"]:
        title = Phrase("Precision") if each["name"] == "precision" else Phrase("Recall")
        if each["released"] is None:
            yield Item(title, Phrase("Not measured: {what}.", what=each["says"]), GAP)
        else:
            of = Phrase("estimated after review, {n} links", n=printed(found["matches"], COUNT))
            told = _told(each["released"], SHARE)
            said = Phrase("{share}: {what}.", share=told, what=each["says"])
            yield Item(title, said, MEASURED, of)
    if review is None:
        yield Item(Phrase("Review"), Phrase("Not made: no person looked at doubtful pairs."), GAP)
        return
    kind = GAP if review["by"] == Phrase("simulated") else MEASURED
    said = Sentence(
        "{n} doubtful pairs, {by}.",
        n=printed(review["possible_matches"], COUNT),
        by=review["by_words"],
    )
    yield Item(Phrase("Review"), said, kind, Phrase("counted"))
    if review["most_kapr"] is not None:
        told = printed(review["most_kapr"], NUMBER)
        yield Item(
            Phrase("Shown to one reviewer (KAPR)"),
            told,
            MEASURED,
            Phrase("1 if every row were shown"),
        )


def _told(value: Any, scale: str) -> str:
    """A number as the first page prints it: what is coarse in its words."""
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
    ends = Phrase("{low} to {high}", low=Figure(share_text(low)[:-2]), high=share_text(high))
    beside = [ends, value["estimator"]] if value.get("estimator") else [ends]
    return Phrase("{value} ({beside})", value=share_text(exact), beside=Listed(beside))
