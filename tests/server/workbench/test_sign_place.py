"""The place Sign: what is posted is held against what was shown, and a key goes by its print."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode

import pytest
from server.workbench.conftest import project
from server.workbench.workbenches import Workbench, workbench

from sfumato.core.number_text import share_text
from sfumato.core.signatures import check_signature, new_key
from sfumato.pipeline.acceptances import accepting, write_edit
from sfumato.pipeline.project_folder import RELEASE, open_project
from sfumato.pipeline.run import run, status_of
from sfumato.pipeline.stage import MEASURED, read_object
from sfumato.server.workbench.jobs import REQUEST, Jobs


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    """A workbench with a project that was run, of a person with two keys."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    file = project(tmp_path / "project", 30)
    text = re.sub(r"\n\[attack\].*?(?=\n\[|\n#|\Z)", "\n", file.read_text(), flags=re.DOTALL)
    text = text.replace("promise_limits = true", "pid_k = 2")
    file.write_text(text.replace('["csv"]', '["csv"]\nreport = "json"'))
    run(open_project(file))
    with workbench(tmp_path, [file]) as made:
        yield made


def posted(bench: Workbench, cookie: str, **fields: str) -> str:
    """What the page says once a decision was posted."""
    given = {"by": "officer (Anna)", "because": "contract 17", "decision": "refuse", **fields}
    status, _, _ = bench.ask("/sign/decide", "POST", urlencode(given), cookie=cookie)
    assert status == 302
    return bench.ask("/sign", cookie=cookie)[2].decode()


def test_what_is_signed_is_what_was_shown_by_the_key_that_was(
    bench: Workbench, tmp_path: Path
) -> None:
    keys = tmp_path / "config" / "sfumato" / "signing-keys"
    wanted = new_key(keys / "mine")
    cookie = bench.enter()
    shown = bench.ask("/sign", cookie=cookie)[2].decode()
    record = re.search(r'name="record" value="([0-9a-f]{64})"', shown)
    assert record is not None
    assert f'value="{wanted}"' in shown
    # Each figure of the strip says what kind it is.
    figures = re.findall(r"<dd>(.*?)</dd>", shown)[:5]
    kinds = [re.findall(r"<small>(counted|estimate)</small>", each) for each in figures]
    assert [len(each) for each in kinds[2:]] == [1, 1, 1]
    assert all(kind or "–" in each for kind, each in zip(kinds, figures, strict=True))
    place = open_project(tmp_path / "project" / "sfumato.toml")
    measured = read_object(place.of_stage(RELEASE) / MEASURED)
    assert measured is not None
    # Pseudonyms are of people, too: the quasi-identifiers alone lose another share.
    assert measured["detail_lost"] != measured["utility"]["ncp"]
    assert share_text(measured["detail_lost"]) in figures[4]
    new_key(keys / "another")  # comes before it in the list
    signature = tmp_path / "project" / "output" / "signature.json"
    for field in ("", "0" * 64):
        assert "since the page was shown" in posted(bench, cookie, key=wanted, record=field)
        assert not signature.exists()
    assert "must be chosen" in posted(bench, cookie, key="0", record=record[1])
    posted(bench, cookie, key=wanted, record=record[1])
    assert check_signature(signature).signer == wanted


def test_a_row_above_its_limit_is_accepted_as_on_the_command_line(
    bench: Workbench, tmp_path: Path
) -> None:
    file, copy = tmp_path / "project" / "sfumato.toml", tmp_path / "copy" / "sfumato.toml"
    shutil.copytree(file.parent, copy.parent)
    cookie = bench.enter()
    shown = bench.ask("/sign", cookie=cookie)[2].decode()
    rows = re.findall(r'name="row" value="([^"]+)"', shown)
    verdict = status_of(open_project(copy)).verdict
    assert verdict is not None
    assert rows == [row.name for row in verdict.rows if row.stops]
    on_release = bench.ask("/release", cookie=cookie)[2].decode()
    assert re.findall(r'name="row" value="([^"]+)"', on_release) == rows
    said = {"by": "officer (Anna)", "because": "contract 17"}
    until = datetime.now(UTC).date() + timedelta(days=30)
    write_edit(
        open_project(copy), accepting(open_project(copy), verdict, rows[0], **said, until=until)
    )
    expected = re.search(r'name="expected" value="([0-9a-f]+)"', shown)
    assert expected is not None
    record = re.search(r'name="record" value="([0-9a-f]{64})"', shown)
    assert record is not None
    form = {**said, "row": rows[0], "until": f"{until}", "expected": expected[1]}
    form |= {"record": record[1], "here": "release"}
    # Nobody answers for figures that were not shown.
    others = ({"record": ""}, {"record": "0" * 64})
    for wrong in ({"because": " "}, {"until": ""}, {"row": "neighbour"}, *others):
        headers = bench.ask("/sign/accept", "POST", urlencode(form | wrong), cookie=cookie)[1]
        assert headers["Location"] == "/release"
        assert open_project(file).project.accept.by_row == {}
    bench.ask("/sign/accept", "POST", urlencode(form), cookie=cookie)
    assert open_project(file).project == open_project(copy).project
    assert "# a comment of mine" in file.read_text()
    after = bench.ask("/sign", cookie=cookie)[2].decode()
    assert rows[0] not in re.findall(r'name="row" value="([^"]+)"', after)
    # A run that was killed goes on, though the project file is another one by now.
    job = Jobs(file).folder / "1"
    job.mkdir(parents=True)
    asked = {"kind": "run", "revision": "before", "arguments": {"until": "nowhere"}}
    (job / REQUEST).write_text(json.dumps(asked | {"file": str(file)}))
    bench.ask("/jobs/1/resume", "POST", cookie=cookie)
    shown = bench.ask("/sign", cookie=cookie)[2].decode()
    assert "It goes on." in shown
