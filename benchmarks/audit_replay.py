"""How long the check of the audit log takes: entries of clicks, in a database that agrees."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from sfumato.core.chain import START, Head, detail_text, keyed, next_row
from sfumato.server.boot import boot
from sfumato.server.config import ServerConfig

AT_ONCE = 5_000
"""Entries that are written in one statement."""


def fill(entries: int) -> None:
    """Write a log in which one entry of two opens cells and the other decides a pair."""
    from django.conf import settings
    from django.db import transaction

    from sfumato.server.audit_log import FIELDS
    from sfumato.server.stated_rows import rows_of, stated
    from sfumato.server.store.models import (
        Account,
        Allowance,
        AuditEntry,
        Dealt,
        DecisionEvent,
        Project,
        StoredPair,
    )

    sign = keyed(settings.SFUMATO_KEYS.chaining)
    last, batch = Head(0, START), []

    def add(action: str, *rows: object) -> None:
        nonlocal last
        detail = detail_text({"cost": 0.001, "rows": rows_of(rows)})  # type: ignore[arg-type]
        row = next_row(last, ("w0123abcd", action, "project 1f0c/pair x8JqabcdEFGH", detail), sign)
        last = Head(row[0], row[-2])
        batch.append(AuditEntry(**dict(zip(FIELDS, row, strict=True))))
        if len(batch) == AT_ONCE:
            AuditEntry.objects.bulk_create(batch)
            batch.clear()

    with transaction.atomic():
        worker = Account.objects.make("w", None, ["worker"])
        project = Project.objects.create(
            title="t", custodian=worker, manager=worker, attributes=[], settings={},
            fingerprint="f", wrapped_key=b"k",
        )  # fmt: skip
        pairs = StoredPair.objects.bulk_create(
            StoredPair(project=project, number=number) for number in range(entries // 2)
        )
        allowance = Allowance.objects.create(project=project, worker=worker)
        add("state", stated(worker), stated(project), stated(allowance))
        for at in range(0, len(pairs), AT_ONCE):
            dealt = Dealt.objects.bulk_create(
                Dealt(project=project, worker=worker, pair=pair, place=at + step)
                for step, pair in enumerate(pairs[at : at + AT_ONCE])
            )
            add("deal", *map(stated, dealt))
            events = []
            for each in dealt:
                each.modes, each.answer = "01201", 1
                allowance.units, allowance.version = allowance.units + 3, allowance.version + 1
                add("open", stated(each, "modes", "shown"), stated(allowance, "units", "version"))
                events.append(DecisionEvent(dealt=each, kind="decided", answer=1))
            Dealt.objects.bulk_update(dealt, ["modes", "answer"], 500)
            for each, event in zip(dealt, DecisionEvent.objects.bulk_create(events), strict=True):
                add("decided", stated(each, "answer"), stated(event))
        allowance.save()
        AuditEntry.objects.bulk_create(batch)


def main() -> None:
    """Fill a log, check it, print the seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=1_000_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        boot(ServerConfig(Path(name) / "data", Path(name) / "keys"))
        from sfumato.server.audit_log import verify

        fill(given.entries)
        begun, wall = time.process_time(), time.perf_counter()
        verdict = verify()
        seconds, elapsed = time.process_time() - begun, time.perf_counter() - wall
        others = [each for each in verdict.differences if not each.startswith("pair ")]
        print(f"{verdict.entries:,} entries: {seconds:.1f} s of CPU, {elapsed:.1f} s; {others[:3]}")


if __name__ == "__main__":
    main()
