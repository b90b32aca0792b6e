"""Risks of a file whose population is a register: what counting both tells."""

from __future__ import annotations

from dataclasses import replace

from sfumato.risk.population.population_risk import KnownClasses, known_population
from sfumato.risk.presence import Matching, presence
from sfumato.risk.result import Risk


def in_register(risk: Risk, matching: Matching, classes: KnownClasses) -> Risk:
    """Add the counted risks, δ-presence, and where the register cannot be the population.

    Parameters
    ----------
    risk
        The measures of the file.
    matching
        How many persons of file and register look the same.
    classes
        The classes of the file beside those of the register.
    """
    population = max(matching.population, risk.persons)
    found = known_population(classes, population, risk.threshold)
    present = presence(matching)
    said = risk.warnings
    if present.strangers:
        warning = (
            f"{present.strangers:,} persons of the file have no counterpart of their own in the "
            "register: it is not the whole population of the file, or its values are written "
            "differently; presence is taken as 1 where the file has more persons, and they "
            "count as found."
        )
        said = (*said, warning)
    return replace(
        risk,
        presence=present,
        population=found,
        marketer=found.marketer,
        journalist=found.journalist,
        warnings=said,
    )
