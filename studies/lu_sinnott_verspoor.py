"""Lu, Sinnott and Verspoor 2017 (paper 002): Figures 1 and 2, and Table 2 on simulated patients.

Ethnicities and languages have codes and names of ASCCEG and ASCL 2016; the mix of communities
and all shares are invented.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np

from sfumato.core.arrays import Codes, Ints, Levels
from sfumato.core.declaration import Count, Progress, silent
from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import Association, Item, Shown, State, decide, mine
from sfumato.semantics.local_data import Local, least_levels, squared_errors
from sfumato.semantics.sla import disclosure_risk, disclosure_risks, largest_risks, semantic_levels
from studies.study_document import Cell, Grid, Section, Study, columns

KS = (2, 3, 4)
PUBLISHED: dict[tuple[str, int], dict[str, tuple[float, float, float]]] = {
    ("LA", 1): {"risk": (14.7, 5.2, 3.5), "loss": (13.9, 20.1, 22.1)},
    ("LA", 2): {"risk": (14.7, 5.0, 4.7), "loss": (25.3, 27.0, 28.5)},
    ("SLA", 1): {"risk": (14.7, 5.2, 3.5), "loss": (13.9, 20.1, 22.1)},
    ("SLA", 2): {"risk": (14.7, 4.3, 3.4), "loss": (25.3, 27.3, 28.9)},
}
"""Table 2 as printed, in percent: disclosure risk and SSE/SST by scheme and time, one per k."""


_LISTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
COMMUNITIES: list[tuple[str, int, dict[str, int]]] = _LISTS["communities"]
"""Ethnicity, its share per mille (about), and its languages in percent."""

_ETHNIC_GROUPS: list[str] = _LISTS["ethnic_groups"]
_LANGUAGE_GROUPS = (
    "1 Northern European", "11 Celtic", "12 English", "13 German and Related",
    "14 Dutch and Related", "2 Southern European", "22 Greek", "23 Iberian Romance",
    "24 Italian", "25 Maltese", "3 Eastern European", "35 South Slavic", "36 West Slavic",
    "4 Southwest and Central Asian", "41 Iranic", "42 Middle Eastern Semitic", "43 Turkic",
    "5 Southern Asian", "51 Dravidian", "52 Indo-Aryan", "6 Southeast Asian", "63 Mon-Khmer",
    "65 Southeast Asian Austronesian", "7 Eastern Asian", "71 Chinese", "72 Japanese",
    "73 Korean", "9 Other", "92 African", "93 Pacific Austronesian",
)  # fmt: skip


def _code_hierarchy(leaves: Sequence[str], groups: Sequence[str], subject: str) -> Hierarchy:
    """Code, narrow group, broad group, root."""
    names = {group.partition(" ")[0]: group for group in groups}
    return Hierarchy.from_columns(
        [leaves, [names[leaf[:2]] for leaf in leaves], [names[leaf[:1]] for leaf in leaves]],
        f"hierarchy of {subject}",
    )


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
    registry: Codes = field(repr=False)
    survey: Codes = field(repr=False)

    @property
    def linked(self) -> Codes:
        """Leaf codes of the individuals in both, shape (individuals, attributes)."""
        return self.survey[:COMMON]


def hierarchies() -> dict[str, Hierarchy]:
    """The hierarchy of each attribute by its name."""
    postcodes = [str(3000 + 5 * number) for number in range(POSTCODES)]
    areas = [[code[:digits].ljust(4, "*") for code in postcodes] for digits in (4, 3, 2)]
    ethnicities = [name for name, _, _ in COMMUNITIES]
    languages = sorted({language for _, _, spoken in COMMUNITIES for language in spoken})
    flat = {
        "Gender": ["female", "male"],
        "Diabetes": ["type 1", "type 2"],
        "Insulin": ["injections", "none", "pump"],
    }
    made = {name: Hierarchy.from_columns([values], name) for name, values in flat.items()}
    made |= {
        "Ethnicity": _code_hierarchy(ethnicities, _ETHNIC_GROUPS, "ethnicity"),
        "Language": _code_hierarchy(languages, _LANGUAGE_GROUPS, "language"),
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


def _postcodes(rng: np.random.Generator, community: Ints) -> Ints:
    """Some postcodes have more people than others, and every community has its own three."""
    sizes = 1 / np.sqrt(np.arange(1, POSTCODES + 1))
    anywhere = rng.choice(POSTCODES, len(community), p=sizes / sizes.sum())
    own = rng.integers(0, POSTCODES, (len(COMMUNITIES), 3))
    near = own[community, rng.integers(0, 3, len(community))]
    return np.where(rng.random(len(community)) < 0.4, near, anywhere)


def _languages(rng: np.random.Generator, community: Ints, tree: Hierarchy) -> Ints:
    spoken = np.zeros((len(COMMUNITIES), len(tree.leaves)))
    for row, (_, _, shares) in zip(spoken, COMMUNITIES, strict=True):
        for language, share in shares.items():
            row[tree.positions[language]] = share / 100
    drawn = rng.random(len(community))[:, np.newaxis]
    below = drawn >= np.cumsum(spoken, axis=1)[community]
    found: Ints = below.sum(axis=1, dtype=np.int64)
    return found.clip(0, len(tree.leaves) - 1)


SCHEMES = {
    1: ("Gender", "Ethnicity", "Postcode"),
    2: ("Gender", "Ethnicity", "Postcode", "Language"),
}
"""Quasi-identifiers of the registry at each time."""
SUPPORT, CONFIDENCE = 0.01, 0.8
"""The paper gives none."""


@dataclass(frozen=True)
class Outcome:
    """What one scheme gives at one time for one k.

    Attributes
    ----------
    scheme
        LA or SLA.
    time
        1 or 2.
    k
        How many individuals must match.
    risk
        Eq. 3, a share.
    largest
        The same for the reader who believes only what is true of each person.
    loss
        SSE/SST (Eq. 4) over the linkage quasi-identifiers, a share.
    changed
        Distinct tuples that SLA generalised further.
    """

    scheme: str
    time: int
    k: int
    risk: float
    largest: float
    loss: float
    changed: int = 0


def outcomes(draw: Simulated) -> tuple[list[Outcome], tuple[Association, ...]]:
    """LA and SLA at both times for every k, and the associations between them.

    Associations are mined, and all accepted, from the 2-anonymous release at time 1, as in the
    paper. At time 1 there are none to apply.

    Parameters
    ----------
    draw
        The individuals.
    """
    known = _associations(draw)
    found = [each for k in KS for each in _schemes_at(draw, 1, k, ())]
    found += [each for k in KS for each in _schemes_at(draw, 2, k, known)]
    return found, known


def _associations(draw: Simulated) -> tuple[Association, ...]:
    codes, counts = _linked(draw)
    levels = _linkage_levels(draw, codes, 1, min(KS))
    shown = Shown(draw.hierarchies, codes, levels, counts)
    mined = mine([shown], support=SUPPORT, confidence=CONFIDENCE)
    return decide(mined, range(1, len(mined) + 1), State.ACCEPTED).accepted


def _schemes_at(
    draw: Simulated, time: int, k: int, known: tuple[Association, ...]
) -> list[Outcome]:
    codes, counts = _linked(draw)
    local = _local(draw, time, k)
    linkage = _linkage_levels(draw, codes, time, k)
    semantic = semantic_levels(codes, linkage, [local], draw.hierarchies, known, k)
    own, trees = _registry_columns(draw, time)
    found = []
    for scheme, levels, changed in (
        ("LA", linkage, 0),
        ("SLA", semantic.levels, len(semantic.changes)),
    ):
        risks = disclosure_risks(codes, levels, [local], draw.hierarchies, known)
        risk = float(disclosure_risk(risks, counts))
        lucky = largest_risks(codes, levels, [local], draw.hierarchies, known)
        largest = float(disclosure_risk(lucky, counts))
        loss = squared_errors(codes[:, own], levels[:, own], trees, counts)
        found.append(Outcome(scheme, time, k, risk, largest, loss, changed))
    return found


def _registry_columns(draw: Simulated, time: int) -> tuple[list[int], list[Hierarchy]]:
    """Places and hierarchies of the registry's quasi-identifiers at a time."""
    names = list(draw.hierarchies)
    return (
        [names.index(name) for name in SCHEMES[time]],
        [draw.hierarchies[name] for name in SCHEMES[time]],
    )


def _local(draw: Simulated, time: int, k: int) -> Local:
    own, trees = _registry_columns(draw, time)
    return Local.from_codes("registry", SCHEMES[time], trees, draw.registry[:, own], k=k)


def _linkage_levels(draw: Simulated, codes: Codes, time: int, k: int) -> Levels:
    return least_levels(
        codes,
        [_local(draw, time, k)],
        list(draw.hierarchies.values()),
        quasi_identifiers=list(draw.hierarchies),
    )


def _linked(draw: Simulated) -> tuple[Codes, Ints]:
    """The distinct tuples of the linked individuals, and how many have each."""
    return np.unique(draw.linked, axis=0, return_counts=True)


EXAMPLE_K = 3
HIERARCHIES = {
    "YoB": Hierarchy.from_columns([["1960-1970", "1971-1980"], ["1960-1980"] * 2], "YoB"),
    "Sex": Hierarchy.from_columns([["F", "M"]], "Sex"),
    "Ethnicity": Hierarchy.from_columns(
        [["Chinese", "Vietnamese", "Australian"], ["Asian", "Asian", "Oceanian"]], "Ethnicity"
    ),
    "Language": Hierarchy.from_columns(
        [
            ["7104 Mandarin", "7101 Cantonese", "1201 English"],
            ["71 Chinese", "71 Chinese", "12 English"],
        ],
        "Language",
    ),
}
HOSPITAL: Codes = np.array(
    [(1, 0, 0, 0), (1, 0, 0, 0), (1, 0, 0, 1), (0, 1, 1, 0), (0, 1, 2, 2)], dtype=np.int32
)
"""Alice, Ashly, Jessica and Jack of the paper as far as its text tells, and one other person."""
KNOWN = Association((Item("Language", 0, 0),), Item("Ethnicity", 0, 0), 0.3, 0.98)


def example_section() -> Section:
    """The tuple of Alice at both times, as LA and SLA show it, and its risk."""
    alice = HOSPITAL[:1]
    first, second = _hospital("YoB", "Sex", "Ethnicity"), _hospital(*HIERARCHIES)
    paper: Levels = np.array([[1, 1, 1, 0]], dtype=np.int8)
    semantic = semantic_levels(alice, paper, [second], HIERARCHIES, [KNOWN], EXAMPLE_K)
    cheapest = _least(alice, second)
    rows = [
        ("1", "LA, Figure 1", _least(alice, first), first),
        ("2", "LA, Figure 2 as printed", paper, second),
        ("2", "SLA from there", semantic.levels, second),
        ("2", "LA of least loss", cheapest, second),
    ]
    grid = Grid(
        "figures",
        f"The tuple of one linked person, k = {EXAMPLE_K}, and the risk of re-identification",
        columns(
            "time=time; scheme=scheme; tuple=tuple shown; risk=risk; "
            f"refined=knowing {KNOWN.text(HIERARCHIES).partition(',')[0]}"
        ),
        tuple(
            (time, scheme, _tuple(levels), _risk(levels, local), _risk(levels, local, KNOWN))
            for time, scheme, levels, local in rows
        ),
    )
    text = (
        "At time 2 the hospital has Language as well. The tuple of Figure 2 shows Mandarin, from "
        "which a reader of the first release refines Asian to Chinese: of three matching persons "
        "two are left. SLA shows the antecedent's ancestor instead. The tuple of least loss "
        "leaves Chinese in place and shows no Mandarin, so that the association tells nothing new."
    )
    return Section("Figures 1 and 2: what an association is worth", (text,), (grid,))


def _hospital(*names: str) -> Local:
    own = [list(HIERARCHIES).index(name) for name in names]
    trees = [HIERARCHIES[name] for name in names]
    return Local.from_codes("Hospital A", names, trees, HOSPITAL[:, own], k=EXAMPLE_K)


def _least(codes: Codes, local: Local) -> Levels:
    trees = list(HIERARCHIES.values())
    return least_levels(codes, [local], trees, quasi_identifiers=list(HIERARCHIES))


def _tuple(levels: Levels) -> str:
    cells = zip(HIERARCHIES.values(), levels[0].tolist(), HOSPITAL[0].tolist(), strict=True)
    shown = [tree.label(level, int(tree.ancestors[level, code])) for tree, level, code in cells]
    return f"<{', '.join(shown)}>"


def _risk(levels: Levels, local: Local, *known: Association) -> str:
    risk = float(disclosure_risks(HOSPITAL[:1], levels, [local], HIERARCHIES, known)[0])
    return str(Fraction(risk).limit_denominator(100))


LOSS_WITHIN = 0.02
"""By how much SLA's SSE/SST may exceed LA's."""
Key = tuple[str, int, int]
"""Scheme, time and k."""


def table_2_section(draws: Sequence[Sequence[Outcome]], associations: Sequence[int]) -> Section:
    """Table 2, its shape, and how they were made.

    Parameters
    ----------
    draws
        The outcomes of each draw.
    associations
        How many associations each draw's first release told.
    """
    by_key: dict[Key, list[Outcome]] = {}
    for draw in draws:
        for one in draw:
            by_key.setdefault((one.scheme, one.time, one.k), []).append(one)
    drawn = (
        "The paper's data is not public. Each draw simulates 1,000 patients of a registry and "
        "1,850 respondents of a survey, 500 in both; the language depends on the ethnicity. "
        "Shares are invented, and each tuple is generalised in the cheapest way, where the paper "
        "says no order: the values cannot agree with the paper's, the shape can."
    )
    mined = (
        f"Associations (support {100 * SUPPORT:.0f} % or more, confidence {100 * CONFIDENCE:.0f} % "
        "or more; the paper gives no thresholds) are mined from the 2-anonymous release at time 1 "
        f"and all accepted: {min(associations)} to {max(associations)} of them. Ranges hold the "
        f"middle 95 % of {len(draws)} draws."
    )
    counted = (
        "Eq. 3 counts a person whom a refinement excludes with 0, and SLA hides that person among "
        "k again: where that happens to many, SLA's mean may pass LA's. Before the luckiest "
        "reader, who believes only what is true of each person, it cannot."
    )
    return Section(
        "Table 2: LA and SLA", (drawn, mined, counted), (_table_2(by_key), _shape(by_key))
    )


_TABLE_2_COLUMNS = columns(
    "time=time; k=k; scheme=scheme; "
    "risk_paper=risk %, paper .1%; risk=risk %, mean .1%; risk_low=low .1%; risk_high=high .1%; "
    "loss_paper=SSE/SST %, paper .1%; loss=SSE/SST %, mean .1%; loss_low=low .1%; "
    "loss_high=high .1%"
)
_SHAPE_COLUMNS = columns(
    "k=k; draws=draws; risk_not_above=SLA's risk at most LA's; risk_below=below it; "
    "largest_not_above=before the luckiest reader, at most LA's; "
    "loss_within=loss within 2 points; largest_gap=largest loss gap, points .2%; "
    "changed=tuples changed, mean .1"
)


def _table_2(by_key: Mapping[Key, Sequence[Outcome]]) -> Grid:
    rows: list[tuple[Cell, ...]] = []
    for time in (1, 2):
        for place, k in enumerate(KS):
            for scheme in ("LA", "SLA"):
                found = by_key[scheme, time, k]
                printed = PUBLISHED[scheme, time]
                rows.append(
                    (
                        time,
                        k,
                        scheme,
                        printed["risk"][place] / 100,
                        *_summary([one.risk for one in found]),
                        printed["loss"][place] / 100,
                        *_summary([one.loss for one in found]),
                    )
                )
    caption = "Disclosure risk (Eq. 3) and SSE/SST (Eq. 4), the paper's and simulated"
    return Grid("table_2", caption, _TABLE_2_COLUMNS, tuple(rows))


def _shape(by_key: Mapping[Key, Sequence[Outcome]]) -> Grid:
    rows = []
    for k in KS:
        pairs = list(zip(by_key["LA", 2, k], by_key["SLA", 2, k], strict=True))
        gaps = [semantic.loss - linkage.loss for linkage, semantic in pairs]
        rows.append(
            (
                k,
                len(pairs),
                sum(semantic.risk <= linkage.risk + 1e-12 for linkage, semantic in pairs),
                sum(semantic.risk < linkage.risk - 1e-12 for linkage, semantic in pairs),
                sum(semantic.largest <= linkage.largest + 1e-12 for linkage, semantic in pairs),
                sum(gap <= LOSS_WITHIN for gap in gaps),
                max(gaps),
                float(np.mean([semantic.changed for _, semantic in pairs])),
            )
        )
    return Grid(
        "shape", "The shape of Table 2 at time 2, in how many draws", _SHAPE_COLUMNS, tuple(rows)
    )


def _summary(values: Sequence[float]) -> tuple[float, float, float]:
    low, high = np.quantile(values, [0.025, 0.975])
    return float(np.mean(values)), float(low), float(high)


NAME = "lu-sinnott-verspoor-2017"
TITLE = "Lu, Sinnott and Verspoor (2017): semantic-based linkage k-anonymity"
DEFAULT_REPETITIONS, DEFAULT_SEED = 30, 2017


def lu_sinnott_verspoor_2017(
    data: Path | None = None,
    *,
    repetitions: int = DEFAULT_REPETITIONS,
    seed: int = DEFAULT_SEED,
    progress: Progress = silent,
) -> Study:
    """Compute Figures 1 and 2 of Lu, Sinnott and Verspoor 2017 (paper 002), and simulate Table 2.

    Parameters
    ----------
    data
        Not read: the paper's data is not public, and everything is simulated.
    repetitions
        Draws of the simulation.
    seed
        Seed of the draws.
    progress
        Told how far the work is.

    Raises
    ------
    InputError
        If a number is out of range, or a data folder is given.
    """
    if data is not None:
        raise InputError(
            "the data folder", "must not be given", found="a folder", advice=f"{NAME} reads no data"
        )
    Count(1).check("parameter repetitions", repetitions)
    Count(0).check("parameter seed", seed)
    found, associations = [], []
    for number in range(repetitions):
        progress("draws", number / repetitions)
        results, known = outcomes(simulate(np.random.default_rng([seed, number])))
        found.append(results)
        associations.append(len(known))
    sections = (example_section(), table_2_section(found, associations))
    return Study(NAME, TITLE, sections, {})
