"""Folders of small files in the formats of MovieLens 100K and of the PKDD'99 bank data."""

from __future__ import annotations

from pathlib import Path

import pytest
from studies.tests.small_files import bank_files, movielens_files


@pytest.fixture
def movielens(tmp_path: Path) -> Path:
    """A folder with ``u.data`` and ``u.user``."""
    movielens_files(tmp_path / "ml-100k")
    return tmp_path / "ml-100k"


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """A folder with the five bank files."""
    bank_files(tmp_path / "pkdd99")
    return tmp_path / "pkdd99"
