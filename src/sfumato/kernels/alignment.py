"""How one sequence becomes another by the fewest edits.

Edits are insertions, deletions, substitutions and transpositions of neighbours. No element takes
part in two edits (optimal string alignment): each edit can then be drawn at its places, which
the unrestricted distance of Damerau, with insertions between transposed elements, does not allow.
"""

from __future__ import annotations

from sfumato.kernels import alignment_twin
from sfumato.kernels.alignment_twin import (
    DELETED,
    EQUAL,
    INSERTED,
    SUBSTITUTED,
    TAKEN,
    TRANSPOSED,
    Codes,
    Steps,
)
from sfumato.kernels.choose import worth_compiling

__all__ = ["DELETED", "EQUAL", "INSERTED", "SUBSTITUTED", "TAKEN", "TRANSPOSED", "steps"]


def steps(one: Codes, other: Codes) -> Steps:
    """The steps from the one sequence to the other: O(n m).

    Of the alignments with the fewest edits one that marks the fewest places as different, so
    that the least is disclosed; of those the one that takes, from the beginning on, equal
    elements before a transposition, a substitution, a deletion and an insertion. An edit thereby
    stands as late as it can, as in Table 1 of 001.

    Parameters
    ----------
    one, other
        Elements as numbers; shapes (n,) and (m,).

    Returns
    -------
    array
        ``EQUAL``, ``TRANSPOSED``, ``SUBSTITUTED``, ``DELETED``, ``INSERTED`` per step; `TAKEN`
        says how many elements of each sequence a step takes.
    """
    if not worth_compiling(len(one) * len(other)):
        return alignment_twin.steps(one, other)
    from sfumato.kernels import alignment_loops

    return alignment_loops.steps(one, other)
