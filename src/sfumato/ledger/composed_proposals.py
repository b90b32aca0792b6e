"""How a release could be changed so that it may be handed over beside others, at which price."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from shlex import quote

import numpy as np

from sfumato.core.errors import ConstraintsNotMetError, HandOverRefusedError
from sfumato.core.number_text import share_text
from sfumato.ledger import composition
from sfumato.ledger.sketches import RECORDS, Shown, Sketch
from sfumato.release.promises.marketer_risk import MarketerRisk
from sfumato.release.release_result import Release
from sfumato.risk.verdict import LINKAGE, State, Verdict

TRIALS, FEWER, SURELY = 3, 0.75, 0.97
"""How often a release is made with fewer classes: as many as would be found in proportion, somewhat
fewer to be sure; by this share where a promise fails."""
OTHERWISE = "make it of fewer columns or larger classes, or hand over nothing"


@dataclass(frozen=True)
class Proposal:
    """A change of a release.

    Attributes
    ----------
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
        lost, found = share_text(self.cost), share_text(self.found)
        return f"{self.what}: costs {lost} of what the release says, {found} found"


def withheld(
    handed: Mapping[int, composition.Handed], limits: composition.Limits
) -> Proposal | None:
    """The fewest columns without which the last release may be handed over; ``None`` for none.

    Columns are taken out until it may, then put back one by one, the one that many joins rest on
    last.

    Parameters
    ----------
    handed
        The releases, the one that is asked about last.
    limits
        What may be given away.
    """
    *_, last = handed
    people = composition.people_in(handed)

    def without(names: Collection[str]) -> composition.Together:
        return composition.together_of(composition.withholding(handed, names), people)

    columns = handed[last].sketch.columns
    # Recoded columns stay: readers know quasi-identifiers anyway,
    # and coarser classes are `coarser`.
    out = [column.name for column in columns if column.shown is not Shown.RECODED]
    best = without(out)
    if best.broken(limits):
        return None
    for name in sorted(out, key=lambda each: without([each]).most, reverse=True):
        fewer = [each for each in out if each != name]
        measured = without(fewer)
        if not measured.broken(limits):
            out, best = fewer, measured
    cells = [column.name for column in columns if column.name != RECORDS]
    lost = {
        name for name in out if handed[last].sketch.by_name()[name].shown is not Shown.PSEUDONYM
    }
    return Proposal(_said(handed[last].sketch, out), len(lost) / len(cells), best.most)


def _said(sketch: Sketch, out: Collection[str]) -> str:
    pseudonyms = [column.name for column in sketch.columns if column.shown is Shown.PSEUDONYM]
    withheld = [name for name in out if name not in (RECORDS, *pseudonyms)]
    renewed = any(name in out for name in pseudonyms) and RECORDS not in out
    if RECORDS in out:  # nobody is to see whose records belong together
        withheld += pseudonyms
    changes = [f"make it with {' '.join(f'--withhold {quote(name)}' for name in withheld)}"] * bool(
        withheld
    )
    if renewed:
        changes.append("renew the pseudonyms (no --pseudonym-key)")
    return "; ".join(changes) or "change nothing"


def coarser(
    release: Release,
    handed: Mapping[int, composition.Handed],
    limits: composition.Limits,
    sketched: Callable[[Release], composition.Handed],
) -> Proposal | None:
    """A coarser recoding under which the last release may be handed over; ``None`` for none.

    Its classes are put together in the sketch until it may; then the release is made again under
    the marketer risk of so many classes, and of fewer where that does not do.

    Parameters
    ----------
    handed
        The releases, the one that is asked about last.
    limits
        What may be given away.
    """
    *_, last = handed
    again = None if release.disclosed is None else release.disclosed.again
    own, people = handed[last], composition.people_in(handed)
    classes = own.sketch.classes.astype(np.int64)
    number = int(classes.max(initial=0)) + 1

    def too_many(left: int) -> bool:
        merged = own.showing(replace(own.sketch, classes=classes * left // number))
        return bool(composition.together_of({**handed, last: merged}, people).broken(limits))

    # If one class for everybody is too much, no recoding helps.
    if again is None or too_many(1):
        return None
    # In the sketch first: the release itself is made anew three times at most.
    most = bisect_left(range(1, number), True, key=too_many)
    share = 1.0
    for _ in range(TRIALS):
        # As it is printed, never less than asked, so that what is tried is what is proposed.
        tau = float(f"{1.0005 * max(int(most * share), 1) / len(classes):.4g}")
        share *= FEWER
        try:
            made = again(MarketerRisk(tau))
        except ConstraintsNotMetError:
            # Fewer classes may still keep all promises.
            continue
        measured = composition.together({**handed, last: sketched(made)})
        if not measured.broken(limits):
            recoded = len(release.schema.quasi_identifiers) / len(release.columns)
            cost = max(made.utility.ncp - release.utility.ncp, 0.0) * recoded
            return Proposal(f"make it with --marketer {tau:.4g}", cost, measured.most)
        if measured.most > limits.tolerable:
            share *= SURELY * limits.tolerable / measured.most / FEWER
    return None


def refusal(
    handed: Mapping[int, composition.Handed],
    found: composition.Together,
    limits: composition.Limits,
    recoded: Proposal | None,
) -> HandOverRefusedError:
    """The error for a release that gives away too much beside others: with what would help.

    Parameters
    ----------
    handed
        The releases, the one that is refused last.
    limits
        What may be given away.
    """
    *_, last = handed
    options = [each for each in (withheld(handed, limits), recoded) if each is not None]
    options.sort(key=lambda each: each.cost)
    others = sorted({one if two == last else two for one, two in found.people.by_looks
                     if last in (one, two)})  # fmt: skip
    strangers = (
        f"its ids are not in {', '.join(map(str, others))}, so that who looks alike is taken for "
        f"one person: where they are other people, sfumato ledger waive --release {last} --note "
        "WHY --by NAME"
    )
    return HandOverRefusedError(
        found.broken(limits),
        (*(tuple(map(str, options)) or (OTHERWISE,)), *([strangers] if others else [])),
        f"Release {last} is not handed over: with what was handed over before it "
        "gives away too much.",
    )


def unready(number: int, verdict: Verdict) -> HandOverRefusedError:
    """The error for a release of which a row is above its limit, or something not measured."""
    rows = [row.name for row in verdict.rows if row.stops]
    if verdict.linkage is not None and verdict.linkage.state is State.NOT_MEASURED:
        rows.append(LINKAGE)
    return HandOverRefusedError(
        (verdict.headline,),
        (*(f"sfumato accept {row}, by name and with a reason" for row in rows), OTHERWISE),
        f"Release {number} is not handed over: it is not ready.",
    )
