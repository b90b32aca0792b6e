"""Make a release on request, note it in the ledger, and only then hand it out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.atomic import all_or_none, check_path, check_target, write_text, written_at
from sfumato.core.errors import InputError
from sfumato.core.shared_options import drawn_seed
from sfumato.release.release_manifest import file_sha256
from sfumato.release.release_result import MANIFEST_FILE, check_beside
from sfumato.schema import Schema
from sfumato.semantics.ledger.digests import Members
from sfumato.semantics.ledger.entries import ReleaseEntry
from sfumato.semantics.ledger.ledger import Ledger
from sfumato.semantics.linkage_anonymity import released_table
from sfumato.semantics.policy import Policy
from sfumato.semantics.requested.ask import Asked, ask
from sfumato.semantics.requested.by_association import (
    by_association,
    explained_rules,
    individuals_of,
)
from sfumato.semantics.requested.enforced import enforce
from sfumato.semantics.requested.figures import figures_of
from sfumato.semantics.requested.hashes import plain_schema
from sfumato.semantics.requested.known import Known, known_from, person_ids
from sfumato.semantics.requested.manifest import manifest_of, manifest_text, text_sha256
from sfumato.semantics.requested.mined import Mining, found_in, tuples_of
from sfumato.semantics.requested.result import RequestedRelease
from sfumato.table.table_files import check_output_path, write_table

UNNAMED = "(not named)"
"""The requester of a request that does not say who asks, in the ledger."""


def anonymize_requested(
    data: Any,
    schema: Schema,
    *,
    policy: Policy | str | os.PathLike[str],
    request: str,
    local: Mapping[str, Any],
    ledger: Ledger | None = None,
    rules: Iterable[str | os.PathLike[str]] = (),
    output: str | os.PathLike[str] | None = None,
    mining: Mining | None = None,
    seed: int | None = None,
    keep_order: bool = False,
    pseudonym_key: bytes | None = None,
) -> RequestedRelease:
    """Release linked data to whom a policy's rules allow it, as they require.

    The rules decide k, the linkage quasi-identifiers and what is done to which tuple (Lu,
    Sinnott and Verspoor 2017, Table 1). Each tuple is generalised as little as linkage
    k-anonymity allows, and then further where an accepted association of the ledger, or what
    earlier releases showed of the same persons, would leave a reader fewer than k individuals.
    The release is noted in the ledger before it is handed out.

    Parameters
    ----------
    data
        The linked records: a dataframe, or the path of a file.
    schema
        What each column of them is; hierarchies may come from the policy.
    policy
        The policy, its paths located, or its file.
    request
        The request's name.
    local
        The data of each database whose readers ask, by the database's name.
    ledger
        What was released before, and where this release is noted; without it neither.
    rules
        More files with a site's rules.
    output
        Where to write the release, ``release.toml`` beside it; not at all without it.
    mining
        From when on an association in this release is proposed to the custodian.
    seed
        Seed of the order and the pseudonyms; drawn when not given.
    keep_order
        Keep the order of the records instead of shuffling them.
    pseudonym_key
        A secret of at least 16 bytes for pseudonyms that are the same in every release.

    Raises
    ------
    InputError
        As `ask`, or if the ledger or the output cannot be written.
    """
    if output is not None:
        check_output(output)
    asked = ask(data, schema, policy=policy, request=request, local=local, rules=rules)
    return make_release(
        asked,
        ledger,
        output,
        mining=mining,
        seed=seed,
        keep_order=keep_order,
        pseudonym_key=pseudonym_key,
    )


def check_output(output: str | os.PathLike[str]) -> None:
    """Refuse a place that the release or its manifest cannot be written to.

    Parameters
    ----------
    output
        Where to write the release.

    Raises
    ------
    InputError
        If one of them cannot be, or the manifest would take the place of another file's.
    """
    check_path(output, "output")
    check_output_path(output)
    check_target(Path(output).with_name(MANIFEST_FILE))
    check_beside(output)


def make_release(
    asked: Asked,
    ledger: Ledger | None = None,
    output: str | os.PathLike[str] | None = None,
    *,
    mining: Mining | None = None,
    seed: int | None = None,
    keep_order: bool = False,
    pseudonym_key: bytes | None = None,
    also: Callable[[RequestedRelease], None] | None = None,
) -> RequestedRelease:
    """Make the release of a request, note it in the ledger, and write it.

    All of it is done, or none.

    Parameters
    ----------
    asked
        What `ask` gave.
    ledger, output, mining, seed, keep_order, pseudonym_key
        As in `anonymize_requested`.
    also
        Writes more files, given the release as it is noted.

    Raises
    ------
    InputError
        If the rules leave a reader fewer than k, or the ledger or the output cannot be written.
    """
    drawn = drawn_seed(seed)
    request = asked.details
    known = Known(linked=asked.linked)
    if ledger is not None:
        known = known_from(ledger, asked.linked, request.linkage, request.requester)
    linked = known.linked or asked.linked
    start = linked.least_levels()
    enforced = enforce(asked, known, linked, start)
    tuples, tuple_of = tuples_of(linked, enforced.levels)
    release = RequestedRelease(
        released_table(
            linked,
            enforced.levels,
            np.random.default_rng(drawn),
            keep_order=keep_order,
            pseudonym_key=pseudonym_key,
        ),
        asked,
        known,
        linked,
        enforced.levels,
        {
            "LA": figures_of(linked, start, known),
            "SLA": figures_of(linked, enforced.levels, known),
        },
        by_association(enforced, known, linked),
        individuals_of(linked, np.flatnonzero(enforced.exposed)),
        explained_rules(asked.requirements),
        tuple(line for why in asked.requirements.explain() for line in why.lines()),
        found_in(linked, tuples, known, mining or Mining()),
        manifest_of(asked, known, drawn, keyed=pseudonym_key is not None, keep_order=keep_order),
    )
    members = None
    ids = person_ids(linked)
    if ids is not None:
        members = Members([ids[person] for person in linked.table.person.tolist()], tuple_of)
    with all_or_none():
        written = release if output is None else _written(release, Path(output))
        if ledger is None:
            return _with_others(written, also)
        with ledger.changing():
            number = _noted(written, ledger, output, tuples, members)
            return _with_others(replace(written, number=number), also)


def _written(release: RequestedRelease, output: Path) -> RequestedRelease:
    """Write the release and its manifest."""
    write_table(release.table, output)
    about = dict(release.manifest)
    sha256 = file_sha256(written_at(output))
    about["release"] = {**about["release"], "output_sha256": sha256}
    write_text(output.with_name(MANIFEST_FILE), manifest_text(about))
    return replace(release, manifest=about)


def _noted(
    release: RequestedRelease,
    ledger: Ledger,
    output: str | os.PathLike[str] | None,
    tuples: Any,
    members: Members | None,
) -> int:
    """The number under which the ledger notes the release."""
    if ledger.head() != release.known.head:
        raise InputError(
            "the ledger",
            "must not have changed while the release was made",
            found="a new entry",
            advice="make the release again, so that it rests on what the ledger says now",
        )
    entry = _entry(release, tuples, "" if output is None else Path(output).name)
    number = ledger.append(entry, members=members).number
    if release.proposed:
        ledger.propose(release.proposed, f"release {number}")
    return number


def _with_others(
    release: RequestedRelease, also: Callable[[RequestedRelease], None] | None
) -> RequestedRelease:
    if also is not None:
        also(release)
    return release


def _entry(release: RequestedRelease, tuples: Any, name: str) -> ReleaseEntry:
    asked, about = release.asked, release.manifest
    request = asked.details
    policy = about["policy"]
    return ReleaseEntry(
        requester=request.requester or UNNAMED,
        role=request.role,
        request=asked.request,
        purpose=request.purpose or "",
        linkage=request.linkage,
        policy_hash=text_sha256(policy["policy_sha256"] + policy["rules_sha256"]),
        schema=plain_schema(asked.schema),
        k=asked.k,
        quasi_identifiers=tuple(
            asked.linked.quasi_identifiers[place] for place in asked.linked.linkage_columns
        ),
        individuals=asked.linked.table.persons,
        manifest_hash=text_sha256(manifest_text(dict(about))),
        file_hashes={name: about["release"]["output_sha256"]} if name else {},
        associations=release.known.noted,
        figures={scheme: each.to_json() for scheme, each in release.figures.items()},
        tuples=tuples,
    )
