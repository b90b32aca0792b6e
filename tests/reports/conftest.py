"""A release and an assessment to report."""

from __future__ import annotations

from datetime import date

import pyarrow as pa
import pytest

from sfumato.examples import generate_clinics
from sfumato.release.anonymize import anonymize
from sfumato.release.promises.g_balance import GBalance
from sfumato.release.promises.h_affiliation import HAffiliation
from sfumato.release.release_result import Release
from sfumato.reports.release_report import draw_release
from sfumato.risk.assessment import assess
from sfumato.risk.disclosure_risk import Risk
from sfumato.schema import Schema

DAY = date(2026, 3, 2)
SCRIPT = "<script>alert('x')</script> & \"y\""


@pytest.fixture
def no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without the plots of a release, which take most of the time."""
    for plots in ("loss_plots.loss_figures", "risk_plots.risk_figures"):
        monkeypatch.setattr(f"sfumato.reports.{plots}", lambda *_: [])


@pytest.fixture(scope="session")
def release() -> Release:
    """Two clinics' visits, released."""
    clinics = generate_clinics(400, rng=7)
    return anonymize(clinics.visits, clinics.schema, GBalance(0.8), HAffiliation(0.5), seed=1)


@pytest.fixture(scope="session")
def risk() -> Risk:
    """The same visits, assessed."""
    clinics = generate_clinics(400, rng=7)
    return assess(clinics.visits, clinics.schema)


@pytest.fixture(scope="session")
def page(release: Release) -> str:
    """The page of the release."""
    return draw_release(release, "Visits of two clinics", DAY)


@pytest.fixture(scope="session")
def assessment_page(risk: Risk) -> str:
    """The page of the assessment."""
    return draw_release(risk, "Visits of two clinics", DAY)


@pytest.fixture(scope="session")
def hostile() -> Release:
    """A release whose column names and categories are code, without a person column."""
    count = 60
    table = pa.table(
        {
            SCRIPT: [f"{SCRIPT}{row % 3}" for row in range(count)],
            "b']": [row % 7 for row in range(count)],
            "{{ 7 * 7 }}": ["missing" if row % 2 else None for row in range(count)],
            "s": [str(row % 5) for row in range(count)],
        }
    )
    schema = Schema(quasi_identifiers=[SCRIPT, "b']", "{{ 7 * 7 }}"], sensitive=["s"])
    return anonymize(table, schema, GBalance(k=3), HAffiliation(l=2), seed=1)
