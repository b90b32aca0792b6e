"""What a user of Splink writes for records that are standardised: FOLDER THRESHOLD NAME NAME."""

from __future__ import annotations

import json
import logging
import sys
import tomllib
from pathlib import Path

import duckdb
from splink import Linker
from splink.backends.duckdb import DuckDBAPI

from sfumato.linkage.comparison_levels import settings_from
from sfumato.linkage.link_model import first_prior
from sfumato.linkage.link_spec import LinkSpec
from sfumato.linkage.model_fit import LOWEST, TRAINING_PAIRS

SESSIONS = 2
"""Blocking rules that m is estimated from: as many as Splink's tutorial takes."""


def main() -> None:
    """Estimate u, then m, predict, and cluster."""
    folder, threshold, names = Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    fields = tomllib.loads((folder / "spec.toml").read_text(encoding="utf-8"))
    noted = json.loads((folder / "noted.json").read_text(encoding="utf-8"))
    connection = duckdb.connect()
    for name in names:
        path = folder / f"{name}_standardised.parquet"
        connection.execute(f"CREATE TABLE {name} AS FROM read_parquet('{path}')")
    api = DuckDBAPI(connection)
    frames = [api.register(name, dataset_display_name=name) for name in names]
    counts = [connection.table(name).shape[0] for name in names]
    settings = settings_from(LinkSpec(**fields))
    settings["probability_two_random_records_match"] = first_prior(counts[0] * counts[1], counts)
    logging.getLogger("splink").setLevel(logging.ERROR)
    linker = Linker(frames, settings)
    linker.training.estimate_u_using_random_sampling(
        max_pairs=noted["u"]["random_pairs"], seed=noted["u"]["seed"]
    )
    for rule in settings["blocking_rules_to_generate_predictions"][:SESSIONS]:
        linker.training.estimate_parameters_using_expectation_maximisation(
            rule["blocking_rule"], max_pairs=TRAINING_PAIRS, estimate_without_term_frequencies=True
        )
    predicted = linker.inference.predict(threshold_match_weight=LOWEST)
    linker.clustering.cluster_pairwise_predictions_at_threshold(
        predicted, threshold_match_probability=threshold
    )


if __name__ == "__main__":
    main()
