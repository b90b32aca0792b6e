"""What a compared column holds; it decides how values are standardised and compared."""

from __future__ import annotations

from enum import StrEnum


class ColumnKind(StrEnum):
    """What a compared column holds."""

    GIVEN_NAME = "given name"
    SURNAME = "surname"
    FULL_NAME = "full name"
    """Given names and surname in one text, in either order with a comma; taken apart."""
    DATE = "date"
    """A date of birth, in any usual spelling."""
    POSTCODE = "postcode"
    PHONE = "phone"
    IDENTIFIER = "identifier"
    """A number of a person: social security, passport, patient number."""
    EMAIL = "email"
    ADDRESS = "address"
    """A street, suburb, town or place of birth."""
    CATEGORY = "category"
    """One of some values: sex, state, occupation."""
    NUMBER = "number"
    """A house number, a year of birth, a height."""
