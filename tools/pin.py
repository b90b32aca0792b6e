"""Pin what commands give: digests of their outputs, to be compared after a change of the code.

Usage: pin.py record FILE [--only WORD]
       pin.py compare FILE [--only WORD]

Every command runs in a private folder with a fixed seed and a fixed secret, on generated data and
on the shared data that SFUMATO_DATA names; so do the demo, and a worker's click. Dates, times,
versions and paths are no part of a digest. Small inputs and large ones are used, so that every
algorithm whose choice depends on the size is run.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("SFUMATO_DATA", ROOT.parent / "shared" / "data"))
PROGRAM = """
from sfumato.core import secret_keys
secret_keys._fresh = lambda: b"one secret for all that is pinned"
from sfumato.cli.start import main
main()
"""
SFUMATO = (sys.executable, "-c", PROGRAM)
CLICK = r"""
import re
from server.booted import booted
from server.clinic import Browser, stored
booted()
project, worker = stored()
browser = Browser(worker, project)
said = browser.get().content.decode() + browser.open(browser.tokens()[0], [0], 2).content.decode()
for number, drawn in enumerate([str(project.id), *browser.tokens()]):
    said = said.replace(drawn, f"DRAWN {number}")
print(re.sub(r'(csrf[^"]*" value=.?")[^"]+"', r"\1", said))
"""
"""A worker opens one value of a pair, on a server of its own."""
SMALL, MIDDLE, LARGE, HUGE = 1_000, 6_000, 60_000, 2_100_000
"""Numbers of records: from single threads and tables of one cache to all of them."""
WORDS = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*(Z|[+-]\d\d:\d\d)?", "TIME"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d", "TIME"),
        (r"\b20[2-9]\d-\d\d-\d\d\b", "DATE"),
        (r"\d+\.\d+\.\d+(\.dev\d+)?(\+g[0-9a-f.d]+)?", "VERSION"),
        (r"\"(numba|llvmlite|numpy|cython)\": \"[^\"]*\",?\s*", ""),
        (r"(?m)^(numba|llvmlite|numpy|cython) ?=? .*\n", ""),
        (r"\d+(\.\d+)? (CPU )?(seconds?|s|minutes?|ms)\b", "TIME"),
        (r"\"(seconds|took|cpu|wall|made|generated|created|elapsed)\": [^,}]*", r'"\1": TIME'),
        (r"(?m)^(seconds|took|cpu|wall|made|created) = .*$", r"\1 = TIME"),
        (r"\"(report\.(html|json))\" = \"[0-9a-f]{64}\"", r"\1 = DIGEST"),
        (r"(Head: \d+):[0-9a-f]{64}", r"\1:DIGEST"),
    )
)
"""What no digest depends on, and what stands in its place."""
LONG_NUMBER = re.compile(r"\d+\.\d{9,}(e-?\d+)?")
"""Numbers of more digits than count, in a picture's path too: NumPy's own sums depend on where
memory lies."""
ADULT = """\
insensitive = ["race", "native-country"]
sensitive = ["salary-class", "occupation"]

[quasi_identifiers.age]
kind = "numeric"
hierarchy = "adult_hierarchy_age.csv"

[quasi_identifiers.sex]
kind = "categorical"

[quasi_identifiers.education]
kind = "categorical"
hierarchy = "adult_hierarchy_education.csv"

[quasi_identifiers.marital-status]
kind = "categorical"
hierarchy = "adult_hierarchy_marital-status.csv"

[quasi_identifiers.workclass]
kind = "categorical"
hierarchy = "adult_hierarchy_workclass.csv"
"""
PROMISES = ("--g-balance", "0.8", "--h-affiliation", "0.5")
NUMBERED = ("--ordered-distance", "charge")


@dataclass(frozen=True)
class Case:
    """Some commands that run one after the other in a folder of their own.

    Attributes
    ----------
    name
        What it pins.
    commands
        Words of each command; the first may be ``python`` for what undoes chance and ``program``
        for one of Python's, else it is sfumato's.
    copies
        Folders of made data that are copied into the folder first.
    """

    name: str
    commands: tuple[tuple[str, ...], ...]
    copies: tuple[str, ...] = ("visits",)
    surroundings: dict[str, str] = field(default_factory=dict)


def _release(name: str, *words: str, size: str = "middle") -> Case:
    asked = ("anonymize", f"{size}.csv", "--schema", f"{size}.toml", "--seed", "7", *words)
    return Case(f"anonymize {name}", ((*asked, "--output", "out.csv", "--json"),))


def _adult(name: str, *words: str) -> Case:
    asked = ("anonymize", "adult.csv", "--schema", "adult.toml", "--seed", "7", *words)
    return Case(f"adult {name}", ((*asked, "--output", "out.csv", "--json"),), ("adult",))


def cases() -> list[Case]:
    """Everything that is pinned, what takes longest first."""
    clinics = (
        "hospital=patients_hospital.csv",
        "practice=patients_practice.csv",
        "--id",
        "patient",
    )
    middle = ("middle.csv", "--schema", "middle.toml")
    key = ("--key-file", "linkage.key")
    again = ("--seed", "3")
    request = ("anonymize", "linked.csv", "--schema", "schema.toml", "--request", "diabetes")
    local = ("--local", "Hospital A=hospital.csv")
    book = ("--ledger", "book/ledger.sqlite", "--keys", "keys")
    return [
        Case("assess huge", (("assess", "huge.parquet", "--schema", "huge.toml", "--json"),),
             ("huge",)),
        _release("search large", *PROMISES, size="large"),
        _release("median large", *PROMISES, "--cut", "median", size="large"),
        _release("t-closeness large", "--k", "5", "--t-closeness", "0.4", size="large"),
        _release("t-closeness ordered large", "--k", "5", "--t-closeness", "0.3",
                 "--distance", "ordered", "--cut", "median", size="numbered"),
        _release("shared counts large", "--pid-k", "4", "--shared-counts", "2", "--suppress", "0.1",
                 size="large"),
        _release("marketer large", "--pid-k", "3", "--marketer", "0.2", size="large"),
        Case("assess large", (("assess", "large.csv", "--schema", "large.toml"),
                              ("assess", "large.csv", "--schema", "large.toml", "--json",
                               "--record-risks", "risks.csv", "--population", "500000", *again))),
        Case("tune", (("tune", *middle, "--threshold", "max_gidr=0.5", "--trials", "4", *again,
                       "--json"),)),
        Case("link", (("link", *clinics, "--output", "linked", *again),
                      ("review", "simulate", "linked", "--truth", "truth.csv", "--json"),
                      ("assess", "linked/linked.parquet", "--schema", "linked/linked.toml")),
             ("clinics",)),
        Case("link dedupe", (("link", *clinics, "--dedupe", "--output", "linked", "--json", *again),
                             ("anonymize", "linked/linked.parquet", "--schema",
                              "linked/linked.toml", "--k", "3", "--unclassified", "drop",
                              "--output", "release.csv", *again)), ("clinics",)),
        Case("link encoded", (
            ("link", "key", "linkage.key"),
            ("python", "KEY"),
            ("link", "encode", "patients_hospital.csv", "--id", "patient", *key, "--output",
             "first.encoded"),
            ("python", "SALT"),
            ("link", "encode", "patients_hospital.csv", "--id", "patient", *key, "--spec",
             "hospital.encoded.toml", "--output", "hospital.encoded"),
            ("link", "encode", "patients_practice.csv", "--id", "patient", *key, "--spec",
             "hospital.encoded.toml", "--output", "practice.encoded"),
            ("python", "ORDER"),
            ("link", "hospital.encoded", "practice.encoded", "--one-per-source", "--output",
             "linked", *again),
        ), ("clinics",)),
        *[_release(f"values {form}", *PROMISES, "--values", form)
          for form in ("range", "bounds", "mean", "set")],
        _release("median", *PROMISES, "--cut", "median"),
        _release("split variance", *PROMISES, "--split", "variance"),
        _release("split range", "--k", "3", "--split", "range"),
        _release("coarsened by dropping", "--pid-k", "3", "--shared-counts", "3",
                 "--coarsen-counts", "drop"),
        _release("coarsened by splitting", "--pid-k", "3", "--shared-counts", "3",
                 "--coarsen-counts", "split"),
        _release("shared counts", "--pid-k", "3", "--shared-counts", "2", "--suppress", "0.1"),
        _release("capped and suppressed", *PROMISES, "--cap-records", "6", "--suppress", "0.05"),
        _release("t-closeness", "--pid-k", "3", "--t-closeness", "0.3"),
        _release("t-closeness ordered", "--pid-k", "3", "--t-closeness", "0.25", "--distance",
                 "ordered", size="numbers"),
        _release("marketer", "--k", "2", "--marketer", "0.1"),
        _release("preset", "--pid-k", "11", "--preset", "cms"),
        _release("keyed", "--k", "5", "--l", "3", "--pseudonym-key", "pseudonyms.key"),
        _release("small", "--k", "5", size="small"),
        _adult("hierarchy", "--k", "10", "--values", "hierarchy"),
        _adult("full domain", "--k", "10", "--recoding", "full-domain", "--suppress", "0.02"),
        _adult("search", "--k", "10", "--l", "2"),
        _adult("t-closeness", "--k", "5", "--t-closeness", "0.3"),
        _adult("register", "--k", "3", "--register", "adult.csv", "--marketer", "0.05"),
        _adult("population", "--marketer", "0.05", "--population", "300000"),
        Case("attack", (
            ("anonymize", *middle, *PROMISES, "--seed", "7", "--output", "out.csv", "--report",
             "out.html"),
            ("attack", "out.csv", "--original", "middle.csv", "--schema", "middle.toml",
             "--same-order", "--json", *again),
            ("attack", "out.csv", "--original", "middle.csv", "--schema", "middle.toml", *again),
        )),
        Case("assess small", (("assess", "small.csv", "--schema", "small.toml"),
                              ("assess", "small.csv", "--schema", "small.toml", "--json",
                               "--special-uniques", *again, "--report", "risk.html"))),
        Case("assess numbers", (("assess", "numbers.csv", "--schema", "numbers.toml", "--json",
                                 *NUMBERED, "--preset", "cms"),)),
        Case("population", tuple(
            ("assess", "adult.csv", "--schema", "adult.toml", "--population", "200000",
             "--estimator", name, "--json", *again)
            for name in ("auto", "log-linear", "argus", "negative-binomial")
        ), ("adult",)),
        Case("request and ledger", (
            (*request, *local, *book, "--policy", "one.toml", "--output", "one.csv", *again),
            (*request, *local, "--policy", "two.toml", "--output", "book/two.csv", "--json",
             *again),
            ("ledger", "verify", *book),
        ), ("request",)),
        Case("demo", (("demo", "--output", "demo"),), ()),
        Case("click", (("program", CLICK),), ()),
        Case("guess", (("schema", "guess", "middle.csv"), ("init", "--json-schema"),
                       ("presets",))),
    ]  # fmt: skip


def make_data(folder: Path) -> None:
    """Write the inputs of all cases, a folder of them each."""
    sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests")]
    import numpy as np
    import pyarrow as pa
    from semantics.requests import write_example  # type: ignore[import-not-found]
    from visits import visits

    from sfumato.examples import generate_clinics, generate_registrations, write_registrations
    from sfumato.schema import dump_schema

    for name in ("visits", "huge", "clinics", "adult", "request"):
        (folder / name).mkdir()
    for name, size in (("small", SMALL), ("middle", MIDDLE), ("large", LARGE), ("huge", HUGE)):
        data, schema = visits(size)
        place = folder / ("huge" if name == "huge" else "visits")
        if name == "huge":
            pq.write_table(data, place / "huge.parquet")
        else:
            pa_csv.write_csv(data, place / f"{name}.csv")
        (place / f"{name}.toml").write_text(dump_schema(schema), encoding="utf-8")
    for name, size in (("numbers", MIDDLE), ("numbered", LARGE)):
        data, schema = visits(size)
        charge = np.random.default_rng(5).geometric(0.02, size)
        data = data.drop_columns("icd9").append_column("charge", pa.array(charge))
        pa_csv.write_csv(data, folder / "visits" / f"{name}.csv")
        changed = schema.model_copy(update={"sensitive": ("charge",)})
        (folder / "visits" / f"{name}.toml").write_text(dump_schema(changed), encoding="utf-8")
    (folder / "visits" / "pseudonyms.key").write_text("5a" * 32 + "\n", encoding="utf-8")
    (folder / "visits" / "pseudonyms.key").chmod(0o600)
    write_registrations(generate_registrations(generate_clinics(900, rng=2)), folder / "clinics")
    for file in (DATA / "adult").glob("*.csv"):
        shutil.copy(file, folder / "adult")
    (folder / "adult" / "adult.toml").write_text(ADULT, encoding="utf-8")
    (folder / "request" / "book").mkdir()
    write_example(folder / "request")


def run(case: Case, data: Path) -> dict[str, str]:
    """Digests of what a case prints and writes, by command and file."""
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="sfumato-pin-") as private:
        folder = Path(private)
        for copied in case.copies:
            shutil.copytree(data / copied, folder, dirs_exist_ok=True)
        given = {path: _content(path) for path in sorted(folder.rglob("*")) if path.is_file()}
        for number, words in enumerate(case.commands):
            if words[0] == "python":
                _without_chance(folder, words[1])
                if words[1] == "SALT":
                    del found[f"{case.name} / {number - 1} out"]
                continue
            surroundings = {
                **os.environ, "COLUMNS": "120", "HOME": private,
                "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", **case.surroundings,
            }  # fmt: skip
            started = (sys.executable, "-c") if words[0] == "program" else (*SFUMATO, words[0])
            done = subprocess.run(  # noqa: S603
                (*started, *words[1:]),
                cwd=folder,
                env=surroundings,
                capture_output=True,
                check=False,
            )
            for stream, said in (("out", done.stdout), ("err", done.stderr)):
                found[f"{case.name} / {number} {stream}"] = _digest(_plain(said, folder))
            found[f"{case.name} / {number} code"] = str(done.returncode)
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path not in given:
                name = f"{case.name} / {path.relative_to(folder).as_posix()}"
                found[name] = _digest(_plain(_content(path), folder))
                if place := os.environ.get("SFUMATO_PIN_KEEP"):
                    kept = Path(place, re.sub(r"\W+", "_", name))
                    kept.write_bytes(_plain(_content(path), folder))
    return found


def _without_chance(folder: Path, what: str) -> None:
    """Undo what commands drew: a linkage's key, its salt, the order of encoded records."""
    if what == "ORDER":
        for encoded in folder.glob("*.encoded"):
            pq.write_table(pq.read_table(encoded).sort_by("id"), encoded)
        return
    name = {"KEY": "linkage.key", "SALT": "first.encoded.toml"}[what]
    text = (folder / name).read_text(encoding="utf-8")
    length = {"KEY": 64, "SALT": 32}[what]
    text = re.sub(rf"\b[0-9a-f]{{{length}}}\b", "5a" * (length // 2), text)
    if what == "KEY":
        (folder / name).write_text(text, encoding="utf-8")
        return
    (folder / "hospital.encoded.toml").write_text(text, encoding="utf-8")
    for made in folder.glob("first.encoded*"):
        made.unlink()


def _content(path: Path) -> bytes:
    """What a file holds; of a Parquet file its table, whatever wrote it."""
    if path.suffix in {".parquet", ".encoded"}:
        table = pq.read_table(path)
        return repr((table.schema.remove_metadata(), table.to_pydict())).encode()
    if path.suffix in {".sqlite", ".key", ".pdf"} or path.name == ".lock":
        return b""
    return path.read_bytes()


def _plain(said: bytes, folder: Path) -> bytes:
    """The same without what differs from run to run."""
    text = said.decode("utf-8", errors="replace").replace(str(folder), "FOLDER")
    for pattern, instead in WORDS:
        text = pattern.sub(instead, text)
    return LONG_NUMBER.sub(lambda found: f"{float(found.group()):.11g}", text).encode()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:24]


def pinned(only: str = "") -> dict[str, str]:
    """Digests of everything, or of the cases whose name has a word."""
    with tempfile.TemporaryDirectory(prefix="sfumato-pin-data-") as private:
        data = Path(private)
        make_data(data)
        chosen = [case for case in cases() if only in case.name]
        with ThreadPoolExecutor(2) as pool:
            parts = list(pool.map(lambda case: run(case, data), chosen))
    return {name: digest for part in parts for name, digest in part.items()}


def main(words: list[str]) -> int:
    """Record digests in a file, or compare with it: 0 if nothing differs."""
    action, file = words[0], Path(words[1])
    only = words[3] if len(words) > 3 else ""
    found = pinned(only)
    if action == "record":
        file.write_text(json.dumps(found, indent=1, sort_keys=True), encoding="utf-8")
        print(f"{len(found)} digests")
        return 0
    kept = {
        name: digest
        for name, digest in json.loads(file.read_text(encoding="utf-8")).items()
        if only in name.split(" / ")[0]
    }
    differing = sorted(
        name for name in kept.keys() | found.keys() if kept.get(name) != found.get(name)
    )
    for name in differing:
        print(f"differs: {name}")
    print(f"{len(differing)} of {len(kept)} digests differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
