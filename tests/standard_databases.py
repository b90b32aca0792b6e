"""Generated databases with the headers of OMOP CDM 5.4 and of MIMIC-IV 3.1 (hosp, icu)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

OMOP: dict[str, str] = {
    "person": "person_id gender_concept_id year_of_birth month_of_birth day_of_birth "
    "birth_datetime race_concept_id ethnicity_concept_id location_id provider_id care_site_id "
    "person_source_value gender_source_value gender_source_concept_id race_source_value "
    "race_source_concept_id ethnicity_source_value ethnicity_source_concept_id",
    "observation_period": "observation_period_id person_id observation_period_start_date "
    "observation_period_end_date period_type_concept_id",
    "visit_occurrence": "visit_occurrence_id person_id visit_concept_id visit_start_date "
    "visit_start_datetime visit_end_date visit_end_datetime visit_type_concept_id provider_id "
    "care_site_id visit_source_value visit_source_concept_id admitted_from_concept_id "
    "admitted_from_source_value discharged_to_concept_id discharged_to_source_value "
    "preceding_visit_occurrence_id",
    "condition_occurrence": "condition_occurrence_id person_id condition_concept_id "
    "condition_start_date condition_start_datetime condition_end_date condition_end_datetime "
    "condition_type_concept_id condition_status_concept_id stop_reason provider_id "
    "visit_occurrence_id visit_detail_id condition_source_value condition_source_concept_id "
    "condition_status_source_value",
    "drug_exposure": "drug_exposure_id person_id drug_concept_id drug_exposure_start_date "
    "drug_exposure_start_datetime drug_exposure_end_date drug_exposure_end_datetime "
    "verbatim_end_date drug_type_concept_id stop_reason refills quantity days_supply sig "
    "route_concept_id lot_number provider_id visit_occurrence_id visit_detail_id "
    "drug_source_value drug_source_concept_id route_source_value dose_unit_source_value",
    "measurement": "measurement_id person_id measurement_concept_id measurement_date "
    "measurement_datetime measurement_time measurement_type_concept_id operator_concept_id "
    "value_as_number value_as_concept_id unit_concept_id range_low range_high provider_id "
    "visit_occurrence_id visit_detail_id measurement_source_value measurement_source_concept_id "
    "unit_source_value unit_source_concept_id value_source_value measurement_event_id "
    "meas_event_field_concept_id",
    "death": "person_id death_date death_datetime death_type_concept_id cause_concept_id "
    "cause_source_value cause_source_concept_id",
    "location": "location_id address_1 address_2 city state zip county location_source_value "
    "country_concept_id country_source_value latitude longitude",
    "care_site": "care_site_id care_site_name place_of_service_concept_id location_id "
    "care_site_source_value place_of_service_source_value",
    "provider": "provider_id provider_name npi dea specialty_concept_id care_site_id "
    "year_of_birth gender_concept_id provider_source_value specialty_source_value "
    "specialty_source_concept_id gender_source_value gender_source_concept_id",
    "concept": "concept_id concept_name domain_id vocabulary_id concept_class_id "
    "standard_concept concept_code valid_start_date valid_end_date invalid_reason",
}
"""By table of the CDM, the headers that its specification lists."""
MIMIC: dict[str, str] = {
    "patients": "subject_id gender anchor_age anchor_year anchor_year_group dod",
    "admissions": "subject_id hadm_id admittime dischtime deathtime admission_type "
    "admit_provider_id admission_location discharge_location insurance language marital_status "
    "race edregtime edouttime hospital_expire_flag",
    "transfers": "subject_id hadm_id transfer_id eventtype careunit intime outtime",
    "diagnoses_icd": "subject_id hadm_id seq_num icd_code icd_version",
    "procedures_icd": "subject_id hadm_id seq_num chartdate icd_code icd_version",
    "labevents": "labevent_id subject_id hadm_id specimen_id itemid order_provider_id charttime "
    "storetime value valuenum valueuom ref_range_lower ref_range_upper flag priority comments",
    "prescriptions": "subject_id hadm_id pharmacy_id poe_id poe_seq order_provider_id starttime "
    "stoptime drug_type drug formulary_drug_cd gsn ndc prod_strength form_rx dose_val_rx "
    "dose_unit_rx form_val_disp form_unit_disp doses_per_24_hrs route",
    "icustays": "subject_id hadm_id stay_id first_careunit last_careunit intime outtime los",
    "chartevents": "subject_id hadm_id stay_id caregiver_id charttime storetime itemid value "
    "valuenum valueuom warning",
    "d_items": "itemid label abbreviation linksto category unitname param_type lownormalvalue "
    "highnormalvalue",
    "d_labitems": "itemid label fluid category",
    "d_icd_diagnoses": "icd_code icd_version long_title",
    "d_icd_procedures": "icd_code icd_version long_title",
}
"""By table of the hospital's and the intensive care module."""
PEOPLE = 240


def omop(seed: int) -> dict[str, pd.DataFrame]:
    """A database of the CDM: keys counted from 1, columns that are seldom filled left empty."""
    rng = np.random.default_rng(seed)
    visits, rows = 600, 1200
    visit_person = rng.integers(1, PEOPLE + 1, visits)
    sizes = {
        "person": PEOPLE,
        "observation_period": PEOPLE,
        "visit_occurrence": visits,
        "death": 30,
    }
    sizes |= {"location": 25, "care_site": 8, "provider": 40, "concept": 60}
    made = {}
    for table, headers in OMOP.items():
        size = sizes.get(table, rows)
        visit = rng.integers(0, visits, size)
        frame: dict[str, Any] = {}
        for name in headers.split():
            frame[name] = _omop_cells(table, name, size, rng)
        if table in ("person", "observation_period"):
            frame["person_id"] = np.arange(1, PEOPLE + 1)
        elif table == "death":
            frame["person_id"] = rng.permutation(np.arange(1, PEOPLE + 1))[:size]
        elif table == "visit_occurrence":
            frame["person_id"] = visit_person
        elif "person_id" in frame:
            frame["person_id"] = visit_person[visit]
            frame["visit_occurrence_id"] = visit + 1
        made[table] = pd.DataFrame(frame)
    return made


def _omop_cells(table: str, name: str, size: int, rng: np.random.Generator) -> Any:
    if name == f"{table}_id":
        return np.arange(1, size + 1)
    if name.endswith(("_date", "_datetime")):
        return np.datetime64("2015-01-01") + rng.integers(0, 2000, size)
    if name.endswith("concept_id"):
        return rng.integers(1, 61, size)
    choices = {"year_of_birth": (1930, 2010), "month_of_birth": (1, 13), "day_of_birth": (1, 29),
               "location_id": (1, 26), "provider_id": (1, 41), "care_site_id": (1, 9)}  # fmt: skip
    if name in choices:
        return rng.integers(*choices[name], size)
    if name in ("value_as_number", "quantity", "range_low", "range_high", "latitude", "longitude"):
        return rng.normal(50, 9, size).round(2)
    if name in ("visit_detail_id", "preceding_visit_occurrence_id", "measurement_event_id", "sig"):
        return [None] * size
    if name in ("person_source_value", "npi", "dea", "provider_name", "address_1"):
        return [f"{name[:2]}{n}" for n in rng.permutation(size) + 10**6]
    return rng.choice([f"{name[:3]}{n}" for n in range(9)], size)


def mimic(seed: int) -> dict[str, pd.DataFrame]:
    """A database of MIMIC-IV: random ids of eight digits, tests outside of a stay."""
    rng = np.random.default_rng(seed)
    subject = rng.permutation(np.arange(10_000_000, 10_000_000 + 90 * PEOPLE, 90))[:PEOPLE]
    stays = 500
    stay_subject = rng.choice(subject, stays)
    hadm = rng.permutation(np.arange(20_000_000, 20_000_000 + 70 * stays, 70))[:stays]
    units = rng.permutation(np.arange(30_000_000, 30_000_000 + 60 * 200, 60))[:200]
    of_unit = rng.choice(stays, 200, replace=False)
    icd = [f"{letter}{n}{d}" for letter in "EIJK" for n in range(10, 20) for d in range(5)]
    made = {}
    for table, headers in MIMIC.items():
        size = {"patients": PEOPLE, "admissions": stays, "icustays": 200, "d_items": 50,
                "d_labitems": 40}.get(table, 1500)  # fmt: skip
        at = np.arange(stays) if table == "admissions" else rng.integers(0, stays, size)
        unit = np.arange(200) if table == "icustays" else rng.integers(0, 200, size)
        if table in ("icustays", "chartevents"):
            at = of_unit[unit]
        frame: dict[str, Any] = {}
        for name in headers.split():
            if name == "subject_id":
                frame[name] = subject if table == "patients" else stay_subject[at]
            elif name == "hadm_id":
                outside = (rng.random(size) < 0.3) & (table in ("labevents", "transfers"))
                frame[name] = pd.array(np.where(outside, None, hadm[at]), dtype="Int64")
            elif name == "stay_id":
                frame[name] = units[unit]
            else:
                frame[name] = _mimic_cells(table, name, size, rng, icd)
        made[table] = pd.DataFrame(frame)
    for kind in ("diagnoses", "procedures"):
        codes = pd.DataFrame({"icd_code": icd * 2, "icd_version": np.repeat([9, 10], len(icd))})
        made[f"d_icd_{kind}"] = codes.assign(long_title=[f"title {n}" for n in range(len(codes))])
    return made


def _mimic_cells(table: str, name: str, size: int, rng: np.random.Generator, icd: Any) -> Any:
    own = {"labevents": "labevent_id", "transfers": "transfer_id", "prescriptions": "pharmacy_id"}
    if name == own.get(table):
        return rng.permutation(np.arange(size) * 37 + 40_000_000)
    if name == "itemid":
        items = np.arange(50) + (220_000 if table in ("d_items", "chartevents") else 50_800)
        return items[:size] if table.startswith("d_") else rng.choice(items[:40], size)
    if name.endswith("time") or name in ("dod", "chartdate"):
        return np.datetime64("2150-01-01") + rng.integers(0, 2000, size)
    if name == "icd_code":
        return rng.choice(icd, size)
    if name == "icd_version":
        return rng.choice([9, 10], size)
    if name == "anchor_age":
        return rng.integers(18, 92, size)
    if name == "anchor_year":
        return rng.integers(2110, 2200, size)
    if name in ("valuenum", "los", "ref_range_lower", "ref_range_upper", "lownormalvalue"):
        return rng.normal(40, 8, size).round(2)
    if name in ("seq_num", "poe_seq", "warning", "hospital_expire_flag", "doses_per_24_hrs"):
        return rng.integers(0, 2 if "flag" in name or name == "warning" else 9, size)
    if name in ("specimen_id", "poe_id"):
        return rng.integers(50_000_000, 60_000_000, size)
    if name in ("label", "abbreviation") or name == "comments":
        return [f"{name} {n}" for n in range(size)]
    return rng.choice([f"{name[:3]}{n}" for n in range(9)], size)
