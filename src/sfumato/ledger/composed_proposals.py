"""How a release could be changed so that it may be handed over beside others, at which price."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from sfumato.core.errors import ConstraintsNotMetError
from sfumato.ledger.composition import Handed, Together, people_in, together_of, withholding
from sfumato.ledger.sketches import RECORDS, Shown, Sketch
from sfumato.release.promises.marketer_risk import MarketerRisk
from sfumato.release.release_result import Release

OTHERWISE = "make it of fewer columns or larger classes, or hand over nothing"
TRIALS = 5
"""Releases that are made to find a coarser one."""
HALF = 0.5
"""The next trial has at most so many of the classes of the one before, which gave too much away."""
MARGIN = 0.9
"""Share of what is left that the next trial aims at."""


@dataclass(frozen=True)
class Proposal:
    """A change of a release.

    Attributes
    ----------
    what
        What to change, as an order.
    cost
        The share of the cells of the release that say nothing any more.
    found
        The largest share of a release's persons who are found then.
    """

    what: str
    cost: float
    found: float

    def __str__(self) -> str:
        """As a refusal prints it."""
        return (
            f"{self.what}: costs {self.cost:.1%} of what the release says, {self.found:.1%} found"
        )


def withheld(handed: Mapping[int, Handed], tolerable: float) -> Proposal | None:
    """The fewest columns without which the last release may be handed over; ``None`` for none.

    Columns are taken out until it may, then put back one by one, the one that many joins rest on
    last.

    Parameters
    ----------
    handed
        The releases, the one that is asked about last.
    tolerable
        Share of the persons of a release who may be found.
    """
    *_, last = handed
    people = people_in(handed)

    def without(names: Collection[str]) -> Together:
        return together_of(withholding(handed, names), people)

    columns = handed[last].sketch.columns
    out = [each.name for each in columns if each.shown is not Shown.RECODED]
    best = without(out)
    if best.broken(tolerable):
        return None
    for name in sorted(out, key=lambda each: without([each]).most, reverse=True):
        fewer = [each for each in out if each != name]
        found = without(fewer)
        if not found.broken(tolerable):
            out, best = fewer, found
    cells = [each.name for each in columns if each.name != RECORDS]
    lost = {
        name for name in out if handed[last].sketch.by_name()[name].shown is not Shown.PSEUDONYM
    }
    return Proposal(_said(handed[last].sketch, out), len(lost) / len(cells), best.most)


def _said(sketch: Sketch, out: Collection[str]) -> str:
    by_name = sketch.by_name()
    named = [n for n in out if n != RECORDS and by_name[n].shown is not Shown.PSEUDONYM]
    said = []
    if named:
        said.append("withhold " + ", ".join(f"'{name}'" for name in named))
    if RECORDS in out:
        said.append(
            "withhold the column of persons, so that nobody sees whose records belong together"
        )
    elif len(named) < len(out):
        said.append("renew the pseudonyms (another --seed, no --pseudonym-key)")
    return "; ".join(said) or "change nothing"


def coarser(
    release: Release,
    handed: Mapping[int, Handed],
    tolerable: float,
    sketched: Callable[[Release], Handed],
) -> Proposal | None:
    """A coarser recoding under which the last release may be handed over; ``None`` for none.

    The release is made again under a smaller marketer risk, which decides the number of classes.

    Parameters
    ----------
    release
        The one that is asked about, with what makes it again.
    handed
        The releases, the one that is asked about last.
    tolerable
        Share of the persons of a release who may be found.
    sketched
        What a release is compared as.
    """
    *_, last = handed
    again = None if release.disclosed is None else release.disclosed.again
    people = people_in(handed)
    before = together_of(handed, people)
    if again is None or max((before.alone[last], *before.before.values())) > tolerable:
        return None
    low, high, best = 0.0, before.alone[last], None
    tau = high * min(tolerable / before.most, HALF)
    for _ in range(TRIALS):
        try:
            made = again(MarketerRisk(tau))
        except ConstraintsNotMetError:
            break
        found = together_of({**handed, last: sketched(made)}, people)
        if found.broken(tolerable):
            high = tau
        else:
            low, best = tau, (tau, made, found)
            if found.most > MARGIN * tolerable:
                break
        tau = (low + high) / 2 if low else tau * min(MARGIN * tolerable / found.most, HALF)
    if best is None:
        return None
    tau, made, found = best
    recoded = len(release.schema.quasi_identifiers) / len(release.columns)
    cost = max(made.utility.ncp - release.utility.ncp, 0.0) * recoded
    return Proposal(f"coarsen it with --marketer {tau:.4g}", cost, found.most)


def refusal(
    handed: Mapping[int, Handed], found: Together, tolerable: float, recoded: Proposal | None
) -> ConstraintsNotMetError:
    """The error for a release that gives away too much beside others: with what would help.

    Parameters
    ----------
    handed
        The releases, the one that is refused last.
    found
        What they give away together.
    tolerable
        Share of the persons of a release who may be found.
    recoded
        What was found of a coarser recoding when the release was noted.
    """
    options = [each for each in (withheld(handed, tolerable), recoded) if each is not None]
    options.sort(key=lambda each: each.cost)
    return ConstraintsNotMetError(
        found.broken(tolerable),
        tuple(map(str, options)) or (OTHERWISE,),
        f"Release {found.releases[-1]} is not handed over: with what was handed over before it "
        "gives away too much.",
    )
