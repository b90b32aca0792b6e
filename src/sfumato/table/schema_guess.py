"""A proposed schema: what each column of a file seems to be, why, and what a person must answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Unpack

from sfumato.core.declaration import LayoutGiven
from sfumato.core.errors import InputError
from sfumato.core.notebook_parts import styled_table
from sfumato.schema import Kind, QuasiIdentifier, Schema
from sfumato.schema.recipe import Cleaning, Unreadable
from sfumato.table.classification import refused_columns
from sfumato.table.common_words import DATE_WORDS, folded
from sfumato.table.contents import CODES, FEW, FEW_PEOPLE, Content, is_skewed, may_be_names
from sfumato.table.file_profile import (
    ColumnProfile,
    FileProfile,
    PersonFound,
    are_words,
    first_look,
    name_of_parts,
    person_of,
)
from sfumato.table.header_words import (
    CATEGORY_WORDS,
    hinted,
    identifies,
    named,
    names_people,
    says_nothing,
    weighs,
    words_of,
)
from sfumato.table.person_candidates import person_candidates, scale_of, values_of_strata
from sfumato.table.scalars import LIMIT
from sfumato.table.sources import Source
from sfumato.table.table_files import open_source

MOST_QUESTIONS = 3
"""Questions about one file; of more that are open the most careful answers are taken."""
CERTAIN = 0.6
"""Confidence from which nothing is asked."""
TOLD = 0.85
"""Confidence of a postcode that a place goes with, whatever its shape."""
SAID_AGE = 0.9
"""Confidence of an age from which its header says so."""
MOST_CATEGORIES = 20
"""Different words of no known kind up to which they are taken for categories, not for surnames."""
LEAST_NUMBER = 1000
"""Few different numbers below it count something, even under a header that says who."""
CODED = 12
"""Different numbers up to which they look like codes, where the name says nothing."""

Role = Literal[
    "person", "household", "direct identifier", "quasi-identifier", "sensitive", "insensitive"
]
ROLES: tuple[Role, ...] = (
    "person", "household", "direct identifier", "quasi-identifier", "sensitive", "insensitive",
)  # fmt: skip
_KEYS: dict[Role, str] = {
    "direct identifier": "direct_identifiers", "quasi-identifier": "quasi_identifiers",
    "sensitive": "sensitive", "insensitive": "insensitive",
}  # fmt: skip
_NAMES_PERSONS = frozenset({
    Content.GIVEN_NAME, Content.SURNAME, Content.FULL_NAME, Content.EMAIL, Content.PHONE,
    Content.ADDRESS, Content.STREET, Content.NATIONAL_NUMBER, Content.PAYMENT_NUMBER,
    Content.NETWORK_ADDRESS, Content.FREE_TEXT, Content.BYTES,
})  # fmt: skip
_NAMES = frozenset({Content.GIVEN_NAME, Content.SURNAME, Content.FULL_NAME})
_MAY_BE_HOUSEHOLDS = frozenset({Content.IDENTIFIER, Content.POSTCODE, Content.AGE})
_KNOWN_BY_OTHERS = frozenset({
    Content.SEX, Content.DATE_OF_BIRTH, Content.YEAR_OF_BIRTH, Content.AGE, Content.DATE,
    Content.YEAR, Content.MONTH, Content.DAY, Content.POSTCODE, Content.PLACE, Content.COUNTRY,
    Content.TIME, Content.COORDINATE,
})  # fmt: skip


@dataclass(frozen=True)
class Proposed:
    """What a column is proposed to be.

    Attributes
    ----------
    role
        Its role.
    confidence
        How sure that is, from 0 to 1.
    reason
        Why, without a value of the data.
    question
        What a person must say; empty where nothing is asked.
    """

    role: Role
    confidence: float
    reason: str
    question: str = ""


@dataclass(frozen=True)
class Guess:
    """A proposed schema.

    Attributes
    ----------
    schema
        The proposal; columns with an open question are undecided.
    notes
        Why, by column; without values of the data.
    roles
        What each column is proposed to be, the undecided ones with their likeliest role.
    profile
        What the columns hold; ``None`` where the schema was made of several tables, or of none.
    """

    schema: Schema
    notes: dict[str, str]
    roles: Mapping[str, Proposed] = field(default_factory=dict)
    profile: FileProfile | None = None

    @property
    def questions(self) -> dict[str, str]:
        """What a person must answer, by column."""
        return dict(self.schema.undecided)

    def _repr_html_(self) -> str:
        rows = [
            (name, each.role, f"{each.confidence:.2f}", each.reason, self.questions.get(name, ""))
            for name, each in self.roles.items()
        ]
        heads = ("column", "role", "sure", "because", "question")
        made = styled_table("Proposed schema", heads, rows, numbers=(2,))
        return made + ("" if self.profile is None else self.profile.picture())

    def revised(self, roles: Mapping[str, Proposed]) -> Guess:
        """The proposal with other roles of some columns, about which nothing is asked."""
        if self.profile is None or not roles:
            return self
        every = {**self.roles, **roles}
        chosen = {name: each.role for name, each in every.items()}
        asked = {name: said for name, said in self.questions.items() if name not in roles}
        notes = {name: each.reason for name, each in roles.items()}
        schema = _schema(self.profile, chosen, asked)
        return replace(self, schema=schema, roles=every, notes={**self.notes, **notes})

    def answered(self, answers: Mapping[str, str] | None = None) -> Schema:
        """The schema with its questions answered.

        Parameters
        ----------
        answers
            The role of columns, by their names; the others take what is proposed.

        Raises
        ------
        InputError
            If a role is unknown, or the schema would break a rule.
        """
        chosen = {name: each.role for name, each in self.roles.items()}
        known: dict[str, Role] = {each: each for each in ROLES}
        for name, answer in (answers or {}).items():
            role = known.get(answer)
            if role is None or name not in chosen:
                raise _no_answer(name, known=name in chosen)
            chosen[name] = role
        if self.profile is None:
            return _decided(self.schema, chosen)
        return _schema(self.profile, chosen, {})


def _decided(schema: Schema, roles: Mapping[str, Role]) -> Schema:
    """The schema with its undecided columns in the roles that are chosen for them."""
    fields = dict(schema)
    for name in schema.undecided:
        role = roles.get(name, "direct identifier")
        key = _KEYS.get(role)
        if key is None:
            fields[role] = name
        elif key == "quasi_identifiers":
            fields[key] = {**fields[key], name: QuasiIdentifier(kind=Kind.CATEGORICAL)}
        else:
            fields[key] = (*fields[key], name)
    return Schema(**{**fields, "undecided": {}})


def _no_answer(name: str, *, known: bool) -> InputError:
    return InputError(
        f"column '{name}'",
        "must be answered with a role" if known else "must be a column of the file",
        found="something else" if known else "no such name",
        accepted=", ".join(ROLES),
    )


def guess_schema(data: object, **layout: Unpack[LayoutGiven]) -> Guess:
    """Propose a role, a kind and a line of the recipe for each column of a file.

    What the first 100,000 records hold decides; a header only where they allow several roles. At
    most three columns are left undecided, each with a question.

    Parameters
    ----------
    data
        As in `open_table`.

    Raises
    ------
    InputError
        If the data cannot be read.
    """
    source = data if isinstance(data, Source) else open_source(data, **layout)
    found = first_look(source)
    person = person_of(found, source)
    constant = _constant_about(person, found)
    roles: dict[str, Proposed] = {}
    for name, column in found.columns.items():
        if person is not None and name == person.name:
            roles[name] = Proposed("person", person.confidence, person.reason,
                                   _ask(person) if person.confidence < CERTAIN else "")  # fmt: skip
        elif person is not None and name in person.rivals and not _is_amount(column):
            roles[name] = _rival(column, person.rivals[name])
        elif _weak(found, person, column):
            roles[name] = Proposed("direct identifier", 0.65, "numbers that few persons share")
        else:
            roles[name] = _proposed(column, constant=constant.get(name))
    roles |= _weights(roles, found)
    roles |= _households(roles, found)
    roles |= _of_one_person(roles, found)
    if not any(each.role == "quasi-identifier" for each in roles.values()):
        roles |= _most_plausible(roles, found)
    _hide_what_gives_away(roles, found)
    asked = _asked(roles)
    chosen = {name: each.role for name, each in roles.items()}
    notes = {name: f"{each.reason}; {found.columns[name].summary}" for name, each in roles.items()}
    return Guess(_schema(found, chosen, asked), notes, roles, found)


def _weights(roles: Mapping[str, Proposed], found: FileProfile) -> dict[str, Proposed]:
    """Numbers that survey weights may be: of strata by what is constant in them, or by name."""
    numbers = [
        name for name, each in roles.items()
        if each.role != "person" and found.columns[name].look == "numbers"
    ]  # fmt: skip
    why = {
        name: "by its name" for name in numbers if weighs(name) and found.columns[name].distinct > 1
    }
    why |= dict.fromkeys(values_of_strata(found.sample, numbers), "by what is constant in it")
    return {
        name: Proposed(
            "quasi-identifier", 0.7, f"a weight {said}: it tells the stratum of a record"
        )
        for name, said in why.items()
    }


def _households(roles: Mapping[str, Proposed], found: FileProfile) -> dict[str, Proposed]:
    """Numbers within which other columns are constant: households, rather than ages or counts."""
    among = [
        name for name, each in roles.items()
        if each.role != "person" and each.confidence < SAID_AGE and not hinted(name, "quasi")
        and found.columns[name].content in (Content.AGE, Content.NUMBER)
        and _may_number(found.columns[name])
    ]  # fmt: skip
    return {
        each.name: Proposed(
            "direct identifier", CERTAIN, f"it may number households: {each.reason}"
        )
        for each in person_candidates(found.sample, among)
    }


def _hide_what_gives_away(roles: dict[str, Proposed], found: FileProfile) -> None:
    """Make quasi-identifiers of the columns that a release would be refused for as they are."""
    for _ in found.columns:  # each that is hidden may be given away by another one
        chosen = {name: each.role for name, each in roles.items()}
        try:
            refused = refused_columns(found.sample, _schema(found, chosen, {}))
        except InputError:
            return
        if not refused:
            return
        for name, why in refused.items():
            roles[name] = Proposed("quasi-identifier", 0.7, f"{why}, so it cannot go out as it is")


def _constant_about(person: PersonFound | None, found: FileProfile) -> dict[str, bool]:
    """By column: whether it hardly changes about a person; nothing where that cannot be said."""
    if person is None or found.columns[person.name].unique:
        return {}
    within = replace(found, person=person.name)
    return dict.fromkeys(within.constant, True) | dict.fromkeys(within.events, False)


def _ask(person: PersonFound) -> str:
    return f"does it say whose record each is ({person.reason})?"


def _is_amount(column: ColumnProfile) -> bool:
    return column.content is Content.NUMBER and is_skewed(column.numbers())


def _rival(column: ColumnProfile, reason: str) -> Proposed:
    named_persons = column.content in _NAMES_PERSONS
    return Proposed("direct identifier", 0.9 if named_persons else 0.7,
                    f"it may number persons, too: {reason}")  # fmt: skip


def _proposed(column: ColumnProfile, *, constant: bool | None) -> Proposed:
    """The role of a column that is not the person.

    Parameters
    ----------
    column
        What it holds.
    constant
        Whether it hardly changes about a person; ``None`` where each has one record.
    """
    content, sure, why = column.content, column.confidence, column.evidence
    words = words_of(column.name)
    sensitive = hinted(column.name, "sensitive")
    quasi = hinted(column.name, "quasi") or hinted(column.name, "place")
    if column.distinct <= 1 and content not in _NAMES_PERSONS | {Content.IDENTIFIER}:
        return _one_value(column, quasi=quasi, sensitive=sensitive)
    if hinted(column.name, "household") and (
        content in _MAY_BE_HOUSEHOLDS
        or (content is Content.NUMBER and identifies(words) and not _is_amount(column))
    ):
        return Proposed("household", 0.8, f"its name says household; {why}")
    if content in _NAMES_PERSONS:
        if content in _NAMES and hinted(column.name, "place") and not hinted(column.name, "direct"):
            return Proposed("quasi-identifier", 0.7, "its name says a place, called as persons are")
        doubtful = sure < 0.8 and (quasi or sensitive) and not hinted(column.name, "direct")
        if not doubtful:
            return Proposed("direct identifier", max(sure, CERTAIN), why)
        sure = 0.5
    if content in CODES:
        return Proposed("sensitive", sure, f"{why}: what should not be learned about a person")
    if content in _KNOWN_BY_OTHERS:
        if (
            content in (Content.MONTH, Content.DAY, Content.YEAR, Content.AGE)
            and sensitive
            and not quasi
        ):
            return Proposed("sensitive", 0.7, "its name says something not to be learned")
        if content is Content.DATE and constant is False:
            why = f"{why}; below [events] it would stay more useful than in ranges"
        return Proposed("quasi-identifier", sure, f"{content}: an intruder may know it; {why}")
    return _by_header(column, words, quasi=quasi, sensitive=sensitive) or _by_values(
        column, constant
    )


def _one_value(column: ColumnProfile, *, quasi: bool, sensitive: bool) -> Proposed:
    """The role of a column of one value: by what it holds and its header, then by who has it."""
    why, throughout = column.evidence, column.told_apart == 1 and column.distinct == 1
    somebody = names_people(column.name) and column.look not in ("yes/no", "dates", "empty")
    if column.content is Content.DATE_OF_BIRTH and throughout:
        return Proposed("direct identifier", 0.8, f"{why}, {_ONE_PERSON}")
    if somebody:
        return Proposed("direct identifier", 0.8, f"its name says that it names somebody; {why}")
    if throughout and sensitive:
        return Proposed(
            "direct identifier",
            0.7,
            f"{why}: with it, all who are known to be in the file are known to have it",
        )
    if throughout or column.content is Content.EMPTY:
        return Proposed("insensitive", 1.0, f"{why}, so it tells nobody apart")
    dated = column.look == "dates" or named(map(folded, words_of(column.name)), DATE_WORDS)
    if quasi and not (sensitive or dated):
        return Proposed("quasi-identifier", 0.7, f"{why}: an intruder may know it")
    return Proposed("sensitive", 0.8, f"{why}: that should not be learned about a person")


_ONE_PERSON = "so all records may be of one person"


def _of_one_person(roles: Mapping[str, Proposed], found: FileProfile) -> dict[str, Proposed]:
    """What else is the same throughout and known by others, where one value names somebody."""
    same = [name for name, each in found.columns.items() if each.told_apart == 1 and each.distinct]
    if not any(roles[name].role == "direct identifier" for name in same):
        return {}
    return {
        name: Proposed("direct identifier", 0.7, f"one value throughout, {_ONE_PERSON}")
        for name in same if roles[name].role == "insensitive" and hinted(name, "quasi")
        and found.columns[name].content is Content.CONSTANT and not hinted(name, "place")
    }  # fmt: skip


def _by_header(
    column: ColumnProfile, words: tuple[str, ...], *, quasi: bool, sensitive: bool
) -> Proposed | None:
    """The role that the header says, where the values leave it open."""
    if hinted(column.name, "household") and column.distinct > FEW:
        return None
    place = hinted(column.name, "place")
    somebody = names_people(column.name) and not _counts_or_answers(column)
    few = column.distinct <= FEW and column.filled > 20 * column.distinct and not somebody
    measured = column.content is Content.MEASUREMENT
    if hinted(column.name, "named") and are_words(column) and column.distinct > 2:
        return Proposed("direct identifier", 0.8, "its name says that it names somebody")
    if (somebody or hinted(column.name, "direct")) and not (place or few or measured):
        return Proposed("direct identifier", 0.8, "its name says that it names or reaches a person")
    if {"soc", "sec"} <= set(words) or {"social", "security"} <= set(words):
        return Proposed("direct identifier", 0.8, "its name says that it numbers a person")
    if sensitive and column.content is not Content.IDENTIFIER:
        return Proposed("sensitive", 0.8, "its name says what should not be learned about a person")
    if (
        quasi
        and not (identifies(words) and column.unique)
        and column.content is not Content.IDENTIFIER
    ):
        return Proposed(
            "quasi-identifier", 0.8, "its name says something that an intruder may know"
        )
    numbers = identifies(words) or bool({"id", "uid", "uuid", "guid"} & set(words))
    if numbers and column.distinct > FEW and not measured:
        return Proposed(
            "direct identifier", 0.7, "its name and its many values say that it numbers something"
        )
    return None


def _counts_or_answers(column: ColumnProfile) -> bool:
    """Whether few values are answers, small numbers, or two words that begin small."""
    if column.content is Content.YES_NO or column.distinct > FEW:
        return column.content is Content.YES_NO
    if column.look == "numbers":
        return float(column.numbers().max()) < LEAST_NUMBER
    return column.distinct == 2 and any(each[:1].islower() for each in column.values.to_pylist())


def _by_values(column: ColumnProfile, constant: bool | None) -> Proposed:
    """The role of what has neither a telling header nor content of one role only."""
    content = column.content
    if content is Content.IDENTIFIER:
        return Proposed("direct identifier", column.confidence, column.evidence)
    if content in (Content.MEASUREMENT, Content.NUMBER):
        if constant is not False and content is Content.NUMBER and _may_number(column):
            why = "numbers with few gaps that may be those of households"
            return Proposed(
                "direct identifier", CERTAIN if constant else 0.5, why,
                "does it number something, such as households (direct identifier), or does it "
                "measure or count (sensitive)?",
            )  # fmt: skip
        if constant:
            why = "it does not change about a person, whom it may help to find"
            return Proposed("quasi-identifier", 0.7, why)
        sure = 0.8 if content is Content.MEASUREMENT else CERTAIN
        return Proposed(
            "sensitive", sure, "a measurement or an amount, not to be learned: check it"
        )
    unnamed = column.distinct < FEW_PEOPLE and column.look == "text" and says_nothing(column.name)
    if unnamed and may_be_names(column.values.to_pylist()):
        return Proposed(
            "direct identifier", 0.5, "few values in words with capitals, as names of people",
            "does it name people (direct identifier), or what may be known of them "
            "(quasi-identifier)?",
        )  # fmt: skip
    words = content is Content.CATEGORY and column.distinct > MOST_CATEGORIES and are_words(column)
    if constant is False and column.distinct > 20 and content is Content.CATEGORY and not words:
        return Proposed("sensitive", CERTAIN, "categories that change about a person, as events do")
    if words or content is Content.TEXT:
        return _text(column, constant)
    return Proposed(
        "quasi-identifier", 0.7, "few different values, which an intruder may know: check it"
    )


def _may_number(column: ColumnProfile) -> bool:
    numbers = column.numbers()
    dense = len(numbers) > 1.2 * (numbers.max() / 2 - numbers.min() / 2)  # which is finite
    return column.distinct > FEW and numbers.min() in (0, 1, 2) and dense and not is_skewed(numbers)


def _text(column: ColumnProfile, constant: bool | None) -> Proposed:
    """The role of words of many values that are of no known kind: a careful one, and a question."""
    if constant is None and column.distinct > 0.5 * column.filled and column.filled >= 20:
        return Proposed("direct identifier", 0.65, "different in most records")
    if constant is False:
        said, other = "changes about a person", "what happened to a person (sensitive)"
    else:
        said, other = "has many values", "a place or an occupation (quasi-identifier)"
    return Proposed(
        "direct identifier", 0.4, f"text of no known kind that {said}",
        f"does it name or number somebody (direct identifier), or does it say {other}?",
    )  # fmt: skip


def _most_plausible(roles: Mapping[str, Proposed], found: FileProfile) -> dict[str, Proposed]:
    """One column as a quasi-identifier, as nothing looks like one and a schema needs one."""
    order: tuple[Role, ...] = ("insensitive", "sensitive", "direct identifier", "person")

    def rank(name: str) -> tuple[bool, int, int]:
        return (
            found.columns[name].distinct == 0,
            order.index(roles[name].role),
            found.columns[name].distinct,
        )

    chosen = min(roles, key=rank)
    return {chosen: Proposed(
        "quasi-identifier", CERTAIN,
        "nothing looks like a quasi-identifier and a schema needs one; this is the most "
        "plausible: check it",
    )}  # fmt: skip


def _asked(roles: Mapping[str, Proposed]) -> dict[str, str]:
    """The questions of the most doubtful columns."""
    doubtful = [name for name, each in roles.items() if each.question and each.confidence < CERTAIN]
    doubtful.sort(key=lambda name: (roles[name].role != "person", roles[name].confidence))
    quasi = sum(each.role == "quasi-identifier" for each in roles.values())
    return {
        name: roles[name].question
        for name in doubtful[:MOST_QUESTIONS]
        if roles[name].role != "quasi-identifier" or quasi > 1
    }


def _schema(found: FileProfile, roles: Mapping[str, Role], asked: Mapping[str, str]) -> Schema:
    """The schema of chosen roles, its recipe with it."""
    columns = found.columns
    by_role: dict[Role, list[str]] = {role: [] for role in ROLES}
    parts = {
        name_of_parts(each, columns): each for each in found.dates_in_parts
        if all(roles[name] == "quasi-identifier" and name not in asked for name in each)
    }  # fmt: skip
    joined = {name for each in parts.values() for name in each}
    for name, role in roles.items():
        if name not in asked and name not in joined:
            by_role[role].append(name)
    quasi = {name: _quasi_identifier(columns[name]) for name in by_role["quasi-identifier"]}
    missing = dict.fromkeys(word for c in columns.values() for word in c.missing_words)
    recipe: dict[str, Any] = {}
    for name, column in columns.items():
        used = name not in asked and name not in joined and roles[name] != "direct identifier"
        if used and roles[name] != "household":
            line = _line(column, roles[name])
            if line is not None:
                recipe[name] = line
    for name, each in parts.items():
        quasi[name] = QuasiIdentifier(kind=Kind.NUMERIC)
        recipe[name] = Cleaning(parts=each, unreadable=Unreadable.MISSING)
    person = by_role["person"]
    household = by_role["household"]
    return Schema(
        person=person[0] if person else None,
        household=household[0] if household else None,
        direct_identifiers=by_role["direct identifier"] + household[1:],
        quasi_identifiers=quasi,
        sensitive=by_role["sensitive"],
        insensitive=by_role["insensitive"],
        undecided=dict(asked),
        missing=tuple(missing),
        recipe=recipe,
    )


def _line(column: ColumnProfile, role: Role) -> Cleaning | None:
    """The line of the recipe of a column; of persons only blanks are taken off."""
    line = column.cleaning
    if column.content is Content.TIME and role == "quasi-identifier" and column.look == "text":
        return Cleaning(first=2)  # the hour
    if line is None or role == "insensitive":
        return None
    if role == "person":
        return Cleaning(strip=True) if line.strip else None
    return line


def _weak(found: FileProfile, person: PersonFound | None, column: ColumnProfile) -> bool:
    """Whether codes of the shape of postcodes are shared by too few persons to be such."""
    if person is None or column.content is not Content.POSTCODE or column.confidence > TOLD:
        return False
    return found.columns[person.name].distinct < 3 * column.distinct


def _quasi_identifier(column: ColumnProfile) -> QuasiIdentifier:
    """The kind and order of a quasi-identifier."""
    words = words_of(column.name)
    if column.look == "text" and 1 < column.distinct <= FEW:
        order = scale_of(column.values.to_pylist())
        if order is not None:
            return QuasiIdentifier(kind=Kind.ORDERED, order=order)
    coded = column.distinct <= FEW and named(words, CATEGORY_WORDS)
    numeric = column.content in (
        Content.AGE,
        Content.YEAR,
        Content.YEAR_OF_BIRTH,
        Content.MEASUREMENT,
    )
    coded = coded or (column.distinct <= CODED and not numeric and not hinted(column.name, "quasi"))
    coded = coded or (column.look == "numbers" and bool((abs(column.numbers()) >= LIMIT).any()))
    if column.look == "dates" or (column.look == "numbers" and not coded):
        return QuasiIdentifier(kind=Kind.NUMERIC)
    return QuasiIdentifier(kind=Kind.CATEGORICAL)
