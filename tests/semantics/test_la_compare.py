"""Linkage anonymity beside classic k-anonymity on the linked set."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sfumato.schema import IntervalHierarchy, Kind, PrefixHierarchy, QuasiIdentifier, Schema
from sfumato.semantics.linkage_anonymity import LinkageAnonymity, compare_with_classic


def _people(rng: np.random.Generator, count: int, sexes: list[str]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "who": [f"p{i}" for i in range(count)],
            "age": rng.integers(20, 80, count),
            "zip": [f"{code:03d}" for code in rng.integers(300, 360, count)],
            "sex": rng.choice(sexes, count),
        }
    )


def _schema(folder: Path) -> Schema:
    (folder / "sex.csv").write_text("F;*\nM;*\n", encoding="utf-8")
    return Schema(
        person="who",
        quasi_identifiers={
            "age": QuasiIdentifier(hierarchy=IntervalHierarchy(widths=(5, 10, 20))),
            "zip": QuasiIdentifier(
                kind=Kind.CATEGORICAL, hierarchy=PrefixHierarchy(lengths=(2, 1))
            ),
            "sex": QuasiIdentifier(hierarchy=folder / "sex.csv"),
        },
    )


def test_linkage_anonymity_saves_information(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    local = _people(rng, 1000, ["F", "M"])
    linked = local.iloc[:200]
    release = LinkageAnonymity(local, 30, ("age", "sex")).apply(linked, _schema(tmp_path), seed=1)
    found = compare_with_classic(linked, release)
    assert found.local_recoding is not None
    assert found.full_domain is not None
    assert 0 < found.linkage < min(found.local_recoding, found.full_domain)
    assert found.saved == min(found.local_recoding, found.full_domain) - found.linkage
    assert found.to_json()["saved"] == found.saved


def test_loss_is_measured_over_the_values_of_the_linked_set(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    local = _people(rng, 300, ["F", "M"])
    linked = local.iloc[:60]
    asked = LinkageAnonymity(local, 300, ("age", "zip", "sex"))
    release = asked.apply(linked, _schema(tmp_path), seed=1)
    assert release.measured.ncp == pytest.approx(1.0)
    assert compare_with_classic(linked, release).linkage == pytest.approx(1.0)


def test_classic_k_anonymity_may_be_impossible(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    local = _people(rng, 300, ["F", "M"])
    linked = local.iloc[:4]
    release = LinkageAnonymity(local, 5, ("age",)).apply(linked, _schema(tmp_path), seed=1)
    found = compare_with_classic(linked, release)
    assert found.local_recoding is None
    assert found.full_domain is None
    assert found.saved is None
