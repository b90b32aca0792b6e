"""A proposed schema: what each column of a file seems to be, why, and what a person must answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Unpack

import numpy as np

from sfumato.core.arrays import Floats, Ints
from sfumato.core.declaration import LayoutGiven
from sfumato.core.errors import InputError
from sfumato.core.notebook_parts import styled_table
from sfumato.schema import Kind, QuasiIdentifier, Schema
from sfumato.schema.recipe import Cleaning, Unreadable
from sfumato.table import sources
from sfumato.table.classification import refused_columns
from sfumato.table.common_words import DATE_WORDS, folded
from sfumato.table.contents import (
    CODES,
    FEW,
    FEW_PEOPLE,
    OF_INSTITUTIONS,
    Content,
    is_skewed,
    may_be_names,
)
from sfumato.table.file_profile import (
    SAID_AGE,
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
    COUNT_WORDS,
    MEASURE_WORDS,
    MONEY_WORDS,
    hinted,
    identifies,
    named,
    names_people,
    says_money,
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
MOST_OF_A_HOUSEHOLD = 8
"""Records for each number, on average, above which these are places or institutions."""
BATTERY = 3
"""Columns of one scale from which they are taken for the questions of one form."""
MOST_LISTED = 6
"""Columns that a sentence counts, rather than name them."""
CERTAIN = 0.6
"""Confidence from which nothing is asked."""
TOLD = 0.85
"""Confidence of a postcode that a place goes with, whatever its shape."""
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
"""All roles, the more careful ones first."""
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
_OF_ONE_ROLE = CODES | {
    Content.SEX, Content.POSTCODE, Content.PLACE, Content.COUNTRY, Content.COORDINATE,
    Content.IDENTIFIER,
}  # fmt: skip
"""What a header that says another role speaks against; what dates and ages are of, it may add."""
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
    together
        Of columns that are asked about, those alike that the same answer is for; they are left
        out until then.
    unasked
        Columns that are doubtful, too, and have the more careful role without a question.
    """

    schema: Schema
    notes: dict[str, str]
    roles: Mapping[str, Proposed] = field(default_factory=dict)
    profile: FileProfile | None = None
    together: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unasked: tuple[str, ...] = ()

    @property
    def questions(self) -> dict[str, str]:
        """What a person must answer, by column."""
        return dict(self.schema.undecided)

    def _repr_html_(self) -> str:
        rows = [
            (name, role.role, f"{role.confidence:.2f}", role.reason, self.questions.get(name, ""))
            for name, role in self.roles.items()
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
        asked = {name: question for name, question in self.questions.items() if name not in roles}
        notes = {name: role.reason for name, role in roles.items()}
        together = {n: each for n, each in self.together.items() if n in asked}
        left_out = {name for each in together.values() for name in each}
        chosen |= dict.fromkeys(left_out - roles.keys(), "direct identifier")
        schema = _schema(self.profile, chosen, asked, self.unasked)
        notes = {**self.notes, **notes}
        return replace(self, schema=schema, roles=every, notes=notes, together=together)

    def choices(self, name: str) -> tuple[str, ...]:
        """The answers to the question about a column: two ways to read it, if any, and roles."""
        column = None if self.profile is None else self.profile.columns[name]
        return (*(() if column is None or column.doubt is None else column.doubt.choices), *ROLES)

    def answered(self, answers: Mapping[str, str] | None = None) -> Schema:
        """The schema with its questions answered.

        Parameters
        ----------
        answers
            Of columns that may be read in two ways one of these, of others their role; what is not
            named takes what is proposed. Columns alike follow the one that is asked about.

        Raises
        ------
        InputError
            If a role is unknown, or the schema would break a rule.
        """
        chosen = {name: role.role for name, role in self.roles.items()}
        known: dict[str, Role] = {role: role for role in ROLES}
        columns = {} if self.profile is None else dict(self.profile.columns)
        for name, answer in (answers or {}).items():
            if name not in chosen or answer not in self.choices(name):
                raise _no_answer(name, self.choices(name) if name in chosen else None)
            for each in (name, *self.together.get(name, ())):
                if answer in known:
                    chosen[each] = known[answer]
                elif each in columns:
                    columns[each] = columns[each].read_as(answer)
        if self.profile is None:
            return _decided(self.schema, chosen)
        return _schema(replace(self.profile, columns=columns), chosen, {}, self.unasked)


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


def _no_answer(name: str, choices: Sequence[str] | None) -> InputError:
    known = choices is not None
    return InputError(
        f"column '{name}'",
        "must be answered with a role" if known else "must be a column of the file",
        found="something else" if known else "no such name",
        accepted=", ".join(choices or ROLES),
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
    profile = first_look(source)
    person = person_of(profile, source)
    constant = _constant_about(person, profile)
    roles: dict[str, Proposed] = {}
    for name, column in profile.columns.items():
        if person is not None and name == person.name:
            roles[name] = Proposed("person", person.confidence, person.reason,
                                   _ask(person) if person.confidence < CERTAIN else "")  # fmt: skip
        elif person is not None and name in person.rivals and not _is_amount(column):
            roles[name] = _rival(column, person.rivals[name])
        elif _weak(profile, person, column):
            roles[name] = Proposed("direct identifier", 0.65, "numbers that few people share")
        else:
            roles[name] = _proposed(column, constant=constant.get(name))
    # Each step overrules those before it, so that what columns tell of each other comes last.
    roles |= _weights(roles, profile)
    roles |= _households(roles, profile)
    roles |= _of_one_person(roles, profile, person)
    roles |= _derived(roles, profile)
    roles |= _batteries(roles, profile)
    roles |= _few_names(roles, profile, person)
    if not any(role.role == "quasi-identifier" for role in roles.values()):
        roles |= _most_plausible(roles, profile)
    _hide_what_gives_away(roles, profile)
    roles |= _readings(roles, profile)
    asked, together, unasked = _asked(roles, profile)
    for name in unasked:
        # Nobody has said that it numbers households: without a question it is left out.
        if roles[name].role == "household":
            roles[name] = replace(roles[name], role="direct identifier")
    chosen = {name: role.role for name, role in roles.items()}
    notes = {
        name: f"{role.reason}; {profile.columns[name].summary}" for name, role in roles.items()
    }
    notes |= {n: f"{notes[n]}; not asked, as others are more doubtful" for n in unasked}
    for first, others in together.items():
        chosen |= dict.fromkeys(others, "direct identifier")
        notes |= {n: f"{notes[n]}; left out until '{first}' is answered" for n in others}
    schema = _schema(profile, chosen, asked, unasked)
    return Guess(schema, notes, roles, profile, together, unasked)


def _weights(roles: Mapping[str, Proposed], found: FileProfile) -> dict[str, Proposed]:
    """Numbers that survey weights may be: of strata by what is constant in them, or by name."""
    numbers = [
        name for name, role in roles.items()
        if role.role != "person" and found.columns[name].look == "numbers"
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
        name for name, role in roles.items()
        if role.role != "person" and role.confidence < SAID_AGE and not hinted(name, "quasi")
        and found.columns[name].content in (Content.AGE, Content.NUMBER, Content.IDENTIFIER)
        and found.columns[name].look == "numbers"
        and (found.columns[name].content is Content.IDENTIFIER or _may_number(found.columns[name]))
        and found.columns[name].filled <= MOST_OF_A_HOUSEHOLD * found.columns[name].distinct
    ]  # fmt: skip
    known = any(role.role == "household" for role in roles.values())
    households = [] if known else person_candidates(found.sample, among)[:1]
    return {household.name: _household(household.reason) for household in households}


def _household(reason: str) -> Proposed:
    """What may number households, whose risk is measured once somebody has said so."""
    return Proposed(
        "household", 0.45, f"it may number households: {reason}",
        "does it number households (household), or other things (direct identifier), or does it "
        "measure or count (sensitive)?",
    )  # fmt: skip


def _few_names(
    roles: Mapping[str, Proposed], found: FileProfile, person: PersonFound | None
) -> dict[str, Proposed]:
    """Few words that may name people, under headers that say nothing."""
    by_id = person is not None and found.columns[person.name].distinct < FEW_PEOPLE
    names: dict[str, Proposed] = {}
    for name, role in roles.items():
        column = found.columns[name]
        hidden = role.role in ("person", "direct identifier") or column.look != "text"
        if hidden or not 1 < column.distinct < FEW_PEOPLE or not says_nothing(name):
            continue
        texts = column.values.to_pylist()
        # One word tells a name from a category no better than its letters do, so that it is asked
        # about where records are of so few people, by their id or by what goes with each word.
        few = by_id or (person is None and bool(replace(found, person=name).constant))
        if may_be_names(texts) or (few and all(map(_WORDS.fullmatch, texts))):
            names[name] = Proposed(
                "direct identifier", 0.5, "few values in words, as names of people",
                "does it name people (direct identifier), or what may be known of them "
                "(quasi-identifier)?",
            )  # fmt: skip
    return names


_WORDS = re.compile(r"(?:[^\W\d_][.'’ -]*){2,}")


_TRANSFORMS: dict[str, Callable[[Floats], Floats]] = {
    "square": np.square, "cube": lambda each: each**3, "logarithm": np.log,
    "logarithm of one more": np.log1p, "square root": np.sqrt,
}  # fmt: skip
_LINE, _SAME = 0.9995, 0.99995
"""Correlation from which a curve cannot be told from a line, and one of figures of two decimals."""
LEAST_OF_A_DUMMY = 5
"""Records of a value below which two columns agree by chance."""
_TRIED = 500
"""Records on which curves are tried."""


def _derived(roles: Mapping[str, Proposed], found: FileProfile) -> dict[str, Proposed]:
    """Columns that are worked out of another one: they say it once more, and are left out."""
    open_ = {n for n, role in roles.items() if role.role not in ("person", "direct identifier")}
    columns = [found.columns[n] for n in found.columns if n in open_]
    many = {
        column.name: found.figures(column.name) for column in columns
        if column.look == "numbers" and column.distinct > CODED
    }  # fmt: skip
    derived: dict[str, Proposed] = {}
    for name, own in many.items():
        for base, of in many.items():
            how = "" if base == name or base in derived else _curve(of, own)
            if how:
                why = f"it is the {how} of '{base}', which stays"
                derived[name] = Proposed("direct identifier", 0.75, why)
                break
    codes = found.codes
    for two in (e.name for e in columns if e.distinct == 2 and e.content is not Content.SEX):
        for other in (column.name for column in columns if 3 <= column.distinct <= FEW):
            if _is_dummy(codes[two], codes[other]):
                why = f"it says whether '{other}' has one of its values, and that stays"
                derived[two] = Proposed("direct identifier", 0.75, why)
                break
    return derived


def _curve(base: Floats, column: Floats) -> str:
    """By which curve a column follows from another one in every record; "" where by none."""
    both = np.isfinite(base) & np.isfinite(column)
    # Logarithms and roots want no negative numbers, and squares of them do not rise throughout.
    if both.sum() < 20 or base[both].min() < 0:
        return ""
    whole = [bool((each[both] == np.floor(each[both])).all()) for each in (base, column)]
    if whole == [False, True]:
        return ""  # the whole numbers are what was asked for
    for how, transform in _TRANSFORMS.items():
        if how == "square root" and whole[1]:
            continue
        # Most pairs fail on the first records, so that few are worked out on all.
        for of, own in ((base[both][:_TRIED], column[both][:_TRIED]), (base[both], column[both])):
            with np.errstate(divide="ignore"):
                curved = transform(of)
            if (
                not np.isfinite(curved).all()
                or min(np.ptp(each) for each in (curved, own, of)) == 0
            ):
                break
            line, same = (abs(float(np.corrcoef(each, own)[0, 1])) for each in (of, curved))
            if same < _SAME or line > _LINE:
                break
        else:
            return how
    return ""


def _is_dummy(column: Ints, codes: Ints) -> bool:
    """Whether one of a column's two values stands where another column has a certain one only."""
    codes, column = codes[column >= 0], column[column >= 0]
    if (codes < 0).any():
        return False
    for value in np.unique(column):
        its = codes[column == value]
        if (
            len(its) >= LEAST_OF_A_DUMMY
            and np.ptp(its) == 0
            and (codes == its[0]).sum() == len(its)
        ):
            return True
    return False


def _readings(roles: Mapping[str, Proposed], found: FileProfile) -> dict[str, Proposed]:
    """Columns that go out and may be read in two ways, with the question how."""
    return {
        name: replace(role, confidence=0.35, question=doubt.question)
        for name, role in roles.items()
        if (doubt := found.columns[name].doubt) is not None
        and role.role in ("quasi-identifier", "sensitive")
    }


def _hide_what_gives_away(roles: dict[str, Proposed], found: FileProfile) -> None:
    """Make quasi-identifiers of the columns that a release would be refused for as they are."""
    for _ in found.columns:  # each that is hidden may be given away by another one
        chosen = {name: role.role for name, role in roles.items()}
        try:
            refused = refused_columns(found.sample, _schema(found, chosen, {}))
        except InputError:
            return
        if not refused:
            return
        for name, why in refused.items():
            asked = roles[name].question
            roles[name] = Proposed(
                "quasi-identifier", min(roles[name].confidence, 0.7) if asked else 0.7,
                f"{why}, so it cannot go out as it is", asked,
            )  # fmt: skip


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
                    f"it may number people, too: {reason}")  # fmt: skip


def _proposed(column: ColumnProfile, *, constant: bool | None) -> Proposed:
    """The role of a column other than the person's, which may be constant about a person.

    That is ``None`` where each has one record.
    """
    found = _by_content(column, constant=constant)
    return _disagreement(column, found) or found


def _disagreement(column: ColumnProfile, found: Proposed) -> Proposed | None:
    """The question which of header and values is right, where these speak for different roles."""
    content, words = column.content, words_of(column.name)
    quasi = hinted(column.name, "quasi") or hinted(column.name, "place")
    sensitive = hinted(column.name, "sensitive") or says_money(column.name)
    settled = found.role == "household" or identifies(words) or hinted(column.name, "direct")
    if quasi == sensitive or settled:
        return None
    said: Role = "quasi-identifier" if quasi else "sensitive"
    by_values: Role = "direct identifier" if content in _NAMES_PERSONS else found.role
    doubtful = content in _OF_ONE_ROLE or (content in _NAMES_PERSONS and column.confidence < 0.8)
    if said == by_values or not doubtful or (content in _NAMES and hinted(column.name, "place")):
        return None
    return Proposed(
        min(said, by_values, key=ROLES.index), 0.45,
        f"its name and its values differ: {found.reason}",
        f"its name speaks for {said}, its values ({content}) for {by_values}: which is it?",
    )  # fmt: skip


def _by_content(column: ColumnProfile, *, constant: bool | None) -> Proposed:  # noqa: PLR0911
    """The role of a column by what it holds, by its header where that leaves it open."""
    content, sure, why = column.content, column.confidence, column.evidence
    words = words_of(column.name)
    sensitive = hinted(column.name, "sensitive")
    quasi = hinted(column.name, "quasi") or hinted(column.name, "place")
    few = column.distinct <= 1 or column.says_only_missing
    if few and content not in _NAMES_PERSONS | {Content.IDENTIFIER}:
        return _one_value(column, quasi=quasi, sensitive=sensitive)
    if hinted(column.name, "household") and (
        content in _MAY_BE_HOUSEHOLDS
        or (content is Content.NUMBER and identifies(words) and not _is_amount(column))
    ):
        return Proposed("household", 0.8, f"its name says household; {why}")
    if content in _NAMES_PERSONS:
        if content in _NAMES and hinted(column.name, "place") and not hinted(column.name, "direct"):
            return Proposed("quasi-identifier", 0.7, "its name says a place, called as people are")
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
        if content is Content.DATE:
            return _date(why, sure, constant=constant)
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
        return Proposed("direct identifier", 0.8, f"its name says that it names a person; {why}")
    if throughout and sensitive:
        return Proposed(
            "direct identifier",
            0.7,
            f"{why}: with it, all who are known to be in the file are known to have it",
        )
    if throughout or column.content is Content.EMPTY:
        return Proposed("insensitive", 1.0, f"{why}, so it tells no people apart")
    dated = column.look == "dates" or named(map(folded, words_of(column.name)), DATE_WORDS)
    if quasi and not (sensitive or dated):
        return Proposed("quasi-identifier", 0.7, f"{why}: an intruder may know it")
    return Proposed("sensitive", 0.8, f"{why}: that should not be learned about a person")


_ONE_PERSON = "so all records may be of one person"


def _of_one_person(
    roles: Mapping[str, Proposed], found: FileProfile, person: PersonFound | None
) -> dict[str, Proposed]:
    """What else is the same throughout and known by others, where one value names somebody."""
    columns = found.columns
    same = [
        name for name, column in columns.items()
        if column.told_apart == 1 and column.distinct and column.content is Content.CONSTANT
        and roles[name].role == "insensitive"
    ]  # fmt: skip
    few = person is None or columns[person.name].distinct == 1
    if few and not any(map(_of_several, columns.values())):
        # Records of one person have a name throughout that no list knows; to leave out what is
        # one harmless word throughout loses nothing.
        named_so = {
            name: Proposed(
                "direct identifier", CERTAIN,
                f"one value throughout, in words with capitals as a name, {_ONE_PERSON}",
            )
            for name in same if _may_name_one(columns[name])
        }  # fmt: skip
    else:
        named_so = {}
    throughout = [n for n, column in columns.items() if column.told_apart == 1 and column.distinct]
    if not named_so and not any(roles[n].role == "direct identifier" for n in throughout):
        return {}
    return named_so | {
        name: Proposed("direct identifier", 0.7, f"one value throughout, {_ONE_PERSON}")
        for name in same
        if hinted(name, "quasi") and not hinted(name, "place")
    }


def _of_several(column: ColumnProfile) -> bool:
    """Whether a column has values of more people than one, who grows older but not by so much."""
    born = (Content.SEX, Content.DATE_OF_BIRTH, Content.YEAR_OF_BIRTH)
    most = 1 if column.content in born else FEW_PEOPLE
    return column.content in (*born, Content.AGE) and column.distinct > most


def _may_name_one(column: ColumnProfile) -> bool:
    """Whether the only value may be a name, under a header that tells of nothing else."""
    words = [folded(word) for word in words_of(column.name)]
    told = OF_INSTITUTIONS.search(column.name) is not None or any(
        hinted(column.name, each) for each in ("place", "quasi", "sensitive")
    ) or any(
        named(words, each) for each in (CATEGORY_WORDS, COUNT_WORDS, MEASURE_WORDS, DATE_WORDS)
    )  # fmt: skip
    text = str(column.values[0].as_py())
    return not told and column.look == "text" and (
        may_be_names([text]) or (text[:1] != text[:1].lower() and bool(_ONE_NAME.fullmatch(text)))
    )  # fmt: skip


_ONE_NAME = re.compile(r"[^\W\d_][^\W\d_A-Z.]{2,}|[^\W\d_a-z.]{5,}")
"""A word with one capital, or of capitals throughout, which fewer of are an abbreviation."""


def _date(why: str, sure: float, *, constant: bool | None) -> Proposed:
    """The role of dates and moments, among them numbers that may count something else."""
    if sure < CERTAIN:
        return Proposed(
            "direct identifier", sure, f"numbers that may be {why}",
            "does it say when something happened (quasi-identifier), or does it number something "
            "(direct identifier)?",
        )  # fmt: skip
    event = "; below [events] it would stay more useful than in ranges" if constant is False else ""
    return Proposed("quasi-identifier", sure, f"date: an intruder may know it; {why}{event}")


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
        return Proposed("direct identifier", 0.8, "its name says that it names a person")
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
    return column.distinct == 2 and any(value[:1].islower() for value in column.values.to_pylist())


def _by_values(column: ColumnProfile, constant: bool | None) -> Proposed:
    """The role of what has neither a telling header nor content of one role only."""
    content = column.content
    if content is Content.IDENTIFIER:
        return Proposed(
            "direct identifier", column.confidence, column.evidence,
            "does it number people or other things (direct identifier), or does it say an age or "
            "a count (quasi-identifier)?",
        )  # fmt: skip
    if content in (Content.MEASUREMENT, Content.NUMBER):
        if constant is not False and content is Content.NUMBER and _may_number(column):
            why = "numbers with few gaps that may be those of households"
            return Proposed(
                "direct identifier", 0.5, why,
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
    words = content is Content.CATEGORY and column.distinct > MOST_CATEGORIES and are_words(column)
    if constant is False and column.distinct > 20 and content is Content.CATEGORY and not words:
        return Proposed("sensitive", CERTAIN, "categories that change about a person, as events do")
    if words or content is Content.TEXT:
        return _text(column, constant)
    steps = constant is False and _are_steps(column)
    doubt = (0.5, _FEW_VALUES, _STEPS) if steps else (0.7, _FEW_VALUES)
    return Proposed("quasi-identifier", *doubt)


_FEW_VALUES = "few different values, which an intruder may know: check it"


_STEPS = (
    "does it say something that others know (quasi-identifier), or a mark, an opinion or an answer "
    "(sensitive)?"
)


def _are_steps(column: ColumnProfile) -> bool:
    """Whether numbers are the steps of a scale, as marks, opinions and answers have them."""
    if column.look != "numbers" or not 4 <= column.distinct <= 11:
        return False
    steps = np.diff(np.sort(column.numbers()))
    return bool(np.allclose(steps, steps[0]) and column.numbers().min() in (0, steps[0], 1))


def _batteries(roles: Mapping[str, Proposed], found: FileProfile) -> dict[str, Proposed]:
    """Three columns and more of one scale, as the questions of a form have, with one question."""
    by_steps: dict[tuple[float, ...], list[str]] = {}
    for name, role in roles.items():
        column = found.columns[name]
        open_ = role.role == "quasi-identifier" and column.content is Content.CATEGORY
        if open_ and not hinted(name, "quasi") and _are_steps(column):
            by_steps.setdefault(tuple(np.sort(column.numbers()).tolist()), []).append(name)
    return {
        name: replace(roles[name], confidence=0.5, question=_STEPS)
        for names in by_steps.values() if len(names) >= BATTERY
        for name in names
    }  # fmt: skip


def _may_number(column: ColumnProfile) -> bool:
    said = [folded(word) for word in words_of(column.name)]
    if named(said, f"{COUNT_WORDS} {MEASURE_WORDS} {MONEY_WORDS}"):
        return False
    numbers = column.numbers()
    dense = len(numbers) > 1.2 * (numbers.max() / 2 - numbers.min() / 2)  # which is finite
    return column.distinct > FEW and numbers.min() in (0, 1, 2) and dense and not is_skewed(numbers)


def _text(column: ColumnProfile, constant: bool | None) -> Proposed:
    """The role of words of many values that are of no known kind: a careful one, and a question."""
    if constant is None and column.distinct > 0.5 * column.filled and column.filled >= 20:
        # Above `CERTAIN`: what is left out anyway needs no question.
        return Proposed("direct identifier", 0.65, "different in most records")
    if constant is False:
        said, other = "changes about a person", "what happened to a person (sensitive)"
    else:
        said, other = "has many values", "a place or an occupation (quasi-identifier)"
    return Proposed(
        "direct identifier", 0.4, f"text of no known kind that {said}",
        f"does it name or number a person (direct identifier), or does it say {other}?",
    )  # fmt: skip


def _most_plausible(roles: Mapping[str, Proposed], found: FileProfile) -> dict[str, Proposed]:
    """One column as a quasi-identifier, as nothing looks like one and a schema needs one."""
    # Whom a column names is asked of its own: it is the last to be shown in ranges.
    order = ("insensitive", "sensitive", "direct identifier", "household", "person")

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


def _asked(
    roles: Mapping[str, Proposed], found: FileProfile
) -> tuple[dict[str, str], dict[str, tuple[str, ...]], tuple[str, ...]]:
    """What is asked: a question for each of the most doubtful columns, for those alike one.

    Questions by column; by column asked about those that the answer is for, too; and the doubtful
    columns that are not asked about.
    """
    doubtful = [name for name, role in roles.items() if role.question and role.confidence < CERTAIN]
    # The person comes first, as the role of all else hangs on it.
    doubtful.sort(key=lambda name: (roles[name].role != "person", roles[name].confidence))
    groups: list[list[str]] = []
    for name in doubtful:
        own = next((group for group in groups if _are_alike(group[0], name, roles, found)), None)
        groups.append([name]) if own is None else own.append(name)
    left = sum(role.role == "quasi-identifier" for role in roles.values())
    asked: dict[str, str] = {}
    together: dict[str, tuple[str, ...]] = {}
    unasked: list[str] = []
    for first, *others in groups:
        quasi = sum(roles[name].role == "quasi-identifier" for name in (first, *others))
        # What is asked about is undecided, and a schema has to keep a quasi-identifier.
        if len(asked) == MOST_QUESTIONS or (quasi and quasi >= left):
            unasked += [first, *others]
            continue
        left -= quasi
        asked[first] = roles[first].question
        if others:
            together[first] = tuple(others)
            listed = sources.listed(others) if len(others) < MOST_LISTED else f"{len(others)}"
            asked[first] += f" The answer is for {listed} more alike, too."
    return asked, together, tuple(unasked)


def _are_alike(one: str, other: str, roles: Mapping[str, Proposed], found: FileProfile) -> bool:
    """Whether one answer does for two columns: one question, and values or names of one kind."""
    if (roles[one].question, roles[one].role) != (roles[other].question, roles[other].role):
        return False
    here, there = found.columns[one], found.columns[other]
    if here.doubt is not None and there.doubt is not None:
        return True
    stems = {re.sub(r"\d+", "", each) for each in (one, other)}
    spread = max(here.distinct, there.distinct) <= 2 * min(here.distinct, there.distinct)
    values = [set(each.values[: FEW + 1].to_pylist()) for each in (here, there)]
    return here.content is there.content and (
        values[0] == values[1] or (len(stems) == 1 and len(stems.pop()) > 1 and spread)
    )


def _schema(
    found: FileProfile,
    roles: Mapping[str, Role],
    asked: Mapping[str, str],
    unasked: Sequence[str] = (),
) -> Schema:
    """The schema of chosen roles, its recipe with it.

    What is doubtful and not asked about is read so that it is right in both ways.
    """
    columns = found.columns
    by_role: dict[Role, list[str]] = {role: [] for role in ROLES}
    parts = {
        name_of_parts(part, columns): part for part in found.dates_in_parts
        if all(roles[name] == "quasi-identifier" and name not in asked for name in part)
    }  # fmt: skip
    joined = {name for part in parts.values() for name in part}
    for name, role in roles.items():
        if name not in asked and name not in joined:
            by_role[role].append(name)
    quasi = {name: _quasi_identifier(columns[name]) for name in by_role["quasi-identifier"]}
    missing = dict.fromkeys(word for c in columns.values() for word in c.missing_words)
    recipe: dict[str, Any] = {}
    for name, column in columns.items():
        used = (name not in asked or column.doubt is not None) and name not in joined
        if used and roles[name] not in ("direct identifier", "household"):
            careful = column.doubt.careful if column.doubt is not None and name in unasked else None
            line = careful or _line(column, roles[name])
            if line is not None:
                recipe[name] = line
    for name, part in parts.items():
        quasi[name] = QuasiIdentifier(kind=Kind.NUMERIC)
        recipe[name] = Cleaning(parts=part, unreadable=Unreadable.MISSING)
    person = by_role["person"]
    household = by_role["household"]
    return Schema(
        person=person[0] if person else None,
        # A schema has one column of households: further ones are left out.
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
        # One case for all letters could make two persons one.
        return Cleaning(strip=True) if line.strip else None
    return line


def _weak(found: FileProfile, person: PersonFound | None, column: ColumnProfile) -> bool:
    """Whether codes of the shape of postcodes are shared by too few persons to be such."""
    if person is None or column.content is not Content.POSTCODE or column.confidence > TOLD:
        return False
    # Codes that fewer than three persons share may number households.
    return found.columns[person.name].distinct < 3 * column.distinct


_MEASURED = frozenset({
    Content.AGE, Content.YEAR, Content.YEAR_OF_BIRTH, Content.MEASUREMENT, Content.DATE,
    Content.DATE_OF_BIRTH, Content.COORDINATE,
})  # fmt: skip


def _is_coded(column: ColumnProfile, words: tuple[str, ...]) -> bool:
    """Whether numbers stand for categories, whose ranges would mean nothing.

    Those of few values do unless their name says that they count or measure, or they are many
    without gaps and begin where no list of codes does.
    """
    said = [folded(word) for word in words]
    if column.content in _MEASURED or column.look != "numbers" or not column.whole:
        return column.distinct <= CODED and column.content not in _MEASURED
    if column.content is Content.POSTCODE and column.confidence > CERTAIN:
        return False
    if hinted(column.name, "place") or named(words, CATEGORY_WORDS):
        return True
    if named(said, f"{COUNT_WORDS} {MEASURE_WORDS} {MONEY_WORDS}") or column.distinct > FEW:
        return False
    if column.content in (Content.MONTH, Content.DAY):
        return not hinted(column.name, "quasi")
    numbers = column.numbers()
    # Lists of codes leave numbers out; what is counted fills its range.
    with np.errstate(over="ignore"):  # a range that is beyond all numbers is filled by none
        dense = column.distinct > 0.8 * (np.ptp(numbers) + 1)
    return bool(column.distinct <= CODED or numbers.min() <= CODED or not dense)


def _quasi_identifier(column: ColumnProfile) -> QuasiIdentifier:
    """The kind and order of a quasi-identifier."""
    words = words_of(column.name)
    if column.look == "text" and 1 < column.distinct <= FEW:
        order = scale_of(column.values.to_pylist())
        if order is not None:
            return QuasiIdentifier(kind=Kind.ORDERED, order=order)
    coded = _is_coded(column, words)
    # Numbers that large are no points of a scale (`scalars.LIMIT`), but codes.
    coded = coded or (column.look == "numbers" and bool((abs(column.numbers()) >= LIMIT).any()))
    if column.look == "dates" or (column.look == "numbers" and not coded):
        return QuasiIdentifier(kind=Kind.NUMERIC)
    return QuasiIdentifier(kind=Kind.CATEGORICAL)
