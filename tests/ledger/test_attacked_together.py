"""What the simulated intruder finds in two releases is no more than the ledger says."""

from __future__ import annotations

from pathlib import Path

import pytest
from ledger.releases import FIRST, SECOND, draft, opened, people, released

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.ledger.release_ledger import Terms


def test_two_releases_without_a_quasi_identifier_in_common_are_attacked(tmp_path: Path) -> None:
    data = people()
    first, second = released(data, FIRST), released(data, SECOND, seed=2)
    with opened(tmp_path) as ledger:
        ledger.settle(Terms(tolerable=1.0, unkept=1.0), note="to see", by="carol")
        ledger.hand_over(draft(first, tmp_path, "first", ledger), "a")
        found = ledger.hand_over(draft(second, tmp_path, "second", ledger), "b")
    both = sf.Schema(person="person", quasi_identifiers={**FIRST, **SECOND}, sensitive=["code"])
    attack = sf.attack(
        first, schema=both, original=data, priors=[second], attacks=["intersection"], seed=1
    )
    (outcome,) = (each for each in attack.outcomes if each.attack == "intersection")
    assert 0.3 < outcome.right / outcome.attempts <= found.most + 0.05
    with pytest.raises(InputError, match="of several releases name those of all"):
        sf.attack(first, schema=first.schema, original=data, priors=[second], seed=1)
