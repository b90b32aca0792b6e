"""How the model of a linkage is fitted: blocking, training, and once more where it must."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sfumato.core.arrays import Floats
from sfumato.core.declaration import Progress, silent
from sfumato.core.errors import InputError
from sfumato.core.optional_packages import needed, quiet
from sfumato.linkage import link_model
from sfumato.linkage.candidate_pairs import (
    WHOLE_UP_TO,
    RulePairs,
    Session,
    check_pairs,
    comparisons,
    expect_pairs,
    lost_matches,
    make_tables,
    rules_on_columns,
    sessions_of_columns,
    sessions_of_rules,
)
from sfumato.linkage.chance_agreement import chance_agreement
from sfumato.linkage.comparison_levels import settings_from
from sfumato.linkage.link_engine import Database, Engine, OnDuckDB, connect, database_of
from sfumato.linkage.link_sources import Opened
from sfumato.linkage.link_spec import columns_by_comparison, columns_in, rules_in
from sfumato.linkage.match_probability import fit_relations
from sfumato.linkage.match_thresholds import Pairs
from sfumato.linkage.pair_patterns import CandidatePairs
from sfumato.linkage.pair_relations import tells_persons

if TYPE_CHECKING:
    import duckdb


RANDOM_PAIRS, RANDOM_PAIRS_OF_A_RECORD = 1_000_000, 200
"""Random pairs from which u is estimated, five times as many of more than 100,000 records. Where
equal values are counted among all pairs, so many for each record are enough, if they are fewer: a
level that is as rare among all pairs as matches are is seen a hundred times."""
MANY_RECORDS = 100_000
TRAINING_PAIRS = 1e6
"""Pairs of one blocking rule from which m is estimated, at most."""
# Splink starts a query for each part, and stops early once every level was seen often enough.
_AT_ONCE = 100_000
"""So many random pairs are looked at in one part: to begin a part takes longer than they do."""
_CHUNKS = 10
"""Parts that more random pairs are looked at in."""
# A choice, the same as `_GUESS` of the relations and `_USUAL` of chance agreement.
BELIEF = 20.0
"""Pairs that the first guess of m and u counts for, beside those that were seen."""
LEAST = 1e-7
"""The least u of a level."""


def train_u(linker: Any, *, seed: int, random_pairs: int) -> None:
    """Estimate u from random pairs.

    Parameters
    ----------
    random_pairs
        Number of random pairs; many are looked at in parts, until each level was seen often
        enough.

    Raises
    ------
    SfumatoError
        If Splink cannot estimate it.
    """
    with quiet("estimate how often random pairs agree"):
        linker.training.estimate_u_using_random_sampling(
            max_pairs=random_pairs, seed=seed, num_chunks=_CHUNKS if random_pairs > _AT_ONCE else 1
        )


_UNKNOWN_COLUMN = ("BinderException", "AnalysisException")
"""What DuckDB and Spark call a column that there is not. Where all pairs of a rule are matches
beyond doubt, their odds are infinite, and Splink writes ``inf`` into its SQL like a column."""


def train_m(linker: Any, sessions: Sequence[Session]) -> list[Session]:
    """Estimate m by expectation maximisation; gives the sessions that came to an end.

    A session that fails leaves Splink's settings without the comparisons that it blocks on:
    those of before are put back.

    Parameters
    ----------
    linker
        Splink's linker, with u.
    sessions
        What to estimate m from.

    Raises
    ------
    SfumatoError
        If Splink cannot estimate it.
    """
    # Splink gives no public way to put settings back after a failed session.
    done, settings = [], linker._settings_obj  # noqa: SLF001
    for session in sessions:
        before = settings.core_model_settings.copy()
        with quiet("estimate how often true matches agree"):
            if _comes_to_an_end(linker, session):
                done.append(session)
            else:
                settings.core_model_settings = before
    return done


def _comes_to_an_end(linker: Any, session: Session) -> bool:
    """Whether m can be estimated from the pairs of a session."""
    # Imported here, as Splink is optional and this module must load without it.
    from splink.internals.exceptions import EMTrainingException, SplinkException

    try:
        linker.training.estimate_parameters_using_expectation_maximisation(
            # Without frequencies, pairs of one pattern are taken together: each round costs
            # patterns, not pairs.
            session.rule,
            max_pairs=TRAINING_PAIRS,
            estimate_without_term_frequencies=True,
        )
    # Splink raises these where a rule's pairs teach nothing: other rules may do better.
    except (EMTrainingException, ValueError, ZeroDivisionError):
        return False
    except SplinkException as error:
        cause = error.__cause__
        if type(cause).__name__ not in _UNKNOWN_COLUMN:
            raise (cause or error) from None  # which `quiet` says without its words
        return False
    return True


def steadied(
    trained: dict[str, Any], first: dict[str, Any], sessions: Sequence[Session], random_pairs: float
) -> dict[str, Any]:
    """Settings whose m and u lean on the first guess where little was seen.

    A level that was never seen, or in a few pairs only, has an estimate of 0 or none, which
    would make one disagreement decide all. Both are averaged with the first guess, which counts
    for 20 pairs: (n · estimate + 20 · guess) / (n + 20), each comparison's to sum 1. The numbers
    are rounded, so that the order in which threads add up does not show. The SQL is that of
    before training.

    Parameters
    ----------
    sessions
        What m was estimated from.
    random_pairs
        Number of pairs that u was estimated from.
    """
    settings = {**trained, "comparisons": []}
    for after, before in zip(trained["comparisons"], first["comparisons"], strict=True):
        # Splink puts the sessions' estimates together; the largest says how much they are worth.
        seen = [s.matches for s in sessions if after["output_column_name"] in s.comparisons]
        guesses = before["comparison_levels"]
        levels = [
            {**level, **{key: guess[key] for key in ("sql_condition",) if key in guess}}
            for level, guess in zip(after["comparison_levels"], guesses, strict=True)
        ]
        free = [i for i, level in enumerate(levels) if _is_estimated(level)]
        for key, count in (
            ("m_probability", max(seen, default=0)),
            ("u_probability", random_pairs),
        ):
            _lean(levels, guesses, free, key, float(count))
        settings["comparisons"].append({**after, "comparison_levels": levels})
    return settings


def _is_estimated(level: dict[str, Any]) -> bool:
    return not level.get("is_null_level") and not level.get("fix_m_probability")


def _lean(
    levels: list[dict[str, Any]],
    guesses: list[dict[str, Any]],
    free: list[int],
    key: str,
    count: float,
) -> None:
    guess = {i: guesses[i].get(key) for i in free}
    estimate = {i: levels[i].get(key) for i in free}
    mixed = {}
    for i in free:
        one, other = estimate[i], guess[i]
        one = float(one) if isinstance(one, (int, float)) else 0.0
        # Settings of a user's own may have no first guess: then the estimate stands alone.
        other = float(other) if isinstance(other, (int, float)) else one
        mixed[i] = max((count * one + BELIEF * other) / (count + BELIEF), LEAST)
    # The floor of `LEAST` may have lifted some levels, so that they have to be made to add up to 1.
    whole = sum(mixed.values())
    for i, value in mixed.items():
        levels[i][key] = float(f"{value / whole:.9g}")


Levels = Mapping[str, npt.NDArray[np.int8]]

MOST_PAIRS = 300_000
"""Candidate pairs that m is estimated from, about; of more every second, third, ... is taken."""
_STEPS = 50
_CLOSE = 1e-5


def refit_m(
    evidence: Floats,
    levels: Levels,
    weights: Sequence[link_model.LevelWeight],
    comparisons: int,
    *,
    prior: float,
    lost: float = 0.0,
) -> tuple[link_model.LevelWeight, ...]:
    """The levels with m as all candidate pairs say it, by expectation maximisation of m and prior.

    A training rule fixes some comparisons and tells its matches by the others. Where values of
    different persons go together, as given names and years of birth do, it takes many of its
    pairs for matches, and m comes to look like u. With all comparisons matches are told apart
    better. The m before counts for 20 pairs; u, and a level that counts neither way, stay.

    Parameters
    ----------
    evidence
        Match weight of each candidate pair without the prior, in bits.
    """
    # Every n-th pair in the order of the records is as good as a random draw, and the same each
    # time.
    step = max(1, len(evidence) // MOST_PAIRS)
    evidence, levels = evidence[::step], {name: level[::step] for name, level in levels.items()}
    fitted = tuple(weights)
    for _ in range(_STEPS):
        # E step: p = logistic(Σ log m/u + log odds of the prior) under the m of the last round.
        odds = np.log2(prior / (1 - prior))
        probability = (
            link_model.scores(evidence + link_model.weight_change(levels, weights, fitted) + odds)
            * step
        )
        matches = float(probability.sum()) + lost
        # M step of the prior: λ = Σ p / all pairs, as in `link_model.fit_prior`.
        prior = float(np.clip(matches / comparisons, 0.01 / comparisons, 0.5))
        before, fitted = fitted, _refitted(weights, levels, probability)
        if max(abs(a.m - b.m) for a, b in zip(before, fitted, strict=True)) < _CLOSE:
            break
    return fitted


def _refitted(
    weights: Sequence[link_model.LevelWeight], levels: Levels, probability: Floats
) -> tuple[link_model.LevelWeight, ...]:
    """The levels with the shares of likely matches that are in them."""
    m: dict[tuple[str, int], float] = {}
    for name, level in levels.items():
        own = [w for w in weights if w.comparison == name and w.m != w.u]
        most = max(w.level for w in weights if w.comparison == name)
        seen = np.bincount(level.astype(np.int64) + 1, probability, most + 2)[1:]
        mixed = {w.level: max(float(seen[w.level]) + BELIEF * w.m, LEAST) for w in own}
        whole = sum(mixed.values())
        m |= {(name, number): max(value / whole, LEAST) for number, value in mixed.items()}
    return tuple(replace(w, m=float(f"{m.get((w.comparison, w.level), w.m):.9g}")) for w in weights)


LOWEST = -14.0
"""Match weight, under the prior to start from, below which a pair is a non-match and not kept."""
LIKELY = 0.5
"""Score from which a pair counts in what blocking may have lost."""

_PRIOR = "probability_two_random_records_match"
_RULES = "blocking_rules_to_generate_predictions"


def fit_and_score(
    opened: Opened,
    *,
    model: link_model.Model | None = None,
    engine: Engine = Engine.DUCKDB,
    progress: Progress = silent,
) -> tuple[Pairs, link_model.Model]:
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

    Raises
    ------
    SfumatoError
        If Splink or its database fails.
    """
    folder = opened.workspace.path
    # One database for all steps, closed on any error: it lies in a folder that is then deleted.
    with closing(connect(folder)) as connection:
        progress("standardise", 0.0)
        standardised = make_tables(connection, opened)
        with database_of(engine, connection, folder) as database:
            work = _Work(database, connection, opened, standardised.tables, model)
            pairs, fitted = work.run(progress)
    once = fitted.once if fitted.by_relations else None
    link_model.check_plausible(pairs, fitted.weights, opened.records, opened.spec, once)
    impossible = dict(standardised.impossible)
    notes = (*fitted.notes, *(
        _DEFAULTS.format(name, count) for name, count in standardised.defaults.items() if count
    ))  # fmt: skip
    return pairs, replace(fitted, impossible=impossible, notes=notes, engine=engine.value)


@dataclass(frozen=True, eq=False)
class _Scored:
    """Scored pairs, and what fits them: levels by comparison and number, sources by name."""

    pairs: Pairs
    prior: float
    lost: float
    levels: Mapping[tuple[str, int], Mapping[str, float]]
    once: tuple[str, ...] = ()
    hidden: float = 0.0


class _Work:
    """The way from standardised tables to pairs, in one database."""

    def __init__(
        self,
        database: Database,
        connection: duckdb.DuckDBPyConnection,
        opened: Opened,
        tables: Sequence[str],
        model: link_model.Model | None,
    ) -> None:
        self.database, self.connection = database, connection
        self.opened, self.tables = opened, tables
        self.frames: list[Any] | None = None
        self.settings = settings_from(opened.spec)
        self.rules = self.blocking = rules_in(self.settings)
        # Rules of a user's own Splink settings are taken as they are written.
        if opened.spec.splink is None:
            self.blocking = rules_on_columns(connection, tables, opened.spec)
        with quiet("take the records"):
            self.frames_here = OnDuckDB(connection).register(tables)
        if model is not None:
            self.settings = {**self.settings, **_trained_part(model.settings)}
            self._check_columns()
        self.trained = link_model.is_trained(self.settings) and (
            model is not None or opened.spec.splink is not None
        )
        # Who gives trained settings of Splink has chosen the prior with them.
        self.keep_prior = opened.spec.splink is not None and self.trained and model is None
        # Relations estimate the numbers of pairs of each kind anew, which would replace a prior to
        # be kept.
        self.by_relations = tells_persons(opened.spec) and not self.keep_prior
        self.comparisons = comparisons(self.settings, opened.records)
        if not self.keep_prior:
            sizes = [len(ids) for ids in opened.records.ids]
            self.settings[_PRIOR] = link_model.first_prior(self.comparisons, sizes)

    def run(self, progress: Progress) -> tuple[Pairs, link_model.Model]:
        """Count, block, train, score."""
        spec, records = self.opened.spec, self.opened.records
        progress("block", 0.0)
        expected = expect_pairs(self.frames_here, self.settings, records.count, self.blocking)
        # Before the pairs are made: too many of them would fill the disk first.
        check_pairs(expected, spec.max_pairs, about=records.count > WHOLE_UP_TO)
        candidates = CandidatePairs(self.database, self.connection, self.tables, records)
        linker = None if self.by_relations else self._linker()
        number = (
            candidates.block(self.blocking, spec.mode) if linker is None else self._block(linker)
        )
        # The rules as they were asked for, not as rewritten for speed: a report names what a user
        # knows.
        counted = tuple(map(RulePairs, self.rules, number))
        # Once more by the exact number, as of many records the first one was only estimated.
        check_pairs(counted, spec.max_pairs, about=False)
        progress("estimate", 0.0)
        notes = list(self.database.notes)
        if not self.trained:
            self._train(counted, notes)
        progress("score", 0.0)
        if linker is None:
            scored = self._by_relations(candidates, notes)
        else:
            # Training has changed the settings, which a linker reads once only.
            scored = self._by_weights(linker if self.trained else self._linker())
        progress("score", 1.0)
        settings = {**link_model.with_levels(self.settings, scored.levels), _PRIOR: scored.prior}
        model = link_model.Model(
            settings, counted, self.comparisons, scored.lost, notes=tuple(notes),
            hidden=scored.hidden, once=scored.once, by_relations=self.by_relations,
        )  # fmt: skip
        return scored.pairs, model

    def _by_relations(self, candidates: CandidatePairs, notes: list[str]) -> _Scored:
        """Pairs scored by what their records share, as relatives, namesakes and persons do."""
        spec, records = self.opened.spec, self.opened.records
        equal = chance_agreement(self.connection, self.tables, spec)
        relation_fit = fit_relations(
            candidates, self.settings, spec, records, equal, known=self.trained
        )
        lost, matches = self._lost(relation_fit.pairs), float(relation_fit.pairs.score.sum())
        if not self.trained and matches < BELIEF:
            notes.append(_FEW_MATCHES)
        # λ = (Σ p + lost) / all pairs, as for weights; nine digits, so that threads do not show.
        prior = float(f"{(matches + lost) / self.comparisons:.9g}")
        if relation_fit.within > max(_FEW_TWICE, _SHARE_TWICE * matches):
            notes.append(_TWICE_WITHIN.format(relation_fit.within))
        notes += [_DECLARED.format(name, pairs) for name, pairs in relation_fit.twice.items()]
        # What a false declaration keeps apart is missed, too.
        hidden = relation_fit.within + sum(relation_fit.twice.values())
        return _Scored(
            relation_fit.pairs, prior, lost + hidden, relation_fit.levels, relation_fit.once, hidden
        )

    def _by_weights(self, linker: Any) -> _Scored:
        """Pairs scored by Splink's match weights, the prior as they say it."""
        pairs, evidence = self._predict(linker)
        adjusted, lost = self._adjust(pairs, evidence)
        levels = {key: {"u_probability": u} for key, u in adjusted.u.items()}
        return _Scored(
            replace(pairs, score=link_model.scores(adjusted.weight)), adjusted.prior, lost, levels
        )

    def _check_columns(self) -> None:
        """Refuse a model that compares columns which are not there."""
        used = set().union(*columns_by_comparison(self.settings).values())
        with quiet("look at the records"):
            columns = set(self.connection.table(self.tables[0]).columns)
        missing = sorted(used - columns)
        if missing:
            raise InputError(
                "the model",
                "must compare columns of the specification",
                found=f"others: {', '.join(missing)}",
            )

    def _linker(self) -> Any:
        """Splink with the settings, where pairs are made and scored."""
        settings = self.settings
        if self.blocking is not self.rules:
            settings = {**settings, _RULES: [{"blocking_rule": rule} for rule in self.blocking]}
        if self.frames is None:
            with quiet("take the records"):
                self.frames = self.database.register(self.tables)
        return _linker(self.frames, self.database.settings(settings))

    def _name_comparisons(self, linker: Any) -> None:
        """Give comparisons that have no name the one that Splink gives them."""
        with quiet("read the settings"):
            named = linker.misc.save_model_to_json()["comparisons"]
        self.settings["comparisons"] = [
            {**own, "output_column_name": name["output_column_name"]}
            for own, name in zip(self.settings["comparisons"], named, strict=True)
        ]

    def _block(self, linker: Any) -> list[int]:
        """Make the candidate pairs, which Splink keeps for scoring, and count them by rule."""
        self._name_comparisons(linker)
        with quiet("make the candidate pairs"):
            blocked = linker.inference.compute_blocked_pairs_for_predict()
            rule, count = self.database.columns(
                "SELECT CAST(match_key AS INTEGER) AS rule, count(*) AS pairs FROM "
                f"{blocked.physical_name} GROUP BY 1"
            ).values()
        number = dict(zip(rule.tolist(), count.tolist(), strict=True))
        return [number.get(i, 0) for i in range(len(self.rules))]

    def _train(self, counted: Sequence[RulePairs], notes: list[str]) -> None:
        """Estimate u, then m, with DuckDB, so that no other engine draws other pairs.

        Relations find m by themselves, and count equal values among all pairs.
        """
        spec, linker = self.opened.spec, _linker(self.frames_here, self.settings)
        records, random_pairs = self.opened.records.count, RANDOM_PAIRS
        if self.by_relations:
            random_pairs = min(RANDOM_PAIRS, RANDOM_PAIRS_OF_A_RECORD * records)
        elif records > MANY_RECORDS:
            # Of many records matches are rarer among all pairs, so that the least u must be seen
            # more finely.
            random_pairs *= 5
        random_pairs = max(1, min(random_pairs, self.comparisons))
        train_u(linker, seed=spec.seed, random_pairs=random_pairs)
        done = [] if self.by_relations else self._train_m(linker, counted, notes)
        with quiet("read the model"):
            trained = linker.misc.save_model_to_json()
        self.settings = {
            **steadied(trained, self.settings, done, random_pairs),
            **{key: self.settings[key] for key in (_PRIOR, _RULES)},
            # DuckDB trains whatever the engine is; `Database.settings` says the dialect of another.
            "sql_dialect": "duckdb",
        }

    def _train_m(
        self, linker: Any, counted: Sequence[RulePairs], notes: list[str]
    ) -> list[Session]:
        """Estimate m from the pairs of rules, or of columns where these tell matches better."""
        spec, columns = self.opened.spec, columns_by_comparison(self.settings)
        with quiet("read the model"):
            u = link_model.equal_u(linker.misc.save_model_to_json())
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
        return done

    def _predict(self, linker: Any) -> tuple[Pairs, Floats]:
        """The pairs, their scores still open, and their match weights without the prior."""
        names = [setting["output_column_name"] for setting in self.settings["comparisons"]]
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
                # Ordered, so that results do not depend on how threads come to an end.
                f"CAST(match_key AS SMALLINT) AS rule, {levels} "
                f"FROM {predicted.physical_name} ORDER BY 1, 2"
            ).values()
            # It is as large as the pairs, which are in memory now.
            predicted.drop_table_from_database_and_remove_from_cache()
        prior = self.settings[_PRIOR]
        # Splink's weight holds the prior that it was given; what fits these pairs is found
        # afterwards.
        evidence: Floats = weight - np.log2(prior / (1 - prior))
        pairs = Pairs(
            left=left.astype(np.int64),
            right=right.astype(np.int64),
            score=np.empty(len(left)),
            levels={n: g.astype(np.int8) for n, g in zip(names, gammas, strict=True)},
            block=block.astype(np.int16),
        )
        return pairs, evidence

    def _adjust(self, pairs: Pairs, evidence: Floats) -> tuple[link_model.Adjusted, float]:
        """The prior that fits, and how many matches blocking has lost under it."""
        weights = tuple(link_model.level_weights(self.settings))
        if self.keep_prior:
            prior = float(self.settings[_PRIOR])
            u = {(w.comparison, w.level): w.u for w in weights}
            adjusted = link_model.Adjusted(prior, evidence + np.log2(prior / (1 - prior)), u)
            return adjusted, self._lost(replace(pairs, score=link_model.scores(adjusted.weight)))
        # A model from a file has its u corrected for matches already.
        correct_u, lost = not self.trained, 0.0
        patterns, pattern = link_model.distinct_patterns(pairs.levels)

        def fit() -> link_model.Adjusted:
            return link_model.fit_prior(
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
            evidence = evidence + link_model.weight_change(patterns, weights, refitted)[pattern]
            m = {(w.comparison, w.level): {"m_probability": w.m} for w in refitted}
            weights, self.settings = refitted, link_model.with_levels(self.settings, m)
            adjusted = fit()
        lost = self._lost(replace(pairs, score=link_model.scores(adjusted.weight)))
        # Matches that blocking lost belong to the prior too: it is one of all pairs of records.
        return fit() if lost else adjusted, lost

    def _lost(self, pairs: Pairs) -> float:
        # What other rules would have found is judged by pairs that are surely matches, as others
        # blur it.
        likely = pairs.score >= LIKELY
        return lost_matches(
            self.connection,
            self.tables,
            self.blocking,
            (pairs.left[likely], pairs.right[likely], pairs.score[likely]),
        )


_FEW_MATCHES = (
    "How often true matches agree could not be estimated, because there are too few of them; usual "
    "values were taken for the most part."
)


_DECLARED = (
    "'{}' is declared to hold each person once. About {:,.0f} pairs of its records seem to be "
    "of one person each, which recall counts as missed. Look at some, and leave it out of "
    "one_per_source, or link with --dedupe."
)
_DEFAULTS = (
    "'{}': {:,} values are dates that far too many people have, as those that stand for an unknown "
    "one; they count as missing."
)
_FEW_TWICE, _SHARE_TWICE = 10, 0.02
_TWICE_WITHIN = (
    "About {:,.0f} pairs of records within one table seem to be of one person each, and nothing "
    "within tables is compared. Link with --dedupe if a table may have a person twice."
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
