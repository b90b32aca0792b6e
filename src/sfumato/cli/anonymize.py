"""``sfumato anonymize``: release a file that keeps what was asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sfumato.cli.options.constraints import (
    Distance,
    DistanceWord,
    GBalance,
    HAffiliation,
    K,
    L,
    Marketer,
    PidK,
    SharedCounts,
    TCloseness,
    constraints_of,
    with_presets,
)
from sfumato.cli.options.output import (
    KeepOrder,
    Output,
    PseudonymKey,
    check_other_release,
    check_output,
    check_output_on_spark,
    key_of,
    manifest_beside,
)
from sfumato.cli.options.presence import PresenceHigh, PresenceLow, check_register, presence_of
from sfumato.cli.options.presets import Presets, ThresholdsFile, chosen_presets
from sfumato.cli.options.recoding import (
    Cut,
    Recoding,
    RecodingWord,
    Split,
    SplitWord,
    Values,
    ValuesWord,
)
from sfumato.cli.options.repeat import Repeat, check_same, manifest_of
from sfumato.cli.options.requested import (
    AssociationConfidence,
    AssociationSupport,
    KeysOption,
    LedgerOption,
    LocalFiles,
    PolicyFile,
    RequestName,
    SiteRules,
    is_requested,
)
from sfumato.cli.options.suppression import (
    CapRecords,
    CoarsenCounts,
    Suppress,
    Unclassified,
    UnclassifiedWord,
)
from sfumato.cli.output import print_json, progress_bar, say, warn
from sfumato.cli.parameters import (
    DataOrUri,
    Delimiter,
    Engine,
    Json,
    Report,
    SchemaFile,
    Seed,
    Threshold,
)
from sfumato.cli.population import Population, Register
from sfumato.cli.process import keep_memory
from sfumato.cli.requested import Options, release_requested
from sfumato.core.atomic import all_or_none
from sfumato.core.measure import verdict

if TYPE_CHECKING:
    from sfumato.release.result import Release


def anonymize(
    context: typer.Context,
    data: DataOrUri,
    schema: SchemaFile,
    output: Output,
    g_balance: GBalance = None,
    h_affiliation: HAffiliation = None,
    k: K = None,
    pid_k: PidK = None,
    l: L = None,  # noqa: E741
    marketer: Marketer = None,
    shared_counts: SharedCounts = None,
    t_closeness: TCloseness = None,
    distance: Distance = DistanceWord.EQUAL,
    presence_low: PresenceLow = None,
    presence_high: PresenceHigh = None,
    register: Register = None,
    population: Population = None,
    policy: PolicyFile = None,
    request: RequestName = None,
    local: LocalFiles = None,
    ledger: LedgerOption = None,
    keys: KeysOption = None,
    site_rules: SiteRules = None,
    association_support: AssociationSupport = 0.01,
    association_confidence: AssociationConfidence = 0.9,
    preset: Presets = None,
    thresholds: ThresholdsFile = None,
    repeat: Repeat = None,
    cut: Cut = None,
    split: Split = SplitWord.BALANCE,
    recoding: Recoding = RecodingWord.LOCAL,
    values: Values = ValuesWord.RANGE,
    cap_records: CapRecords = None,
    coarsen_counts: CoarsenCounts = None,
    suppress: Suppress = 0.0,
    unclassified: Unclassified = UnclassifiedWord.REFUSE,
    keep_order: KeepOrder = False,
    pseudonym_key: PseudonymKey = None,
    seed: Seed = None,
    threshold: Threshold = 0.2,
    report: Report = None,
    delimiter: Delimiter = None,
    engine: Engine = None,
    json: Json = False,
) -> None:
    """Release a file whose every equivalence class keeps the promises asked for.

    With --policy: linked data, as a policy's rules allow it for a request.

    Exit codes: 0 released and met, 1 bad input, 2 the promises cannot be met.
    """
    keep_memory()
    if is_requested(context, policy) and policy is not None:
        release_requested(
            Options(
                data=Path(data),
                schema=schema,
                output=Path(output),
                report=report,
                pseudonym_key=pseudonym_key,
                policy=policy,
                request=request,
                local=local,
                site_rules=site_rules,
                ledger=ledger,
                keys=keys,
                support=association_support,
                confidence=association_confidence,
                seed=seed,
                keep_order=keep_order,
                json=json,
            )
        )
        return
    from sfumato.engines.choose import takes_spark
    from sfumato.release.anonymize import anonymize as release_file
    from sfumato.release.promises import held_against
    from sfumato.schema import load_schema

    presets = chosen_presets(preset, thresholds)
    declared = load_schema(schema)
    earlier = None if repeat is None else manifest_of(context, repeat, pseudonym_key)
    engine = engine if earlier is None else earlier.engine
    key = key_of(pseudonym_key, (data, schema, register, thresholds))
    inputs = (Path(data), schema, pseudonym_key, register)
    if takes_spark(data, engine):
        check_output_on_spark(output, declared, inputs)
    else:
        check_output(Path(output), declared, inputs, earlier, anew=seed is None)
    if report is not None:
        from sfumato.reports import check_report_path

        check_report_path(report)
    if earlier is not None:
        check_same(earlier, Path(data), declared)
        check_register(earlier, register)
        promises = earlier.constraints
        making = earlier.options.to_dict() | {"seed": earlier.seed}
        population = earlier.population
    else:
        promises = constraints_of(
            {
                "g_balance": g_balance,
                "h_affiliation": h_affiliation,
                "k": k,
                "pid_k": pid_k,
                "l": l,
                "marketer": marketer,
                "shared_counts": shared_counts,
                "t_closeness": t_closeness,
            },
            distance,
        )
        promises += presence_of(presence_low, presence_high)
        promises = with_presets(promises, presets, threshold)
        making = {
            "cut": cut,
            "split": split,
            "recoding": recoding,
            "values": values,
            "keep_order": keep_order,
            "cap_records": cap_records,
            "coarsen_counts": coarsen_counts,
            "suppress": suppress,
            "threshold": threshold,
            "unclassified": unclassified,
            "seed": seed,
        }
        if seed is not None and not takes_spark(data, engine):
            check_other_release(
                Path(output),
                Path(data),
                declared,
                promises,
                making,
                keyed=key is not None,
                register=register,
                population=population,
            )
    with progress_bar() as progress:
        release = release_file(
            data,
            declared,
            *promises,
            **making,
            register=register,
            population=population,
            pseudonym_key=key,
            delimiter=delimiter,
            engine=engine,
            progress=progress,
        )
    with all_or_none():
        release = held_against(release.write(output), presets)
        if report is not None:
            from sfumato.reports import report as write_report

            write_report(release, report)
    _hand_over(release, output, report, json=json)


def _hand_over(release: Release, output: str, report: Path | None, *, json: bool) -> None:
    """Print what was found, say where everything is."""
    if json:
        warn(release.warnings)
        print_json(release.to_json())
    else:
        typer.echo(_summary(release))
    say(f"Release:  {output}\nManifest: {manifest_beside(output)} (keep it inside)")
    if report is not None:
        say(f"Report:   {report}")


def _summary(release: Release) -> str:
    lines = [str(release.risk), "", str(release.utility), "", "Promises"]
    if release.population is not None:
        lines[2:2] = [str(release.population), ""]
    for constraint in release.constraints:
        stated = ", ".join(f"{name} = {value}" for name, value in constraint.parameters().items())
        said = verdict(True, release.manifest.promised(constraint))
        lines.append(f"  {constraint.name} ({stated}): {said}")
    return "\n".join(lines)
