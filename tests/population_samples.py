"""Samples of a population whose classes are known."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from sfumato.risk.population.estimator_protocol import SampleClasses
from sfumato.risk.population.value_shares import Margin


@cache
def adult_classes(folder: Path, columns: int):
    """The class of every person of Adult: 4 quasi-identifiers, or all 8 but occupation."""
    frame = pd.read_csv(folder / "adult" / "adult.csv", sep=";")
    chosen = {
        4: ["age", "education", "race", "sex"],
        8: [name for name in frame.columns if name != "occupation"],
    }[columns]
    return frame.groupby(chosen).ngroup().to_numpy()


def drawn(person_classes, fraction, generator):
    """A simple random sample, and λ as it really is."""
    population = np.bincount(person_classes)
    count = round(fraction * len(person_classes))
    taken = generator.choice(len(person_classes), count, replace=False)
    sizes = np.bincount(person_classes[taken], minlength=len(population))
    seen = sizes > 0
    sample = SampleClasses(sizes[seen], len(person_classes))
    return sample, float((sizes[seen] / population[seen]).sum() / count)


def adult_errors(folder, columns, fraction, estimator, repetitions=30):
    """The relative errors of λ in samples of Adult."""
    generator = np.random.default_rng(8)
    errors = []
    for _ in range(repetitions):
        sample, real = drawn(adult_classes(folder, columns), fraction, generator)
        errors.append(estimator.estimate(sample, generator).marketer / real - 1)
    return np.array(errors)


def classes_of(columns):
    """Keys and sizes of the classes, and the margins of the columns."""
    keys, sizes = np.unique(np.column_stack(columns).astype(np.int32), axis=0, return_counts=True)
    return keys, sizes, [Margin(codes, sizes) for codes in keys.T]


def dependent(persons=3_000, seed=5):
    """The second goes with the first, the third with nothing."""
    generator = np.random.default_rng(seed)
    first = generator.integers(0, 6, persons)
    second = np.where(generator.random(persons) < 0.7, first, generator.integers(0, 6, persons))
    return [first, second, generator.integers(0, 9, persons)]
