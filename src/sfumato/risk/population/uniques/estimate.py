"""What a model says of the population's uniques."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from sfumato.risk.population.sample import SampleClasses

NO_SAMPLE_UNIQUES = "nobody is alone in a class of the sample, so the estimate is 0"
CENSUS = "the sample is the population, so its uniques are counted and not estimated"
LOWERED = "the model gave more uniques than if each sample unique were one; lowered to that"


@dataclass(frozen=True)
class PopulationUniques:
    """An estimate of the persons who are alone in their class of the population.

    Attributes
    ----------
    model
        Its name on the command line and in the report.
    uniques
        The expected number of population uniques, in persons of the population.
    share
        ``uniques`` as a share of the population, in [0, 1].
    among_sample_uniques
        τ1, the expected number of sample uniques that are population uniques: (n / N) of
        ``uniques``, since a population unique is in an equal-probability sample with
        probability n / N, and then is a sample unique.
    why
        What led to the estimate (a rule's choice, a correction), in publishable words.
    """

    model: str
    uniques: float
    share: float
    among_sample_uniques: float
    why: tuple[str, ...] = field(default=())


class UniquesModel(Protocol):
    """One way from a sample to the uniques of its population."""

    @property
    def name(self) -> str:
        """Its name on the command line and in the report."""

    def uniques(self, sample: SampleClasses) -> PopulationUniques:
        """What it says of the population behind the sample.

        Raises
        ------
        EstimationFailedError
            If it has no value for this sample.
        """


def sample_uniques(sample: SampleClasses) -> int:
    """f_1, the number of persons who are alone in their class of the sample."""
    return sample.alone


def known_uniques(model: str, sample: SampleClasses) -> PopulationUniques | None:
    """What needs no model: a sample that is the population, or that has no uniques."""
    ones = sample_uniques(sample)
    if sample.n == sample.population:
        return PopulationUniques(model, ones, ones / sample.n, ones, (CENSUS,))
    return None if ones else PopulationUniques(model, 0.0, 0.0, 0.0, (NO_SAMPLE_UNIQUES,))


def possible_uniques(
    model: str, sample: SampleClasses, uniques: float, why: tuple[str, ...] = ()
) -> PopulationUniques:
    """A model's number of population uniques, with its share and τ1.

    τ1 = (n / N) · uniques cannot exceed the f_1 sample uniques: a model that gives more is
    lowered to f_1 N / n, and ``why`` says so.
    """
    most = sample_uniques(sample) / sample.fraction
    if uniques > most:
        uniques, why = most, (*why, LOWERED)
    return PopulationUniques(
        model, uniques, uniques / sample.population, uniques * sample.fraction, why
    )
