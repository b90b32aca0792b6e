"""Train a model on the records and score their candidate pairs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.core.optional_packages import needed, quiet
from sfumato.core.shared_options import Progress, silent
from sfumato.linkage.model.blocked import (
    WHOLE_UP_TO,
    RulePairs,
    check_pairs,
    comparisons,
    expect_pairs,
    lost_matches,
)
from sfumato.linkage.model.engine import Database, Engine, OnDuckDB, connect, database_of
from sfumato.linkage.model.plausible import check_plausible
from sfumato.linkage.model.prior import Adjusted, distinct_patterns, first_prior, fit_prior
from sfumato.linkage.model.refit import refit_m, weight_change
from sfumato.linkage.model.saved import (
    Model,
    equal_u,
    is_trained,
    level_weights,
    with_levels,
)
from sfumato.linkage.model.score import scores
from sfumato.linkage.model.sessions import Session, sessions_of_columns, sessions_of_rules
from sfumato.linkage.model.settings import settings_from
from sfumato.linkage.model.tables import make_tables
from sfumato.linkage.model.train import MANY_RECORDS, RANDOM_PAIRS, steadied, train_m, train_u
from sfumato.linkage.sources.open import Opened
from sfumato.linkage.spec.settings import columns_by_comparison, columns_in, rules_in
from sfumato.linkage.values import Floats, Pairs

if TYPE_CHECKING:
    import duckdb

LOWEST = -14.0
"""Match weight, under the prior to start from, below which a pair is a non-match and not kept."""
LIKELY = 0.5
"""Score from which a pair counts in what blocking may have lost."""

_PRIOR = "probability_two_random_records_match"
_RULES = "blocking_rules_to_generate_predictions"


def fit_and_score(
    opened: Opened,
    *,
    model: Model | None = None,
    engine: Engine = Engine.DUCKDB,
    progress: Progress = silent,
) -> tuple[Pairs, Model]:
    """Train a model and score all candidate pairs, but for those that score next to nothing.

    Parameters
    ----------
    opened
        The tables, open and separated. Only their identifying halves are read.
    model
        A model trained before: its m and u are taken, its prior is found anew for these records.
    engine
        Where candidate pairs are made, compared and scored. Values are standardised, and the
        model and what blocking has lost are estimated, by DuckDB on this machine in either case.
    progress
        Told how far the work is, stage by stage.

    Returns
    -------
    tuple
        The pairs, by (left, right), and the model that scored them.

    Raises
    ------
    InputError
        If ``[link]``, or ``[spark]`` for Spark, is not installed, there are more candidate pairs
        than the specification allows, or none, the model compares columns that the sources do
        not have, or takes records of different persons for one person's.
    SfumatoError
        If Splink or its database fails.
    """
    folder = opened.workspace.path
    with closing(connect(folder)) as connection:
        progress("standardise", 0.0)
        standardised = make_tables(connection, opened)
        with database_of(engine, connection, folder) as database:
            work = _Work(database, connection, opened, standardised.tables, model)
            pairs, fitted = work.run(progress)
    check_plausible(pairs, fitted.weights, opened.records, opened.spec)
    impossible = dict(standardised.impossible)
    return pairs, replace(fitted, impossible=impossible, engine=engine.value)


class _Work:
    """The way from standardised tables to pairs, in one database."""

    def __init__(
        self,
        database: Database,
        connection: duckdb.DuckDBPyConnection,
        opened: Opened,
        tables: Sequence[str],
        model: Model | None,
    ) -> None:
        self.database, self.connection = database, connection
        self.opened, self.tables = opened, tables
        with quiet("take the records"):
            self.frames = self.frames_here = database.register(tables)
            if not isinstance(database, OnDuckDB):
                self.frames_here = OnDuckDB(connection).register(tables)
        self.settings = settings_from(opened.spec)
        if model is not None:
            self.settings = {**self.settings, **_trained_part(model.settings)}
            self._check_columns()
        self.rules = rules_in(self.settings)
        self.trained = is_trained(self.settings) and (
            model is not None or opened.spec.splink is not None
        )
        self.keep_prior = opened.spec.splink is not None and self.trained and model is None
        self.comparisons = comparisons(self.settings, opened.records)
        if not self.keep_prior:
            sizes = [len(ids) for ids in opened.records.ids]
            self.settings[_PRIOR] = first_prior(self.comparisons, sizes)

    def run(self, progress: Progress) -> tuple[Pairs, Model]:
        """Count, block, train, score."""
        spec, records = self.opened.spec, self.opened.records
        progress("block", 0.0)
        expected = expect_pairs(self.frames_here, self.settings, records.count, self.rules)
        check_pairs(expected, spec.max_pairs, about=records.count > WHOLE_UP_TO)
        linker = self._linker()
        self._name_comparisons(linker)
        counted = self._block(linker)
        check_pairs(counted, spec.max_pairs, about=False)
        progress("estimate", 0.0)
        notes = list(self.database.notes)
        if not self.trained:
            self._train(counted, notes)
            linker = self._linker()
        progress("score", 0.0)
        pairs, evidence = self._predict(linker)
        adjusted, lost = self._adjust(pairs, evidence)
        progress("score", 1.0)
        model = Model(
            {
                **with_levels(
                    self.settings, {key: {"u_probability": u} for key, u in adjusted.u.items()}
                ),
                _PRIOR: adjusted.prior,
            },
            tuple(counted),
            self.comparisons,
            lost,
            notes=tuple(notes),
        )
        return replace(pairs, score=scores(adjusted.weight)), model

    def _check_columns(self) -> None:
        """Refuse a model that compares columns which are not there."""
        used = set().union(*columns_by_comparison(self.settings).values())
        with quiet("look at the records"):
            there = set(self.connection.table(self.tables[0]).columns)
        missing = sorted(used - there)
        if missing:
            raise InputError(
                "the model",
                "must compare columns of the specification",
                found=f"others: {', '.join(missing)}",
            )

    def _linker(self) -> Any:
        """Splink with the settings, where pairs are made and scored."""
        return _linker(self.frames, self.database.settings(self.settings))

    def _name_comparisons(self, linker: Any) -> None:
        """Give comparisons that have no name the one that Splink gives them."""
        with quiet("read the settings"):
            named = linker.misc.save_model_to_json()["comparisons"]
        self.settings["comparisons"] = [
            {**own, "output_column_name": name["output_column_name"]}
            for own, name in zip(self.settings["comparisons"], named, strict=True)
        ]

    def _block(self, linker: Any) -> list[RulePairs]:
        """Make the candidate pairs, which Splink keeps for scoring, and count them by rule."""
        with quiet("make the candidate pairs"):
            blocked = linker.inference.compute_blocked_pairs_for_predict()
            rule, count = self.database.columns(
                "SELECT CAST(match_key AS INTEGER) AS rule, count(*) AS pairs FROM "
                f"{blocked.physical_name} GROUP BY 1"
            ).values()
        number = dict(zip(rule.tolist(), count.tolist(), strict=True))
        return [RulePairs(rule, number.get(i, 0)) for i, rule in enumerate(self.rules)]

    def _train(self, counted: list[RulePairs], notes: list[str]) -> None:
        """Estimate u, then m, with DuckDB, so that no other engine draws other pairs."""
        spec, linker = self.opened.spec, _linker(self.frames_here, self.settings)
        columns = columns_by_comparison(self.settings)
        many = self.opened.records.count > MANY_RECORDS
        random_pairs = max(1, min(RANDOM_PAIRS * (5 if many else 1), self.comparisons))
        train_u(linker, seed=spec.seed, random_pairs=random_pairs)
        with quiet("read the model"):
            u = equal_u(linker.misc.save_model_to_json())
        rules = {rule: columns_in(rule, sided=False) for rule in self.rules}
        sessions = sessions_of_rules(counted, columns, rules)
        if spec.splink is None:
            sessions = (
                sessions_of_columns(
                    self.connection, self.tables, spec.mode, columns, u, self.comparisons
                )
                or sessions
            )
        done = train_m(linker, sessions)
        notes += _notes(columns, done)
        with quiet("read the model"):
            trained = linker.misc.save_model_to_json()
        self.settings = {
            **steadied(trained, self.settings, done, random_pairs),
            **{key: self.settings[key] for key in (_PRIOR, _RULES)},
            "sql_dialect": "duckdb",
        }

    def _predict(self, linker: Any) -> tuple[Pairs, Floats]:
        """The pairs, their scores still open, and their match weights without the prior."""
        names = [each["output_column_name"] for each in self.settings["comparisons"]]
        with quiet("score the candidate pairs"):
            predicted = linker.inference.predict(
                threshold_match_weight=LOWEST, warning_mode="never"
            )
            levels = ", ".join(
                f'CAST("gamma_{name}" AS TINYINT) AS "level_{i}"' for i, name in enumerate(names)
            )
            left, right, weight, block, *gammas = self.database.columns(
                "SELECT least(unique_id_l, unique_id_r) AS pair_l, "
                "greatest(unique_id_l, unique_id_r) AS pair_r, match_weight, "
                f"CAST(match_key AS SMALLINT) AS rule, {levels} "
                f"FROM {predicted.physical_name} ORDER BY 1, 2"
            ).values()
            predicted.drop_table_from_database_and_remove_from_cache()
        prior = self.settings[_PRIOR]
        evidence: npt.NDArray[np.float64] = weight - np.log2(prior / (1 - prior))
        pairs = Pairs(
            left=left.astype(np.int64),
            right=right.astype(np.int64),
            score=np.empty(len(left)),
            levels={n: g.astype(np.int8) for n, g in zip(names, gammas, strict=True)},
            block=block.astype(np.int16),
        )
        return pairs, evidence

    def _adjust(self, pairs: Pairs, evidence: Floats) -> tuple[Adjusted, float]:
        """The prior that fits, and how many matches blocking has lost under it."""
        weights = tuple(level_weights(self.settings))
        if self.keep_prior:
            prior = float(self.settings[_PRIOR])
            u = {(w.comparison, w.level): w.u for w in weights}
            adjusted = Adjusted(prior, evidence + np.log2(prior / (1 - prior)), u)
            return adjusted, self._lost(pairs, adjusted)
        correct_u, lost = not self.trained, 0.0
        patterns, pattern = distinct_patterns(pairs.levels)

        def fit() -> Adjusted:
            return fit_prior(
                *(evidence, patterns, weights, self.comparisons),
                correct_u=correct_u,
                lost=lost,
                pattern=pattern,
            )

        adjusted = fit()
        if not self.trained and self.opened.spec.splink is None and len(pairs):
            odds = np.log2(adjusted.prior / (1 - adjusted.prior))
            refitted = refit_m(
                *(adjusted.weight - odds, pairs.levels, weights, self.comparisons),
                prior=adjusted.prior,
            )
            evidence = evidence + weight_change(patterns, weights, refitted)[pattern]
            m = {(w.comparison, w.level): {"m_probability": w.m} for w in refitted}
            weights, self.settings = refitted, with_levels(self.settings, m)
            adjusted = fit()
        lost = self._lost(pairs, adjusted)
        return fit() if lost else adjusted, lost

    def _lost(self, pairs: Pairs, adjusted: Adjusted) -> float:
        score = scores(adjusted.weight)
        likely = score >= LIKELY
        return lost_matches(
            self.connection,
            self.tables,
            self.rules,
            (pairs.left[likely], pairs.right[likely], score[likely]),
        )


def _linker(frames: Sequence[Any], settings: dict[str, Any]) -> Any:
    with quiet("take the settings"):
        return needed("splink").Linker(frames, settings, log_level=None, validate_settings=False)


def _trained_part(settings: dict[str, Any]) -> dict[str, Any]:
    return {key: settings[key] for key in ("comparisons", _PRIOR) if key in settings}


def _notes(columns: dict[str, frozenset[str]], sessions: Sequence[Session]) -> list[str]:
    """What to say of comparisons that no rule could be trained on."""
    estimated = frozenset[str]().union(*(session.comparisons for session in sessions))
    return [
        f"'{name}': how often true matches agree could not be estimated, because every blocking "
        "rule with enough pairs uses it; a usual value was taken."
        for name in columns
        if name not in estimated
    ]
