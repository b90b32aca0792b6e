"""What is known of the population behind a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.core.declaration import Count
from sfumato.core.errors import InputError
from sfumato.release.options import Form, Options, Recoding
from sfumato.release.promises.delta_presence import DeltaPresence
from sfumato.release.promises.promise import AboutPopulation, Budget, Constraint
from sfumato.table.table import Table


@dataclass(frozen=True, eq=False)
class Population:
    """The persons that a file's persons come from.

    Attributes
    ----------
    persons
        N, their number.
    register
        Their records, encoded as the file's are; ``None`` where only the number is known.
    """

    persons: int
    register: Table | None = None

    def bound(
        self, promises: Sequence[Constraint | Budget], sample: int
    ) -> tuple[Constraint | Budget, ...]:
        """The promises, those about a population as ones about this population.

        Parameters
        ----------
        promises
            What was asked.
        sample
            Number of persons of the file.

        Raises
        ------
        InputError
            If the population is smaller than the file.
        """
        if self.register is None and self.persons < sample:
            raise InputError(
                "parameter population",
                "must have at least as many persons as the file",
                found="fewer",
                accepted=f"{sample:,} or more",
            )
        fraction = None if self.register is not None else sample / self.persons
        return tuple(
            each.against(fraction) if isinstance(each, AboutPopulation) else each
            for each in promises
        )


def check_population(
    promises: Sequence[Constraint | Budget],
    options: Options,
    *,
    register: bool,
    population: int | None,
) -> None:
    """Refuse promises about a population that nobody gives, and options that do not go with it.

    Parameters
    ----------
    promises
        What is asked.
    options
        How the release is made.
    register
        Whether a register is given.
    population
        The number of its persons, where that is given.

    Raises
    ------
    InputError
        If both are given, a promise needs a register and there is none, or released values
        would not tell who of the register lies in them.
    """
    if population is not None:
        Count(1).check("parameter population", population)
    if register and population is not None:
        raise InputError(
            "parameters register and population",
            "say the same thing: who the file's persons come from",
            advice="give the register alone; the number of its persons follows",
        )
    presence = [each for each in promises if isinstance(each, DeltaPresence)]
    if presence and not register:
        raise InputError(
            "constraint presence",
            "needs a population register: a table of everybody who may be in the file, with the "
            "same quasi-identifiers",
            found="none" if population is None else "only the number of its persons",
            advice="give one (register=..., --register FILE); without one, marketer risk can "
            "be estimated, not promised, for a population of known size (population=N)",
        )
    if register:
        _check_options(options, labels=any(each.low > 0 for each in presence))


def _check_options(options: Options, *, labels: bool) -> None:
    """Refuse forms of release that leave open who of a register lies in a class's cells."""
    if options.recoding is Recoding.FULL_DOMAIN:
        raise InputError(
            "parameter register",
            "is counted by the tree",
            found="full-domain recoding",
            advice="use local recoding, or leave the register out",
        )
    refused = {Form.MEAN: "a mean says nothing about who lies near it"}
    if labels:
        refused[Form.HIERARCHY] = "a label may stand for persons of several classes"
    if options.values in refused:
        raise InputError(
            "parameter values",
            "must say whom of the register each class may stand for",
            found=f"{options.values.value}: {refused[options.values]}",
            accepted=", ".join(each for each in Form if each not in refused),
        )
