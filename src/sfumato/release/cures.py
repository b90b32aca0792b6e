"""What brings a release below its limits, and what it costs: tried, never guessed.

A plan is what a release is asked for. What is above a limit calls for a change of the plan: more
people in a class, people of one band, a limit on how many share a value, a column written with less
detail or left out. One change at a time is a cure; all that are needed, cheapest first, are the
promise to keep the limits.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import combinations
from math import ceil, floor, inf
from time import perf_counter

from sfumato.core.declaration import Progress, declared
from sfumato.core.errors import ConstraintsNotMetError, InputError
from sfumato.core.number_text import counted, named, share_text
from sfumato.core.phrases import Phrase
from sfumato.release.known_counts import left_out
from sfumato.release.promises.h_affiliation import HAffiliation
from sfumato.release.promises.k_anonymity import PidKAnonymity
from sfumato.release.promises.marketer_risk import MarketerRisk
from sfumato.release.promises.promise import Budget, Constraint, strictest
from sfumato.release.promises.shared_counts import SharedCounts
from sfumato.release.promises.shared_events import KnownEvents
from sfumato.release.release_options import Coarsening, KnownCounts, Options
from sfumato.release.release_result import Release
from sfumato.risk.intruders import Findings
from sfumato.risk.learned_values import Learned
from sfumato.risk.verdict import Acceptance, Cure, Limits, Row, State, Verdict
from sfumato.schema import EventKind
from sfumato.table.table import Table

SECONDS = 60
"""How long cures are tried at most; somebody waits for them."""
TOGETHER = 3
"""Columns of which every choice is tried, eight releases; of more all, none, and each alone."""
ROUNDS = 3
"""How often a plan is corrected by what was measured of it: the first time by how far it is above,
the second by what regrouping has moved since, the third by what was left of that."""
SEARCH = "search"
"""The stage of the work in which plans are tried."""
_UNIT = 1e4
"""Shares are promised to so many parts, rounded to the safe side."""


@dataclass(frozen=True)
class Plan:
    """What a release is asked for."""

    promises: tuple[Constraint | Budget, ...]
    options: Options

    def promising(self, *more: Constraint | Budget, **options: object) -> Plan:
        """The same with more promises, and other options."""
        promises = strictest((*self.promises, *more))
        return Plan(promises, replace(self.options, **options))  # type: ignore[arg-type]

    def beyond(self, other: Plan) -> str:
        """What it asks for that another one does not, as in a project file, and what no more."""
        keys, theirs = self._keys, other._keys
        # Less may be left out than is allowed: a plan takes none of it back.
        if self.options.suppress < other.options.suppress:
            keys["suppress"] = theirs["suppress"]
        new = [f"{key} = {_toml(value)}" for key, value in keys.items() if theirs.get(key) != value]
        dropped = [key for key in theirs if key not in keys]
        return ", ".join(new) + (f"; without {', '.join(dropped)}" if dropped else "")

    def typed_beyond(self, other: Plan) -> str:
        """The same as options of the command line; empty where those cannot say it."""
        options = {each.key: each.option for each in declared(Options)}
        for promise in self.promises:
            options |= {each.key: each.option for each in declared(type(promise))}
        own, theirs = self._keys, other._keys
        new = {key: value for key, value in own.items() if theirs.get(key) != value}
        if not new.keys() <= options.keys():
            return ""
        words = [
            options[key] if value is True else f"{options[key]} {_word(value)}"
            for key, value in new.items()
        ]
        gone = [f"--{key.replace('_', '-')}" for key in theirs if key not in own]
        return " ".join(words) + (f", without {', '.join(gone)}" if gone else "")

    @property
    def _keys(self) -> dict[str, object]:
        """What is asked for by the keys of a project file; limits of one column with its name."""
        keys: dict[str, object] = {}
        for promise in self.promises:
            about = getattr(promise, "attribute", None)
            of = "" if about is None else f" of {about}"
            for each in declared(type(promise)):
                value = getattr(promise, each.name)
                if value != each.default:
                    keys[each.key + of] = value
        return keys | {"suppress": 0.0} | self.options.to_dict()


Made = Callable[[Plan], Release]
"""Makes the release of a plan."""


def _toml(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else f"{value}"


def _word(value: object) -> str:
    """A value as a shell takes it."""
    if isinstance(value, (list, tuple)):
        value = ",".join(map(str, value))
    return shlex.quote(str(value))


def detail_lost(release: Release) -> float:
    """What a release lost of what it says of people: 1 - (what is kept of who) (of what).

    Who: the mean over quasi-identifiers, of which the certainty penalty is lost, and the person, of
    whom several pseudonyms are. What: the mean over the other columns of the share of records that
    show them as they were. Both are about each other: with nothing of the one nothing is said.
    """
    utility, withheld = release.utility, {*release.manifest.options.withhold}
    kept, schema, histories = 1 - utility.suppressed_records_share, release.schema, None
    exact: dict[str, float] = {}
    if utility.histories is not None:
        histories = utility.histories
        exact |= histories.columns
        # Dates that were moved still say how long it was from one to the next.
        dates = [name for name, event in schema.events.items() if event.kind is EventKind.DATE]
        exact |= {name: max(exact[name], histories.intervals_exact or 0.0) for name in dates}
    who = [1 - column.ncp for column in utility.columns]
    if schema.person is not None:
        parted = 0 if utility.counts is None else utility.counts.persons_affected
        parted += 0 if histories is None else histories.divided
        who.append(kept * max(0.0, 1 - parted / utility.persons))
    what = [
        0.0 if name in withheld else exact.get(name, 1.0)
        for name in (*schema.sensitive, *schema.insensitive)
    ]
    return 1 - sum(who) / len(who) * (sum(what) / len(what) if what else 1.0)


def _tried(make: Made, plan: Plan) -> Release | None:
    """The release of a plan; ``None`` where it cannot keep it, or promises do not go together."""
    try:
        return make(plan)
    except (ConstraintsNotMetError, InputError):
        return None


def wider(plan: Plan, limits: Limits) -> Plan:
    """With as many people in a class as the limits of a stranger ask for."""
    fewest = ceil(1 / limits.person - 1e-9)
    on_average = [] if limits.found * fewest >= 1 else [MarketerRisk(_down(limits.found))]
    return plan.promising(PidKAnonymity(fewest), *on_average)


def banded(plan: Plan, table: Table, limits: Limits) -> Plan:
    """With classes of people who have about as many records, bands of too few people left out.

    Where that leaves out everybody, with one record of each: their numbers tell nothing then.
    """
    plan = wider(plan, limits)
    promises = [promise for promise in plan.promises if not isinstance(promise, KnownEvents)]
    few = ceil(left_out(table, promises) * _UNIT) / _UNIT
    if few >= 1:
        return plan.promising(cap_records=1)
    suppress = max(plan.options.suppress, few)
    kept = tuple(promise for promise in plan.promises if not isinstance(promise, SharedCounts))
    return Plan(kept, plan.options).promising(
        known_counts=KnownCounts.BANDS, suppress=suppress, coarsen_counts=None, cap_records=None
    )


def divided(plan: Plan, limits: Limits) -> Plan:
    """With several pseudonyms of people whose number of records stands out."""
    plan = wider(plan, limits)
    kept = tuple(promise for promise in plan.promises if not isinstance(promise, KnownEvents))
    sharing = SharedCounts(ceil(1 / limits.found - 1e-9))
    return Plan(kept, plan.options).promising(
        sharing, coarsen_counts=Coarsening.SPLIT, known_counts=None, techniques=None
    )


def homogeneous(plan: Plan, table: Table, learned: Sequence[Learned], limits: Limits) -> Plan:
    """With fewer people of a class who share a value of columns that are learned too well.

    At most h of each class are guessed rightly. With b without the file that is beyond guessing by
    (h - b) / (1 - b), which is at the limit L where h = b + L (1 - b).
    """
    sole = len(table.schema.sensitive) == 1
    return plan.promising(
        *(
            HAffiliation(
                _down(each.without + limits.learned * (1 - each.without)),
                attribute=None if sole else each.column,
            )
            for each in learned
        )
    )


def _learned(verdict: Verdict) -> list[Learned]:
    """What is learned too well by who knows no further column."""
    rows = [row for row in verdict.rows if row.intruder != "insider"]
    worst: dict[str, Learned] = {}
    for row in rows:
        if row.state is State.ABOVE and row.findings is not None:
            worst |= {
                each.column: each
                for each in row.findings.learned
                if each.worst.high > verdict.limits.learned
            }
    return [*worst.values()]


def _down(share: float) -> float:
    return floor(share * _UNIT) / _UNIT


def without(plan: Plan, columns: Sequence[str]) -> Plan:
    """With some columns left out."""
    withheld = tuple(dict.fromkeys((*plan.options.withhold, *columns)))
    return plan.promising(withhold=withheld)


def protected(
    plan: Plan, columns: Sequence[str], limits: Limits, *, several: bool, scale: float = 1.0
) -> Plan:
    """With some columns written so that who knows two of a person's values finds few.

    Where nobody has several records one value is known. Promised are the limits times ``scale``.
    """
    found, person = _down(limits.found * scale), _down(limits.person * scale)
    known_events = KnownEvents(2 if several else 1, found, p95=person)
    released = tuple(column for column in columns if column not in plan.options.withhold)
    return plan.promising(known_events, known_columns=released)


def _known(plan: Plan, table: Table) -> tuple[str, ...]:
    """The columns that a plan promises known events of already."""
    if not any(isinstance(promise, KnownEvents) for promise in plan.promises):
        return ()
    return plan.options.known_columns or tuple(event.name for event in table.events)


def _insiders(verdict: Verdict) -> dict[str, Findings]:
    """What an insider finds above the limit by each column, unless somebody accepted it."""
    row, limits = verdict.row("insider"), verdict.limits
    if row.state is not State.ABOVE:
        return {}
    covered = {acceptance.column for acceptance in row.accepted}
    every = verdict.insiders.items()
    return {name: each for name, each in every if name not in covered and limits.above(each)}


def _involved(verdict: Verdict, before: Sequence[str]) -> list[str]:
    """More columns than before by which an insider is above: known ones, then learned ones."""
    insiders, limits = _insiders(verdict), verdict.limits
    known = [part for name in insiders for part in name.split(" + ")]
    learned = [
        one.column
        for insider in insiders.values()
        for one in insider.learned
        if one.worst.high > limits.learned
    ]
    # What is learned by a known column changes only where changing that one was not enough.
    more = learned if set(known) <= {*before} else known
    return [*dict.fromkeys((*before, *more))]


def cures(
    release: Release, table: Table, plan: Plan, make: Made, seconds: float = 0.0
) -> tuple[Cure, ...]:
    """What would lower each row that is above its limit, tried: the cheapest of each row first.

    A trial makes the release again, and is foretold by the seconds that the release took. What
    would take longer than there is time is not tried.
    """
    ends, longest, tried = perf_counter() + SECONDS, seconds, list[Cure]()
    before = detail_lost(release)
    for row in (row for row in release.verdict.rows if row.state is State.ABOVE):
        for words, changed in _changes(row, release, table, plan):
            began = perf_counter()
            if changed.beyond(plan) and began + longest <= ends:
                after = _tried(make, changed)
                longest = max(longest, perf_counter() - began)
                if after is not None:
                    after = after.judged(release.limits, release.accepted)
                    how = changed.beyond(plan), changed.typed_beyond(plan)
                    tried.append(_cure(row, words, how, after, before))
    tried.sort(key=lambda each: (not each.enough, each.lost[1]))
    # Every row needs a cure: the best of each come first.
    place = {id(each): [one for one in tried if one.row == each.row].index(each) for each in tried}
    return tuple(sorted(tried, key=lambda each: place[id(each)]))


def _cure(row: Row, words: str, how: tuple[str, str], after: Release, before: float) -> Cure:
    assert row.findings is not None
    verdict = after.verdict
    again = verdict.row(row.intruder)
    # Who has nothing more to know finds what an acquaintance finds.
    findings = again.findings or verdict.row("acquaintance").findings
    assert findings is not None
    over = after.limits.beyond(findings) if again.stops else ()
    number = (*over, *after.limits.beyond(row.findings))[0]
    ends = row.findings.shares[number], findings.shares[number]
    lost = before, detail_lost(after)
    return Cure(row.name, words, how[0], ends, lost, not again.stops, number, how[1])


def _changes(row: Row, release: Release, table: Table, plan: Plan) -> Iterator[tuple[str, Plan]]:
    """What may be changed for a row, in words."""
    limits, found = release.limits, release.verdict.found
    several = found is not None and found.has_several
    if row.intruder == "insider":
        columns = row.column.split(" + ")
        yield Phrase("Leave {columns} out", columns=named(columns)), without(plan, columns)
        if set(columns) <= _may_be_events(table):
            known = dict.fromkeys((*_known(plan, table), *columns))
            for_all = protected(plan, [*known], limits, several=several)
            yield Phrase("Write {columns} with less detail", columns=named(columns)), for_all
        return
    if row.findings is not None and {*limits.beyond(row.findings)} & {"found", "person"}:
        if row.intruder == "acquaintance" and several:
            together = Phrase("Keep people of about as many records together")
            yield together, banded(plan, table, limits)
            yield Phrase("Divide pseudonyms"), divided(plan, limits)
        else:
            yield Phrase("Have more people in a class"), wider(plan, limits)
    if row.learned is not None and row.learned.high > limits.learned:
        yield (
            Phrase("Let fewer people of a class share a value"),
            homogeneous(plan, table, _learned(release.verdict), limits),
        )


def _may_be_events(table: Table) -> set[str]:
    """The columns of which events can be told: those that the schema names, else all."""
    schema = table.schema
    return {*schema.events} or {*schema.sensitive, *schema.insensitive}


@dataclass(frozen=True, eq=False)
class LimitSearch:
    """A search for the release that loses least of those in which nothing is above a limit.

    Plans are compared as they are cut, without moving people between classes, which takes most of
    the time.
    """

    table: Table
    limits: Limits
    accepted: Sequence[Acceptance]
    make: Made
    progress: Progress

    def best(self, plan: Plan) -> Release:
        """The best release that keeps what a plan promises, too.

        Without one, ConstraintsNotMetError says which row is above, by how much, and who may accept
        it.
        """
        rough = plan.promising(effort=0 if plan.options.loss is None else 1)
        rough = self._in_classes(rough)
        base, columns = self._made(rough), list[str]()
        verdict = base.verdict
        for _ in range(ROUNDS):
            before = rough, columns
            learned = _learned(verdict)
            if learned:
                rough, base = self._less_learned(rough, learned)
            columns = _involved(verdict, columns)
            if (rough, columns) == before and verdict.state is State.ABOVE:
                break
            for how, tried in self._cheapest(base, rough, columns):
                made = self._finished(how, tried, plan.options.effort)
                verdict = made.verdict
                if verdict.state is not State.ABOVE:
                    return replace(made, warnings=(*made.warnings, *_changed(made, plan)))
        raise _impossible(verdict)

    def _in_classes(self, plan: Plan) -> Plan:
        """A plan by which neither stranger nor acquaintance finds too many."""
        today, table = datetime.now(UTC).date(), self.table
        taken = {acceptance.intruder for acceptance in self.accepted if today <= acceptance.until}
        if "stranger" not in taken:
            plan = wider(plan, self.limits)
        several = table.records > table.persons
        # What somebody asks for about numbers of records is not given up for bands of them.
        own = plan.options.cap_records is not None or any(
            isinstance(promise, SharedCounts) for promise in plan.promises
        )
        if "acquaintance" not in taken and several and not own:
            plan = banded(plan, table, self.limits)
        return plan if plan.promises else plan.promising(PidKAnonymity(1))

    def _less_learned(self, plan: Plan, learned: Sequence[Learned]) -> tuple[Plan, Release]:
        """With fewer people of a class who share a value; without the column where none can."""
        alike = homogeneous(plan, self.table, learned, self.limits)
        made = self._tried(alike)
        if made is not None:
            return alike, made
        left = without(plan, [each.column for each in learned])
        return left, self._made(left)

    def _made(self, plan: Plan) -> Release:
        return self.make(plan).judged(self.limits, self.accepted)

    def _tried(self, plan: Plan) -> Release | None:
        """The release of a plan; ``None`` where it cannot keep it."""
        made = _tried(self.make, plan)
        return None if made is None else made.judged(self.limits, self.accepted)

    def _cheapest(
        self, base: Release, rough: Plan, columns: Sequence[str]
    ) -> list[tuple[Plan, Release]]:
        """By rising loss, plans that write some columns with less detail and leave others out.

        Each with its release as it is cut; the base has that of the plan that leaves all as they
        are.
        """
        found = list[tuple[float, Plan, Release]]()
        choices = _choices(columns, _may_be_events(self.table))
        several, least = self.table.records > self.table.persons, inf
        for place, chosen in enumerate(choices):
            self.progress(SEARCH, place / len(choices))
            left = [name for name in columns if name not in chosen]
            # What is written with less detail loses no less than what stays as it is.
            if _least(base, left) >= least:
                continue
            how = without(rough, left)
            if chosen:
                known = dict.fromkeys((*_known(rough, self.table), *chosen))
                how = protected(how, [*known], self.limits, several=several)
            made = self._tried(how)
            if made is not None:
                lost = detail_lost(made)
                found.append((lost, how, made))
                # Only what keeps the limits makes others needless.
                least = least if made.verdict.state is State.ABOVE else min(least, lost)
        return [(how, made) for _, how, made in sorted(found, key=lambda each: each[0])]

    def _finished(self, plan: Plan, rough: Release, effort: int | None) -> Release:
        """The release of a plan with all effort, corrected by what was measured of it.

        Moving people between classes is for the quasi-identifiers and may cost other columns more:
        the release as it was cut is taken where it loses less.
        """
        known = next(
            (promise for promise in plan.promises if isinstance(promise, KnownEvents)), None
        )
        best, scale = rough, _stricter(rough.verdict, 1.0)
        for _ in range(ROUNDS):
            asked = plan.promising(effort=effort)
            if known is not None:
                columns, several = plan.options.known_columns, known.m > 1
                asked = protected(asked, columns, self.limits, several=several, scale=scale)
            made = self._tried(asked)
            if made is None:
                break
            best, before = min(best, made, key=_worth), scale
            scale = _stricter(made.verdict, scale)
            if known is None or scale == before:
                break
        return best


def _worth(release: Release) -> tuple[bool, float]:
    """Less is better: nothing above a limit, then little detail lost."""
    return release.verdict.state is State.ABOVE, detail_lost(release)


def _changed(made: Release, plan: Plan) -> list[str]:
    """What a release keeps limits by that a plan said nothing of, in words."""
    options, said = made.manifest.options, []
    if options.cap_records != plan.options.cap_records:
        said.append(
            f"so that nothing is above the limits, at most {options.cap_records} record of each "
            "person is kept, as too few have as many"
        )
    for names, before, how in (
        (options.withhold, plan.options.withhold, "left out"),
        (options.known_columns, plan.options.known_columns, "written with less detail"),
    ):
        new = [f"'{name}'" for name in names if name not in before]
        if new:
            said.append(
                f"{counted(len(new), 'column')} {how}, so that nothing is above the limits: "
                f"{', '.join(new)}; a column with values that are not known outside stays once a "
                "person answers for it: sfumato accept insider.COLUMN"
            )
    return said


def _choices(columns: Sequence[str], events: Collection[str]) -> list[tuple[str, ...]]:
    """Which columns are written with less detail, the others being left out; most first."""
    able = [name for name in columns if name in events]
    many = len(able)
    sizes = range(many, -1, -1) if many <= TOGETHER else (many, 1, 0)
    return [chosen for size in sizes for chosen in combinations(able, size)]


def _least(base: Release, left: Sequence[str]) -> float:
    """What a release loses at least that leaves some columns out."""
    options = base.manifest.options
    withhold = tuple(dict.fromkeys((*options.withhold, *left)))
    manifest = replace(base.manifest, options=replace(options, withhold=withhold))
    return detail_lost(replace(base, manifest=manifest))


def _stricter(verdict: Verdict, scale: float) -> float:
    """By how much less than the limits is to be promised, where it was ``scale`` until now.

    A share f of an insider counts by its upper end u, which is at the limit L where f is at
    L · f / u; what was found above its promise, scale · L, is brought down by as much as well.
    """
    limits = verdict.limits
    shares = [
        (share, limit)
        for insider in _insiders(verdict).values()
        for share, limit in ((insider.found, limits.found), (insider.person, limits.person))
    ]
    above = [min(each.value, scale * at) / each.high for each, at in shares if each.high > at]
    return min((scale, *above))


def _impossible(verdict: Verdict) -> ConstraintsNotMetError:
    rows = [row for row in verdict.rows if row.state is State.ABOVE]
    failures, options = [], []
    for row in rows:
        assert row.findings is not None
        learned = "" if row.learned is None else f", {share_text(row.learned.high)} learned"
        failures.append(
            f"{row.name}: {share_text(row.findings.found.high)} of people are found, one with "
            f"{share_text(row.findings.person.high)}{learned}; limits {verdict.limits}"
        )
        options.append(f"a person answers for {row.name} (sfumato accept), or other limits")
    return ConstraintsNotMetError(
        tuple(failures),
        tuple(dict.fromkeys(options)),
        "No release that was tried keeps all limits.",
    )
