"""A linkage in numbers: as plain values, and in a few lines."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.linkage.linkage import Linkage
from sfumato.linkage.numbers import (
    outcomes_json,
    persons_json,
    records_json,
    thresholds_json,
)


def as_json(links: Linkage) -> dict[str, Any]:
    """Numbers about a linkage as plain values.

    Parameters
    ----------
    links
        The linkage.
    """
    found: dict[str, Any] = {
        "mode": links.spec.mode.value,
        "specification": "suggested" if links.suggested else "given",
        "seed": links.seed,
        "records": records_json(links),
        "comparisons_without_blocking": links.model.comparisons,
        "candidate_pairs": links.model.candidates,
        "pairs": len(links.pairs),
        "thresholds": thresholds_json(links),
        "outcomes": outcomes_json(links),
        "expected": links.expected,
        "persons": persons_json(links),
        "decisions": decisions_json(links),
        "warnings": list(links.warnings),
    }
    checked = links.checked
    if checked is not None:
        found["checks"] = {
            "drawn": checked.drawn,
            "answered": checked.answered,
            **{each.name: each.to_json() for each in checked.quality or ()},
        }
    if links.person_ids.followed is not None:
        followed = links.person_ids.followed
        found["changes"] = {
            "merges": len(followed.merges),
            "splits": len(followed.splits),
            "persons_with_new_records": len(followed.gained),
            "new_persons": len(followed.new),
            "gone_persons": len(followed.gone),
        }
    return found


def decisions_json(links: Linkage) -> dict[str, Any]:
    """What people decided, and what cannot all be true, by pairs and records' numbers.

    Parameters
    ----------
    links
        The linkage.
    """
    verdicts, persons = links.settled.verdicts, links.settled.persons
    return {
        "answers": 0 if links.decisions is None else len(links.decisions),
        "decided_pairs": int(np.count_nonzero(verdicts.result)),
        "undecided_pairs": int(np.count_nonzero(verdicts.result == 0)),
        "gave_way": len(persons.unmet),
        "matches_kept_apart": len(persons.refused),
        "contradictions": [
            {
                "different": None if each.different is None else _pair(links, each.different),
                "same": [_pair(links, verdict) for verdict in each.chain],
            }
            for each in links.settled.contradictions
        ],
    }


def _pair(links: Linkage, verdict: int) -> str:
    number = int(links.settled.verdicts.pair[verdict])
    return f"p{number + 1}" if number >= 0 else "a pair of an earlier linkage"


def as_text(links: Linkage) -> str:
    """A linkage in a few lines.

    Parameters
    ----------
    links
        The linkage.
    """
    settled, at = links.settled, links.thresholds
    sources = ", ".join(
        f"{name} {len(ids):,}"
        for name, ids in zip(links.records.sources, links.records.ids, strict=True)
    )
    found = outcomes_json(links)
    about = f", about {settled.workload.found_in_review:,.1f} of them true"
    about = "" if links.contradicted else about
    lines = [
        f"Records           {links.records.count:,} ({sources}), {links.spec.mode.value}",
        f"Candidate pairs   {links.model.candidates:,} of {links.model.comparisons:,}",
        f"Matches           {found['match']:,} (score from {at.upper:.4g})",
        f"Possible matches  {found['possible_match']:,} (score from {at.lower:.4g}){about}",
        f"Persons           {settled.persons.count:,}",
    ]
    if not links.contradicted:
        precision, recall = settled.quality
        lines.append(
            f"Expected          precision {_percent(precision.value)}, "
            f"recall {_percent(recall.value)} with {links.lost:,.1f} true matches lost to blocking"
        )
    return "\n".join([*lines, *_checked(links), *_decided(links), *_followed(links)])


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def _checked(links: Linkage) -> list[str]:
    checked = links.checked
    if checked is None:
        return []
    lines = [f"Checks            {checked.answered:,} of {checked.drawn:,} pairs answered"]
    lines += [
        f"By checks         {each.name} {_percent(each.value)} "
        f"({_percent(each.low or 0.0)} to {_percent(each.high or 0.0)})"
        for each in checked.quality or ()
    ]
    if links.contradicted:
        lines.append(
            f"Contradicted      the model's {' and '.join(links.contradicted)}, so nothing that it "
            "expects is shown"
        )
    return lines


def _decided(links: Linkage) -> list[str]:
    if links.decisions is None:
        return []
    said = decisions_json(links)
    lines = [
        (
            f"Decisions         {said['decided_pairs']:,} pairs decided, "
            f"{said['undecided_pairs']:,} left open, {said['gave_way']:,} gave way to others"
        )
    ]
    for each in said["contradictions"]:
        against = f"{each['different']} different" if each["different"] else "one per source"
        lines.append(f"Contradiction     {', '.join(each['same'])} same, but {against}")
    return lines


def _followed(links: Linkage) -> list[str]:
    followed = links.person_ids.followed
    if followed is None:
        return []
    return [
        (
            f"Persons before    {len(followed.merges):,} merged, {len(followed.splits):,} split, "
            f"{len(followed.gained):,} with new records; {len(followed.new):,} new persons"
        )
    ]
