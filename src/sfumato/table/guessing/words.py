"""What column names say about a column: the words that people use for what it holds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

Role = Literal["person", "direct", "quasi", "sensitive"]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")

# A word that ends in "-" stands for every word that starts with it.
WORDS: dict[Role, str] = {
    "person": "patient person pers pid subject participant member client individual respondent "
    "beneficiary resident enrolid dupersid personid patientid subjectid patid persid",
    "direct": "name names surname forename firstname lastname givenname fullname username maiden "
    "family phone telephone tel mobile fax mail email address addr street ssn nhs nhi mrn "
    "passport licence license iban account url login photo initials note notes comment comments "
    "remark remarks narrative freetext letter medicare-",
    "quasi": "age ages agegroup sex gender dob- birth- born zip zipcode postcode postal plz "
    "race- ethnic- hisp- marital marry married marriage civil educ- school degree income "
    "occup- job profession employ- workclass employer industry country countries national- "
    "native citizen- city town suburb municipality county state region province district ward "
    "neighbourhood neighborhood location place religio- language spoken height weight household "
    "children insurance poverty admission admitted discharge visit date year yob month "
    "deathdate tribe caste origin rank veteran",
    "sensitive": "diagnos- dx icd- disease- disorder- condition- comorbid- drug- medic- "
    "prescri- procedure- treatment- therap- hiv lab labs result- outcome cause disab- salary "
    "wage- genetic genotype mutation mental symptom- atc ndc cpt loinc snomed offence offense "
    "crime conviction sexual pregnan- abortion addict- alcohol smok- score sick- grade debt",
}

_IDENTIFIER_WORDS = (
    "id ids identifier no nr num number key code uid uuid guid rec record row index pid"
)
_NO_IDENTIFIERS = "aid covid grid hybrid medicaid paid said solid steroid thyroid unpaid valid"

CATEGORY_WORDS = (
    "sex gender race- ethnic- hisp- marital marry married religio- state region country "
    "county national- language employ- workclass occup- insurance"
)

_SCALES = (
    "very low|low|moderate|medium|high|very high",
    "none|minimal|mild|moderate|severe|critical",
    "never|rarely|sometimes|often|always",
    "very poor|poor|fair|good|very good|excellent",
    "strongly disagree|disagree|neutral|agree|strongly agree",
    "small|medium|large",
    (
        "none|preschool|1st-4th|primary|5th-6th|7th-8th|9th|10th|11th|12th|secondary|high school|"
        "hs-grad|some college|some-college|assoc-voc|assoc-acdm|associate|bachelor|bachelors|"
        "master|masters|prof-school|doctorate|phd"
    ),
)
SCALES = tuple(tuple(scale.split("|")) for scale in _SCALES)

MISSING_TEXTS = ("?", "NA", "N/A", "n/a", "NULL", "null", "NaN", "nan", "#N/A", ".", "-")


def words_of(name: str) -> tuple[str, ...]:
    """The words of a column name in lower case.

    Names in snake_case, kebab-case, camelCase and with digits are taken apart.

    Parameters
    ----------
    name
        The column's name.

    Examples
    --------
    >>> words_of("birthYear"), words_of("ICD9_code"), words_of("ZIPCode")
    (('birth', 'year'), ('icd', '9', 'code'), ('zip', 'code'))
    """
    return tuple(word.lower() for word in _WORD.findall(name))


def named(words: Iterable[str], known: str) -> bool:
    """Whether one of the words is among the known ones (``"dob-"``: starts with dob).

    Parameters
    ----------
    words
        Words of a column name.
    known
        Known words, separated by spaces.
    """
    entries = known.split()
    whole = {entry for entry in entries if not entry.endswith("-")}
    starts = tuple(entry[:-1] for entry in entries if entry.endswith("-"))
    return any(word in whole or word.startswith(starts) for word in words)


def identifies(words: tuple[str, ...]) -> bool:
    """Whether a name ends as that of a number or key does: rec_id, DUID, file_no.

    Parameters
    ----------
    words
        Words of a column name.
    """
    last = words[-1] if words else ""
    if named((last,), _IDENTIFIER_WORDS):
        return True
    return last.endswith("id") and not named((last,), _NO_IDENTIFIERS)


def scale_of(labels: Iterable[str]) -> tuple[str, ...] | None:
    """The labels in their order from lowest to highest, if they are words of one known scale.

    Parameters
    ----------
    labels
        The distinct labels of a column, missing ones left out.
    """
    found: dict[str, str] = {}
    for label in labels:
        if found.setdefault(label.strip().lower(), label) != label:
            return None
    for scale in SCALES:
        if len(found) > 1 and found.keys() <= set(scale):
            return tuple(found[word] for word in scale if word in found)
    return None
