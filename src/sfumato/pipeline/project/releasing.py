"""The sections about numbers and promises: ``[assess]`` and ``[release]``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, create_model, model_validator

from sfumato.core.declaration import declared
from sfumato.pipeline.project.frozen import (
    Frozen,
    Names,
    Share,
    as_value_errors,
    optional_field,
    usual_field,
)
from sfumato.release.options import Options
from sfumato.release.promises import PROMISES
from sfumato.release.promises.promise import Budget, Constraint, asked
from sfumato.risk.population.estimation import AUTO, check_estimator
from sfumato.risk.risk_thresholds import thresholds
from sfumato.risk.threshold_checks import check_numbers

Persons = Annotated[int, Field(ge=1)]


class Assess(Frozen):
    """What is measured of the data before anything is changed.

    Attributes
    ----------
    threshold
        Risk above which a record counts as at risk.
    population, fraction, weights, register_file
        What is known of the population that the data is a sample of; at most one of them: its
        persons, the share of them in the data, the column of sampling weights, the file of all.
    estimator
        How the population is estimated.
    presets, thresholds
        What the measures are held against: names of presets, and a file of one's own.
    ordered_distance, special_uniques, msu_size, recursive_l
        As in ``sfumato assess``.
    """

    threshold: Share = 0.2
    population: Persons | None = None
    fraction: Share | None = None
    weights: str | None = None
    register_file: Annotated[Path | None, Field(alias="register")] = None
    estimator: str = AUTO
    presets: Names = ()
    thresholds: Path | None = None
    ordered_distance: Names = ()
    special_uniques: bool = False
    msu_size: Annotated[int, Field(ge=1)] = 3
    recursive_l: tuple[Annotated[int, Field(ge=2)], ...] = ()

    @model_validator(mode="after")
    def _one_population(self) -> Assess:
        known = {
            "population": self.population,
            "fraction": self.fraction,
            "weights": self.weights,
            "register": self.register_file,
        }
        named = [name for name, value in known.items() if value is not None]
        if len(named) > 1:
            raise ValueError(f"'{named[0]}' or '{named[1]}' can be given, not both")
        with as_value_errors("estimator"):
            check_estimator(self.estimator)
        _check_presets(self.presets)
        return self


class _Release(Frozen):
    """What every class of the release keeps, and how the release is made.

    The keys of promises and of options are those of their declarations; see `Release`.

    Attributes
    ----------
    presets, thresholds
        Thresholds that the release meets too: names of presets, and a file of one's own.
    register_file
        The population: all its persons as a file; its key is ``register``.
    population
        Their number, where there is no such file.
    pseudonym_key
        File of a key for pseudonyms that are the same in every release.
    """

    presets: Names = ()
    thresholds: Path | None = None
    register_file: Annotated[Path | None, Field(alias="register")] = None
    population: Persons | None = None
    pseudonym_key: Path | None = None

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    @model_validator(mode="after")
    def _can_be_made(self) -> _Release:
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


if TYPE_CHECKING:
    Release = _Release
else:
    Release = create_model(
        "Release",
        __base__=_Release,
        __doc__=_Release.__doc__,
        **{each.key: optional_field(each) for kind in PROMISES.values() for each in declared(kind)},
        **{each.key: usual_field(each) for each in declared(Options)},
    )


def _check_presets(names: tuple[str, ...]) -> None:
    if names:
        with as_value_errors("presets"):
            check_numbers(thresholds(*names))
