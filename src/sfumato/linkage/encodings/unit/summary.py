"""A linkage of encodings in numbers: as plain values, and in a few lines."""

from __future__ import annotations

from typing import Any

from sfumato.linkage.encodings.unit.linkage import EncodedLinkage
from sfumato.linkage.numbers import (
    expected_json,
    outcomes_json,
    persons_json,
    records_json,
    thresholds_json,
)


def as_json(links: EncodedLinkage) -> dict[str, Any]:
    """Numbers about a linkage of encodings as plain values.

    Parameters
    ----------
    links
        The linkage.
    """
    found: dict[str, Any] = {
        "mode": links.matching.mode.value,
        "specification": "encodings",
        "seed": links.seed,
        "records": records_json(links),
        "comparisons_without_blocking": links.comparisons,
        "pairs": len(links.pairs),
        "score": "probability" if links.estimated else "similarity",
        "thresholds": thresholds_json(links),
        "matched": [each.to_dict() for each in links.matched],
        "outcomes": outcomes_json(links),
    }
    if links.estimated:
        found["expected"] = expected_json(links)
    return {**found, "persons": persons_json(links), "warnings": list(links.warnings)}


def as_text(links: EncodedLinkage) -> str:
    """A linkage of encodings in a few lines.

    Parameters
    ----------
    links
        The linkage.
    """
    at, found = links.thresholds, outcomes_json(links)
    sources = ", ".join(f"{name} {count:,}" for name, count in records_json(links).items())
    score = "probability" if links.estimated else "Dice similarity"
    lines = [
        f"Records           {links.records.count:,} ({sources}), {links.matching.mode.value}",
        f"Encodings         {links.comparisons:,} pairs, {len(links.pairs):,} of them kept",
        f"Matches           {found['match']:,} ({score} from {at.upper:.4g})",
    ]
    if at.lower < at.upper:
        lines.append(f"Possible matches  {found['possible_match']:,} ({score} from {at.lower:.4g})")
    lines.append(f"Persons           {links.settled.persons.count:,}")
    if links.estimated:
        precision, recall = (100 * each.value for each in links.quality)
        lines += [
            (
                f"Expected          precision {precision:.2f} %, recall {recall:.2f} % "
                "by the similarities alone"
            ),
            *(
                f"Similarity        {each.left}, {each.right}: matches from "
                f"{each.pairs.threshold:.3f}"
                for each in links.matched
            ),
        ]
    return "\n".join(lines)
