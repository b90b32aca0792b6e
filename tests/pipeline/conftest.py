"""What all tests of projects share."""

import pytest

from sfumato.pipeline import report_stage
from sfumato.release import cures


@pytest.fixture(autouse=True)
def no_pdf(monkeypatch: pytest.MonkeyPatch) -> None:
    """No report as PDF, which takes seconds; those of reports and of the README draw some."""
    monkeypatch.setattr(report_stage, "find_spec", lambda _name: None)


@pytest.fixture(autouse=True)
def no_cures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is tried for what is above its limit, which takes as long as several releases."""
    monkeypatch.setattr(cures, "SECONDS", 0)
