"""A proposed schema: what each column of a file seems to be, for a person to edit."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
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


Role = Literal["person", "direct", "quasi", "sensitive"]
_ListedRole = Literal["quasi", "insensitive", "sensitive", "direct"]


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


class _Column:
    """A column by what its header and its first records say."""

    def __init__(self, name: str, profile: Profile) -> None:
        self.name, self.profile = name, profile
        self.words = words_of(name)
        self.numbers = identifies(self.words)
        """Whether the header ends as that of a number or key."""

    def says(self, role: Role) -> bool:
        """Whether a word of the header is one of those for a role."""
        return named(self.words, WORDS[role])

    @property
    def has_clear_header(self) -> bool:
        """Whether the header says what the column is, other than a number or a key."""
        dates = self.profile.look == "dates"
        return not self.numbers and (dates or self.says("quasi") or self.says("sensitive"))

    @property
    def person_score(self) -> float:
        """How far the header says that it is the person; 0 where it does not."""
        profile = self.profile
        whole = profile.look == "text" or (profile.look == "numbers" and profile.whole)
        tells_apart = profile.filled == profile.records and profile.distinct > 1
        if not (whole and tells_apart) or profile.free_text:
            return 0.0
        if {"name", "names"} & set(self.words) or profile.repeats > MOST_REPEATS:
            return 0.0
        many = profile.distinct > FEW or profile.distinct_share > 0.1
        if self.says("person") and (self.numbers or many or len(self.words) == 1):
            # Likeliest where persons have a few records each.
            repeats = 0.5 if profile.unique else 1.0 if profile.repeats <= 50 else 0.2
            return SAYS_PERSON + self.numbers + repeats
        if not profile.unique and many and (self.numbers or named(self.words, "ssn nhs mrn")):
            return 1.0 + profile.distinct_share
        return 0.0

    @property
    def person_note(self) -> str:
        """Why it is taken as the person, where its values alone do not say so."""
        if self.profile.unique:
            return "its name says person; every record has a person of its own"
        return (
            f"looks like the number of a person: {self.profile.distinct:,} different values, "
            f"{self.profile.repeats:.1f} records each"
        )

    def role(self) -> tuple[_ListedRole, str]:
        """The role of a column that is not the person, and why."""
        words, profile = self.words, self.profile
        if profile.distinct <= 1:
            said = "no value in any record" if not profile.distinct else "one value throughout"
            return "insensitive", f"{said}, so it tells nobody apart"
        if profile.free_text:
            return "direct", "free text may name people"
        place = named(words, "country county state region city town district province suburb")
        if self.says("direct") and not place:  # county_name is the name of no person
            return "direct", "its name says that it names or reaches a person"
        if {"soc", "sec"} <= set(words) or {"social", "security"} <= set(words):
            return "direct", "its name says that it numbers a person"
        if self.says("sensitive"):
            return "sensitive", "its name says something that should not be learned about a person"
        if self.says("quasi") and not (self.numbers and profile.unique):
            return "quasi", "its name says something that an intruder may know"
        return self._role_by_values()

    def _role_by_values(self) -> tuple[_ListedRole, str]:
        profile, look = self.profile, self.profile.look
        if look == "bytes":
            return "direct", "bytes cannot be judged"
        many_records = profile.records >= 20
        if look == "dates":
            return "quasi", "dates of events may be known"
        if profile.unique and many_records and (look == "text" or profile.whole):
            return "direct", "different in every record"
        if look == "text" and profile.distinct_share > MOST and many_records:
            return "direct", "different in most records"
        if self.numbers and profile.distinct > FEW:
            return "direct", "its name and its many values say that it numbers something"
        if look == "numbers" and profile.distinct > FEW:
            return "insensitive", "many different numbers, such as amounts: check it"
        if profile.distinct > FEW:
            return "quasi", "text with many different values: check it"
        return "quasi", "few different values, which an intruder may know: check it"

    @property
    def summary(self) -> str:
        """What the values look like."""
        profile = self.profile
        parts = [profile.look, f"{profile.distinct:,} different"]
        empty = profile.records - profile.filled
        if empty:
            parts.append(f"missing in {100 * empty / profile.records:.3g} %")
        return ", ".join(parts)

    def quasi_identifier(self) -> QuasiIdentifier:
        """Its kind and order, as a quasi-identifier."""
        profile = self.profile
        if profile.order is not None:
            return QuasiIdentifier(kind=Kind.ORDERED, order=profile.order)
        coded = profile.distinct <= FEW and named(self.words, CATEGORY_WORDS)
        coded = coded or (profile.distinct <= CODES and not self.says("quasi"))
        if profile.look == "dates" or (profile.look == "numbers" and not coded):
            return QuasiIdentifier(kind=Kind.NUMERIC)
        return QuasiIdentifier(kind=Kind.CATEGORICAL)


def guess_schema(source: Source) -> Guess:
    """Propose a role and a kind for each column, by its name and its first 100,000 records.

    Raises
    ------
    InputError
        If the source cannot be read.
    """
    sample = _sample(source)
    columns = {name: _Column(name, profile_column(sample.column(name))) for name in source.names}
    person, candidates = _person(columns, sample, source)
    constant = _constant_about(person, sample, candidates)
    roles: dict[_ListedRole, list[str]] = {
        "quasi": [],
        "insensitive": [],
        "sensitive": [],
        "direct": [],
    }
    notes: dict[str, str] = {}
    for name, column in columns.items():
        reason = candidates[name].reason if name in candidates else None
        if name == person:
            notes[name] = reason or column.person_note
            continue
        role, why = column.role()
        if reason and role in ("insensitive", "direct"):
            role, why = "direct", f"it may number persons, too: {reason}"
        elif role == "insensitive" and column.profile.distinct > 1 and name in constant:
            role, why = "quasi", "it does not change about a person, whom it may help to find"
        roles[role].append(name)
        notes[name] = f"{why}; {column.summary}"
    if not roles["quasi"]:
        chosen = _most_plausible(roles, person, columns)
        person = None if chosen == person else person
        notes[chosen] = (
            "nothing looks like a quasi-identifier and a schema needs one; this is the most "
            f"plausible: check it; {columns[chosen].summary}"
        )
    missing = dict.fromkeys(text for c in columns.values() for text in c.profile.missing_texts)
    schema = Schema(
        person=person,
        direct_identifiers=roles["direct"],
        quasi_identifiers={name: columns[name].quasi_identifier() for name in roles["quasi"]},
        sensitive=roles["sensitive"],
        insensitive=roles["insensitive"],
        missing=tuple(missing),
    )
    return Guess(schema, notes)


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
    columns: dict[str, _Column], sample: pa.Table, source: Source
) -> tuple[str | None, dict[str, PersonCandidate]]:
    """The column that most likely says which person a record belongs to, and its rivals.

    What a header says of the person comes first, then what the values say, then a header that
    says of a number only that it is one.
    """
    if len(columns) < 2:
        return None, {}
    best = max(columns.values(), key=lambda column: column.person_score)
    if best.person_score >= SAYS_PERSON:
        return best.name, {}
    unclear = [name for name, column in columns.items() if not column.has_clear_header]
    found = person_candidates(sample, unclear)
    # A file in the order of its years holds each person once among its first records.
    unseen = [name for name in unclear if columns[name].profile.distinct_share > MOST]
    if len(sample) == ROWS and unseen:
        found = person_candidates_of(source, unseen) + found
    candidates = {each.name: each for each in reversed(found)}
    if found:
        return found[0].name, candidates
    return (best.name if best.person_score > 0 else None), {}


def _constant_about(
    person: str | None, sample: pa.Table, candidates: Mapping[str, PersonCandidate]
) -> Collection[str]:
    """The columns that are constant within the person, as far as the sample shows it."""
    if person is None:
        return ()
    found = candidates.get(person)
    if found is None:
        found = next(iter(person_candidates(sample, [person])), None)
    return () if found is None else found.constant


def _most_plausible(
    roles: dict[_ListedRole, list[str]], person: str | None, columns: dict[str, _Column]
) -> str:
    """Move one column to the quasi-identifiers, as nothing looks like one; gives its name."""
    others = [roles["insensitive"], roles["sensitive"], roles["direct"]]
    varying = ([name for name in role if columns[name].profile.distinct > 1] for role in others)
    likely = next(filter(None, varying), None) or next(filter(None, others), None)
    if not likely and person is not None:
        likely = [person]
    chosen = min(likely or [], key=lambda name: columns[name].profile.distinct)
    for role in others:
        if chosen in role:
            role.remove(chosen)
    roles["quasi"].append(chosen)
    return chosen


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
