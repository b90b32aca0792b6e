from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.examples import Clinics, generate_clinics


@pytest.fixture(scope="session")
def clinics() -> Clinics:
    return generate_clinics(20_000, rng=7)


@pytest.fixture(scope="session")
def visits(clinics: Clinics) -> pa.Table:
    return clinics.visits
