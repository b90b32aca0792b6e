"""What all tests of projects share."""

import pytest

from sfumato.pipeline import report_stage


@pytest.fixture(autouse=True)
def no_pdf(monkeypatch: pytest.MonkeyPatch) -> None:
    """No report as PDF, which takes seconds; those of reports and of the README draw some."""
    monkeypatch.setattr(report_stage, "find_spec", lambda _name: None)
