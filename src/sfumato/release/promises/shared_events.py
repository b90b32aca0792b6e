"""Known events: whoever knows some of a person's events beside the quasi-identifiers finds few."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from sfumato.core.arrays import Floats, Ints
from sfumato.core.declaration import Count, Parameter, Share
from sfumato.core.errors import InputError
from sfumato.core.number_text import count, number, percent
from sfumato.core.phrases import Phrase, Plural
from sfumato.release.promises.promise import TOLERANCE, Promise, Verdicts
from sfumato.risk.risk_thresholds import Bound

if TYPE_CHECKING:
    from sfumato.core.measure import Position
    from sfumato.release.person_table import PersonTable
    from sfumato.risk.classes import ClassSummary
    from sfumato.risk.disclosure_risk import Risk

MOST_KNOWN = 6
"""The largest m of a promise about known events."""
_WORDS = re.compile(
    r"\s*(?P<m>\d+)\s*:\s*(?:k\s*(?P<k>\d+)|(?P<risk>\d*\.?\d+)\s*(?P<percent>%)?)\s*"
)


class Success(StrEnum):
    """What an intruder must not do too often."""

    FOUND = "found"
    """Choose a pseudonym of the target."""
    LEARNED = "learned"
    """Choose one that also shows something that was not known."""


@dataclass(frozen=True)
class Knowledge:
    """How many events are known, and what may follow: ``2:0.09`` or ``2:k5``."""

    def __str__(self) -> str:
        return f"M:RISK or M:kK, for example 2:0.09 or 2:k5, M from 1 to {MOST_KNOWN}"

    def check(self, subject: str, value: object) -> str:
        """The words as the promise writes them."""
        found = _WORDS.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            raise InputError(
                subject, "must say what is known and what is promised", accepted=str(self)
            )
        m = Count(1, MOST_KNOWN).check(subject, int(found["m"]))
        if found["k"]:
            return f"{m}:k{Count(2).check(subject, int(found['k']))}"
        risk = float(found["risk"]) / (100 if found["percent"] else 1)
        # Written in one way, so that 9 % and 0.09 are equal promises, and manifests that say so,
        # too.
        return f"{m}:{Share(zero=False, one=False).check(subject, risk):g}"

    @property
    def bounds(self) -> Mapping[str, float]:
        """None: it is a text."""
        return {}


@dataclass(frozen=True, init=False)
class KnownEvents(Promise):
    """Who knows up to m events of a person, beside the quasi-identifiers, finds few of them.

    Either a budget over the persons of the release: for every number of known events up to m,
    drawn at random from a person's own, the mean chance to choose a pseudonym of that person is
    at most ``risk``, and its 95th percentile at most ``p95``. Or a check of every class: every m
    events of a person are shared by k of its persons, which is k^m-anonymity within classes
    (Terrovitis, Mamoulis & Kalnis 2008; with quasi-identifiers LKC-privacy's first half, Mohammed
    et al. 2009). It needs the columns of events in the schema.

    Parameters
    ----------
    m
        How many events are known at most, 1 to 6; or all that is promised as words, ``"2:0.09"``
        or ``"2:k5"``.
    risk
        Largest mean chance, in (0, 1); 0.09 where nothing else is given.
    p95
        Largest 95th percentile of the persons' chances, in (0, 1].
    of
        Whether ``"found"`` counts, or only ``"learned"``: the chosen pseudonym is the person's
        and shows something that was not known.
    k
        Least number of persons who share every m events of a person, instead of a risk.
    known
        The words, where they are not given in place of m.

    Raises
    ------
    InputError
        If a parameter is out of range, or both a risk and k are given.

    Examples
    --------
    >>> KnownEvents(2, 0.09).parameters()
    {'m': 2, 'risk': 0.09, 'p95': 0.3, 'of': 'found'}
    >>> KnownEvents(2, k=5).known
    '2:k5'
    """

    name = "known_events"
    order = 8

    known: Annotated[
        str,
        Parameter(
            "Who knows M events finds at most a share RISK of people; or every M events of a "
            "person are shared by K people of the class.",
            "M:RISK|M:kK",
            Knowledge(),
            flag="known_events",
        ),
    ]
    p95: Annotated[
        float,
        Parameter(
            "The same for the 95th percentile of the people.",
            "RISK",
            Share(zero=False, one=True),
            flag="known_events_p95",
        ),
    ] = 0.3
    of: Annotated[
        Success,
        Parameter(
            "What counts: a pseudonym of the person is found, or it also shows something new.",
            flag="known_events_of",
        ),
    ] = Success.FOUND

    def __init__(
        self,
        m: int | str | None = None,
        risk: float | None = None,
        p95: float = 0.3,
        of: Success | str = Success.FOUND,
        *,
        k: int | None = None,
        known: str | None = None,
    ) -> None:
        if isinstance(m, str):
            m, known = None, m
        if known is None:
            known = _words(m, risk, k)
        elif not (m is None and risk is None and k is None):
            raise InputError(
                "parameter known", "says m and the risk or k already", advice="give one of them"
            )
        for field, value in (("known", known), ("p95", p95), ("of", of)):
            object.__setattr__(self, field, value)
        self.__post_init__()

    @property
    def m(self) -> int:
        """How many events are known at most."""
        return int(self.known.partition(":")[0])

    @property
    def k(self) -> int | None:
        """Least number of persons who share every m events; ``None`` where a risk is promised."""
        stated = self.known.partition(":")[2]
        return int(stated[1:]) if stated.startswith("k") else None

    @property
    def is_counted(self) -> bool:
        """Not where a risk is kept of more than two events: some of their sets are drawn."""
        return self.m <= 2 or self.k is not None

    @property
    def risk(self) -> float:
        """Largest mean chance; 1 / k where k is promised."""
        return 1 / self.k if self.k else float(self.known.partition(":")[2])

    def met(self, classes: ClassSummary) -> Verdicts:
        """Whether a class has k persons at all: its events are made to keep the rest."""
        return classes.persons >= (self.k or 1)

    def limit(self, records: int, persons: int) -> float:
        """Persons who may be found: risk · n."""
        return self.risk * persons

    def spent(self, classes: ClassSummary) -> Floats:
        """One in each class, which is found however little its events say."""
        return np.ones(classes.classes)

    def shortfall(self, whole: ClassSummary) -> str:
        """The number of persons beside those that are needed."""
        needed = self.fewest_persons
        return (
            f"known_events asks for at least {needed} people in a class; the file has "
            f"{whole.persons[0]}."
        )

    @property
    def fewest_persons(self) -> int:
        """k, or as many as 1 / risk for one class."""
        # In one class of n persons of whom nothing else is known, each is found with a chance of
        # 1/n.
        return self.k or int(np.ceil(1 / self.risk - TOLERANCE))

    def offenders(self, persons: PersonTable) -> Ints:
        """None: removing persons never helps."""
        return np.empty(0, dtype=np.int64)

    @property
    def measure(self) -> str:
        """The key of the measure in an assessment."""
        return "known_events"

    @property
    def bound(self) -> Bound:
        """The measured chance has to be at most the limit."""
        return Bound.AT_MOST

    @property
    def is_share(self) -> bool:
        """Whether chances are promised: both forms are held against one."""
        return True

    @property
    def threshold(self) -> float:
        """The largest mean chance; with k the largest of one person by any m events."""
        return self.risk

    def reached(self, risk: Risk, attribute: str = "") -> tuple[float | None, Position | None]:
        """The measured chance, the largest of those that `among` looks at."""
        events = risk.known_events
        return None if events is None else self.among(events.to_json()["known_events"]), None

    def among(self, measured: Iterable[Mapping[str, Any]]) -> float:
        """The largest of the measured chances for every number of events up to m.

        That of persons who have as many events where it is larger; the highest of one person by
        the most telling ones where k is promised, 1 where an older assessment does not say it.

        Parameters
        ----------
        measured
            ``known_events`` of an assessment, as in its JSON.
        """
        drawn = "worst" if self.k else "random"
        names = ("learned",) if self.of is Success.LEARNED else ("found", "with_m")
        names = ("highest",) if self.k else names
        return max(
            (
                float(each.get(name, 1.0))
                for each in measured
                if each["m"] <= self.m and each["drawn"] == drawn
                for name in names
            ),
            default=0.0,
        )

    def stricter(self, other: KnownEvents) -> bool:
        """Whether it covers more known events, or allows less of as many."""
        # More known events first: a lower risk of fewer of them says nothing of more.
        return (self.m, -self.risk) > (other.m, -other.risk)

    def implies(self, other: object) -> bool:
        """Whether it covers as many events and allows as little of each of them.

        Where k persons share every m events, none is found with a chance above 1 / k; and who is
        found may be found without anything new being learned.
        """
        if not isinstance(other, KnownEvents) or self.m < other.m or self.risk > other.risk:
            return False
        if self.k:
            return bool(other.k) or self.risk <= other.p95
        alike = self.of in (Success.FOUND, other.of)
        return other.k is None and self.p95 <= other.p95 and alike

    def kept(self, risk: Risk) -> bool | None:
        """See `Promise`: by the mean chance and the 95th percentiles, or by the highest chance.

        Of k it also sees whether every class has as many persons. Where people are drawn, theirs
        are the percentiles.
        """
        events = risk.known_events
        known = () if events is None else [risk for risk in events.risks if risk.m <= self.m]
        if events is None or not (self.k or any(each.m == self.m for each in known)):
            return None
        within = bool(self._keeps_found(risk, ""))
        if self.k:
            return within and risk.pid_k >= self.k
        names = ("p95_learned",) if self.of is Success.LEARNED else ("p95", "p95_with_m")
        return within and all(
            getattr(each, name).value <= self.p95 + TOLERANCE
            for each in known
            if each.drawn == "random"
            for name in names
        )

    def parameters(self) -> Mapping[str, Any]:
        """What it was made with."""
        if self.k:
            return {"m": self.m, "k": self.k}
        return {"m": self.m, "risk": self.risk, "p95": self.p95, "of": self.of.value}

    def sentence(self, attribute: str = "") -> str:
        """As a share of the persons, or as a number of them."""
        events = Plural("one event", "up to {m} events", self.m, m=number(self.m))
        if self.k:
            return Phrase(
                "Someone who knows {events} of a person, beside the quasi-identifiers, has at "
                "least {k} people of the class to choose from.",
                events=events,
                k=count(self.k),
            )
        told = {"events": events, "share": percent(self.risk), "most": percent(self.p95)}
        if self.of is Success.FOUND:
            return Phrase(
                "By {events}, drawn at random, beside the quasi-identifiers, at most {share} of "
                "people are found; for 95 % of people the chance is at most {most}.",
                **told,
            )
        return Phrase(
            "By {events}, drawn at random, beside the quasi-identifiers, at most {share} of people "
            "are found and something new learned; for 95 % of people the chance is at most {most}.",
            **told,
        )


def _words(m: int | None, risk: float | None, k: int | None) -> str:
    """The promise in words."""
    if m is None:
        raise InputError(
            "parameter m", "must say how many events are known", accepted=f"1 to {MOST_KNOWN}"
        )
    if risk is not None and k is not None:
        raise InputError(
            "parameters risk and k of KnownEvents", "promise different things", advice="give one"
        )
    m = Count(1, MOST_KNOWN).check("parameter m", m)
    if k is not None:
        return f"{m}:k{Count(2).check('parameter k', k)}"
    share = Share(zero=False, one=False).check("parameter risk", 0.09 if risk is None else risk)
    return f"{m}:{share:g}"
