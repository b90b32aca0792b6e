"""Whether a trained model tells persons apart, or takes what several share for one person."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations

import numpy as np

from sfumato.core.errors import InputError
from sfumato.linkage.model.saved import LevelWeight
from sfumato.linkage.spec.kinds import ColumnKind
from sfumato.linkage.spec.model import LinkSpec, Mode
from sfumato.linkage.standardise.columns import comparisons_of
from sfumato.linkage.values import Pairs, Records

OTHER_PERSON = {
    ColumnKind.GIVEN_NAME: frozenset({"different"}),
    ColumnKind.DATE: frozenset({"at most ten years apart", "different"}),
}
"""By kind, the labels of the levels that errors in one person's values hardly explain. Dates within
a year are left out: there are files in which a shifted date is the usual error."""
MOSTLY = 0.5
"""Share of the matches that may be in such a level."""
OVER_RECORDS, OVER_TABLES = 1.25, 1.1
"""How many times as many matches may be implied as the records in candidate pairs can have, and as
all records of the smaller table can: twins and common names make some percent too many."""
FEWEST = 20.0
"""Implied matches from which they are judged."""
_ADVICE = (
    "persons who have much in common, such as those of a household, seem to be taken for one: "
    "compare what tells them apart, and not what they share, such as addresses and telephones "
    "(compare = false in the specification, which 'sfumato link suggest' writes; blocking rules "
    "may use it)"
)
_DUPLICATES = (
    "; where a table has several records of a person, link with --dedupe (mode = "
    '"link-and-dedupe"), or name the others in one_per_source'
)


def check_plausible(
    pairs: Pairs, weights: Sequence[LevelWeight], records: Records, spec: LinkSpec
) -> None:
    """Refuse a model whose matches can hardly be persons.

    Where persons live in households, the pairs of a household agree in so much at once that
    expectation maximisation finds them, not the pairs of a person. All scores are then near 0 or
    1, and the expected precision, which is that of finding households, near 1.

    Parameters
    ----------
    pairs
        The scored pairs.
    weights
        What the levels say.
    records
        The records.
    spec
        What is linked, and how. In link-only mode every source is taken to have one record per
        person, unless ``one_per_source`` names those that do.

    Raises
    ------
    InputError
        If the scores add up to more matches than the sources allow, or first names or dates of
        birth are different in most of these matches.
    """
    assumed = spec.mode is Mode.LINK_ONLY and not spec.one_per_source
    limited = records.sources if assumed else spec.one_per_source
    implied, allowed, most = implied_and_allowed(pairs, records, limited)
    found, advice = [], _ADVICE
    if implied > max(FEWEST, min(OVER_RECORDS * allowed, OVER_TABLES * most)):
        found.append(
            f"about {implied:,.0f} matches, of which at most {allowed:,.0f} can be true if a "
            "table has one record per person"
        )
        advice += _DUPLICATES
    found += [
        f"'{name}' is different in {100 * share:.0f} % of the matches"
        for name, share in different_shares(pairs, weights, spec)
        if share > MOSTLY
    ]
    if found:
        raise InputError(
            "the linkage model",
            "must tell persons apart",
            found=", ".join(found),
            advice=advice,
        )


def implied_and_allowed(
    pairs: Pairs, records: Records, limited: Collection[str]
) -> tuple[float, float, int]:
    """Matches that the scores add up to, and how many the sources allow.

    A record has at most one match in a source with one record per person. So of a record whose
    scores there add up to s at most min(s, 1) is true, and all matches between two sources are at
    most as many as either has records, where the other is such a source.

    Parameters
    ----------
    pairs
        The scored pairs.
    records
        The records.
    limited
        Names of the sources with at most one record per person.

    Returns
    -------
    tuple
        Implied matches between sources of which one is such a source at least; how many can be
        true by the sums of each record; how many by the numbers of records.
    """
    left, right = records.source_of(pairs.left), records.source_of(pairs.right)
    implied, allowed, most = 0.0, 0.0, 0
    for one, other in combinations(range(len(records.sources)), 2):
        between = (left == one) & (right == other)
        score = pairs.score[between]
        sums, sizes = [], []
        for counted, held, record in ((one, other, pairs.left), (other, one, pairs.right)):
            if records.sources[held] in limited:
                own = np.bincount(record[between], score, records.count)
                sums.append(float(np.minimum(own, 1.0).sum()))
                sizes.append(len(records.ids[counted]))
        if sums:
            implied += float(score.sum())
            allowed, most = allowed + min(sums), most + min(sizes)
    return implied, allowed, most


def different_shares(
    pairs: Pairs, weights: Sequence[LevelWeight], spec: LinkSpec
) -> Iterator[tuple[str, float]]:
    """The share of the implied matches whose first names, or dates of birth, are different.

    Of those matches of which both records have a value. A specification of Splink's own settings
    does not say what is a first name.

    Parameters
    ----------
    pairs
        The scored pairs.
    weights
        What the levels say.
    spec
        What is linked, and how.

    Yields
    ------
    tuple
        A comparison, and its share.
    """
    for each in (c for name, column in spec.columns.items() for c in comparisons_of(name, column)):
        labels, level = OTHER_PERSON.get(each.kind), pairs.levels.get(each.name)
        if labels is None or level is None:
            continue
        own = [w for w in weights if w.comparison == each.name]
        different = [w.level for w in own if w.level == 0 or w.label in labels]
        known = float(pairs.score[level >= 0].sum())
        if known >= FEWEST:
            yield each.name, float(pairs.score[np.isin(level, different)].sum()) / known
