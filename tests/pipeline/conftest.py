"""What all tests of projects share."""

import pytest

from sfumato.pipeline.stages import report


@pytest.fixture(autouse=True)
def no_pdf(monkeypatch: pytest.MonkeyPatch) -> None:
    """No report as PDF, which takes seconds; those of reports and of the README draw some."""
    monkeypatch.setattr(report, "find_spec", lambda _name: None)
