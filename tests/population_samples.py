"""Samples of a population whose classes are known."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from sfumato.risk.population.estimator_protocol import SampleClasses


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
