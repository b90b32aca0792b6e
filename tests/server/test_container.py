"""The container recipe, its steps run in namespaces: no root, a root file system read only."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import missing

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "container" / "Containerfile"
ALONE = ("unshare", "--mount", "--net")
PROGRAM = """
set -e
ip link set lo up
mount -t tmpfs -o mode=0755 tmpfs /mnt
mkdir -m 0755 /mnt/data /mnt/keys
{install}
mount -o remount,ro /mnt
mount --bind "$PLACE/data" /mnt/data
mount --bind "$PLACE/keys" /mnt/keys
# Not over /tmp, where the environment itself may be.
mount -t tmpfs -o mode=1777 tmpfs /media
mount -o remount,ro,bind /
as() {{
    # Python may be in a folder of root's: it may be read, and nothing may be written there.
    setpriv --reuid {user} --regid {group} --clear-groups --bounding-set -all,+dac_read_search \
        --inh-caps -all,+dac_read_search --ambient-caps -all,+dac_read_search "$@"
}}
as sh -c 'touch /x || touch /mnt/x || touch "$HOME/x"' 2>/dev/null && exit 3
as {serve} --url https://review.example.org --proxy 127.0.0.1 >/media/said 2>&1 &
server=$!
for second in $(seq 60); do
    if as {health} 2>/dev/null; then
        kill $server
        wait $server || true
        as ls -ln /mnt/data
        exit 0
    fi
    kill -0 $server || break
    sleep 1
done
cat /media/said >&2
exit 4
"""


def instructions() -> list[tuple[str, str]]:
    """The recipe's instructions with their words, in order."""
    text = re.sub(r"^#.*\n", "", RECIPE.read_text("utf-8"), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in lines if line.strip()]


def last(name: str) -> str:
    return [words for each, words in instructions() if each == name][-1]


def command(words: str) -> list[str]:
    """The words of a command in the form that needs no shell."""
    return json.loads(words[words.index("[") :])


def test_the_recipe() -> None:
    user, group = last("USER").split(":")
    assert user.isdigit()
    assert int(user) >= 10_000
    assert user == group
    assert {"ADD"}.isdisjoint(each for each, _ in instructions())
    assert json.loads(last("VOLUME")) == ["/data", "/keys"]
    assert command(last("ENTRYPOINT"))[:2] == ["sfumato", "serve"]
    images = {words.split()[0] for each, words in instructions() if each == "FROM"}
    assert len(images) == 1
    # Nothing is fetched while it is built.
    runs = " ".join(words for each, words in instructions() if each == "RUN")
    assert not re.search(r"apt|pip |curl|wget", runs)


@pytest.mark.slow
def test_its_steps_run_without_root_and_with_a_root_that_is_read_only(tmp_path: Path) -> None:
    """What is installed is this environment; bundles have tests of their own."""
    for program in ("unshare", "setpriv", "ip"):
        if shutil.which(program) is None:
            missing(f"no program {program} here")
    if subprocess.run([*ALONE, "true"], check=False).returncode:
        missing("no namespaces here: unshare --mount --net")
    user, group = last("USER").split(":")
    for name in ("data", "keys"):
        (tmp_path / name).mkdir(mode=0o700)
    settings = dict(word.split("=", 1) for word in last("ENV").split())
    assert settings["SFUMATO_SERVER_DATA"] == "/data"
    assert settings["SFUMATO_SERVER_KEYS"] == "/keys"
    own = Path(sys.executable).parent
    step = command([words for each, words in instructions() if each == "RUN"][-1])
    assert step[-2:] == ["/data", "/keys"]
    install = [*step[:-2], f"{tmp_path}/data", f"{tmp_path}/keys"]
    script = PROGRAM.format(
        install=_line(install),
        serve=_line([str(own / "sfumato"), *command(last("ENTRYPOINT"))[1:]]),
        health=_line([sys.executable, *command(last("HEALTHCHECK"))[1:]]),
        user=user,
        group=group,
    )
    done = subprocess.run(
        [*ALONE, "sh", "-c", script],
        cwd="/",
        env={
            **settings,
            "SFUMATO_SERVER_DATA": "/mnt/data",
            "SFUMATO_SERVER_KEYS": "/mnt/keys",
            "PLACE": str(tmp_path),
            "TMPDIR": "/media",
            "HOME": "/nonexistent",
            # An editable installation looks whether to build its loops again: without a log.
            "MESONPY_EDITABLE_VERBOSE": "1",
            "PATH": f"{own}{os.pathsep}{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f" {user} {group} " in done.stdout


def _line(words: list[str]) -> str:
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
