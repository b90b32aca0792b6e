"""One answer for who signs a release: what four intruders find, held against limits.

Terminal, JSON, reports and exit code print the rows of a `Verdict`; nothing else compares with a
limit, and nothing else chooses the words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime
from enum import StrEnum
from math import ceil
from typing import Any

from pydantic import TypeAdapter

from sfumato.core.errors import InputError
from sfumato.core.number_text import MANY_COLUMNS, count, counted, named, share_text, wrapped
from sfumato.core.phrases import Figure, Listed, Phrase, Plural, Sentence, listed, recalled
from sfumato.risk.evidence import Evidence, beaten_text, evidence_of, raised
from sfumato.risk.intruders import Findings, Found
from sfumato.risk.learned_values import Share

INTRUDERS = ("stranger", "acquaintance", "insider", "recipient")
WHO = {
    "stranger": Phrase("stranger"),
    "acquaintance": Phrase("acquaintance"),
    "insider": Phrase("insider"),
    "recipient": Phrase("recipient"),
}
"""How each is named in a table."""
SOMEONE = {
    "stranger": Phrase("a stranger"),
    "acquaintance": Phrase("an acquaintance"),
    "insider": Phrase("an insider"),
    "recipient": Phrase("a recipient"),
}
THE = {
    "stranger": Phrase("the stranger"),
    "acquaintance": Phrase("the acquaintance"),
    "insider": Phrase("the insider"),
    "recipient": Phrase("the recipient"),
    "linkage": Phrase("the linkage"),
}
SHARES = ("found", "person", "learned")
"""What is limited, and accepted: people found, the highest chance of one, a value learned."""
LINKAGE = "linkage"
"""What is accepted where nobody measured how well the records of a release were linked."""
AT_HAND_OVER = Phrase("judged when the release is handed over")
NO_COLUMN = Phrase("no further column is released")
RELATIVE = 1 + 1e-9
"""By how much more a number is still at its limit: 1/11 is at 1/11 however it was added up."""
GROWS = 1.2
"""How much more than was measured then an acceptance may cover, as data grows and is drawn anew."""
SHOWN = 3
"""Cures that are printed."""
NAMED = 5
"""Columns that are named in a sentence; of more their number."""


class State(StrEnum):
    """What is said of an intruder, the worst first."""

    ABOVE = "above"
    NOT_MEASURED = "not measured"
    ACCEPTED = "above, accepted"
    BELOW = "below"
    DOES_NOT_APPLY = "does not apply"


_WORST = list(State)
STATES = {
    State.ABOVE: Phrase("above"),
    State.NOT_MEASURED: Phrase("not measured"),
    State.ACCEPTED: Phrase("above, accepted"),
    State.BELOW: Phrase("below"),
    State.DOES_NOT_APPLY: Phrase("does not apply"),
}
"""How each is said."""
EXIT_CODES = {State.ABOVE: 2, State.NOT_MEASURED: 4}
"""How a command ends by the worst row; with 0 by every other."""

PRESETS: Mapping[str, tuple[float, float, float, str]] = {
    "contract": (1 / 11, 0.33, 0.20, "El Emam and Malin 2015, by secondary sources"),
    "room": (0.20, 0.50, 0.20, "research in cancer registries"),
    "public": (1 / 11, 1 / 11, 0.20, "EMA policy 0070 and Health Canada: 11 people in a class"),
    "public-strict": (0.05, 0.05, 0.09, "CIHI and IPC"),
    "cms": (1 / 11, 1 / 11, 0.20, "CMS: 11 people in a class"),
}
"""People found, one person, learned, and whose limits these are; what may be learned is ours."""


@dataclass(frozen=True)
class Limits:
    """What may be found and learned at most, each a share in (0, 1].

    Attributes
    ----------
    preset
        Whose limits these are: a name of `PRESETS`. Without stated controls those of a public
        release.
    found
        Mean over people of the chance to be found.
    person
        Highest chance of one person.
    learned
        Right guesses of a sensitive value beyond those that are made without the file.

    Raises
    ------
    InputError
        If there is no such preset, or a limit is no share.
    """

    preset: str = "public"
    found: float = None  # type: ignore[assignment]  # filled from the preset
    person: float = None  # type: ignore[assignment]
    learned: float = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise InputError("limits", "must name a preset", accepted=", ".join(PRESETS))
        for name, usual in zip(SHARES, PRESETS[self.preset], strict=False):
            if getattr(self, name) is None:
                object.__setattr__(self, name, usual)
            if not 0 < getattr(self, name) <= 1:
                raise InputError(f"limits: {name}", "must be a share", accepted="in (0, 1]")

    def beyond(self, findings: Findings) -> tuple[str, ...]:
        """The numbers above their limits; what was drawn or estimated by its upper end."""
        shares = [("found", findings.found), ("person", findings.person)]
        shares += [("learned", each.worst) for each in findings.learned]
        over = (name for name, each in shares if each.high > getattr(self, name) * RELATIVE)
        return (*dict.fromkeys(over),)

    def above(self, findings: Findings) -> bool:
        """Whether a number is above its limit."""
        return bool(self.beyond(findings))

    def __str__(self) -> str:
        return str(self.words)

    @property
    def words(self) -> Phrase:
        """Whose limits they are, and how much may be found and learned."""
        shares = {name: share_text(getattr(self, name)) for name in SHARES}
        if self == PUBLIC:
            return Phrase(
                "{preset}, because no controls are stated "
                "({found} found, {person} one person, {learned} learned)",
                preset=self.preset,
                **shares,
            )
        return Phrase(
            "{preset} ({found} found, {person} one person, {learned} learned)",
            preset=self.preset,
            **shares,
        )


PUBLIC = Limits()
"""Those of a release for which no controls are stated."""


@dataclass(frozen=True)
class Acceptance:
    """That somebody answers for what an intruder finds above the limit.

    Attributes
    ----------
    intruder, column
        The row; of the insider by one column.
    by, because
        Who decided, and why.
    until
        The last day on which it counts.
    at_most
        What it covers: `found`, `person` and `learned`; nothing of a linkage of unknown quality.

    Raises
    ------
    InputError
        If the row is none, a reason is empty, or a share is missing.
    """

    intruder: str
    by: str
    because: str
    until: date
    at_most: Mapping[str, float]
    column: str = ""

    def __post_init__(self) -> None:
        where = ".".join(filter(None, ("accept", self.intruder, self.column)))
        known = (*INTRUDERS, LINKAGE)
        if self.intruder not in known or bool(self.column) != (self.intruder == "insider"):
            raise InputError(
                where,
                "must name an intruder, the insider with a column, or the linkage",
                accepted=str(known),
            )
        for name in ("by", "because"):
            if not getattr(self, name).strip():
                raise InputError(f"{where}: {name}", "must not be empty")
        if set(self.at_most) != (set() if self.intruder == LINKAGE else set(SHARES)):
            raise InputError(
                f"{where}: at_most", "must state found, person and learned; of a linkage nothing"
            )

    def covers(self, findings: Findings | None, today: date) -> bool:
        """Whether it still counts, and nothing that was measured is beyond what it covers.

        Who answered for numbers answered for no blank: that covers what states none, or zeros.
        """
        if findings is None:
            return today <= self.until and not any(self.at_most.values())
        shares = findings.shares.items()
        within = all(share <= self.at_most[name] * RELATIVE for name, share in shares)
        return within and today <= self.until

    @property
    def term(self) -> str:
        """Who answers, and until when."""
        return f"accepted until {self.until} by {self.by}"

    def about(self, what: str) -> Phrase:
        """Who answers for it, until when and why."""
        return Phrase(
            "{what} is accepted until {day} by {by}, because {why}",
            what=what,
            day=self.until,
            by=self.by,
            why=self.because,
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"until": self.until.isoformat()}


@dataclass(frozen=True)
class Row:
    """What one intruder finds, and what is said of it.

    Attributes
    ----------
    findings
        ``None`` where nothing was measured.
    """

    intruder: str
    state: State
    findings: Findings | None = None
    why: str = ""
    column: str = ""
    accepted: tuple[Acceptance, ...] = ()
    unmeasured: tuple[str, ...] = ()

    @property
    def learned(self) -> Share | None:
        """The most that is learned of a sensitive column."""
        every = () if self.findings is None else self.findings.learned
        return max((each.worst for each in every), key=lambda each: each.high, default=None)

    @property
    def name(self) -> str:
        """What is accepted where the row is: ``insider.icd9``."""
        return f"{self.intruder}.{self.column}" if self.column else self.intruder

    @property
    def said(self) -> str:
        """The state in words: what is accepted may not have been measured."""
        blank = self.state is State.ACCEPTED and self.findings is None
        return Phrase("not measured, accepted") if blank else STATES[self.state]

    @property
    def stops(self) -> bool:
        """Whether the release may not go out because of it."""
        return self.state in EXIT_CODES

    @property
    def rank(self) -> tuple[int, float]:
        """The worst row's is the smallest."""
        return _WORST.index(self.state), 0 if self.findings is None else -self.findings.found.value

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        found = None if self.findings is None else asdict(self.findings)
        return {
            "intruder": self.intruder,
            "state": self.state.value,
            "said": self.said,
            **({"column": self.column} if self.column else {}),
            **(found or {}),
            "why": self.why,
            **({"unmeasured": [*self.unmeasured]} if self.unmeasured else {}),
            **({"accepted": [each.to_json() for each in self.accepted]} if self.accepted else {}),
        }


@dataclass(frozen=True)
class Linkage:
    """How good the linkage of a release is, as it was released.

    Attributes
    ----------
    precision, recall
        ``None`` where no pair was checked.
    why
        What the two come from, or why they were not measured, as half a sentence.
    advice
        What would measure them, said until it is accepted that they were not.
    """

    precision: Share | None
    recall: Share | None
    why: str
    accepted: Acceptance | None = None
    advice: str = ""

    @property
    def state(self) -> State:
        """Not measured, accepted, or what is held against no limit and so never in the way."""
        if self.precision is not None and self.recall is not None:
            return State.DOES_NOT_APPLY
        return State.NOT_MEASURED if self.accepted is None else State.ACCEPTED

    def held_against(self, accepted: Iterable[Acceptance], today: date) -> Linkage:
        """The same with who answers for it, where that still counts."""
        own = (
            acceptance
            for acceptance in accepted
            if acceptance.intruder == LINKAGE and acceptance.covers(None, today)
        )
        return replace(self, accepted=next(own, None))

    def __str__(self) -> str:
        """The quality in half a sentence."""
        if self.precision is None or self.recall is None:
            return f"not measured: {self.why}" + (
                f"; {self.advice}" if self.advice and self.accepted is None else ""
            )
        right, there = (
            f"{share_text(each.value)} ({share_text(each.low)} to {share_text(each.high)})"
            for each in (self.precision, self.recall)
        )
        return f"{right} of the links are right, {there} of the true ones were made; {self.why}"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        words = {State.DOES_NOT_APPLY: "measured", State.ACCEPTED: "not measured, accepted"}
        own = asdict(self)
        if not self.advice:
            del own["advice"]
        return {
            **own,
            "state": words.get(self.state, self.state.value),
            "accepted": None if self.accepted is None else self.accepted.to_json(),
        }


CHANGES = (
    Phrase("Leave {columns} out", columns=""),
    Phrase("Write {columns} with less detail", columns=""),
    Phrase("Keep people of about as many records together"),
    Phrase("Divide pseudonyms"),
    Phrase("Have more people in a class"),
    Phrase("Let fewer people of a class share a value"),
)
"""What may be changed for a row that is above its limit."""


@dataclass(frozen=True)
class Cure:
    """A change that was tried because a row is above its limit.

    Attributes
    ----------
    row
        The row that it is for: `Row.name`.
    how
        What has to be asked for, as in a project file.
    found, lost
        The share that the row shows, and of the detail lost, before and after.
    number
        Which share of the row: one that is still above, or else was.
    options
        The same as `how` on the command line; empty where its options cannot say it.
    """

    row: str
    words: str
    how: str
    found: tuple[float, float]
    lost: tuple[float, float]
    enough: bool
    number: str = "found"
    options: str = ""

    def __str__(self) -> str:
        return self.said(self.how)

    def said(self, how: str, rows: Sequence[str] = ()) -> Phrase:
        """The change, what it does and how it is asked for.

        Parameters
        ----------
        rows
            Those for which it does the same; its own without them.
        """
        found, lost = (
            Phrase("from {before} to {after}", before=share_text(before), after=share_text(after))
            for before, after in (self.found, self.lost)
        )
        of = {"person": Phrase("one person"), "learned": Phrase("learned")}.get(self.number)
        # Afterwards another column may be the worst that an insider knows.
        intruders = (WHO[row.partition(".")[0]] for row in rows or (self.row,))
        who = listed([*dict.fromkeys(intruders)])
        told: Phrase = Phrase("{row} {change}", row=who, change=found)
        if of is not None:
            told = Phrase("{row}, {number}, {change}", row=who, number=of, change=found)
        if not self.enough:
            told = Phrase("{row} (still above)", row=told)
        return Phrase(
            "{what}: {row}, detail lost {lost}; {how}",
            what=recalled(self.words, CHANGES),
            row=told,
            lost=lost,
            how=how,
        )


@dataclass(frozen=True)
class Verdict:
    """What the four intruders find, the worst first, and what follows.

    Attributes
    ----------
    rows
        One of each intruder, the worst first.
    limits
        What they are held against.
    people
        Number of people; every share is of them.
    found
        What the rows come from; ``None`` where classes alone were measured.
    population
        What the stranger finds where the file is a sample.
    linkage
        How good the linkage is; ``None`` where nothing was linked, or nobody said so.
    evidence
        What attacks found.
    cures
        What was tried for the rows that are above, the cheapest first.
    """

    rows: tuple[Row, ...]
    limits: Limits
    people: int
    found: Found | None = None
    population: tuple[Share, Share] | None = None
    linkage: Linkage | None = None
    evidence: tuple[Evidence, ...] = ()
    cures: tuple[Cure, ...] = ()

    @property
    def state(self) -> State:
        """The state of the worst row, the linkage among them."""
        linked = () if self.linkage is None else (self.linkage.state,)
        worst: State = min((self.rows[0].state, *linked), key=_WORST.index)
        return worst

    @property
    def exit_code(self) -> int:
        """How a command ends."""
        return EXIT_CODES.get(self.state, 0)

    @property
    def ready(self) -> bool:
        """Whether the release may go out."""
        return not self.exit_code

    @property
    def noted(self) -> dict[str, Any]:
        """What a manifest says of it."""
        return {"ready": self.ready, "headline": self.headline}

    @property
    def insiders(self) -> dict[str, Findings]:
        """What the insider finds by each column."""
        return (
            {}
            if self.found is None or self.found.elsewhere
            else _raised_insiders(self.found, self.evidence)
        )

    def row(self, intruder: str) -> Row:
        """The row of an intruder."""
        return next(row for row in self.rows if row.intruder == intruder)

    @property
    def headline(self) -> str:
        """The last line of every command, and the first of every page."""
        return self._headline(shares=True)

    def _headline(self, *, shares: bool) -> str:
        """What follows, with what is found or, for the public, without."""
        above = [row for row in self.rows if row.state is State.ABOVE]
        blank = [row for row in self.rows if row.state is State.NOT_MEASURED]
        if above:
            return Plural(
                "Do not release yet: {n} of {all} intruders is above the limit.",
                "Do not release yet: {n} of {all} intruders are above the limit.",
                len(above),
                n=len(above),
                all=len(self.rows),
            )
        names = [each.intruder for each in blank]
        if self.linkage is not None and self.linkage.state is State.NOT_MEASURED:
            names.append(LINKAGE)
        if names:
            who: str = THE[names[0]]
            for name in names[1:]:
                who = Phrase("{first} and {last}", first=who, last=THE[name])
            return Plural(
                "Do not release yet: {who} is not measured.",
                "Do not release yet: {who} are not measured.",
                len(names),
                who=who,
            )
        accepted = sum(len(row.accepted) for row in self.rows)
        measured = [row for row in self.rows if row.state is State.BELOW]
        below = self._below(measured, shares=shares)
        if accepted:
            ready = Phrase("Ready with {what}", what=counted(accepted, "acceptance"))
        elif len(measured) == len(self.rows):
            ready = Phrase("Ready")
        else:
            ready = Phrase("Below the limits so far")
        if self.linkage is not None and self.linkage.state is State.ACCEPTED:
            ready = Phrase("{ready}, and a linkage that no person checked", ready=ready)
        said = Phrase("{ready}: {below}.", ready=ready, below=below)
        for each in self.rows:
            if each.state is State.DOES_NOT_APPLY and each.why:
                beside = Phrase("The {who}: {why}.", who=WHO[each.intruder], why=each.why)
                said = Phrase("{first} {then}", first=said, then=beside)
        return said

    def _below(self, measured: Sequence[Row], *, shares: bool) -> Phrase:
        """Who is below the limit; before them what people answered for, the worst first."""
        below: Phrase = Plural(
            "{n} of {all} intruders is below the limit",
            "{n} of {all} intruders are below the limit",
            len(measured),
            n=len(measured),
            all=len(self.rows),
        )
        if measured and shares:
            worst = max(measured, key=lambda each: _found(each).value)
            below = Phrase(
                "{below}; the highest is {who} with {share} of people found",
                below=below,
                who=THE[worst.intruder],
                share=share_text(_found(worst).value, self.limits.found),
            )
        for row in reversed([each for each in self.rows if each.state is State.ACCEPTED]):
            finds = self._taken(row, shares=shares)
            below = Phrase("{finds}, accepted; {others}", finds=finds, others=below)
        return below

    def _taken(self, row: Row, *, shares: bool) -> Phrase:
        """What people answered for, as half a sentence."""
        if row.findings is None or not self.limits.above(row.findings):
            return Phrase("{who} is not measured", who=THE[row.intruder])
        if shares:
            return _finds(row, self.limits)
        return Phrase("{who} is above the limit", who=THE[row.intruder])

    @property
    def worst(self) -> str:
        """What the worst intruder finds, in a few words; the headline where none is above."""
        return self.sentences[0] if self.sentences else self.headline

    @property
    def most_found(self) -> str:
        """What the worst row found, whether or not people have answered for it."""
        measured = [row for row in self.rows if row.findings is not None]
        blank = [row.intruder for row in self.rows if row.state is State.NOT_MEASURED]
        said = [f"Not measured: {_listed(blank)}."] if blank else []
        if measured:
            row = min(measured, key=lambda each: each.rank)
            share = share_text(_found(row).value, self.limits.found)
            text = f"the {row.intruder} finds {share} of people"
            if row.findings is not None and self.limits.above(row.findings):
                text = _finds(row, self.limits)
            said.insert(0, Sentence("{begin}.", begin=text))
        return " ".join(said)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What puts each row that is above there, the worst first."""
        above = (_finds(row, self.limits) for row in self.rows if row.state is State.ABOVE)
        return tuple(Sentence("{begin}.", begin=said) for said in above)

    @property
    def summary(self) -> str:
        """The last line after attacks: who finds how much, and whether an attack found more."""
        above = [row for row in self.rows if row.state is State.ABOVE]
        said = self.headline
        if above:
            # What the first one finds, and the limit, are not said again.
            again = above[0].findings is not None and "found" in self.limits.beyond(
                above[0].findings
            )
            first, more = _finds(above[0], self.limits), above[1:]
            finds = [first, *(_finds(each, self.limits, again=again) for each in more)]
            others = [_stands(row) for row in self.rows if row not in above]
            every = [Listed(finds), *([Listed(others)] if others else [])]
            said = Phrase("Do not release yet: {finds}.", finds=Listed(every, "; "))
        return Listed((said, beaten_text(self.evidence)), " ")

    def __str__(self) -> str:
        """The rows as a table, with what they come from and why something was accepted."""
        return self.text()

    def text(
        self, details: bool = True, *, options: bool = False, advice: Sequence[str] = ()
    ) -> str:
        """The same; short without the reasons of acceptances, which are details.

        Parameters
        ----------
        options
            Whether changes are named by options, not by the keys of a project file.
        advice
            What to do next where no change was tried.
        """
        nexts = self._nexts(options=options) or advice
        beaten = any(each.beaten or each.raised for each in self.evidence)
        said = f"{self.headline} {beaten_text(self.evidence)}" if beaten else self.headline
        lines = [
            *self.lines(details),
            "",
            *wrapped(said),
            *(["", "Next:"] if nexts else []),
        ]
        for text in nexts:
            lines += wrapped(text, "  ", " " * 6)
        return "\n".join(lines)

    def lines(self, details: bool = True) -> list[str]:
        """The rows as a table, with what they come from, without the headline."""
        notes = [(row.intruder, row.why) for row in self.rows if row.why]
        if self.linkage is not None:
            notes.append((LINKAGE, str(self.linkage)))
        accepted = [
            (acceptance.column or row.intruder, acceptance)
            for row in self.rows
            for acceptance in row.accepted
        ]
        if self.linkage is not None and self.linkage.accepted is not None:
            accepted.append((LINKAGE, self.linkage.accepted))
        if details:
            notes += [("", one.about(what)) for what, one in accepted]
        else:
            notes += [("accepted", said) for said in _accepted(accepted)]
        lines = [f"Limits: {self.limits}.", "", *self._table(), ""]
        for who, text in notes:
            lines += wrapped(text, f"  {who:<12}  ", " " * 16)
        return lines

    @property
    def nexts(self) -> list[str]:
        """What may be done, where cures were tried: each with what it costs."""
        return self._nexts()

    def _nexts(self, *, options: bool = False) -> list[str]:
        if not self.cures:
            return []
        above = listed([row.name for row in self.rows if row.state is State.ABOVE])
        same: dict[Cure, list[str]] = {}
        for cure in self.cures:
            same.setdefault(replace(cure, row=""), []).append(cure.row)
        how = "--promise-limits" if options else "promise_limits = true (--promise-limits)"
        return [
            *(
                each.said((options and each.options) or each.how, rows)
                for each, rows in [*same.items()][:SHOWN]
            ),
            Phrase("All that is needed, at the least loss: {how}", how=how),
            Phrase("Or a person answers for {rows}, in a project: sfumato accept", rows=above),
        ]

    def _table(self) -> list[str]:
        heads = ("intruder", "people found", "one person", "learned", "verdict")
        cells = [heads, *(self.cells(row) for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return [
            "  "
            + "   ".join(
                cell.rjust(width) if 0 < place < 4 else cell.ljust(width)
                for place, (cell, width) in enumerate(zip(each, widths, strict=True))
            ).rstrip()
            for each in cells
        ]

    def cells(self, row: Row) -> tuple[str, ...]:
        """A row as a table shows it: intruder, people found, one person, learned, state."""
        who, said = WHO[row.intruder], row.said
        if row.state is State.ABOVE:
            said = Phrase("ABOVE")
        if row.findings is None:
            return (who, "-", "-", "-", said)
        findings, limits = row.findings, self.limits
        people = share_text(findings.found.value, limits.found)
        low, high = (
            Figure(share_text(each)[:-2]) for each in (findings.found.low, findings.found.high)
        )
        if low != high:
            people = Phrase("{share} ({low} to {high})", share=people, low=low, high=high)
        learned = "-" if row.learned is None else share_text(row.learned.value, limits.learned)
        return (who, people, share_text(findings.person.value, limits.person), learned, said)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "state": self.state.value,
            **self.noted,
            "outline": self._headline(shares=False),
            "people": self.people,
            "sentences": [*self.sentences],
            "limits": asdict(self.limits),
            "rows": [row.to_json() for row in self.rows],
            "cures": [*map(asdict, self.cures)],
            "next": self.nexts,
            "found": None if self.found is None else asdict(self.found),
            "population": None if self.population is None else [*map(asdict, self.population)],
            "linkage": None if self.linkage is None else self.linkage.to_json(),
            **({"evidence": [*map(asdict, self.evidence)]} if self.evidence else {}),
        }


def limits_of(plain: Mapping[str, Any]) -> Limits:
    """The limits of a verdict as plain values."""
    return TypeAdapter(Limits).validate_python(plain["limits"])


def check_answers(accepted: Iterable[Acceptance], columns: Iterable[str]) -> None:
    """Refuse an answer for the insider by columns (joined by `` + ``) that do not go out.

    It would cover nothing.
    """
    known = {*columns}
    for association in accepted:
        if (
            association.column
            and association.column not in known
            and not {*association.column.split(" + ")} <= known
        ):
            raise InputError(
                f"accept.insider.{association.column}",
                "must name a column that may go out, and is no quasi-identifier",
                found="another name",
                accepted=", ".join(sorted(known)) or "none",
            )


def acceptance_of(plain: Mapping[str, Any]) -> Acceptance:
    """An acceptance as `Acceptance.to_json` has it."""
    return TypeAdapter(Acceptance).validate_python(plain)


def beside_files(plain: Mapping[str, Any], elsewhere: int) -> dict[str, Any]:
    """A verdict as plain values where other files of its series were handed over.

    They are those that this one neither continues nor repeats.
    """
    found = plain["found"]
    return {**plain, "found": found and {**found, "elsewhere": elsewhere}}


def judged_again(
    plain: Mapping[str, Any],
    limits: Limits,
    accepted: Sequence[Acceptance] = (),
    recipient: Findings | str | None = None,
    linkage: Linkage | None = None,
    evidence: Sequence[Evidence] = (),
) -> Verdict:
    """What was measured once, held against other limits, acceptances and linkage."""
    if linkage is None and plain.get("linkage") is not None:
        linkage = TypeAdapter(Linkage).validate_python(plain["linkage"])
    evidence = (*evidence_of(plain.get("evidence", ())), *evidence)
    population = TypeAdapter(tuple[Share, Share] | None).validate_python(plain["population"])
    found = TypeAdapter(Found | None).validate_python(plain["found"])
    if found is not None:
        again = judge(
            found,
            limits,
            accepted,
            population=population,
            recipient=recipient,
            linkage=linkage,
            evidence=evidence,
        )
        cures = TypeAdapter(tuple[Cure, ...]).validate_python(plain.get("cures", ()))
        above = [row.name for row in again.rows if row.state is State.ABOVE]
        # Of other limits nothing was tried.
        above *= limits == limits_of(plain)
        return replace(again, cures=tuple(cure for cure in cures if cure.row in above))
    rows = {row["intruder"]: row for row in plain["rows"]}
    stranger = TypeAdapter(Findings).validate_python(rows["stranger"])
    blank = rows["insider"]
    return unmeasured(
        plain["people"],
        stranger,
        blank["why"],
        blank.get("unmeasured", ()),
        Held(limits, accepted, evidence),
        recipient=recipient,
        linkage=linkage,
    )


@dataclass(frozen=True)
class Held:
    """What findings are held against, on the day on which acceptances must still count."""

    limits: Limits = PUBLIC
    accepted: Sequence[Acceptance] = ()
    evidence: Sequence[Evidence] = ()
    today: date = field(default_factory=lambda: datetime.now(UTC).date())

    def row(self, intruder: str, findings: Findings | None, why: str) -> Row:
        """The row of an intruder; without findings nothing was measured."""
        state = State.NOT_MEASURED
        if findings is not None:
            findings = raised(findings, self.evidence, intruder)
            state = State.ABOVE if self.limits.above(findings) else State.BELOW
        own = [acceptance for acceptance in self.accepted if acceptance.intruder == intruder]
        own = [each for each in own if each.covers(findings, self.today)][:1]
        why = _raised_by(why, self.evidence, intruder)
        if state is State.BELOW or not own:
            return Row(intruder, state, findings, why)
        return Row(intruder, State.ACCEPTED, findings, why, accepted=(*own,))

    def insider(self, found: Found) -> Row:
        """The row of who knows values of one further column: the worst that nobody accepted."""
        insiders = _raised_insiders(found, self.evidence)
        if found.elsewhere:
            # One value of such a file, and one of this, may find more than any two that are known.
            gone = Plural(
                "a file of this series left that it does not continue; bring the folder back",
                "{n} files of this series left that it does not continue; bring the folder back",
                found.elsewhere,
                n=count(found.elsewhere),
            )
            return self.unmeasured_insider([*insiders], gone)
        if not insiders:
            return Row("insider", State.DOES_NOT_APPLY, why=NO_COLUMN)
        above = {name: insider for name, insider in insiders.items() if self.limits.above(insider)}
        covered = self._covered(above)
        left = {name: each for name, each in above.items() if name not in covered}
        state = State.ABOVE if left else State.ACCEPTED if covered else State.BELOW
        worst = max(left or above or insiders, key=lambda name: insiders[name].found.high)
        shares = sorted(insiders, key=lambda name: -insiders[name].found.value)
        tried = _listed(
            Phrase(
                "{name} {share}",
                name=_column_words(name),
                share=share_text(insiders[name].found.value, self.limits.found),
            )
            for name in shares
        )
        why: str
        if found.over_files:
            why = Phrase("one value in each of two files of one column: {columns}", columns=tried)
        elif found.has_several:
            why = Phrase("two values of one column: {columns}", columns=tried)
        else:
            why = Phrase("one value of one column: {columns}", columns=tried)
        why = _raised_by(why, self.evidence, "insider")
        return Row("insider", state, insiders[worst], why, worst, (*covered.values(),))

    def unmeasured_insider(self, columns: Sequence[str], why: str) -> Row:
        """The same where nothing was measured: accepted where each column is."""
        if not columns:
            return Row("insider", State.DOES_NOT_APPLY, why=NO_COLUMN)
        covered = self._covered(dict.fromkeys(columns))
        state = State.NOT_MEASURED if covered.keys() < {*columns} else State.ACCEPTED
        accepted = (*covered.values(),)
        return Row("insider", state, why=why, accepted=accepted, unmeasured=(*columns,))

    def recipient(
        self,
        findings: Findings | str | None,
        acquaintance: Row | None = None,
        found: Found | None = None,
    ) -> Row:
        """The row of who holds earlier releases, too.

        An acquaintance is the least that a recipient is, but where people answer for it that there
        is none. Of a series, a recipient sees who has left.
        """
        beside = None if acquaintance is None else acquaintance.findings
        gone, left = (None, 0) if found is None else (found.leavers, found.left)
        if not isinstance(findings, Findings) and _raising(self.evidence, "recipient"):
            # What an attack found was measured: who holds earlier releases is an acquaintance, too.
            findings = None if beside is None else replace(beside, learned=())
        if findings is None:
            return Row("recipient", State.DOES_NOT_APPLY, why=AT_HAND_OVER)
        if isinstance(findings, str):
            if gone is not None and self.limits.above(gone):
                # Who answers for a blank, or for this, does not answer for the other.
                return Row("recipient", State.ABOVE, gone, _who_left(left))
            return self.row("recipient", None, findings)
        if acquaintance is not None and beside is not None:
            if acquaintance.state is State.ACCEPTED:
                least = [each.alone for each in beside.learned]
                beside = Findings(Share.of(0.0), Share.of(0.0), (*least,))
            findings = beside.beside(findings)
        why = Phrase("with all that was handed over, to anybody")
        if gone is not None:
            findings = gone.beside(findings)
            why = Phrase("{why}; {more}", why=why, more=_who_left(left))
        return self.row("recipient", findings, why)

    def linkage(self, linkage: Linkage | None) -> Linkage | None:
        """How good the linkage is, with who answers for it where that still counts."""
        return None if linkage is None else linkage.held_against(self.accepted, self.today)

    def _covered(self, findings: Mapping[str, Findings | None]) -> dict[str, Acceptance]:
        """Who answers for the insider by each of some columns."""
        return {
            each.column: each
            for each in self.accepted
            if each.column in findings and each.covers(findings[each.column], self.today)
        }


def judge(
    found: Found,
    limits: Limits | None = None,
    accepted: Sequence[Acceptance] = (),
    *,
    population: tuple[Share, Share] | None = None,
    recipient: Findings | str | None = None,
    linkage: Linkage | None = None,
    evidence: Sequence[Evidence] = (),
    today: date | None = None,
) -> Verdict:
    """Hold what intruders find against limits.

    Parameters
    ----------
    limits
        Those of a public release where not given.
    population
        What the stranger finds where the file is a sample: people found, and one person.
    recipient
        What is found by who holds earlier releases, too, or why that was not measured; without it
        the recipient is judged at hand-over.
    linkage
        How well the records were linked, where they were.
    today
        The day on which acceptances must still count.
    """
    held = Held(limits or PUBLIC, accepted, evidence, *(() if today is None else (today,)))
    stranger = found.stranger
    if population is not None:
        stranger = Findings(*population, learned=stranger.learned)
    acquaintance = held.row(
        "acquaintance", found.acquaintance, _of_bands(found, population is not None)
    )
    rows = [
        held.row("stranger", stranger, _of_classes(found, held.limits, population)),
        acquaintance,
        held.insider(found),
        held.recipient(recipient, acquaintance, found),
    ]
    rows.sort(key=lambda each: each.rank)
    linked = held.linkage(linkage)
    return Verdict((*rows,), held.limits, found.people, found, population, linked, (*evidence,))


def _raising(evidence: Sequence[Evidence], intruder: str) -> list[str]:
    """The attacks that found more than a row shows."""
    return [each.attack for each in evidence if each.raised and each.intruder == intruder]


def _raised_by(why: str, evidence: Sequence[Evidence], intruder: str) -> str:
    """What a row comes from, with the attacks that found more than it would show."""
    names = _raising(evidence, intruder)
    if not names:
        return why
    return Phrase("{why}; raised by {attacks}", why=why, attacks=_listed(names))


def _raised_insiders(found: Found, evidence: Sequence[Evidence]) -> dict[str, Findings]:
    """What the insider finds by each column, and by those that an attack alone looked at."""
    every = {
        name: raised(insider, evidence, "insider", name) for name, insider in found.insiders.items()
    }
    for each in evidence:
        if each.raised and each.intruder == "insider" and each.column not in every:
            every[each.column] = Findings(each.people, each.people)
    return every


def unmeasured(
    people: int,
    stranger: Findings,
    why: str,
    columns: Sequence[str],
    held: Held,
    *,
    recipient: Findings | str | None = None,
    linkage: Linkage | None = None,
) -> Verdict:
    """The verdict where classes alone were measured, and nothing of who knows more."""
    rows = [
        held.row("stranger", stranger, ""),
        held.row("acquaintance", None, why),
        held.unmeasured_insider(columns, why),
        held.recipient(recipient),
    ]
    return Verdict(
        (*sorted(rows, key=lambda each: each.rank),),
        held.limits,
        people,
        linkage=held.linkage(linkage),
        evidence=(*held.evidence,),
    )


def _of_classes(found: Found, limits: Limits, population: tuple[Share, Share] | None) -> str:
    """What the stranger's numbers come from."""
    if population is not None and population[0].high > population[0].value:
        return Phrase(
            "the file is a sample: found in its population, by the upper end of the estimate"
        )
    if population is not None:
        return Phrase("the file is a sample: found among everybody of its population")
    needed = ceil(1 / limits.person - 1e-9)
    least = Phrase("the smallest class has {people}", people=counted(found.fewest, "person"))
    if found.fewest >= needed:
        return least
    return Phrase("{least}; {needed} are needed", least=least, needed=needed)


def _of_bands(found: Found, sample: bool) -> str:
    """What the acquaintance's numbers come from."""
    if found.left and found.leavers is None:
        return _who_left(found.left)
    if found.has_several:
        return Phrase(
            "the number of records, roughly: {alone} of {people} alone in their band",
            alone=count(found.alone),
            people=counted(found.people, "person"),
        )
    if sample:
        return Phrase("one record a person, and knows who is in the file")
    return Phrase("same as the stranger: one record a person, and no population given")


def _who_left(left: int) -> Phrase:
    """What is known of those who left a series."""
    return Phrase(
        "who has left, whose records no longer change: {people}",
        people=counted(left, "person"),
    )


def _accepted(accepted: Sequence[tuple[str, Acceptance]]) -> list[str]:
    """What the same person accepted until the same day, together; the reasons are details."""
    together: dict[str, list[str]] = {}
    for what, one in accepted:
        together.setdefault(one.term.removeprefix("accepted "), []).append(what)
    said = [f"{_listed(names)}, {term}" for term, names in together.items()]
    left = len(said) - SHOWN
    return [*said[:SHOWN], *([f"{left} more: --details"] if left > 0 else [])]


def _finds(row: Row, limits: Limits, *, again: bool = False) -> Phrase:
    """What puts an intruder above the limit, as half a sentence; short after one about people."""
    findings, learned = row.findings, row.learned
    assert findings is not None
    who = SOMEONE[row.intruder]
    if findings.found.high > limits.found * RELATIVE:
        told = _beside(findings.found, limits.found)
        if again:
            return Phrase("{who} {share}", who=who, share=told["share"])
        return Phrase("{who} finds {share} of people (limit {limit})", who=who, **told)
    if findings.person.high > limits.person * RELATIVE:
        told = _beside(findings.person, limits.person)
        return Phrase("{who} finds one person with {share} (limit {limit})", who=who, **told)
    assert learned is not None
    told = _beside(learned, limits.learned)
    return Phrase("{who} learns {share} of values (limit {limit})", who=who, **told)


def _beside(share: Share, limit: float) -> dict[str, str]:
    """A share that counts as above, with its upper end where that alone is, and its limit."""
    text = share_text(share.value, limit)
    if share.value <= limit:
        most = share_text(share.high, limit)
        text = Phrase("{share} (up to {most})", share=text, most=most)
    return {"share": text, "limit": share_text(limit)}


def _stands(row: Row) -> str:
    """How an intruder stands who is not above."""
    who = WHO[row.intruder]
    if row.state is State.DOES_NOT_APPLY:
        return Phrase("{who}: {why}", who=who, why=row.why)
    state = Phrase("accepted") if row.state is State.ACCEPTED else STATES[row.state]
    return Phrase("{who} {state}", who=who, state=state)


def _found(row: Row) -> Share:
    assert row.findings is not None
    return row.findings.found


def _listed(words: Iterable[str]) -> str:
    every = [*words]
    more = len(every) - NAMED
    some = Listed(every[:NAMED])
    return some if more <= 0 else Phrase("{some}, and {more} more", some=some, more=more)


def _column_words(name: str) -> str:
    """A column that an insider knows, or how many of those that are known together."""
    together = name.split(" + ")
    return name if len(together) < MANY_COLUMNS else named(together)
