"""The risks of single records beside those of peers, where every person of a population is known.

Usage: record_peers.py [--samples N] [--fraction P] [--only NAME ...]

For sample uniques: how well those who are alone in the population are ranked (AUC), and the mean
squared error of 1/F, by sfumato and by three models of the cells. By these a sample unique of
probability p has F - 1 other persons, Poisson with (N - n) p (Skinner and Shlomo 2008), and is
unique with (1 - p)^(N - 1) (Rocher et al. 2019).

copula    normal, of the codes in their order (Rocher et al. 2019), each pair's correlation by
          maximum likelihood
latent    sfumato's latent classes alone, those that foretell best
margins   the product of the shares of its values
"""

from __future__ import annotations

import argparse

import numpy as np
import numpy.typing as npt
from population import AT_RISK, area_under_curve, mean, names, population_named
from populations import SEED
from scipy.special import ndtr, ndtri

from sfumato.risk.population.cell_model import fit_cells
from sfumato.risk.population.estimator_protocol import SampleClasses
from sfumato.risk.population.local_independence import LatentClasses
from sfumato.risk.population.population_estimates import estimated_population, estimator_named

Floats = npt.NDArray[np.float64]
Keys = npt.NDArray[np.int32]
DRAWS = 200
"""Draws of the simulator of a cell's probability (Geweke, Hajivassiliou and Keane)."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
GRID = np.linspace(-0.98, 0.98, 99)
"""Correlations that are tried."""


def copula(sample: SampleClasses, rng: np.random.Generator) -> Floats:
    """Probability of each class under a normal copula with the sample's margins."""
    keys = _keys(sample)
    low, high = (np.empty(keys.shape) for _ in range(2))
    for column, codes in enumerate(keys.T):
        shares = np.bincount(codes, sample.sizes) / sample.n
        ends = np.clip(np.append(0.0, shares.cumsum()), 0.0, 1.0)
        low[:, column], high[:, column] = ends[codes], ends[codes + 1]
    count = keys.shape[1]
    correlation = np.eye(count)
    for a in range(count):
        for b in range(a):
            ends = (low[:, a], high[:, a], low[:, b], high[:, b])
            correlation[a, b] = correlation[b, a] = _correlation(*ends, sample.sizes)
    values, vectors = np.linalg.eigh(correlation)
    whole = vectors * np.maximum(values, 1e-3) @ vectors.T
    root = np.linalg.cholesky(whole / np.sqrt(np.outer(np.diag(whole), np.diag(whole))))
    return _simulated(ndtri(low), ndtri(high), root, rng)


def _correlation(a: Floats, b: Floats, c: Floats, d: Floats, sizes: npt.NDArray[np.int64]) -> float:
    """The likeliest correlation of two columns, by the rectangles of the persons' values."""
    cells, at = np.unique(np.column_stack([a, b, c, d]), axis=0, return_inverse=True)
    persons = np.bincount(at.ravel(), sizes)
    a, b, c, d = cells.T
    inside = ndtri(a[:, None] + (b - a)[:, None] * (NODES + 1) / 2)
    c, d = ndtri(c)[:, None], ndtri(d)[:, None]
    likely = np.empty(len(GRID))
    for number, rho in enumerate(GRID.tolist()):
        rest = np.sqrt(1 - rho * rho)
        chance = (ndtr((d - rho * inside) / rest) - ndtr((c - rho * inside) / rest)) @ WEIGHTS
        likely[number] = persons @ np.log(np.maximum(chance, 1e-12))
    return float(GRID[likely.argmax()])


def _simulated(low: Floats, high: Floats, root: Floats, rng: np.random.Generator) -> Floats:
    """Probability of each rectangle of correlated normals; shape (classes,)."""
    found = np.empty(len(low))
    for start in range(0, len(low), 2_000):
        own = slice(start, start + 2_000)
        drawn: list[Floats] = []
        chance = np.ones((len(low[own]), DRAWS))
        for column in range(low.shape[1]):
            shift = sum(
                (root[column, other] * each for other, each in enumerate(drawn)),
                np.zeros_like(chance),
            )
            scale = root[column, column]
            below = ndtr((low[own, column, None] - shift) / scale)
            above = ndtr((high[own, column, None] - shift) / scale)
            chance *= above - below
            at = below + (above - below) * rng.random(chance.shape)
            drawn.append(ndtri(np.clip(at, 1e-12, 1 - 1e-12)))
        found[own] = chance.mean(axis=1)
    return found


def latent(sample: SampleClasses, rng: np.random.Generator) -> Floats:
    """Probability of each class, its persons left out, by the latent classes that foretell best."""
    model = fit_cells(_keys(sample), sample.sizes, sample.domains, rng)
    pairs = zip(model.weights.tolist(), model.models, strict=True)
    _, best = max(
        (each for each in pairs if isinstance(each[1], LatentClasses)), key=lambda each: each[0]
    )
    return best.of(model.keys, model.founders)


def margins(sample: SampleClasses, _: np.random.Generator) -> Floats:
    """Product of the shares of the values of each class, its persons left out."""
    chance = np.ones(sample.classes)
    for codes in _keys(sample).T:
        chance *= (np.bincount(codes, sample.sizes)[codes] - sample.sizes) / sample.n
    return chance


PEERS = {"copula": copula, "latent": latent, "margins": margins}


def _keys(sample: SampleClasses) -> Keys:
    if sample.keys is None:
        raise ValueError("classes without keys")
    return sample.keys


def judged(
    chance: Floats, inverse: Floats, real: npt.NDArray[np.int64]
) -> tuple[float | None, float]:
    """AUC of the chances to be unique, and the squared error of 1/F."""
    return area_under_curve(chance, real == 1), float(np.mean((inverse - 1 / real) ** 2))


def one(name: str, fraction: float, repeat: int) -> dict[str, tuple[float | None, float]]:
    """What each makes of one sample."""
    rng = np.random.default_rng([SEED, *name.encode(), round(1000 * fraction), repeat])
    sample, real = population_named(name).sample(fraction, rng)
    single = sample.sizes == 1
    found = estimated_population(
        sample.sizes, sample, sample.population, estimator_named("auto"), AT_RISK, repeat, auto=True
    )
    own = found.class_intervals["unique"][single], found.inverse_sizes[single]
    judgement = {"sfumato": judged(*own, real[single])}
    for peer, model in PEERS.items():
        chance = model(sample, np.random.default_rng(repeat))[single]
        others = np.maximum((sample.population - sample.n) * chance, 1e-12)
        unique = np.exp((sample.population - 1) * np.log1p(-np.minimum(chance, 1 - 1e-12)))
        judgement[peer] = judged(unique, -np.expm1(-others) / others, real[single])
    return judgement


def main() -> None:
    """Draw samples and print who ranks better."""
    parser = argparse.ArgumentParser(description="Risks of single records, and the truth")
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--fraction", type=float, default=0.05)
    parser.add_argument("--only", nargs="*")
    asked = parser.parse_args()
    ahead = np.zeros(2, dtype=np.int64)
    count = 0
    print(f"{'AUC among sample uniques; squared error of 1/F':<46}", *PEERS, sep="  ")
    for name in asked.only or names(of_held_out=False):
        population = population_named(name)
        if population.cluster is not None or len(population.domains) == 1:
            continue
        rows = [one(name, asked.fraction, repeat) for repeat in range(asked.samples)]
        auc = {who: mean(row[who][0] for row in rows) for who in rows[0]}
        error = {who: mean(row[who][1] for row in rows) for who in rows[0]}
        best = max(auc[peer] for peer in PEERS), min(error[peer] for peer in PEERS)
        # Two thousandths of AUC, or a hundredth of the error, are not told apart by so few samples.
        ahead += (not auc["sfumato"] < best[0] - 0.002, error["sfumato"] <= 1.01 * best[1])
        count += 1
        figures = (f"{auc[who]:.3f} {error[who]:.4f}" for who in auc)
        print(f"{name:<32}", *figures, sep="  ", flush=True)
    print(f"as good as the best peer in AUC: {ahead[0]} of {count}; in 1/F: {ahead[1]} of {count}")


if __name__ == "__main__":
    main()
