"""Every measure of one file with its place: as JSON, as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any

from sfumato.core.declaration import fields_of
from sfumato.core.errors import InputError
from sfumato.core.measure import Measure, Position
from sfumato.core.notebook_parts import lead, notes
from sfumato.core.number_text import counted, percentage, wrapped
from sfumato.risk import measure_table, notebook_view
from sfumato.risk.class_measures import ClassShape, shape_of
from sfumato.risk.classes import ClassSummary
from sfumato.risk.measure_table import MEANINGS, recursive_meaning, row
from sfumato.risk.reidentification import Reidentification

if TYPE_CHECKING:
    from sfumato.engines.spark.spark_session import Ran
    from sfumato.risk.known_events import EventRisk
    from sfumato.risk.population.population_risk import PopulationRisk
    from sfumato.risk.register_presence import Presence
    from sfumato.risk.reidentification import HouseholdRisk
    from sfumato.risk.risk_thresholds import Held
    from sfumato.risk.special_uniques import SpecialUniques
    from sfumato.risk.verdict import Verdict
    from sfumato.schema.recipe import StepCount
    from sfumato.table.table import ColumnFigures


@dataclass(frozen=True, slots=True)
class SensitiveRisk:
    """Measures of one sensitive attribute, each at its worst class unless it is an average.

    Attributes
    ----------
    h_affiliation
        Largest share of a class's persons who have the same value (paper 003, Definition 3).
    max_gsar, avg_gsar
        The same share, its largest and its mean over classes (paper 003, Section 8).
    l_distinct
        Fewest distinct values in a class.
    l_distinct_where
        Where that is; ``None`` where a cluster measured.
    l_entropy
        exp of the smallest entropy of a class's values over records.
    recursive
        For l = 2, 3 and those that were asked for, the number above which every c gives
        recursive (c, l)-diversity; infinite where a class has fewer than l values.
    t_closeness
        Largest equal distance between the values of a class, over records, and those of the
        whole file (Li, Li & Venkatasubramanian 2007).
    t_closeness_ordered
        The same by ordered distance, where it was asked for.
    """

    h_affiliation: Measure
    max_gsar: Measure
    avg_gsar: Measure
    l_distinct: int
    l_distinct_where: Position | None
    l_entropy: Measure
    recursive: Mapping[int, Measure]
    t_closeness: Measure
    t_closeness_ordered: Measure | None = None

    def rows(self, column: str) -> list[measure_table.Row]:
        """The lines of a table."""
        far = filter(None, (self.t_closeness, self.t_closeness_ordered))
        h = self.h_affiliation
        return [
            row("h_affiliation", measure_table.share(h), h.where, column),
            row("avg_gsar", measure_table.share(self.avg_gsar), None, column),
            row("l_distinct", measure_table.count(self.l_distinct), self.l_distinct_where, column),
            row("l_entropy", measure_table.number(self.l_entropy), self.l_entropy.where, column),
            *(
                measure_table.Row(
                    f"{one.name} [{column}]",
                    measure_table.number(one),
                    recursive_meaning(l),
                    one.where,
                )
                for l, one in self.recursive.items()  # noqa: E741
            ),
            *(row(one.name, measure_table.number(one), one.where, column) for one in far),
        ]


@dataclass(frozen=True, repr=False, eq=False)
class Risk:
    """Every measure of one file.

    Attributes
    ----------
    records, persons, classes
        Number of records, of distinct persons and of equivalence classes.
    k, pid_k
        Fewest records, and fewest persons, in a class.
    k_where, pid_k_where
        Where those are; ``None`` where a cluster measured, whose records have no order.
    g_balance
        Smallest g-balance of a class (paper 003, Definition 1).
    max_gidr, avg_gidr
        Largest and mean individual-record disclosure risk of a class (paper 003, Section 7).
    prosecutor, journalist, marketer
        Re-identification risks over persons (paper 004); the file is its own population where
        ``population`` is not given.
    average_risk
        Mean over records of 1 / persons of the record's class.
    records_at_risk
        Share of records whose class has 1 / persons above ``threshold``.
    count_k
        Fewest persons who share class and number of records, for an intruder who knows the
        number too (paper 000).
    count_k_where
        Where that is.
    exposed_persons
        Share of persons who are alone with their number of records in their class.
    max_count_risk, avg_count_risk
        Largest chance that such an intruder finds a person, and its mean over persons.
    by_records
        The same risks with classes counted in records, as tools do that know no persons.
    sample_uniques, sample_unique_records
        Number of classes with one person, and with one record.
    sensitive
        Measures of each sensitive attribute, by column.
    summary
        The numbers of each class; ``None`` where they stayed on a cluster.
    threshold
        Risk above which a record counts as at risk.
    warnings
        What the reader should know; publishable.
    household
        Risks of households, where the schema names them.
    special_uniques
        Persons who stand out by few quasi-identifiers, where they were looked for.
    presence
        How surely somebody of a population is in the file, where a register was given.
    population
        Risks of the file as a sample of a population, where something is known of it;
        ``journalist`` and ``marketer`` are then those of the population.
    held
        Measures held against the thresholds that were asked for.
    known_events
        What is found by whoever knows some of a person's events; ``None`` where no column tells
        any.
    counted
        How the classes are distributed, where a cluster counted it; read `shape`.
    ran
        What a cluster computed it on; ``None`` where this process did.
    preparation
        What the steps of the schema's recipe did to the columns before they were measured.
    columns
        What each column that is no quasi-identifier gives away, where that was measured.
    verdict
        What intruders find, where limits were given.
    """

    records: int
    persons: int
    classes: int
    k: int
    k_where: Position | None
    pid_k: int
    pid_k_where: Position | None
    g_balance: Measure
    max_gidr: Measure
    avg_gidr: Measure
    prosecutor: Measure
    journalist: Measure
    marketer: Measure
    average_risk: Measure
    records_at_risk: Measure
    count_k: int
    count_k_where: Position | None
    exposed_persons: Measure
    max_count_risk: Measure
    avg_count_risk: Measure
    by_records: Reidentification
    sample_uniques: int
    sample_unique_records: int
    sensitive: Mapping[str, SensitiveRisk]
    summary: ClassSummary | None
    threshold: float
    warnings: tuple[str, ...] = field(default=())
    household: HouseholdRisk | None = None
    special_uniques: SpecialUniques | None = None
    presence: Presence | None = None
    population: PopulationRisk | None = None
    held: tuple[Held, ...] = ()
    known_events: EventRisk | None = None
    counted: ClassShape | None = None
    ran: Ran | None = None
    preparation: tuple[StepCount, ...] = ()
    columns: tuple[ColumnFigures, ...] = ()
    verdict: Verdict | None = None

    @cached_property
    def shape(self) -> ClassShape:
        """How the classes are distributed."""
        if self.counted is not None:
            return self.counted
        return shape_of(self.own_classes(), self.g_balance_counts)

    def with_population(self, population: PopulationRisk, presence: Presence | None = None) -> Risk:
        """The file as a sample: its journalist and marketer risk are those of the population.

        Parameters
        ----------
        population
            The estimated risks, or those that were counted in a register.
        presence
            How surely somebody of the register is in the file, where there is one.
        """
        warnings = self.warnings
        if presence is not None and presence.strangers:
            warning = (
                "Without a counterpart of their own in the register: "
                f"{counted(presence.strangers, 'person')} of the file. It is not the whole "
                "population of the "
                "file, or its values are written differently. Presence is taken as 1 where the "
                "file has more people, and they count as found."
            )
            warnings = (*warnings, warning)
        return replace(
            self,
            presence=presence,
            population=population,
            marketer=population.marketer,
            journalist=population.journalist,
            warnings=warnings,
        )

    def own_classes(self) -> ClassSummary:
        """The numbers of each class.

        Raises
        ------
        InputError
            If they stayed on a cluster.
        """
        if self.summary is None:
            raise InputError(
                "an assessment made on Spark",
                "keeps the numbers of its classes on the cluster",
                advice="assess the file with engine='embedded'",
            )
        return self.summary

    @property
    def g_balance_counts(self) -> tuple[int, int]:
        """Sum of c_i^2 and number of records N_t of the class with the smallest g-balance.

        Integers, so that g >= g* can be checked without rounding.
        """
        if self.counted is not None:
            return self.counted.balance
        where, summary = self.g_balance.where, self.own_classes()
        at = where.equivalence_class - 1 if where is not None else 0
        return int(summary.squares[at]), int(summary.records[at])

    @property
    def positions(self) -> dict[str, Any]:
        """Where each extreme lies, by the names of `to_json`; empty where a cluster measured."""
        if self.ran is not None:
            return {}
        measures = (
            self.g_balance,
            self.max_gidr,
            self.prosecutor,
            self.journalist,
            self.max_count_risk,
        )
        places: dict[str, Any] = {"k": _place(self.k_where), "pid_k": _place(self.pid_k_where)}
        places["count_k"] = _place(self.count_k_where)
        places |= {measure.name: _place(measure.where) for measure in measures}
        if self.household is not None:
            for one in (self.household.max_household_risk, self.household.max_composition_risk):
                places[one.name] = _place(one.where)
        if self.sensitive:
            places |= {
                "h_affiliation": self._each(lambda risk: _place(risk.h_affiliation.where)),
                "max_gsar": self._each(lambda risk: _place(risk.max_gsar.where)),
                "l_distinct": self._each(lambda risk: _place(risk.l_distinct_where)),
                "l_entropy": self._each(lambda risk: _place(risk.l_entropy.where)),
                "t_closeness": self._each(lambda risk: _place(risk.t_closeness.where)),
            }
        return places

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON, under the names of the command line's contract.

        Measures of a sensitive attribute are plain numbers where there is one, objects by
        column where there are several, and left out where there is none; a bound that no
        finite c meets is ``None``.
        """
        out = fields_of(self, "records persons classes k pid_k")
        out |= _plain(self.g_balance, self.max_gidr, self.avg_gidr)
        if self.sensitive:
            out |= {
                "h_affiliation": self._each(lambda risk: risk.h_affiliation.to_json()),
                "max_gsar": self._each(lambda risk: risk.max_gsar.to_json()),
                "avg_gsar": self._each(lambda risk: risk.avg_gsar.to_json()),
                "l_distinct": self._each(lambda risk: risk.l_distinct),
                "l_entropy": self._each(lambda risk: risk.l_entropy.to_json()),
                **self._recursive(),
                "t_closeness": self._each(lambda risk: risk.t_closeness.to_json()),
            }
        if any(risk.t_closeness_ordered for risk in self.sensitive.values()):
            out["t_closeness_ordered"] = self._each(
                lambda risk: risk.t_closeness_ordered and risk.t_closeness_ordered.to_json()
            )
        out |= _plain(self.prosecutor, self.journalist, self.marketer)
        out |= _plain(self.average_risk, self.records_at_risk)
        out["count_k"] = self.count_k
        out |= _plain(self.exposed_persons, self.max_count_risk, self.avg_count_risk)
        if self.household is not None:
            out |= _fields(self.household)
        if self.special_uniques is not None:
            out["special_uniques"] = self.special_uniques.to_json()
        if self.presence is not None:
            out |= _fields(self.presence)
        if self.population is not None:
            out |= self.population.to_json()
        if self.known_events is not None:
            out |= self.known_events.to_json()
        if self.held:
            out["thresholds"] = [each.to_json() for each in self.held]
        records = self.by_records
        places = {"positions": self.positions} if self.ran is None else {"ran": self.ran.to_json()}
        if self.preparation:
            out["recipe"] = [step.to_json() for step in self.preparation]
        if self.verdict is not None:
            out["verdict"] = self.verdict.to_json()
        if self.columns:
            out["columns"] = [column.to_json() for column in self.columns]
        return out | {
            "threshold": self.threshold,
            "sample_uniques": self.sample_uniques,
            "sample_unique_records": self.sample_unique_records,
            "by_records": {
                name: getattr(records, name).to_json() for name in records.__dataclass_fields__
            },
            **places,
            "warnings": list(self.warnings),
        }

    def _each(self, read: Callable[[SensitiveRisk], Any]) -> Any:
        """What ``read`` gives: alone with one sensitive attribute, by column with several."""
        values = {name: read(risk) for name, risk in self.sensitive.items()}
        return next(iter(values.values())) if len(values) == 1 else values

    def _recursive(self) -> dict[str, Any]:
        """Recursive diversity for each l that it was measured for."""
        measured = next(iter(self.sensitive.values())).recursive

        def at(l: int) -> Callable[[SensitiveRisk], Any]:  # noqa: E741
            return lambda risk: _finite(risk.recursive[l])

        return {f"recursive_{l}": self._each(at(l)) for l in measured}  # noqa: E741

    def rows(self) -> list[measure_table.Row]:
        """The lines of a table: name, printed value, meaning, place."""
        lines = _whole_rows(self)
        if self.known_events is not None:
            lines += self.known_events.rows()
        if self.household is not None:
            lines += self.household.rows()
        if self.special_uniques is not None:
            lines += self.special_uniques.rows()
        if self.presence is not None:
            lines += self.presence.rows()
        if self.population is not None:
            known = {line.name for line in lines}
            lines += [line for line in self.population.rows() if line.name not in known]
        return lines + [
            line for name, attribute in self.sensitive.items() for line in attribute.rows(name)
        ]

    def __repr__(self) -> str:
        head = ("records", "persons", "classes", "k", "pid_k")
        parts = [f"{name}={getattr(self, name)}" for name in head]
        parts += [
            f"{measure.name}={measure.value:.4g}"
            for measure in (self.g_balance, self.max_gidr, self.prosecutor, self.marketer)
        ]
        if self.sensitive:
            worst = max(self.sensitive, key=lambda name: self.sensitive[name].h_affiliation.value)
            share = self.sensitive[worst].h_affiliation.value
            parts.append(f"h_affiliation[{worst}]={share:.4g}")
        return f"Risk({self._worst} {', '.join(parts)})"

    @property
    def _worst(self) -> str:
        """What the worst intruder finds; the stranger where no other was measured."""
        if self.verdict is not None:
            return self.verdict.worst
        found, most = (measure_table.share(each) for each in (self.marketer, self.prosecutor))
        return f"A stranger finds {found} of {counted(self.persons, 'person')}, one with {most}."

    @property
    def _title(self) -> str:
        return "Disclosure risk" if self.ran is None else f"Disclosure risk, on {self.ran}"

    def __str__(self) -> str:
        tables = [measure_table.text(*table) for table in self._tables()]
        rows = [] if self.verdict is None else [str(self.verdict)]
        return "\n\n".join([*wrapped(self._worst), *tables, *rows])

    def _repr_html_(self) -> str:
        """One table and one picture."""
        _, *others = self._tables()
        return "".join(
            (
                lead(self._worst),
                notebook_view.measures_table(self._title, {"value": self.rows()}),
                notebook_view.class_sizes_picture({"file": self.shape}),
                notes(self.warnings),
                *(measure_table.html(*other) for other in others),
            )
        )

    def _tables(self) -> Iterator[tuple[str, list[measure_table.Row], tuple[str, ...]]]:
        """Title, lines and warnings of each table."""
        yield self._title, self.rows(), self.warnings
        if self.held:
            yield "Thresholds", [each.row() for each in self.held], ()
        if self.columns:
            yield "Columns: people found with each, and without it", column_rows(self.columns), ()
        if self.preparation:
            steps = [
                measure_table.Row(step.column, step.cells, step.what) for step in self.preparation
            ]
            yield "Recipe: cells changed before they were measured", steps, ()


def column_rows(columns: Sequence[ColumnFigures]) -> list[measure_table.Row]:
    """A line for each column: who is found with it, and what it tells best."""
    lines = []
    for column in columns:
        found = "–"
        if column.found is not None and column.without is not None:
            found = f"{percentage(column.found)}, {percentage(column.without)}"
        told = [f"{percentage(share)} of {name}" for name, share in most_told(column)]
        alone = [] if column.alone is None else [f"{percentage(column.alone)} alone in their class"]
        if column.role != "order" and column.person is not None:
            alone.append(f"{percentage(column.person)} in a class of 20")
        words = "; ".join([", ".join(alone), f"tells {', '.join(told)}" if told else ""])
        words = column.leak if column.role == "together" and column.leak else words.strip("; ")
        lines.append(measure_table.Row(column.column, found, words))
    return lines


LEAST_TOLD = 0.01
"""Share that a column tells of another from which that is worth a word."""


def most_told(figures: ColumnFigures) -> list[tuple[str, float]]:
    """The columns that another one tells at least 1 % of, and the share, the best told first."""
    told = {**figures.tells, **figures.sensitive}.items()
    return sorted((each for each in told if each[1] >= LEAST_TOLD), key=lambda each: -each[1])


def _place(where: Position | None) -> dict[str, int] | None:
    if where is None:
        return None
    return {"row": where.row, "equivalence_class": where.equivalence_class}


def _plain(*measures: Measure) -> dict[str, Any]:
    return {measure.name: measure.to_json() for measure in measures}


def _fields(group: Any) -> dict[str, Any]:
    """The plain values of a group of counts and measures."""
    values = {name: getattr(group, name) for name in group.__dataclass_fields__}
    return {
        name: value.to_json() if isinstance(value, Measure) else value
        for name, value in values.items()
    }


def _finite(measure: Measure) -> Any:
    return measure.to_json() if isfinite(measure.value) else None


def _whole_rows(risk: Risk) -> list[measure_table.Row]:
    counts = ("records", "persons", "classes")
    shares = ("max_gidr", "avg_gidr", "prosecutor", "journalist", "marketer", "average_risk")
    at_risk = measure_table.Row(
        "records_at_risk",
        measure_table.share(risk.records_at_risk),
        f"{MEANINGS['records_at_risk']} of {risk.threshold:g}",
    )
    return [
        *(row(name, measure_table.count(getattr(risk, name))) for name in counts),
        row("k", measure_table.count(risk.k), risk.k_where),
        row("pid_k", measure_table.count(risk.pid_k), risk.pid_k_where),
        row("g_balance", measure_table.number(risk.g_balance), risk.g_balance.where),
        *(
            row(
                name,
                measure_table.interval(getattr(risk, name), measure_table.share),
                getattr(risk, name).where,
                own_population=risk.population is None,
            )
            for name in shares
        ),
        at_risk,
        row("sample_uniques", measure_table.count(risk.sample_uniques)),
        row("sample_unique_records", measure_table.count(risk.sample_unique_records)),
        row("count_k", measure_table.count(risk.count_k), risk.count_k_where),
        *(
            row(name, measure_table.share(getattr(risk, name)), getattr(risk, name).where)
            for name in ("exposed_persons", "max_count_risk", "avg_count_risk")
        ),
    ]
