"""A package that adds one part of each kind to sfumato."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pyarrow as pa

from sfumato.core.declaration import Count, Parameter
from sfumato.intruder.candidates import Identification
from sfumato.release.promises.promise import Promise
from sfumato.risk.population.estimator_protocol import Estimate


@dataclass(frozen=True)
class Roomy(Promise):
    """Every class has at least K people, and twice as many records."""

    name = "roomy"
    measure = "pid_k"

    k: Annotated[int, Parameter("At least K people, with 2K records.", "K", Count(1))]

    def met(self, classes):
        return (classes.persons >= self.k) & (classes.records >= 2 * self.k)

    def shortfall(self, whole):
        return f"roomy asks for {self.k} people and {2 * self.k} records."


def blindfold(file, knowledge, rng):
    """Name people blindly, one for each released person."""
    unit = np.arange(file.persons)
    person = rng.integers(knowledge.persons, size=file.persons)
    return Identification(unit, person, np.full(file.persons, 1 / knowledge.persons))


def read_cards(path):
    """Read lines such as ``age=41;sex=f``."""
    lines = path.read_text(encoding="utf-8").splitlines()
    cells = [[cell.split("=") for cell in line.split(";")] for line in lines]
    return pa.Table.from_pylist([dict(each) for each in cells])


class Crowd:
    """Take every person of a class of the file for one of many in the population."""

    name = "crowd"

    def estimate(self, sample, rng):
        most = sample.classes / sample.n
        return Estimate("crowd", most * sample.fraction, low=most * sample.fraction / 2, high=most)
