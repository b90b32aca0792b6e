"""The sections about numbers and promises: ``[assess]``, ``[release]`` and ``[ledger]``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, StringConstraints, model_validator

from sfumato.core.declaration import Place, declared
from sfumato.pipeline.project.frozen import (
    Frozen,
    Section,
    as_value_errors,
    declared_fields,
    with_fields,
)
from sfumato.release.promises import PROMISES
from sfumato.release.promises.promise import Budget, Constraint, asked
from sfumato.release.release_manifest import Circumstances, Options
from sfumato.risk.assess_options import HeldAgainst, KnownPopulation, Measuring
from sfumato.risk.population.estimation import check_estimator
from sfumato.risk.risk_thresholds import thresholds
from sfumato.risk.threshold_checks import check_numbers

_UNASKED = dict.fromkeys(each.key for each in declared(*PROMISES.values()))
"""No promise is made unless a key asks for it."""


@with_fields(**declared_fields(Measuring, KnownPopulation, HeldAgainst))
class Assess(Section):
    """What is measured of the data before anything is changed.

    The keys are those of `Measuring`, `KnownPopulation` and `HeldAgainst`.
    """

    @model_validator(mode="after")
    def _one_population(self) -> Self:
        with as_value_errors(""):
            self.known_population(self.register_file)
            check_estimator(Measuring(**self.measuring).estimator)
        _check_presets(self.presets)
        return self

    @property
    def measuring(self) -> dict[str, Any]:
        """What is measured, by the parameters of `sfumato.assess`."""
        return {each.name: getattr(self, each.name) for each in declared(Measuring)}

    def known_population(self, register: Place | None) -> KnownPopulation:
        """What is known of the population.

        Parameters
        ----------
        register
            Where the file of the register is.

        Raises
        ------
        InputError
            If several things are.
        """
        named = None if register is None else str(register)
        return KnownPopulation(self.population, self.fraction, self.weights, named)


@with_fields(
    **declared_fields(*PROMISES.values(), usual=_UNASKED),
    **declared_fields(Options),
    **declared_fields(Circumstances, only=("register", "population", "pseudonym_key")),
    **declared_fields(HeldAgainst),
)
class Release(Section):
    """What every class of the release keeps, and how the release is made.

    The keys are those of the promises, of `Options`, `Circumstances` and `HeldAgainst`.
    """

    @model_validator(mode="after")
    def _can_be_made(self) -> Self:
        with as_value_errors(""):
            self.promises  # noqa: B018
            Options(**self.making)
        _check_presets(self.presets)
        return self

    @property
    def promises(self) -> tuple[Constraint | Budget, ...]:
        """The promises that are named one by one; those of presets are not among them."""
        every = (asked(kind, self._keys) for kind in PROMISES.values())
        return tuple(each for each in every if each is not None)

    @property
    def making(self) -> dict[str, Any]:
        """How the release is made, by the parameters of `sfumato.anonymize`."""
        return {each.name: getattr(self, each.name) for each in declared(Options)}

    @property
    def _keys(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self).model_fields}


class LedgerSection(Frozen):
    """Where the project's releases are remembered.

    Attributes
    ----------
    file
        The ledger, made by ``sfumato init`` or ``sfumato ledger create``; the user's own,
        ``sfumato/ledger.sqlite`` under ``~/.local/share``, when not given.
    keys
        The folder of its keys, outside its folder; ``sfumato/ledger-keys`` under ``~/.config`` when
        not given.
    head
        A file elsewhere that holds the ledger's head as well: an older or cut copy is refused. See
        ``sfumato ledger create --head``.
    to
        Who gets the release: it is handed over as soon as it is made. Without it, it is a draft
        until ``sfumato ledger hand-over``.
    tolerable
        Share of the persons of a release who may be found by all that was handed over; the ledger's
        own when not given, never more.
    """

    file: Path | None = None
    keys: Path | None = None
    head: Path | None = None
    to: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)] | None = None
    tolerable: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def _handed_over(self) -> LedgerSection:
        if self.tolerable is not None and self.to is None:
            raise ValueError("'tolerable' is for a release that is handed over: name 'to', too")
        return self


def _check_presets(names: tuple[str, ...]) -> None:
    if names:
        with as_value_errors("presets"):
            check_numbers(thresholds(*names))
