"""The three data sets, in the order of Section 6."""

from __future__ import annotations

from sfumato.studies.kartal_li.data.informs import PATIENT_DATA
from sfumato.studies.kartal_li.data.movielens import MOVIE
from sfumato.studies.kartal_li.data.pkdd99 import BANK

DATA_SETS = (PATIENT_DATA, MOVIE, BANK)
