"""Linkage k-anonymity: what is asked, and linked data released so that it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.core.declaration import Count
from sfumato.core.errors import InputError
from sfumato.core.shared_options import drawn_seed
from sfumato.schema import Schema
from sfumato.semantics.linkage_anonymity.link_up import link_up
from sfumato.semantics.linkage_anonymity.measured import measured
from sfumato.semantics.linkage_anonymity.released import released_table
from sfumato.semantics.linkage_anonymity.result import LinkageRelease


@dataclass(frozen=True)
class LinkageAnonymity:
    """At least k individuals of a local data set match every linked record (paper 002).

    Attributes
    ----------
    local
        What the requester holds: a dataframe, or the path of a file.
    k
        How many of its individuals must match.
    quasi_identifiers
        Which columns the requester knows of them; without names all quasi-identifiers of its
        schema.
    schema
        What each column of the local data is; without it as in the linked data, where the
        person column is used if the local data has one of that name.
    name
        Its name in errors and reports.

    Raises
    ------
    InputError
        If k is not a whole number of 1 or more, or a quasi-identifier is named twice.

    Examples
    --------
    >>> asked = LinkageAnonymity(local="hospital.csv", k=3, quasi_identifiers=("sex", "zip"))
    >>> asked.k
    3
    """

    local: Any
    k: int
    quasi_identifiers: tuple[str, ...] = ()
    schema: Schema | None = None
    name: str = "local"

    def __post_init__(self) -> None:
        Count(1).check("parameter k", self.k)
        given: object = self.quasi_identifiers
        names = (given,) if isinstance(given, str) else tuple(self.quasi_identifiers)
        if len(set(names)) < len(names):
            raise InputError("parameter quasi_identifiers", "must name each column once")
        object.__setattr__(self, "quasi_identifiers", names)

    def apply(
        self,
        linked: Any,
        schema: Schema,
        *,
        seed: int | None = None,
        keep_order: bool = False,
        pseudonym_key: bytes | None = None,
    ) -> LinkageRelease:
        """Release linked data so that at least k local individuals match each record.

        Parameters
        ----------
        linked
            The linked records: a dataframe, or the path of a file.
        schema
            What each column of them is, with the hierarchies of the quasi-identifiers.
        seed
            Seed of the order and the pseudonyms; drawn when not given.
        keep_order
            Keep the order of the records instead of shuffling them.
        pseudonym_key
            A secret of at least 16 bytes for pseudonyms that are the same in every release.

        Raises
        ------
        InputError
            As `release_linked`.
        """
        return release_linked(
            linked, schema, [self], seed=seed, keep_order=keep_order, pseudonym_key=pseudonym_key
        )


def release_linked(
    linked: Any,
    schema: Schema,
    asked: Sequence[LinkageAnonymity],
    *,
    seed: int | None = None,
    keep_order: bool = False,
    pseudonym_key: bytes | None = None,
) -> LinkageRelease:
    """Release linked data to somebody who holds one or several local data sets.

    Each linked record is generalised as little as possible, by weighted NCP, until in every
    local data set, on its own quasi-identifiers, at least k individuals match it, k being the
    largest that is asked for (paper 002, Section 1 and rules 1-4). Quasi-identifiers in no
    local data set stay as they are.

    What holds is a promise for each record alone: of a person with several linked records
    under one pseudonym a reader may combine them.

    Parameters
    ----------
    linked
        The linked records: a dataframe, or the path of a file.
    schema
        What each column of them is, with the hierarchies of the quasi-identifiers.
    asked
        The local data sets, at least one.
    seed
        Seed of the order and the pseudonyms; drawn when not given.
    keep_order
        Keep the order of the records instead of shuffling them.
    pseudonym_key
        A secret of at least 16 bytes for pseudonyms that are the same in every release.

    Raises
    ------
    InputError
        If a file does not fit its schema, a quasi-identifier has no hierarchy or its hierarchy
        no leaf for a value, k is larger than a local data set, or a local data set does not
        contain the linked persons.
    """
    drawn = drawn_seed(seed)
    held = link_up(linked, schema, asked)
    levels = held.least_levels()
    table = released_table(
        held,
        levels,
        np.random.default_rng(drawn),
        keep_order=keep_order,
        pseudonym_key=pseudonym_key,
    )
    return LinkageRelease(table, held, levels, measured(held, levels), drawn, original=linked)
