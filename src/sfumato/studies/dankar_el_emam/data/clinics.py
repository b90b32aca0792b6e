"""The patients of the generated clinics, one record each."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.examples import generate_clinics

PERSONS = 20_000
SEED = 2010


def clinic_patients() -> pa.Table:
    """The first visit of each of 20,000 generated persons; always the same ones."""
    visits = generate_clinics(PERSONS, rng=SEED).visits
    patient = visits["patient"].combine_chunks().dictionary_encode().indices.to_numpy()
    first = np.unique(patient, return_index=True)[1]
    return visits.take(pa.array(np.sort(first)))
