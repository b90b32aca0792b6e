"""What the custodian says of the population behind a file."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from sfumato.core.errors import InputError

# More than a hundred times all persons alive; counts below it are exact as floating numbers.
LARGEST = 10**12
"""Persons of a population, at most."""


@dataclass(frozen=True, eq=False)
class Given:
    """What is known of the population; exactly one of the four.

    Attributes
    ----------
    fraction
        The share of its persons who are in the file.
    weights
        The column with each record's sampling weight.
    register
        Its persons with their quasi-identifiers, as a dataframe or the path of a file.
    """

    size: int | None = None
    fraction: float | None = None
    weights: str | None = None
    register: Any = None


def read_population(population: Any, columns: tuple[str, ...]) -> Given:
    """Tell what kind of population is meant.

    Parameters
    ----------
    population
        A whole number of persons; a share in (0, 1); the name of a column of the file with
        sampling weights; or a dataframe or the path of a file with all persons.
    """
    if isinstance(population, Given):
        return population
    # True is an integer to Python, and would be a population of one.
    if isinstance(population, bool):
        raise _no_number()
    if isinstance(population, Integral):
        return given_size(int(population))
    if isinstance(population, Real):
        number = float(population)
        return given_size(int(number)) if _is_size(number) else given_fraction(number)
    # A column wins over a file of the same name: who gives a path can write it with a slash.
    if isinstance(population, str) and population in columns:
        return Given(weights=population)
    return Given(register=population)


def given_size(size: int) -> Given:
    """A number of persons."""
    if not 1 <= size <= LARGEST:
        raise _no_number()
    return Given(size=size)


def given_fraction(fraction: float) -> Given:
    """A sampling fraction."""
    if not 0 < fraction <= 1:
        raise InputError(
            "parameter fraction",
            "must be the share of the population's people who are in the file",
            accepted="a number above 0 and at most 1",
        )
    return Given(fraction=fraction)


def _is_size(number: float) -> bool:
    return 1 < number <= LARGEST and number.is_integer()


def _no_number() -> InputError:
    return InputError(
        "parameter population",
        "must be a number of people, a sampling fraction, a column of weights, or a register",
        accepted="a whole number of 1 to 10^12, a share in (0, 1], a column's name, a dataframe "
        "or the path of a file",
    )


def population_in_classes(persons: int, memberships: int, of_file: int) -> int:
    """N, each person counted in as many classes as the file's persons are in."""
    # The population is taken to be in as many classes per
    # person as the file; rounding must not make N < n.
    return max(round(persons * memberships / of_file), memberships)


def population_by_weights(weights: float, memberships: int, persons: int) -> int:
    """N, in persons, from sampling weights, which are summed in every class of a person."""
    # Weights are summed once per class of a person;
    # persons over memberships counts each person once.
    return max(_at_most("parameter weights", weights * persons / memberships), persons)


def population_size(given: Given, persons: int) -> int:
    """N, in persons, from a number or a sampling fraction."""
    if given.fraction is not None:
        return _at_most("parameter fraction", persons / given.fraction)
    size = given.size or 0
    if size < persons:
        raise InputError(
            "parameter population",
            "must have at least as many people as the file",
            found="fewer",
            accepted=f"{persons:,} or more",
        )
    return size


def _at_most(subject: str, persons: float) -> int:
    # Negated, so that not-a-number and infinity are refused too.
    if not persons <= LARGEST:
        raise InputError(
            subject,
            "must come to a population of people",
            found="far more than there can be",
            accepted=f"{LARGEST:,} at most",
        )
    return round(persons)
