"""What all tests of projects share."""

import pytest

import sfumato.release.anonymize as anonymize_module
from sfumato.pipeline import report_stage


@pytest.fixture(autouse=True)
def no_pdf(monkeypatch: pytest.MonkeyPatch) -> None:
    """No report as PDF, which takes seconds; those of reports and of the README draw some."""
    monkeypatch.setattr(report_stage, "find_spec", lambda _name: None)


@pytest.fixture(autouse=True)
def no_cures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is tried for what is above its limit, which takes as long as several releases."""
    monkeypatch.setattr(anonymize_module, "cures", lambda *_words, **_more: ())
