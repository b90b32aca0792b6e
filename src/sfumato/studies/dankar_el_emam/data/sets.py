"""The four populations of the study."""

from __future__ import annotations

from sfumato.studies.dankar_el_emam.data.data_set import DataSet

_SOURCE, _FILE = "Adult (US census extract, complete rows)", "adult.csv"
_FOLDERS = ("adult", ".")
ADULT_4 = DataSet(
    "Adult, 4 QIs",
    ("age", "education", "race", "sex"),
    "Adult with the paper's four quasi-identifiers (QIs)",
    every=3,
    source=_SOURCE,
    file=_FILE,
    folders=_FOLDERS,
)
ADULT_8 = DataSet(
    "Adult, 8 QIs",
    (
        "age",
        "education",
        "race",
        "sex",
        "marital-status",
        "native-country",
        "workclass",
        "salary-class",
    ),
    "Adult with all its columns but occupation",
    every=20,
    source=_SOURCE,
    file=_FILE,
    folders=_FOLDERS,
)
INFORMS = DataSet(
    "INFORMS",
    ("DOBMM", "DOBYY", "SEX", "RACEX"),
    "the persons of the INFORMS contest 2008, year 2005, by month and year of birth, sex and race",
    every=3,
    source="INFORMS Data Mining Contest 2008, year 2005",
    file="demographics_2005.parquet",
    folders=("informs", "."),
)
CLINICS = DataSet(
    "Clinics",
    ("age", "sex", "zip", "education"),
    "the made-up patients of `sfumato.examples` at their first visit",
    every=3,
)
DATA_SETS = (ADULT_4, ADULT_8, INFORMS, CLINICS)
