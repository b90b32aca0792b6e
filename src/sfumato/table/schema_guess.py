"""A proposed schema: what each column of a file seems to be, for a person to edit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import pyarrow as pa

from sfumato.schema import Kind, QuasiIdentifier, Schema
from sfumato.table.person_column import (
    PersonCandidate,
    Profile,
    person_candidates,
    person_candidates_of,
    profile_column,
)
from sfumato.table.sources import Source, check_utf8

ROWS = 100_000
"""Records looked at."""
FEW = 50
"""Different values up to which text or numbers look like categories."""
CODES = 12
"""Different numbers up to which they look like codes, where the name says nothing."""
MOST_REPEATS = 1000
"""Records per value from which a value looks like a category, not a person."""
MOST = 0.5
"""Share of different values from which text looks like one value per record."""
SAYS_PERSON = 2.0
"""Score of a column whose header says that it is the person."""


@dataclass(frozen=True)
class Guess:
    """A proposed schema.

    Attributes
    ----------
    schema
        The proposal.
    notes
        Why, by column; without values of the data.
    """

    schema: Schema
    notes: dict[str, str]


@dataclass
class _Proposal:
    person: str | None = None
    direct: list[str] = field(default_factory=list)
    quasi: list[str] = field(default_factory=list)
    sensitive: list[str] = field(default_factory=list)
    insensitive: list[str] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)

    def role_of(self, role: str) -> list[str]:
        """The columns of a role."""
        columns: list[str] = getattr(self, role)
        return columns


def guess_schema(source: Source) -> Guess:
    """Propose a role and a kind for each column, by its name and its first 100,000 records.

    Returns
    -------
    Guess
        The schema and, by column, why.

    Raises
    ------
    InputError
        If the source cannot be read.
    """
    sample = _sample(source)
    profiles = {name: profile_column(sample.column(name)) for name in source.names}
    proposal = _Proposal()
    proposal.person, candidates = _person(profiles, sample, source)
    for name, profile in profiles.items():
        if name == proposal.person:
            reason = candidates[name].reason if name in candidates else _person_note(profile)
            proposal.notes[name] = reason
            continue
        role, why = _role(name, profile)
        if name in candidates and role in ("insensitive", "direct"):
            role, why = "direct", f"it may number persons, too: {candidates[name].reason}"
        proposal.role_of(role).append(name)
        proposal.notes[name] = f"{why}; {_looks(profile)}"
    if not proposal.quasi:
        _most_plausible(proposal, profiles)
    missing = dict.fromkeys(text for p in profiles.values() for text in p.missing_texts)
    schema = Schema(
        person=proposal.person,
        direct_identifiers=proposal.direct,
        quasi_identifiers={name: _quasi(name, profiles[name]) for name in proposal.quasi},
        sensitive=proposal.sensitive,
        insensitive=proposal.insensitive,
        missing=tuple(missing),
    )
    return Guess(schema, proposal.notes)


def _sample(source: Source) -> pa.Table:
    batches, rows = [], 0
    for batch in source.batches(source.names):
        batches.append(batch.slice(0, ROWS - rows))
        for name in source.names:
            check_utf8(batches[-1].column(name), name)
        rows += batches[-1].num_rows
        if rows >= ROWS:
            break
    return pa.Table.from_batches(batches)


def _person(
    profiles: dict[str, Profile], sample: pa.Table, source: Source
) -> tuple[str | None, dict[str, PersonCandidate]]:
    """The column that most likely says which person a record belongs to, and its rivals.

    What a header says of the person comes first, then what the values say, then a header that
    says of a number only that it is one.
    """
    if len(profiles) < 2:
        return None, {}
    scores = {name: _person_score(name, profile) for name, profile in profiles.items()}
    best = max(scores, key=lambda name: scores[name])
    if scores[best] >= SAYS_PERSON:
        return best, {}
    open_ = [name for name, each in profiles.items() if not _is_told(name, each)]
    found = person_candidates(sample, open_)
    # A file in the order of its years holds each person once among its first records.
    unseen = [name for name in open_ if profiles[name].distinct_share > MOST]
    if len(sample) == ROWS and unseen:
        found = person_candidates_of(source, unseen) + found
    candidates = {each.name: each for each in reversed(found)}
    if found:
        return found[0].name, candidates
    return (best if scores[best] > 0 else None), {}


def _is_told(name: str, profile: Profile) -> bool:
    """Whether a header says what a column is, other than a number or a key."""
    words = words_of(name)
    return not identifies(words) and (
        profile.look == "dates" or named(words, WORDS["quasi"]) or named(words, WORDS["sensitive"])
    )


def _person_score(name: str, profile: Profile) -> float:
    words = words_of(name)
    numbers = identifies(words)
    says_person = named(words, WORDS["person"])
    whole = profile.look == "text" or (profile.look == "numbers" and profile.whole)
    telling = profile.filled == profile.records and profile.distinct > 1
    if not (whole and telling) or profile.free_text:
        return 0.0
    if {"name", "names"} & set(words) or profile.repeats > MOST_REPEATS:
        return 0.0
    many = profile.distinct > FEW or profile.distinct_share > 0.1
    if says_person and (numbers or many or len(words) == 1):
        return SAYS_PERSON + numbers + _likely_repeats(profile)
    if not profile.unique and many and (numbers or named(words, "ssn nhs mrn")):
        return 1.0 + profile.distinct_share
    return 0.0


def _likely_repeats(profile: Profile) -> float:
    """In [0, 1]; highest where persons have a few records each."""
    if profile.unique:
        return 0.5
    return 1.0 if profile.repeats <= 50 else 0.2


def _person_note(profile: Profile) -> str:
    if profile.unique:
        return "its name says person; every record has a person of its own"
    return (
        f"looks like the number of a person: {profile.distinct:,} different values, "
        f"{profile.repeats:.1f} records each"
    )


def _role(name: str, profile: Profile) -> tuple[str, str]:
    """The role of a column that is not the person, and why."""
    words = words_of(name)
    if profile.distinct <= 1:
        said = "no value in any record" if not profile.distinct else "one value throughout"
        return "insensitive", f"{said}, so it tells nobody apart"
    if profile.free_text:
        return "direct", "free text may name people"
    if named(words, WORDS["direct"]) and not _is_place(words):
        return "direct", "its name says that it names or reaches a person"
    if {"soc", "sec"} <= set(words) or {"social", "security"} <= set(words):
        return "direct", "its name says that it numbers a person"
    if named(words, WORDS["sensitive"]):
        return "sensitive", "its name says something that should not be learned about a person"
    numbers = identifies(words)
    if named(words, WORDS["quasi"]) and not (numbers and profile.unique):
        return "quasi", "its name says something that an intruder may know"
    return _role_by_values(profile, numbers)


def _is_place(words: tuple[str, ...]) -> bool:
    """Whether a "name" is that of a place: county_name, country name."""
    return named(words, "country county state region city town district province suburb")


def _role_by_values(profile: Profile, numbers: bool) -> tuple[str, str]:
    look = profile.look
    if look == "bytes":
        return "direct", "bytes cannot be judged"
    many_records = profile.records >= 20
    if look == "dates":
        return "quasi", "dates of events may be known"
    if profile.unique and many_records and (look == "text" or profile.whole):
        return "direct", "different in every record"
    if look == "text" and profile.distinct_share > MOST and many_records:
        return "direct", "different in most records"
    if numbers and profile.distinct > FEW:
        return "direct", "its name and its many values say that it numbers something"
    if look == "numbers" and profile.distinct > FEW:
        return "insensitive", "many different numbers, such as amounts: check it"
    if profile.distinct > FEW:
        return "quasi", "text with many different values: check it"
    return "quasi", "few different values, which an intruder may know: check it"


def _looks(profile: Profile) -> str:
    parts = [profile.look, f"{profile.distinct:,} different"]
    empty = profile.records - profile.filled
    if empty:
        parts.append(f"missing in {100 * empty / profile.records:.3g} %")
    return ", ".join(parts)


def _quasi(name: str, profile: Profile) -> QuasiIdentifier:
    if profile.order is not None:
        return QuasiIdentifier(kind=Kind.ORDERED, order=profile.order)
    words = words_of(name)
    coded = profile.distinct <= FEW and named(words, CATEGORY_WORDS)
    coded = coded or (profile.distinct <= CODES and not named(words, WORDS["quasi"]))
    if profile.look == "dates" or (profile.look == "numbers" and not coded):
        return QuasiIdentifier(kind=Kind.NUMERIC)
    return QuasiIdentifier(kind=Kind.CATEGORICAL)


def _most_plausible(proposal: _Proposal, profiles: dict[str, Profile]) -> None:
    """Move one column to the quasi-identifiers where nothing looks like one."""
    for role in ("insensitive", "sensitive", "direct"):
        columns = [name for name in proposal.role_of(role) if profiles[name].distinct > 1]
        if columns:
            break
    else:
        columns = proposal.insensitive or proposal.sensitive or proposal.direct
    if not columns and proposal.person is not None:
        columns, proposal.person = [proposal.person], None
    chosen = min(columns, key=lambda name: profiles[name].distinct)
    for role in ("insensitive", "sensitive", "direct"):
        if chosen in proposal.role_of(role):
            proposal.role_of(role).remove(chosen)
    proposal.quasi.append(chosen)
    proposal.notes[chosen] = (
        "nothing looks like a quasi-identifier and a schema needs one; this is the most "
        f"plausible: check it; {_looks(profiles[chosen])}"
    )


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


def words_of(name: str) -> tuple[str, ...]:
    """The words of a column name in lower case.

    Names in snake_case, kebab-case, camelCase and with digits are taken apart.

    Examples
    --------
    >>> words_of("birthYear"), words_of("ICD9_code"), words_of("ZIPCode")
    (('birth', 'year'), ('icd', '9', 'code'), ('zip', 'code'))
    """
    return tuple(word.lower() for word in _WORD.findall(name))


def named(words: Iterable[str], known: str) -> bool:
    """Whether one of the words is among the known ones (``"dob-"``: starts with dob)."""
    entries = known.split()
    whole = {entry for entry in entries if not entry.endswith("-")}
    starts = tuple(entry[:-1] for entry in entries if entry.endswith("-"))
    return any(word in whole or word.startswith(starts) for word in words)


def identifies(words: tuple[str, ...]) -> bool:
    """Whether a name ends as that of a number or key does: rec_id, DUID, file_no."""
    last = words[-1] if words else ""
    if named((last,), _IDENTIFIER_WORDS):
        return True
    return last.endswith("id") and not named((last,), _NO_IDENTIFIERS)
