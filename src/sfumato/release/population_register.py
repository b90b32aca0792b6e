"""The population behind a file: its register, its size, and the risk against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.core.arrays import Bools, Ints
from sfumato.core.declaration import Count
from sfumato.core.errors import InputError, typed
from sfumato.core.measure import REGISTER, Measure, Position, is_estimate
from sfumato.core.number_text import counted
from sfumato.hierarchies.builders import build_hierarchy, leaf_order
from sfumato.release.person_table import (
    PersonTable,
    RegisterPersons,
    person_table,
    person_ties,
    take_persons,
)
from sfumato.release.promises import promise
from sfumato.release.promises.delta_presence import DeltaPresence
from sfumato.release.promises.k_map import RARELY
from sfumato.release.release_options import Form, Options, Recoding
from sfumato.schema import Kind, QuasiIdentifier
from sfumato.table.domains import coded_ends
from sfumato.table.scalars import natural_order
from sfumato.table.table import (
    MISSING,
    CodedColumn,
    Codes,
    Domain,
    LabelDomain,
    NumberDomain,
    Table,
)

if TYPE_CHECKING:
    from sfumato.risk.population.cell_dispersion import ModelPrices


LARGEST_POINT = 1 << 53
"""Points of a domain are below this, so that sums of them are exact."""
COUNTED = (
    "counted in the register, each person in every class with cells that fit; where people fit "
    "several classes, the true risk is lower"
)
MODEL = "cell model"
"""The name of the estimator where only the number of persons is known."""
ESTIMATED = (
    "estimated from the size of each class and a model of the quasi-identifiers, tried on halves "
    "of the file. The end that counts is to be worse than the truth in 95 of 100 releases. Of {} "
    "with known populations it was in {}. It is no promise"
)
SEEN = {"marketer": (204, 203), "population_uniques": (104, 102), "k_map": (64, 64)}
"""How many releases were held against a known population, and in how many the end held."""
CAREFUL = 0.5
"""The least true risk over its estimate: no class counts for more than the model gives, and classes
that look alike are joined later, so that the estimate errs on the careful side."""


def join_register(table: Table, register: Table) -> tuple[Table, Table]:
    """Both tables with the values of either in every domain.

    A value of the register that lies between two values of the file gets a code between theirs;
    hierarchies and coded ends are made anew over all values.
    """
    ours, theirs = [], []
    for identifier, other in zip(table.quasi_identifiers, register.quasi_identifiers, strict=True):
        quasi = table.schema.quasi_identifiers[identifier.name]
        joined, of_own, of_other = _joined(identifier, other, quasi)
        ours.append(replace(joined, codes=_recoded(identifier.codes, of_own)))
        theirs.append(replace(joined, codes=_recoded(other.codes, of_other)))
    return (
        replace(table, quasi_identifiers=tuple(ours)),
        replace(register, quasi_identifiers=tuple(theirs)),
    )


def _recoded(codes: Codes, new: Codes) -> Codes:
    recoded: Codes = np.append(new, np.int32(-1))[codes]
    return recoded


def _joined(
    own: CodedColumn, other: CodedColumn, quasi: QuasiIdentifier
) -> tuple[CodedColumn, Codes, Codes]:
    """The column over all values, and the new code of each old one, ours and theirs."""
    domain: Domain
    if isinstance(own.domain, NumberDomain):
        domain, ours, theirs = _joined_numbers(own.name, own.domain, other.domain)
    else:
        domain, ours, theirs = _joined_labels(own, other, quasi)
    hierarchy = None
    if quasi.hierarchy is not None:
        names = [domain.label(code) for code in range(domain.size)]
        hierarchy = build_hierarchy(quasi.hierarchy, names, own.name)
    ends = coded_ends(quasi, own.kind, domain, own.name)
    return replace(own, domain=domain, hierarchy=hierarchy, ends=ends), ours, theirs


def _joined_numbers(
    name: str, own: NumberDomain, other: Domain
) -> tuple[NumberDomain, Codes, Codes]:
    subject = f"the register's column '{name}'"
    if not isinstance(other, NumberDomain) or own.unit != other.unit:
        found = f"{other.unit}s" if isinstance(other, NumberDomain) else "categories"
        raise InputError(
            subject,
            "must hold values of the kind that the file's column holds",
            found=found,
            accepted=f"{own.unit}s",
        )
    decimals = max(own.decimals, other.decimals)
    points = []
    for domain in (own, other):
        scale = 10 ** (decimals - domain.decimals)
        if max(abs(int(domain.points[0])), abs(int(domain.points[-1]))) * scale >= LARGEST_POINT:
            raise InputError(
                subject,
                "must hold numbers that can be compared exactly with the file's",
                found=f"{decimals} decimal places beside large numbers",
                advice="round the register to the decimal places of the file",
            )
        points.append(domain.points * scale)
    both = np.unique(np.concatenate(points))
    if own.width != other.width:
        raise InputError(
            subject,
            "must hold codes with as many digits as the file's, leading zeros included",
            found="others",
            advice="read the column as text, or declare it as categorical",
        )
    ours, theirs = (np.searchsorted(both, point).astype(np.int32) for point in points)
    return NumberDomain(both, decimals, own.unit, own.width), ours, theirs


def _joined_labels(
    own: CodedColumn, other: CodedColumn, quasi: QuasiIdentifier
) -> tuple[LabelDomain, Codes, Codes]:
    assert isinstance(own.domain, LabelDomain)
    assert isinstance(other.domain, LabelDomain)
    all_labels = {*own.domain.labels, *other.domain.labels}
    if quasi.order is not None:
        if not all_labels <= set(quasi.order):
            raise InputError(
                f"the register's column '{own.name}'",
                "must hold only the categories of its 'order'",
                found=f"{len(all_labels - set(quasi.order))} others",
                advice="add them to 'order' in the spelling of the data, or to 'missing'",
            )
        labels = [label for label in quasi.order if label in all_labels]
    else:
        labels = natural_order(all_labels)
        if own.kind is Kind.ORDERED and isinstance(quasi.hierarchy, Path):
            rank = {leaf: place for place, leaf in enumerate(leaf_order(quasi.hierarchy))}
            # The order of the hierarchy's file is the declared one; a label that it lacks comes
            # last.
            labels.sort(key=lambda label: rank.get(label, len(rank)))
    place = {label: code for code, label in enumerate(labels)}
    ours, theirs = (
        np.array([place[label] for label in domain.labels], dtype=np.int32)
        for domain in (own.domain, other.domain)
    )
    return LabelDomain(tuple(labels)), ours, theirs


@dataclass(frozen=True, eq=False)
class Population:
    """The persons that a file's persons come from.

    Attributes
    ----------
    persons
        N, their number.
    register
        Their records, encoded as the file's are; ``None`` where only the number is known.
    drawn
        Persons of a model of the population, where only the number is known.
    """

    persons: int
    register: Table | None = None
    drawn: Table | None = None
    prices: ModelPrices | None = None

    @property
    def cells(self) -> promise.CellPrices:
        """What is known of who lies in the cells of classes."""
        return self.prices or promise.RegisterCells()

    def check_size(self, sample: int) -> None:
        """Refuse a number of persons below that of the file."""
        if self.persons < sample:
            raise InputError(
                "parameter population",
                "must have at least as many people as the file",
                found="fewer",
                accepted=f"{sample:,} or more",
            )

    def bound(
        self, promises: Sequence[promise.Constraint | promise.Budget]
    ) -> tuple[promise.Constraint | promise.Budget, ...]:
        """The promises, those about a population as ones about this population."""
        return tuple(
            each.against(self.cells) if isinstance(each, promise.AboutPopulation) else each
            for each in promises
        )


def check_population(
    promises: Sequence[promise.Constraint | promise.Budget],
    options: Options,
    *,
    register: bool,
    population: int | None,
) -> None:
    """Refuse promises about a population that nobody gives, and options that do not go with it."""
    if population is not None:
        Count(1).check("parameter population", population)
    if register and population is not None:
        raise InputError(
            "parameters register and population",
            "say the same thing: who the file's people come from",
            advice="give the register alone; the number of its people follows",
        )
    if options.effort and (register or population is not None):
        raise InputError(
            "parameter effort",
            "moves people between classes; their cells must be those that the population is "
            "counted in",
            found="a register" if register else "a size of the population",
            advice="leave it out, or give 0",
        )
    if options.loss is not None and (register or population is not None):
        raise InputError(
            "parameter loss",
            "is what the search for classes makes least, which a population leaves no room for",
            found="a register" if register else "a size of the population",
            advice="leave it out",
        )
    presence = [each for each in promises if isinstance(each, DeltaPresence)]
    if presence and not register:
        raise InputError(
            "promise presence",
            "needs a population register: a table of everybody who may be in the file, with the "
            "same quasi-identifiers",
            found="none" if population is None else "only the number of its people",
            advice=f"give one ({typed('register=...', '--register FILE')}); without one, "
            "marketer risk can be estimated, not promised, for a population of known size "
            f"({typed('population=N', '--population N')})",
        )
    if register or population is not None:
        name = "register" if register else "population"
        _check_options(options, name, labels=any(each.low > 0 for each in presence))


def _check_options(options: Options, name: str, *, labels: bool) -> None:
    """Refuse forms of release that leave open who of a population lies in a class's cells."""
    if options.recoding is Recoding.FULL_DOMAIN:
        raise InputError(
            f"parameter {name}",
            "is counted by the tree",
            found="full-domain recoding",
            advice=f"use local recoding, or leave the {name} out",
        )
    refused = {Form.MEAN: "a mean says nothing about who lies near it"}
    if labels:
        refused[Form.HIERARCHY] = "a label may stand for people of several classes"
    if options.values in refused:
        raise InputError(
            "parameter values",
            "must say whom of the population each class may stand for",
            found=f"{options.values.value}: {refused[options.values]}",
            accepted=", ".join(form for form in Form if form not in refused),
        )


def persons_of(table: Table, population: Population) -> PersonTable:
    """Gather each person's records, and where the persons of a register stand beside them.

    A population makes every axis strict: a cut between equal positions would leave a person of
    the population with two classes to match. Positions follow the same rules on both sides
    (means, most frequent categories) and are compared exactly.

    Parameters
    ----------
    population
        The persons that they come from; its register has the same domains as the table.
    """
    register = population.register or population.drawn
    assert register is not None
    traits, other = _traits(table, table), _traits(register, table)
    # Only the file's persons are put in order. Those of the register are found by their positions.
    ties = np.append(person_ties(table), np.zeros(register.persons, dtype=np.int64))
    # In one table, so that positions (ranks of means, of categories) are of one scale.
    both = person_table(_stacked(table, register), ties)
    known = traits.any(axis=0)
    # Whoever has a trait that nobody of the file has looks like none of its classes.
    kept = np.flatnonzero(~other[:, ~known].any(axis=1))
    patterns, pattern = _patterns(other[kept][:, known])
    by_pattern = np.argsort(pattern, kind="stable")
    numbers = kept[by_pattern].astype(np.int32)
    there = numbers + table.persons
    members = RegisterPersons(
        register.persons,
        numbers,
        pattern[by_pattern],
        patterns,
        tuple(axis.position[there] for axis in both.ordered),
        tuple(axis.member[there] for axis in both.indicators),
    )
    owned = [both]
    del both
    persons = take_persons(owned, np.arange(table.persons, dtype=np.int32))
    whole = population.register is None
    return replace(_strict(persons), register=members, traits=traits[:, known], whole_cells=whole)


def _strict(persons: PersonTable) -> PersonTable:
    ordered = tuple(replace(axis, strict=True) for axis in persons.ordered)
    return replace(persons, ordered=ordered)


def _stacked(table: Table, register: Table) -> Table:
    """One table: the register's persons behind the file's, without sensitive values."""
    nothing = np.full(register.records, MISSING, dtype=np.int32)
    return replace(
        table,
        person=np.concatenate([table.person, register.person + np.int32(table.persons)]),
        quasi_identifiers=tuple(
            replace(identifier, codes=np.concatenate([identifier.codes, other.codes]))
            for identifier, other in zip(
                table.quasi_identifiers, register.quasi_identifiers, strict=True
            )
        ),
        sensitive=tuple(
            replace(column, codes=np.concatenate([column.codes, nothing]))
            for column in table.sensitive
        ),
        household=None,
    )


def _traits(table: Table, file: Table) -> Bools:
    """Whether each person has a value, and misses one, per quasi-identifier.

    Of columns that the file never misses only whether one is missing: whoever misses one there
    looks like nobody of the file. Shape (persons, traits).
    """
    traits = []
    for column, identifier in zip(table.quasi_identifiers, file.quasi_identifiers, strict=True):
        missing = column.codes == MISSING
        if identifier.has_missing:
            traits.append(_persons_with(table.person[~missing], table.persons))
        traits.append(_persons_with(table.person[missing], table.persons))
    return np.column_stack(traits)


def _persons_with(person: Codes, persons: int) -> Bools:
    found = np.zeros(persons, dtype=bool)
    found[person] = True
    return found


def _patterns(traits: Bools) -> tuple[Bools, Codes]:
    """The distinct rows, at least one, and which one each row is."""
    if not traits.size:
        return np.zeros((1, traits.shape[1]), dtype=bool), np.zeros(len(traits), dtype=np.int32)
    patterns, pattern = np.unique(traits, axis=0, return_inverse=True)
    return patterns, pattern.ravel().astype(np.int32)


@dataclass(frozen=True, slots=True)
class PopulationRisk:
    """The measures of a release against the population that its persons come from.

    Attributes
    ----------
    persons
        N, the number of persons of the population.
    marketer
        λ = (1/n) Σ f_j/F_j, the expected share of the release's persons whom an intruder with
        the register matches correctly (paper 004, Theorem 1); an estimate where only N is known.
    population_uniques
        Share of the release's persons with f_j = F_j = 1.
    k_map
        The smallest F_j.
    presence_low, presence_high
        Smallest and largest f_j/F_j of a class; ``None`` without a register.
    """

    persons: int
    marketer: Measure
    population_uniques: Measure
    k_map: Measure
    presence_low: Measure | None = None
    presence_high: Measure | None = None
    strangers: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "persons": self.persons,
            **{measure.name: measure.to_json() for measure in self._measures},
            "strangers": self.strangers,
        }

    def __str__(self) -> str:
        """A table."""
        lines = ["Against the population", f"  {'persons':<19}{self.persons:,}"]
        for measure in self._measures:
            lines.append(f"  {measure.name:<19}{measure.value:.4g}")
            if is_estimate(measure.estimator):
                lines[-1] += f"  ({measure.low:.4g} to {measure.high:.4g}; {measure.estimator})"
        return "\n".join(lines)

    @property
    def _measures(self) -> list[Measure]:
        ends = (self.presence_low, self.presence_high)
        counted = (self.marketer, self.population_uniques, self.k_map)
        return [*counted, *(end for end in ends if end is not None)]

    def warnings(self) -> tuple[str, ...]:
        """What the reader should know."""
        if not self.strangers:
            return ()
        warning = (
            "Without a counterpart of their own in the register: "
            f"{counted(self.strangers, 'person')} of the "
            "release. It is not the whole population of the file, or its values are written "
            "differently. Each counts as one more person of the population."
        )
        return (warning,)


def measured(
    population: Population,
    persons: Ints,
    alike: Ints,
    first: Ints,
) -> PopulationRisk:
    """Measure the classes of a release against their population.

    Parameters
    ----------
    persons
        f_j, the persons of each class.
    alike
        Persons of the register, or of the model, who look like each class.
    first
        0-based first row of each class in the release.
    """
    if population.prices is not None:
        return _by_model(population.persons, population.prices, persons, alike, first)
    # Persons whom the register lacks are added to it: a share above 1 is no probability.
    whole = np.maximum(alike, persons)
    share = persons / whole

    def place(at: int) -> Position:
        return Position(int(first[at]) + 1, at + 1)

    def counted(name: str, value: float, where: Position | None = None) -> Measure:
        return Measure(name, value, value, value, REGISTER, COUNTED, where)

    worst = int(np.argmin(whole))
    smallest, largest = (
        Measure(f"presence_{end}", float(share[at]), where=place(at))
        for end, at in (("low", int(np.argmin(share))), ("high", int(np.argmax(share))))
    )
    return PopulationRisk(
        population.persons,
        counted("marketer", float(share.sum()) / int(persons.sum())),
        counted("population_uniques", float((whole == 1).sum()) / int(persons.sum())),
        counted("k_map", int(whole[worst]), place(worst)),
        smallest,
        largest,
        int(np.maximum(persons - alike, 0).sum()),
    )


def _by_model(
    population: int, prices: ModelPrices, persons: Ints, alike: Ints, first: Ints
) -> PopulationRisk:
    """The measures of `measured` where the cells of the population follow a model."""
    n = int(persons.sum())
    likely = replace(prices, least=1.0, least_beside=prices.beside)

    def estimate(
        name: str, value: float, low: float, high: float, where: Position | None = None
    ) -> Measure:
        return Measure(name, value, low, high, MODEL, ESTIMATED.format(*SEEN[name]), where)

    high = float(prices.matches(persons, alike).sum()) / n
    wide = prices.allowance / prices.gathered
    # The allowance is taken off, but for the part that is expected as persons gather in cells.
    value = high / wide
    unique, most = (float(each.smaller(2, persons, alike).sum()) / n for each in (likely, prices))
    size = fewest(likely, persons, alike, 0.5)
    few = fewest(prices, persons, alike, RARELY)
    many = fewest(likely, persons, alike, 1 - RARELY)
    worst = int(np.argmax(prices.smaller(few + 1, persons, alike)))
    return PopulationRisk(
        population,
        estimate("marketer", value, value * CAREFUL / wide, high),
        estimate("population_uniques", unique, 0.0, most),
        estimate("k_map", size, few, many, Position(int(first[worst]) + 1, worst + 1)),
    )


def fewest(cells: promise.CellPrices, persons: Ints, alike: Ints, chance: float) -> int:
    """The most persons whom every class has, fewer with at most a chance in (0, 1)."""

    def lacking(size: int) -> bool:
        return bool((cells.smaller(size, persons, alike) > chance).any())

    # No class of the population is smaller than that of the file, so that the search begins there.
    low, high = int(persons.min()), 2 * int(persons.min())
    while not lacking(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if lacking(middle) else (middle, high)
    return low
