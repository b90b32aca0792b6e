"""Databases whose headers are published, OMOP CDM 5.4 and MIMIC-IV: known keys, nothing to ask.

Of each table goes out what happened, when, and a number: everything else is left out, as are tables
of free text, of money, of the people who treat, and dictionaries of codes that anybody can look up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class PublishedTable(NamedTuple):
    """A table of events of a published database; names of columns are parted by spaces.

    Attributes
    ----------
    of
        What refers to the tables above it.
    codes, dates
        What may be known of a record.
    sensitive
        What may not be.
    """

    key: str
    of: str
    codes: str = ""
    dates: str = ""
    sensitive: str = ""

    @property
    def events(self) -> dict[str, Any]:
        """What may be known of a record, by column."""
        known: dict[str, Any] = {name: HIERARCHIES.get(name, "code") for name in self.codes.split()}
        return known | dict.fromkeys(self.dates.split(), "date")


HIERARCHIES: Mapping[str, Any] = {"icd_code": {"hierarchy": {"lengths": [3]}}}
"""Codes of a published classification whose prefixes mean something."""


@dataclass(frozen=True)
class Published:
    """A published database.

    Attributes
    ----------
    quasi_identifiers
        The kind of each, of the table of people.
    refers
        The table to which a column of this name refers.
    tables
        Its tables of events.
    left_out
        Its tables of which nothing goes out.
    """

    name: str
    persons: str
    key: str
    quasi_identifiers: Mapping[str, str] = field(repr=False)
    refers: Mapping[str, str] = field(repr=False)
    tables: Mapping[str, PublishedTable] = field(repr=False)
    left_out: Collection[str] = field(repr=False)

    def is_of(self, headers: Mapping[str, Collection[str]]) -> bool:
        """Whether tables are its own, that of people and one of events among them."""
        events = [name for name in headers if name in self.tables]
        every = {*events, self.persons, *self.left_out}
        if not events or self.persons not in headers or not {*headers} <= every:
            return False
        people = {self.key, next(iter(self.quasi_identifiers))} <= {*headers[self.persons]}
        return people and all(
            {*filter(None, [self.tables[name].key])} <= {*headers[name]}
            and any(True for _ in self.references(name, headers))
            for name in events
        )

    def references(
        self, table: str, headers: Mapping[str, Collection[str]]
    ) -> Iterator[tuple[str, str]]:
        """The columns of a table that refer to others that are there, and to which."""
        of = self.tables[table].of.split() if table in self.tables else []
        for column in of:
            if column in headers[table] and self.refers[column] in headers:
                yield column, self.refers[column]

    def columns(self, table: str, names: Sequence[str], of: Mapping[str, str]) -> dict[str, Any]:
        """The fields of a table's schema, but for its file.

        Of its references those to tables that are there.
        """
        if table == self.persons:
            quasi = {name: kind for name, kind in self.quasi_identifiers.items() if name in names}
            kept: dict[str, Any] = {"persons": True, "key": self.key, "quasi_identifiers": quasi}
            roles = {self.key, *quasi}
        else:
            own = self.tables[table]
            events = {name: event for name, event in own.events.items() if name in names}
            numbers = tuple(name for name in own.sensitive.split() if name in names)
            kept = {"key": own.key or None, "of": dict(of), "events": events, "sensitive": numbers}
            roles = {own.key, *of, *events, *numbers}
        return {**kept, "direct_identifiers": tuple(name for name in names if name not in roles)}


def published(headers: Mapping[str, Collection[str]]) -> Published | None:
    """The published database that tables, by their columns, are; ``None`` for none."""
    return next((each for each in (OMOP, MIMIC) if each.is_of(headers)), None)


def _rows(lines: str) -> dict[str, PublishedTable]:
    """Tables of lines: name, key (``-`` for none), references, codes, dates, numbers; by ``|``."""
    rows = {}
    for line in lines.strip().splitlines():
        name, key, *rest = (part.strip() for part in line.split("|"))
        rows[name] = PublishedTable(key.strip("-"), *rest)
    return rows


OMOP = Published(
    "OMOP CDM 5.4",
    "person",
    "person_id",
    {
        "year_of_birth": "numeric",
        "gender_concept_id": "categorical",
        "race_concept_id": "categorical",
        "ethnicity_concept_id": "categorical",
        "location_id": "categorical",
    },
    {
        "person_id": "person",
        "visit_occurrence_id": "visit_occurrence",
        "visit_detail_id": "visit_detail",
    },
    _rows("""
observation_period | observation_period_id | person_id | | observation_period_start_date observation_period_end_date
visit_occurrence | visit_occurrence_id | person_id | visit_concept_id | visit_start_date visit_end_date
visit_detail | visit_detail_id | person_id visit_occurrence_id | visit_detail_concept_id | visit_detail_start_date
condition_occurrence | condition_occurrence_id | person_id visit_occurrence_id visit_detail_id | condition_concept_id | condition_start_date
drug_exposure | drug_exposure_id | person_id visit_occurrence_id visit_detail_id | drug_concept_id | drug_exposure_start_date | quantity days_supply
procedure_occurrence | procedure_occurrence_id | person_id visit_occurrence_id visit_detail_id | procedure_concept_id | procedure_date
device_exposure | device_exposure_id | person_id visit_occurrence_id visit_detail_id | device_concept_id | device_exposure_start_date
measurement | measurement_id | person_id visit_occurrence_id visit_detail_id | measurement_concept_id | measurement_date | value_as_number
observation | observation_id | person_id visit_occurrence_id visit_detail_id | observation_concept_id | observation_date | value_as_number
specimen | specimen_id | person_id | specimen_concept_id | specimen_date
death | person_id | person_id | cause_concept_id | death_date
condition_era | condition_era_id | person_id | condition_concept_id | condition_era_start_date
drug_era | drug_era_id | person_id | drug_concept_id | drug_era_start_date
dose_era | dose_era_id | person_id | drug_concept_id | dose_era_start_date | dose_value
"""),  # noqa: E501
    frozenset(
        [
            "note",
            "note_nlp",
            "fact_relationship",
            "location",
            "care_site",
            "provider",
            "payer_plan_period",
            "cost",
            "episode",
            "episode_event",
            "metadata",
            "cdm_source",
            "concept",
            "vocabulary",
            "domain",
            "concept_class",
            "relationship",
            "concept_relationship",
            "concept_synonym",
            "concept_ancestor",
            "source_to_concept_map",
            "drug_strength",
            "cohort",
            "cohort_definition",
        ]
    ),
)
"""The Common Data Model of OHDSI, release 5.4 of 2021."""

MIMIC = Published(
    "MIMIC-IV",
    "patients",
    "subject_id",
    {"anchor_age": "numeric", "gender": "categorical", "anchor_year_group": "categorical"},
    {"subject_id": "patients", "hadm_id": "admissions", "stay_id": "icustays"},
    _rows("""
admissions | hadm_id | subject_id | admission_type | admittime dischtime | hospital_expire_flag
transfers | transfer_id | subject_id hadm_id | eventtype careunit | intime
diagnoses_icd | - | subject_id hadm_id | icd_code icd_version
procedures_icd | - | subject_id hadm_id | icd_code icd_version | chartdate
drgcodes | - | subject_id hadm_id | drg_type drg_code
hcpcsevents | - | subject_id hadm_id | hcpcs_cd | chartdate
labevents | labevent_id | subject_id hadm_id | itemid | charttime | valuenum
microbiologyevents | microevent_id | subject_id hadm_id | test_itemid org_itemid | chartdate
prescriptions | - | subject_id hadm_id | drug | starttime
pharmacy | pharmacy_id | subject_id hadm_id | medication | starttime
emar | emar_id | subject_id hadm_id | medication | charttime
poe | poe_id | subject_id hadm_id | order_type | ordertime
services | - | subject_id hadm_id | curr_service | transfertime
omr | - | subject_id | result_name | chartdate | result_value
icustays | stay_id | subject_id hadm_id | first_careunit | intime outtime
chartevents | - | subject_id hadm_id stay_id | itemid | charttime | valuenum
datetimeevents | - | subject_id hadm_id stay_id | itemid | charttime
inputevents | - | subject_id hadm_id stay_id | itemid | starttime | amount
ingredientevents | - | subject_id hadm_id stay_id | itemid | starttime | amount
outputevents | - | subject_id hadm_id stay_id | itemid | charttime | value
procedureevents | - | subject_id hadm_id stay_id | itemid | starttime
"""),
    frozenset(
        [
            "d_icd_diagnoses",
            "d_icd_procedures",
            "d_hcpcs",
            "d_labitems",
            "d_items",
            "provider",
            "caregiver",
            "emar_detail",
            "poe_detail",
            "discharge",
            "discharge_detail",
            "radiology",
            "radiology_detail",
        ]
    ),
)
"""Its modules hosp and icu, version 3.1 of 2024; those with notes are left out."""
