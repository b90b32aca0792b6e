"""Forms and lengths of what is written, which others read."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from sfumato.linkage.encoded_table import write_new_key
from sfumato.pipeline.project_model import Seed
from sfumato.review.review_journal import beginning_text


def test_a_seed_fits_into_63_bits() -> None:
    """NumPy's and DuckDB's integers have a sign."""
    seeds: Any = TypeAdapter(Seed)
    assert seeds.validate_python(2**63 - 1) == 2**63 - 1
    with pytest.raises(ValidationError):
        seeds.validate_python(2**63)


def test_a_new_key_of_an_encoding_has_256_bits(tmp_path: Path) -> None:
    write_new_key(tmp_path / "key")
    assert 8 * len(bytes.fromhex((tmp_path / "key").read_text("ascii"))) == 256


def test_a_journal_says_its_form_first() -> None:
    settings = SimpleNamespace(model_dump=lambda **_: {})
    beginning: Any = SimpleNamespace(
        worker="w", settings=settings, records="r", pairs=(), started="", seed=0
    )
    told = json.loads(beginning_text(beginning))
    assert next(iter(told.items())) == ("sfumato review", 1)
