"""Simulated patients of the registry (ADDN) and respondents of the survey (VicHealth)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies import Hierarchy
from sfumato.studies.lu_sinnott_verspoor.communities import COMMUNITIES, ethnicities, languages

REGISTRY, SURVEY, COMMON = 1000, 1850, 500
"""Individuals of the registry, of the survey, and of both."""
POSTCODES = 40
ATTRIBUTES = ("Gender", "Ethnicity", "Postcode", "Language", "Diabetes", "Insulin")


@dataclass(frozen=True, eq=False)
class Simulated:
    """One draw.

    Attributes
    ----------
    hierarchies
        The hierarchy of each attribute by its name.
    registry, survey
        Leaf codes of the individuals of each data set, shape (individuals, attributes). The
        last ones of the registry are the first ones of the survey.
    """

    hierarchies: dict[str, Hierarchy] = field(repr=False)
    registry: npt.NDArray[np.int32] = field(repr=False)
    survey: npt.NDArray[np.int32] = field(repr=False)

    @property
    def linked(self) -> npt.NDArray[np.int32]:
        """Leaf codes of the individuals in both, shape (individuals, attributes)."""
        return self.survey[:COMMON]


def hierarchies() -> dict[str, Hierarchy]:
    """The hierarchy of each attribute by its name."""
    postcodes = [str(3000 + 5 * number) for number in range(POSTCODES)]
    areas = [[code[:digits].ljust(4, "*") for code in postcodes] for digits in (4, 3, 2)]
    flat = {
        "Gender": ["female", "male"],
        "Diabetes": ["type 1", "type 2"],
        "Insulin": ["injections", "none", "pump"],
    }
    made = {name: Hierarchy.from_columns([values], name) for name, values in flat.items()}
    made |= {
        "Ethnicity": ethnicities(),
        "Language": languages(),
        "Postcode": Hierarchy.from_columns(areas, "Postcode"),
    }
    return {name: made[name] for name in ATTRIBUTES}


def simulate(rng: np.random.Generator) -> Simulated:
    """Draw the individuals of both data sets.

    Parameters
    ----------
    rng
        The source of randomness.
    """
    trees = hierarchies()
    people = REGISTRY + SURVEY - COMMON
    shares = np.array([share for _, share, _ in COMMUNITIES], dtype=np.float64)
    community = rng.choice(len(COMMUNITIES), people, p=shares / shares.sum())
    columns = {
        "Gender": rng.integers(0, 2, people),
        "Ethnicity": community,
        "Postcode": _postcodes(rng, community),
        "Language": _languages(rng, community, trees["Language"]),
    }
    columns["Diabetes"] = (rng.random(people) < 0.12).astype(np.int64)
    pumped = np.where(rng.random(people) < 0.45, 2, 0)
    columns["Insulin"] = np.where(columns["Diabetes"] == 1, rng.integers(0, 2, people), pumped)
    table = np.column_stack([columns[name] for name in ATTRIBUTES]).astype(np.int32)
    return Simulated(trees, table[:REGISTRY], table[REGISTRY - COMMON :])


def _postcodes(rng: np.random.Generator, community: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Some postcodes have more people than others, and every community has its own three."""
    sizes = 1 / np.sqrt(np.arange(1, POSTCODES + 1))
    anywhere = rng.choice(POSTCODES, len(community), p=sizes / sizes.sum())
    own = rng.integers(0, POSTCODES, (len(COMMUNITIES), 3))
    near = own[community, rng.integers(0, 3, len(community))]
    return np.where(rng.random(len(community)) < 0.4, near, anywhere)


def _languages(
    rng: np.random.Generator, community: npt.NDArray[np.int64], tree: Hierarchy
) -> npt.NDArray[np.int64]:
    spoken = np.zeros((len(COMMUNITIES), len(tree.leaves)))
    for row, (_, _, shares) in zip(spoken, COMMUNITIES, strict=True):
        for language, share in shares.items():
            row[tree.positions[language]] = share / 100
    drawn = rng.random(len(community))[:, np.newaxis]
    below = drawn >= np.cumsum(spoken, axis=1)[community]
    found: npt.NDArray[np.int64] = below.sum(axis=1, dtype=np.int64)
    return found.clip(0, len(tree.leaves) - 1)
