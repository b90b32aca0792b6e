"""The memory of releases: drafts, what was handed to whom, what was erased and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import numpy as np

from sfumato.core.errors import InputError
from sfumato.ledger import ledger_store, sketches
from sfumato.ledger.composed_proposals import Proposal, coarser, refusal, unready
from sfumato.ledger.composition import Handed, Limits, Measured, Together, of_classes, together
from sfumato.ledger.ledger import Ledger, check_said
from sfumato.ledger.overlap import by_id, check_apart, check_shared, followed
from sfumato.release.promises import PROMISES, restored
from sfumato.release.promises.promise import AboutAttribute
from sfumato.release.release_result import Disclosed, Release
from sfumato.risk.evidence import Evidence
from sfumato.risk.intruders import Findings
from sfumato.risk.verdict import (
    Acceptance,
    Linkage,
    Verdict,
    acceptance_of,
    beside_files,
    judged_again,
    limits_of,
)
from sfumato.risk.verdict import Limits as Judged

_TERMS, _DRAFT, _HANDED, _WAIVED, _FORGOT = "terms", "draft", "handed over", "waived", "forgotten"
_SIGNED = "signed"
_COHORTS = "cohorts"
"""What a waiver names that says of several groups of releases that they share no person."""
# The longest month and year, so that nothing is erased before its time.
_DAYS = {"day": 1, "month": 31, "year": 366}
_KEEP = re.compile(r"(\d{1,4}) (day|month|year)s?")


@dataclass(frozen=True)
class Terms(Limits):
    """What is settled for a ledger; sketches are kept ``"10 years"``, or ``""`` for ever."""

    keep: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be kept to."""
        super().__post_init__()
        if self.keep and _KEEP.fullmatch(self.keep) is None:
            raise InputError(
                "parameter keep", "must be a time", accepted='"10 years", "18 months", "30 days"'
            )

    @property
    def kept_for(self) -> timedelta | None:
        """How long, rounded up to whole days; ``None`` for ever."""
        match = _KEEP.fullmatch(self.keep)
        return timedelta(days=int(match[1]) * _DAYS[match[2]]) if match else None


@dataclass(frozen=True, eq=False)
class Remembered:
    """A release that the ledger remembers.

    Attributes
    ----------
    number, time
        Number of its entry, and when it was noted (UTC).
    promises
        What it keeps: ``name`` and parameters.
    request
        The entry of the release on request that it is; 0 for one by promises.
    columns
        What it shows: ``name``, ``shown``, ``role``, ``constant``.
    to, handed
        Who got it, and when; ``""`` of a draft.
    found
        Share of its persons found by all that was handed over, as it was then; ``None`` of a draft.
    kept_in
        The entry that holds its sketch; 0 where that was erased.
    beyond
        Share of a release's persons who would be found if it were handed over to somebody who
        holds all that was handed over when it was noted; ``None`` where that is tolerable.
    together
        The share of its own persons found so, the fewest candidates for one of them, and what is
        learned, as `Findings.among` takes it.
    elsewhere
        Files of its series that were handed over before, and that it neither continues nor repeats.
    """

    number: int
    time: str
    name: str
    output_sha256: str
    persons: int
    records: int
    classes: int
    promises: tuple[Mapping[str, Any], ...]
    request: int
    ordered: bool
    columns: tuple[Mapping[str, Any], ...]
    to: tuple[str, ...] = ()
    handed: str = ""
    found: float | None = None
    kept_in: int = 0
    beyond: float | None = None
    together: Mapping[str, Any] | None = None
    elsewhere: int = 0

    @property
    def again(self) -> tuple[object, ...]:
        """What is the same of a release that is made again of the same file."""
        size = self.persons, self.records, self.classes
        return self.name, *size, self.ordered, self.promises, self.columns, bool(self.kept_in)


@dataclass(frozen=True, eq=False)
class _Cohort:
    """Releases that share no person with those of other cohorts: by name, number or series."""

    name: str
    releases: tuple[Remembered, ...]
    series: frozenset[str]

    def may_have(self, name: str, series: str) -> bool:
        """Whether a file of such a name, or of such a series, is one of it."""
        return name == self.name or series in self.series


_Stated = Mapping[int, Mapping[str, _Cohort]]
"""The cohorts by their names, of each statement by the number of its entry."""


@dataclass(frozen=True, eq=False)
class ReleaseLedger(Ledger):
    """A ledger that remembers releases by promises, and compares them by their people."""

    def terms(self) -> Terms:
        """What the custodian settled last."""
        settlements = [entry.details for entry in self._log.entries() if entry.kind == _TERMS]
        settled = settlements[-1] if settlements else {}
        # An entry of an earlier version may lack a term, for which the default holds.
        return Terms(**{name: settled[name] for name in asdict(Terms()) if name in settled})

    def settle(self, terms: Terms, *, note: str, by: str) -> None:
        """Settle what holds from now on; what held before stays readable."""
        check_said(note=note, by=by)
        self._log.append(_TERMS, by, {**asdict(terms), "note": note})

    def remember(self, release: Release, name: str) -> str:
        """Note a release as a draft, which counts for nothing until handed over; gives the head."""
        if release.disclosed is None:
            raise InputError(
                "a release on Spark",
                "cannot be remembered",
                found="records on a cluster",
                advice="make it in this process (--engine embedded), or leave the ledger out",
            )
        before = release.manifest.series.get("continues_sha256")
        if before is not None and before not in {
            earlier.output_sha256 for earlier in self.remembered()
        }:
            raise InputError(
                "the ledger",
                "must hold the earlier files of the series",
                found="a release that continues a file which it does not know",
                advice="name the ledger in which that file was noted",
            )
        key = self._keys.persons(make=True)
        made = _as_handed(release, key)
        # A draft has no recipient yet: "" is nobody who was waived, so all releases are compared.
        made = replace(
            made, cohorts=_cohorts_of(self._cohorts(), lambda own: own.may_have(name, made.series))
        )
        handed = {**self._beside(""), self.head().number + 1: made}
        terms, comparison = self._limits(release.limits), together(handed)
        number = self.head().number + 1
        beyond: dict[str, object] = {
            "together": comparison.all[number].to_findings(),
            "alone": asdict(comparison.alone[number]),
            "verdict": release.verdict.to_json(),
            "accepted": [acceptance.to_json() for acceptance in release.accepted],
        }
        if comparison.broken(terms):
            beyond["beyond"] = comparison.most
            # Now, while the data is at hand: a hand-over has the sketch alone.
            tried = coarser(release, handed, terms, partial(_as_handed, key=key))
            beyond |= {} if tried is None else {"coarser": asdict(tried)}
        beyond |= {"of_tables": True} if made.of_tables else {}
        if made.series:
            elsewhere = self._elsewhere(made, before or "")
            beyond |= {"series": made.series, "continues": before or "", "elsewhere": elsewhere}
        promises = [{"name": p.name, **p.parameters()} for p in release.constraints]
        sha256 = release.manifest.output_sha256 or ""
        self._draft(made, key, name, sha256, promises=promises, **beyond)
        return str(self.head())

    def _elsewhere(self, made: Handed, before: str, to: str = "") -> int:
        """Files of a series that were handed over, and that one neither continues nor repeats.

        A series of the same people that was begun anew counts, too.
        """
        details = {release.number: self._detail(release.number) for release in self.remembered()}
        chain, before_it = {""}, list[Remembered]()
        while before not in chain:
            own = [each for each in self.remembered() if each.output_sha256 == before]
            chain, before_it = {*chain, before}, [*before_it, *own]
            before = next((details[each.number].get("continues", "") for each in own), "")
        chain.discard("")
        others = [
            self.sketch(release)
            for release in self.may_hold(to)
            if details[release.number].get("series") and release.output_sha256 not in chain
        ]
        # Read only where they are compared: each month would take longer than the one before.
        kept = [each for each in before_it if each.kept_in] if others else []
        known = [made.sketch, *map(self.sketch, kept)]
        return sum(
            2 * _in_both(each, made.sketch) > len(each)
            and not any(_is_again(each, one) for one in known)
            for each in others
        )

    def remember_requested(
        self, request: int, disclosed: Disclosed, name: str, sha256: str, *, ordered: bool, to: str
    ) -> Findings:
        """Note who is in a release on request and what it shows of them, as handed over.

        Gives what is found with all that was, ConstraintsNotMetError if that is too much.
        """
        key = self._keys.persons(make=True)
        made = Handed(sketches.sketch_of(disclosed, key), ordered=ordered, requested=True)
        with self.changing():
            number = self._draft(made, key, name, sha256, promises=[], request=request)
            own = self.hand_over(number, to).all[number]
        return Findings.among(**own.to_findings())

    def _draft(self, made: Handed, key: bytes, name: str, sha256: str, **details: object) -> int:
        sketch = made.sketch
        detail = {
            "name": name,
            "output_sha256": sha256,
            "persons": len(sketch),
            "records": len(sketch.of_person),
            "classes": int(sketch.classes.max(initial=-1)) + 1,
            "ordered": made.ordered,
            "columns": sketch.described(),
            "persons_key": ledger_store.id_of_key(key),
            **details,
        }
        return self._log.append(_DRAFT, "", detail, sketch.parts()).number

    def remembered(self) -> list[Remembered]:
        """The releases that were noted, oldest first."""
        releases: dict[int, Remembered] = {}
        for entry in self._log.entries():
            _follow(releases, entry)
        return list(releases.values())

    def noted(self, number: int) -> Remembered:
        """The release that was noted under a number."""
        release = next((each for each in self.remembered() if each.number == number), None)
        if release is None:
            raise _no_release(number)
        return release

    def sketch(self, release: Remembered) -> sketches.Sketch:
        """The sketch of a release."""
        entry = self._log.entry(release.kept_in)
        if entry is None:
            raise InputError(
                f"release {release.number}", "must have a sketch", found="one that was erased"
            )
        key_id = self._detail(release.number).get("persons_key", "")
        self._keys.check_persons(key_id, f"release {release.number}")
        prefix = f"{release.number} " if release.kept_in != release.number else ""
        names = [detail for detail in entry.details["parts"] if detail.startswith(prefix)]
        arrays = self._log.parts(entry.number, names)
        parts = {n.removeprefix(prefix): a for n, a in zip(names, arrays, strict=True)}
        return sketches.sketch_of_parts(release.columns, parts)

    def _detail(self, number: int) -> dict[str, Any]:
        entry = self._log.entry(number)
        return {} if entry is None else entry.details

    def may_hold(self, to: str) -> list[Remembered]:
        """The releases that a recipient may hold: all that were handed over and not waived.

        Those are left out of which nothing is kept that could be compared.
        """
        waived = self._waived()
        return [
            release
            for release in self.remembered()
            if release.kept_in and any(_may_share(to, other, waived) for other in release.to)
        ]

    def _beside(self, to: str) -> dict[int, Handed]:
        stated = self._waived_releases(), self._cohorts()
        return {earlier.number: self._handed(earlier, *stated) for earlier in self.may_hold(to)}

    def _handed(
        self,
        release: Remembered,
        waived: Sequence[Remembered],
        stated: _Stated,
    ) -> Handed:
        """A release as it is compared, beside those that are said to hold other people."""
        # A custodian's own promise is in no registry, and not held against others.
        registered = [
            restored(promise) for promise in release.promises if promise["name"] in PROMISES
        ]
        sketch, promises = self.sketch(release), of_classes(registered)
        detail = self._detail(release.number)
        # Of a sketch without some people, or beside promises of others, it says too much.
        is_same = release.kept_in == release.number and len(promises) == len(release.promises)
        series = detail.get("series", "")
        return Handed(
            sketch,
            release.ordered,
            self._is_one_of(release, waived),
            promises,
            release.request > 0,
            bool(detail.get("of_tables")),
            series,
            _cohorts_of(
                stated,
                lambda own: (
                    own.may_have(release.name, series) or self._is_one_of(release, own.releases)
                ),
            ),
            Measured.noted(detail["alone"]) if is_same and "alone" in detail else None,
        )

    def _waived_releases(self) -> list[Remembered]:
        waived = self._waived()
        return [earlier for earlier in self.remembered() if earlier.number in waived]

    def _cohorts(self) -> _Stated:
        """By the number of the statement, the cohorts that share no person, by their names."""
        stated = [entry for entry in self._log.entries() if _COHORTS in entry.details]
        every = self.remembered() if stated else []
        return {
            entry.number: {
                name: self._cohort(
                    name, [earlier for earlier in every if earlier.number in numbers]
                )
                for name, numbers in entry.details[_COHORTS].items()
            }
            for entry in stated
        }

    def _cohort(self, name: str, releases: Sequence[Remembered]) -> _Cohort:
        series = {self._detail(each.number).get("series", "") for each in releases} - {""}
        return _Cohort(name, tuple(releases), frozenset(series))

    def _is_one_of(self, release: Remembered, waived: Sequence[Remembered]) -> bool:
        """Whether a release is one of some of which something was said, or one made again.

        A project makes a release again that was refused, under another number and secret.
        """
        return any(
            each.number == release.number
            or (
                each.again == release.again and _shows_same(self.sketch(each), self.sketch(release))
            )
            for each in waived
        )

    def compared(self, number: int, to: str) -> dict[int, Handed]:
        """The releases that whoever gets a release may hold together, this one last.

        All that was handed over to anybody, but for what the custodian waived.
        """
        release = self.noted(number)
        beside = {n: each for n, each in self._beside(to).items() if n != number}
        # Last, since it is the one that is asked about.
        stated = self._waived_releases(), self._cohorts()
        return {**beside, number: self._handed(release, *stated)}

    def beside(self, number: int, to: str) -> Together:
        """What a release gives away to a recipient with all that was handed over; none is noted."""
        comparison = together(self.compared(number, to))
        return replace(comparison, unknown=tuple(self._unknown(number, comparison)))

    def hand_over(
        self,
        number: int,
        to: str,
        *,
        limits: Judged | None = None,
        accepted: Sequence[Acceptance] | None = None,
        linkage: Linkage | None = None,
        evidence: Sequence[Evidence] = (),
    ) -> Together:
        """Let a release that is ready count as handed over, if all that was stays tolerable.

        Gives what all of them give away together; HandOverRefusedError if that is too much or it is
        not ready, with what could be changed.

        Parameters
        ----------
        limits, accepted, linkage
            What intruders may find, who answers for more, and how good the linkage is by now; as
            when it was noted without these.
        """
        check_said(to=to)
        # Compared within the transaction: no other release may be handed over in between.
        with self.changing():
            handed = self.compared(number, to)
            # What was true when it was said may not be of a file that came later.
            for other in handed.values():
                _check_apart(handed[number], other)
            comparison = together(handed)
            for pair in comparison.people.lost:
                # What earlier releases lost among themselves was refused or waived before.
                if number in pair:
                    raise self._unfollowed(number, sum(pair) - number)
            verdict = self._judged(number, to, comparison, limits, accepted, (linkage, evidence))
            # Who answers for the recipient lifts the release's own limits, not the ledger's terms.
            own_limits = (
                None if verdict is None or verdict.row("recipient").accepted else verdict.limits
            )
            terms = self._limits(own_limits)
            if comparison.broken(terms):
                noted = self._detail(number).get("coarser")
                raise refusal(
                    handed, comparison, terms, None if noted is None else Proposal(**noted)
                )
            if verdict is not None and not verdict.ready:
                raise unready(number, verdict)
            detail = {
                "release": number,
                "compared": [each for each in comparison.all if each != number],
                "found": comparison.found[number],
                "tolerable": terms.tolerable,
            }
            self._log.append(_HANDED, to, detail)
        return replace(comparison, unknown=tuple(self._unknown(number, comparison)))

    def note_signature(self, number: int, by: str, **details: str) -> None:
        """Note who signed what was decided of a release."""
        check_said(by=by)
        self.noted(number)
        self._log.append(_SIGNED, by, {"release": number, **details})

    def signatures(self) -> dict[int, Mapping[str, Any]]:
        """What was noted of the signature of each release, by its number."""
        entries = (entry for entry in self._log.entries() if entry.kind == _SIGNED)
        return {
            entry.details["release"]: {"by": entry.actor, "time": entry.time, **entry.details}
            for entry in entries
        }

    def handed_to(self, number: int) -> dict[str, str]:
        """Who got a release, and when (UTC)."""
        return {
            entry.actor: entry.time
            for entry in self._log.entries()
            if entry.kind == _HANDED and entry.details["release"] == number
        }

    def _limits(self, limits: Judged | None) -> Limits:
        """What may be given away together: what a release's own limits and the terms allow."""
        terms = self.terms()
        most = terms.tolerable if limits is None else min(limits.found, terms.tolerable)
        return replace(terms, tolerable=most)

    def _judged(
        self,
        number: int,
        to: str,
        found: Together,
        limits: Judged | None,
        accepted: Sequence[Acceptance] | None,
        told: tuple[Linkage | None, Sequence[Evidence]],
    ) -> Verdict | None:
        """What is said of a draft beside what was handed over; ``None`` of one on request."""
        noted = self._detail(number)
        if noted.get("request"):
            return None
        if "verdict" not in noted:
            raise InputError(
                f"release {number}",
                "must have been judged",
                found="one that an earlier version noted",
                advice="make it again",
            )
        elsewhere = 0
        if noted.get("series"):  # others may have been handed over since it was noted
            made = self._handed(self.noted(number), (), {})
            elsewhere = self._elsewhere(made, noted.get("continues", ""), to)
        return judged_again(
            beside_files(noted["verdict"], elsewhere),
            limits or limits_of(noted["verdict"]),
            [*map(acceptance_of, noted["accepted"])] if accepted is None else accepted,
            Findings.among(**found.all[number].to_findings()),
            *told,
        )

    def _unfollowed(self, number: int, other: int) -> InputError:
        """What refuses a release that nobody was followed to; one on request is not noted yet."""
        requested = self._detail(number).get("request", 0)
        return _not_followed(other, f"{number}", other if requested else number)

    def _unknown(self, number: int, found: Together) -> Iterator[str]:
        """What a comparison leaves open, in sentences."""
        people = found.people.of_release[number]
        strangers = [
            str(other)
            for other, persons in found.people.of_release.items()
            if other != number and not np.isin(people, persons).any()
        ]
        if strangers:
            yield (
                f"no person of it was recognised in {', '.join(strangers)}; if people are in both "
                "after all, these give away more together"
            )
        looked_at, persons = found.all[number].looked_at, len(people)
        # The rule of three: of n drawn at random none, so with 95 % confidence less than 3 / n.
        if looked_at < persons:
            yield (
                f"{looked_at:,} of {persons:,} people were looked at, drawn at random: with 95 % "
                f"confidence more may be known of less than {300 / looked_at:.2g} % of "
                "the others"
            )
        handed = [earlier for earlier in self.remembered() if earlier.to]
        erased = [str(earlier.number) for earlier in handed if not earlier.kept_in]
        fewer = [
            str(earlier.number) for earlier in handed if earlier.kept_in not in (0, earlier.number)
        ]
        if erased:
            yield f"{', '.join(erased)} could not be compared: what was kept of them is erased"
        if fewer:
            yield f"people were erased from {', '.join(fewer)}, and are not counted there"

    def waive(self, who: str | int, *, note: str, by: str) -> None:
        """Waive that a recipient shares with others, or that a release has persons in common."""
        check_said(note=note, by=by)
        if isinstance(who, int):
            self.noted(who)
        self._log.append(_WAIVED, by, {"waived": who, "note": note})

    def waive_cohorts(self, names: Sequence[str], *, note: str, by: str) -> int:
        """State once that several cohorts share no person; how many pairs of files were compared.

        A cohort is named by the name of its files, or by a release, with which its series goes.
        """
        check_said(note=note, by=by)
        every = self.remembered()
        releases = {
            name: [release for release in every if name in (release.name, f"{release.number}")]
            for name in names
        }
        groups = {name: self._cohort(name, several) for name, several in releases.items()}
        holding = {
            name: [
                release
                for release in every
                if release in cohort.releases
                or cohort.may_have(release.name, self._detail(release.number).get("series", ""))
            ]
            for name, cohort in groups.items()
        }
        numbers = {
            name: [earlier.number for earlier in several] for name, several in holding.items()
        }
        _check_named(names, numbers)
        compared = {
            name: [self.sketch(release) if release.kept_in else None for release in several]
            for name, several in holding.items()
        }
        pairs = check_shared(compared)
        self._log.append(_WAIVED, by, {"waived": ", ".join(names), _COHORTS: numbers, "note": note})
        return pairs

    def follow(self, disclosed: Disclosed, request: int) -> tuple[sketches.Names, sketches.Names]:
        """The persons of a new file who were in a release on request.

        Of each the digest in the file, and there.
        """
        release = next((each for each in self.remembered() if each.request == request), None)
        empty = np.empty(0, dtype=f"S{sketches.DIGEST_BYTES}")
        if release is None or not release.kept_in:
            return empty, empty
        before = self.sketch(release)
        now = sketches.sketch_of(disclosed, self._keys.persons(make=False))
        matches, waived = followed(before, now), release.number in self._waived()
        if not waived and (matches.lost or before.persons is None or now.persons is None):
            raise _not_followed(release.number, "this one", release.number)
        if before.persons is None or now.persons is None:
            return empty, empty
        by_looks = matches.first, matches.second
        mine, theirs = by_id(before.persons, now.persons) if waived else by_looks
        return now.persons[theirs], before.persons[mine]

    def may_share(self, one: str, other: str) -> bool:
        """Whether two recipients are taken to share what they have."""
        return _may_share(one, other, self._waived())

    def waivers(self) -> list[dict[str, Any]]:
        """What the custodian waived: ``waived``, by whom, when (UTC) and why."""
        return [
            {"by": entry.actor, "time": entry.time, **entry.details}
            for entry in self._log.entries()
            if entry.kind == _WAIVED
        ]

    def _waived(self) -> list[str | int]:
        return [waiver["waived"] for waiver in self.waivers() if _COHORTS not in waiver]

    def forget(self, people: Collection[str], *, note: str, by: str) -> tuple[tuple[int, ...], int]:
        """Erase people, by their ids in the files, from the sketches of all releases.

        Gives the releases that held any of them, and how many ids no sketch holds.
        """
        check_said(note=note, by=by)
        digests = np.unique(sketches.digests_of(people, self._keys.persons(make=False)))
        held = np.zeros(len(digests), dtype=np.bool_)
        with self._log.erasing():
            fewer = {}
            for earlier in self.remembered():
                sketch = self.sketch(earlier) if earlier.kept_in else None
                if sketch is None or sketch.persons is None:
                    continue
                gone = np.isin(sketch.persons, digests)
                if gone.any():
                    held |= np.isin(digests, sketch.persons)
                    fewer[earlier] = sketch.without(gone)
            if not fewer:
                raise InputError(
                    "parameter people",
                    "must be ids of people in a release",
                    found="ids that no sketch holds",
                    advice="ids are those of the files that were released, before pseudonyms",
                )
            self._erase(fewer, note, by)
        return tuple(earlier.number for earlier in fewer), int((~held).sum())

    def _erase(self, fewer: Mapping[Remembered, sketches.Sketch], note: str, by: str) -> None:
        for earlier, sketch in fewer.items():
            parts = [replace(part, name=f"{earlier.number} {part.name}") for part in sketch.parts()]
            detail = {"release": earlier.number, "note": note, "persons": len(sketch)}
            self._log.append(_FORGOT, by, detail, parts, erased=[earlier.kept_in])

    def expire(self, *, by: str, now: datetime | None = None) -> tuple[int, ...]:
        """Erase the sketches that are older by now than the terms of the ledger allow.

        Gives the releases that can no longer be compared.
        """
        check_said(by=by)
        terms = self.terms()
        if terms.kept_for is None:
            raise InputError(
                "the ledger's terms",
                "must say how long sketches are kept",
                found="no time",
                advice="sfumato ledger terms --keep '10 years' --note WHY --by NAME",
            )
        before = (now or datetime.now(UTC)) - terms.kept_for
        with self._log.erasing():
            old = [
                earlier
                for earlier in self.remembered()
                # The time begins when somebody got the release,
                # for only then it can be joined with others.
                if earlier.kept_in
                and datetime.fromisoformat(earlier.handed or earlier.time) < before
            ]
            for earlier in old:
                detail = {"release": earlier.number, "note": f"kept for {terms.keep}", "persons": 0}
                self._log.append(_FORGOT, by, detail, erased=[earlier.kept_in])
        return tuple(earlier.number for earlier in old)


def _check_apart(one: Handed, other: Handed) -> None:
    """Refuse two releases of cohorts that were said to share no person and may."""
    if one.apart or other.apart:
        return
    for number in one.cohorts.keys() & other.cohorts.keys():
        names = one.cohorts[number], other.cohorts[number]
        if names[0] != names[1]:
            check_apart(*names, one.sketch, other.sketch)


def _check_named(names: Sequence[str], releases: Mapping[str, Sequence[int]]) -> None:
    """Refuse names of fewer than two cohorts, of none, and cohorts with a release in common."""
    missing = [name for name, own in releases.items() if not own]
    of_all = [number for own in releases.values() for number in own]
    if len(names) < 2 or len(releases) < len(names) or missing or len(set(of_all)) < len(of_all):
        raise InputError(
            "the cohorts",
            "must be two or more that have no release in common, each of releases that were noted",
            found=f"no release of {', '.join(missing)}" if missing else "fewer, or one twice",
            accepted="names of files or numbers of releases",
            advice="see 'sfumato ledger remembered'",
        )


def _cohorts_of(stated: _Stated, is_of: Callable[[_Cohort], bool]) -> dict[int, str]:
    """By statement, the cohort that a release is of; none where it is of none."""
    return {
        number: name
        for number, groups in stated.items()
        for name, own in groups.items()
        if is_of(own)
    }


def _may_share(one: str, other: str, waived: Collection[str | int]) -> bool:
    return one == other or not {one, other} & set(waived)


_NOTED = "name output_sha256 persons records classes ordered"
"""What the entry of a draft says under the same names."""


def _follow(known: dict[int, Remembered], entry: ledger_store.Entry) -> None:
    """Bring what is known of the releases up to date with the next entry."""
    if entry.kind not in {_DRAFT, _HANDED, _FORGOT}:
        return
    detail = entry.details
    if entry.kind == _DRAFT:
        known[entry.number] = Remembered(
            number=entry.number,
            time=entry.time,
            **{name: detail[name] for name in _NOTED.split()},
            promises=tuple(detail["promises"]),
            columns=tuple(detail["columns"]),
            request=detail.get("request", 0),
            kept_in=entry.number,
            beyond=detail.get("beyond"),
            together=detail.get("together"),
            elsewhere=detail.get("elsewhere", 0),
        )
        return
    old = known[detail["release"]]
    if entry.kind == _HANDED:
        changes = {"to": (*old.to, entry.actor), "handed": entry.time, "found": detail["found"]}
    else:
        kept = entry.number if detail["parts"] else 0
        changes = {"kept_in": kept, "persons": detail["persons"]}
    known[old.number] = replace(old, **changes)


def _shows_same(first: sketches.Sketch, second: sketches.Sketch) -> bool:
    """Whether two sketches say the same of the same number of persons, pseudonyms aside."""
    return all(
        np.array_equal(np.sort(a.digests), np.sort(b.digests))
        for a, b in zip(first.columns, second.columns, strict=True)
        # These are drawn anew when a release is made again.
        if a.shown is not sketches.Shown.PSEUDONYM
    )


def _in_both(first: sketches.Sketch, second: sketches.Sketch) -> int:
    """How many people two files of series have in common, by their ids."""
    assert first.persons is not None
    assert second.persons is not None
    return len(np.intersect1d(first.persons, second.persons))


def _is_again(first: sketches.Sketch, second: sketches.Sketch) -> bool:
    """Whether two sketches say the same of each of the same persons, pseudonyms aside."""
    one, other = (
        {
            column.name: column.digests
            for column in sketch.columns
            if column.shown is not sketches.Shown.PSEUDONYM
        }
        for sketch in (first, second)
    )
    return (
        len(first) == len(second) == _in_both(first, second)
        and one.keys() == other.keys()
        and all(np.array_equal(digests, other[name]) for name, digests in one.items())
    )


def _as_handed(release: Release, key: bytes) -> Handed:
    """What a release is compared as; the caller has seen that it is in this process."""
    assert release.disclosed is not None
    spoken_of = {
        name
        for constraint in release.constraints
        if isinstance(constraint, AboutAttribute)
        for name in release.schema.sensitive
        if constraint.attribute in (None, name)
    }
    sketch = sketches.sketch_of(release.disclosed, key, spoken_of)
    ordered = release.manifest.options.keep_order
    promises, of_tables = of_classes(release.constraints), bool(release.manifest.tables)
    series = "" if release.lasting is None else release.lasting.name
    return Handed(sketch, ordered, promises=promises, of_tables=of_tables, series=series)


def _not_followed(first: int, second: str, waived: int) -> InputError:
    return InputError(
        f"releases {first} and {second}",
        "must have people in common that can be followed, or be said to hold other people",
        found="no person who was recognised for sure, or no people that are named",
        advice="give both the same person ids, or, where they are of other people, say so: "
        f"sfumato ledger waive --release {waived} (of many files: --cohorts NAME...) "
        "--note WHY --by NAME",
    )


def _no_release(number: int) -> InputError:
    return InputError(
        f"entry {number}",
        "must be a release that was remembered",
        found="none",
        advice="see 'sfumato ledger remembered'",
    )
