"""What attacks found, as evidence for the rows of a verdict.

A row shows what was measured. An attack raises it that found more people than that by more than
chance, or more than was predicted of it; what it found otherwise stands beside the row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

from pydantic import TypeAdapter

from sfumato.core.number_text import count, counted, share_text
from sfumato.core.phrases import Figure, Listed, Phrase
from sfumato.risk.intruders import Findings
from sfumato.risk.learned_values import Learned, Share

REVIEW = "review"
"""What the screens of a review showed belongs to the review, and to no row of a release."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one attack found, and what follows for its row.

    Attributes
    ----------
    intruder
        Whose row it is evidence for; `REVIEW`.
    number, column
        The number of the row that it may raise: ``found``, ``person``, or ``learned`` of a column;
        empty for what is only noted. Of the insider the columns that are known.
    found, people
        The share of its guesses that were right, and what that is for the row: a share of people,
        or the chance of one.
    predicted, measured
        What was predicted of it, and what its row shows; ``None`` where nothing is.
    luck
        The probability of so much by chance, against what it came out furthest beyond.
    beaten, raised
        Whether it found more than was predicted, and than its row shows, beyond chance.
    own
        Whether sfumato predicted it of its own release: more is then a defect of sfumato.
    """

    attack: str
    intruder: str
    found: Share
    people: Share
    number: str = ""
    column: str = ""
    predicted: float | None = None
    measured: float | None = None
    luck: float | None = None
    tests: int = 0
    beaten: bool = False
    raised: bool = False
    own: bool = False

    @property
    def unshown(self) -> bool:
        """Whether it found people by knowledge that no row of the verdict measures."""
        return self.number in ("found", "person") and self.measured is None


def evidence_of(plain: Iterable[Any]) -> tuple[Evidence, ...]:
    """Evidence as the plain values of a verdict have it."""
    return TypeAdapter(tuple[Evidence, ...]).validate_python(tuple(plain))


def raised(
    findings: Findings, evidence: Sequence[Evidence], intruder: str, column: str = ""
) -> Findings:
    """What an intruder finds, where the evidence for the row or its column shows more."""
    for each in evidence:
        if not each.raised or each.intruder != intruder:
            continue
        if each.number == "learned":
            findings = replace(
                findings,
                learned=tuple(
                    _learned(one, each.people) if one.column == each.column else one
                    for one in findings.learned
                ),
            )
        elif intruder != "insider" or each.column == column:
            now: Share = getattr(findings, each.number)
            if each.people.value > now.value:
                both = {"found": findings.found, "person": findings.person}
                both[each.number] = each.people
                # Somebody is found at least as often as people are on average.
                most = max(both.values(), key=lambda share: share.value)
                findings = replace(findings, found=both["found"], person=most)
    return findings


def _learned(one: Learned, right: Share) -> Learned:
    """The same where so many guesses of the value are right, if that is more."""
    left = max(1 - one.without, 1e-12)
    beyond = Share(*(max(0.0, (each - one.without) / left) for each in astuple(right)))
    return replace(one, beyond=beyond) if beyond.value > one.beyond.value else one


def beaten_text(evidence: Sequence[Evidence]) -> str:
    """Whether an attack found more than was predicted, or than its row shows."""
    beaten = [each for each in evidence if each.beaten or each.raised]
    predicted = sum(each.predicted is not None for each in evidence)
    if not beaten:
        of = {"attacks": counted(len(evidence), "attack"), "n": count(predicted)}
        # What nothing was predicted of beats nothing.
        if predicted < len(evidence):
            return Phrase("Of {attacks} {n} had a prediction; none beat it.", **of)
        return Phrase("{attacks}, none beat its prediction.", **of)
    return Listed(map(_beaten, beaten), " ")


def _beaten(each: Evidence) -> str:
    beside = each.predicted if each.beaten else each.measured
    luck = max(each.luck or 0.0, 1e-9)  # chances are exact to that
    filled = {
        "attack": each.attack,
        "found": share_text(each.found.value, beside),
        "share": share_text(beside or 0.0),
        "p": Figure(f"{luck:.1g}"),
        "n": each.tests,
    }
    said = (
        Phrase("{attack} found {found}, predicted {share} (p = {p} of {n} tests).", **filled)
        if each.beaten
        else Phrase("{attack} found {found}, measured {share} (p = {p} of {n} tests).", **filled)
    )
    said = (
        Phrase("Defect in sfumato: {said}", said=said)
        if each.own
        else Phrase("More than expected: {said}", said=said)
    )
    return Listed((said, Phrase("The row shows the larger number.")), " ") if each.raised else said
