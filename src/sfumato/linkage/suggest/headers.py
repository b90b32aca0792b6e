"""What a column's name says that it holds, for linking persons."""

from __future__ import annotations

from sfumato.linkage.spec.kinds import ColumnKind
from sfumato.table.schema_guess import WORDS, named, words_of

_GIVEN = (
    "given forename forenames firstname givenname fname gname christian vorname prenom middle "
    "middlename mname"
)
_SURNAME = "surname surnames lastname familyname lname sname nachname maiden"
_NAME = "name names fullname"
_NOT_A_PERSON = (
    "county city street town state country region district school company hospital drug file user "
    "product facility ward suburb province place clinic site"
)
_BIRTH = "dob birthdate birthday dateofbirth bday geburtsdatum"
_POSTCODE = "postcode postcodes zip zipcode postal postalcode plz pcode"
_EMAIL = "email emails mail"
_PHONE = "phone phones telephone tel mobile cell cellphone landline phonenumber"
_IDENTIFIER = "ssn nhs nhi mrn medicare nino passport nin licence license cpf personnummer soc"
_HOUSE = "house street building unit flat apartment door address stno addr"
_NUMBER = "number no nr num"
_ADDRESS = (
    "address addr street road suburb city town village municipality locality place strasse ort "
    "hometown"
)
_CATEGORY = (
    "sex gender state county region province country district race ethnic- nationality "
    "occupation job profession"
)


def kind_by_header(header: str) -> ColumnKind | None:
    """The kind that a column's name speaks of; ``None`` where it is not about who a person is.

    Parameters
    ----------
    header
        The name.
    """
    words = tuple(word.strip() for word in words_of(header))
    if not words:
        return None
    name = _name(words)
    if name is not None:
        return name
    if named(words, WORDS["sensitive"]) and not named(words, _IDENTIFIER):
        return None
    return _code(words) or _birth(words) or _place(words)


def _name(words: tuple[str, ...]) -> ColumnKind | None:
    if named(words, _NOT_A_PERSON):
        return None
    alone = len(words) == 1 or named(words, _NAME)
    given = named(words, _GIVEN) or ("first" in words and alone)
    surname = named(words, _SURNAME) or (named(words, "last family") and alone)
    if named(words, _BIRTH) or "birth" in words or "date" in words:
        return None
    if (given or "first" in words) and surname:
        return ColumnKind.FULL_NAME
    if surname:
        return ColumnKind.SURNAME
    if given:
        return ColumnKind.GIVEN_NAME
    return ColumnKind.FULL_NAME if named(words, _NAME) else None


def _code(words: tuple[str, ...]) -> ColumnKind | None:
    """Postcode, e-mail, telephone, number of a person."""
    if named(words, _POSTCODE) or {"post", "code"} <= set(words):
        return ColumnKind.POSTCODE
    if named(words, _EMAIL):
        return ColumnKind.EMAIL
    if named(words, _PHONE):
        return ColumnKind.PHONE
    numbered = named(words, "id number no nr security insurance")
    if named(words, _IDENTIFIER) or (named(words, "social national") and numbered):
        return ColumnKind.IDENTIFIER
    return None


def _birth(words: tuple[str, ...]) -> ColumnKind | None:
    """Date, year or place of birth."""
    born = named(words, "birth born") or any(word.startswith("birth") for word in words)
    if named(words, "place country city town state") and born:
        return ColumnKind.ADDRESS
    if named(words, "yob birthyear") or (born and named(words, "year month day yy mm dd")):
        return ColumnKind.NUMBER
    if named(words, "dobyy dobmm dobdd"):
        return ColumnKind.NUMBER
    if named(words, _BIRTH) or born:
        return ColumnKind.DATE
    return None


def _place(words: tuple[str, ...]) -> ColumnKind | None:
    """Parts of an address, and what groups people."""
    if named(words, _HOUSE) and named(words, _NUMBER):
        return ColumnKind.NUMBER
    if named(words, _ADDRESS):
        return ColumnKind.ADDRESS
    return ColumnKind.CATEGORY if named(words, _CATEGORY) else None
