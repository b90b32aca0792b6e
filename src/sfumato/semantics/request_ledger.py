"""The ledger of releases on request: their tuples, their persons, what readers may infer."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sfumato.core.errors import InputError
from sfumato.ledger import ledger_store
from sfumato.ledger.ledger import check_said
from sfumato.ledger.release_ledger import ReleaseLedger
from sfumato.ledger.sketches import Names, digests_of
from sfumato.semantics import requested_content
from sfumato.semantics.associations import State

_RELEASE, _FOUND, _DECIDED, _GRANTED = "release", "associations", "decision", "granted"
_STATES = {"accept": State.ACCEPTED, "reject": State.REJECTED}


@dataclass(frozen=True, eq=False)
class RequestLedger(ReleaseLedger):
    """A ledger with what policies released, and the associations that were found in it."""

    def append(
        self,
        entry: requested_content.ReleaseEntry,
        *,
        members: requested_content.Members | None = None,
    ) -> requested_content.Release:
        """Note a release.

        Parameters
        ----------
        members
            Which person is in which tuple: only keyed digests of the persons are stored. Without
            it, no protection against the intersection of releases is claimed, and the entry says
            so.
        """
        tuples = entry.tuples
        # As JSON in bytes, since labels have any length and an array's cells have one.
        values = json.dumps(tuples.values, separators=(",", ":")).encode()
        parts = [
            ledger_store.Part.of("values", np.frombuffer(values, dtype=np.uint8)),
            ledger_store.Part.of("codes", tuples.codes),
            ledger_store.Part.of("counts", tuples.counts),
        ]
        key_id = ""
        if members is not None:
            # Made late: a ledger that never holds digests has no key that could be lost.
            key = self._keys.persons(make=True)
            digests, key_id = (
                requested_content.digests_of_members(members, len(tuples), key),
                ledger_store.id_of_key(key),
            )
            raw = np.frombuffer(digests.persons.tobytes(), dtype=np.uint8).reshape(-1, 16)
            parts += [
                ledger_store.Part.of("persons", raw),
                ledger_store.Part.of("tuples", digests.tuples),
            ]
        detail = requested_content.detail_of_release(entry, key_id)
        return _release(self._log.append(_RELEASE, entry.requester, detail, parts))

    def releases(
        self, *, linkage: str | None = None, requester: str | None = None
    ) -> list[requested_content.Release]:
        """The releases, oldest first, of a linkage or to a requester where one is given."""
        releases = [_release(entry) for entry in self._log.entries() if entry.kind == _RELEASE]
        return [
            release
            for release in releases
            if linkage in {None, release.linkage} and requester in {None, release.requester}
        ]

    def check_kept(self, linkages: Collection[str], k: int, local: Mapping[str, str]) -> None:
        """Refuse a release that asks for less than earlier ones of its persons, or by other data.

        Parameters
        ----------
        linkages
            What policies called them: its own, and those of earlier releases of its persons.
        local
            Hash of the data of each database whose readers ask, by its name.
        """
        least, hashes = dict[str, int](), dict[str, str]()
        for entry in self._log.entries():
            detail = entry.details if entry.kind in {_RELEASE, _GRANTED} else {}
            if detail.get("linkage") in linkages:
                before = least.get(detail["linkage"], 0)
                # Releases only raise the k that is kept,
                # a grant may lower it; 0 in a grant leaves it alone.
                kept = max(before, detail["k"]) if entry.kind == _RELEASE else detail["k"] or before
                least[detail["linkage"]] = kept
                hashes |= detail.get("local_hashes", {})
        grant = "the custodian says so with 'sfumato ledger grant'"
        for linkage, kept in least.items():
            if k < kept:
                raise InputError(
                    f"linkage '{linkage}'",
                    f"must keep the k of its earlier releases, {kept}",
                    found=f"{k}",
                    advice=grant,
                )
        for name, digest in local.items():
            # Padded local data would let k hold by people who are not there.
            if hashes and hashes.get(name) != digest:
                raise InputError(
                    f"the data of database '{name}'",
                    "must be what earlier releases were held against",
                    found="other data" if name in hashes else "a database that they do not name",
                    advice=f"who adds or corrects patients or databases needs it granted: {grant}",
                )

    def grant(
        self, linkage: str, *, k: int | None, local: Mapping[str, str], note: str, by: str
    ) -> None:
        """Let later releases keep a lower k, or be held against other local data.

        ``None`` is as before.
        """
        check_said(note=note, by=by)
        if (k is None and not local) or (k is not None and k < 1):
            raise InputError(
                "a grant", "must say what is granted", accepted="k of at least 1, or local data"
            )
        detail = {"linkage": linkage, "k": k or 0, "local_hashes": dict(local), "note": note}
        self._log.append(_GRANTED, by, detail)

    def release(self, number: int) -> requested_content.Release:
        """A release."""
        return _release(self._entry(number))

    def tuples(self, number: int) -> requested_content.Tuples:
        """The distinct generalised tuples of a release."""
        attributes = self._entry(number).details["attributes"]
        values, codes, counts = self._log.parts(number, ("values", "codes", "counts"))
        shown = tuple(
            tuple(requested_content.Value(*each) for each in column)
            for column in json.loads(values.tobytes())
        )
        return requested_content.Tuples(tuple(attributes), shown, codes, counts)

    def digests(self, number: int) -> requested_content.Digests | None:
        """The keyed digests of a release, ``None`` where it has none."""
        key_id = self._entry(number).details["persons_key"]
        if not key_id:
            return None
        # Under another key no digest matches,
        # which would look as if nobody had been in the release.
        self._keys.check_persons(key_id, f"entry {number}")
        persons, tuples = self._log.parts(number, ("persons", "tuples"))
        return requested_content.Digests(persons.reshape(-1).view("S16"), tuples)

    def person_digests(self, persons: Iterable[str | bytes | int]) -> Names:
        """The digests of persons, to look up in those of a release."""
        return digests_of(persons, self._keys.persons(make=False))

    def associations(self) -> list[requested_content.NotedAssociation]:
        """All associations with what was decided on them last, in the order they were found."""
        known: dict[str, requested_content.NotedAssociation] = {}
        for entry in self._log.entries():
            requested_content.followed(known, entry.number, entry.time, entry.actor, entry.details)
        return list(known.values())

    def propose(
        self, associations: Iterable[requested_content.NotedAssociation], by: str
    ) -> list[requested_content.NotedAssociation]:
        """Note associations for the custodian's review.

        They come with earlier decisions on them.
        """
        # Only `decide` decides: a state that comes with what was found is nobody's word.
        proposals = [
            replace(association, state=State.PROPOSED, note="") for association in associations
        ]
        self._log.append(_FOUND, by, {"associations": requested_content.as_details(proposals)})
        ids = {proposal.id for proposal in proposals}
        return [association for association in self.associations() if association.id in ids]

    def decide(
        self,
        associations: Collection[str],
        decision: Literal["accept", "reject"],
        note: str,
        by: str,
    ) -> list[requested_content.NotedAssociation]:
        """Accept or reject associations; a decision that was taken before stays in the ledger.

        A reader may know those accepted; others are noise, or no secret.
        """
        if decision not in _STATES:
            raise InputError("parameter decision", "must be known", accepted="accept, reject")
        check_said(note=note, by=by)
        if set(associations) - {association.id for association in self.associations()}:
            raise InputError(
                "association",
                "must be one that was found",
                found="an id that the ledger does not have",
                advice="see 'sfumato ledger associations list'",
            )
        decided = sorted(set(associations))
        self._log.append(
            _DECIDED, by, {"decided": decided, "state": str(_STATES[decision]), "note": note}
        )
        return [association for association in self.associations() if association.id in decided]

    def _entry(self, number: int) -> ledger_store.Entry:
        entry = self._log.entry(number)
        if entry is not None and entry.kind == _RELEASE:
            return entry
        raise InputError(
            f"entry {number}",
            "must be a release of the ledger",
            found="none",
            advice="see 'sfumato ledger list'",
        )


def _release(entry: ledger_store.Entry) -> requested_content.Release:
    return requested_content.release_of(entry.number, entry.time, entry.digest, entry.details)
