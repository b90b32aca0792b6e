"""Pack a wheel, everything that it needs, and an installer into one archive.

Usage: bundle.py FOLDER [EXTRA,...]

The folder holds the wheel; the archive and its checksum go beside it. The versions are those of
constraints.txt. The archive is for the Python and the kind of machine that make it; with the same
wheels it has the same bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from pathlib import Path

from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

TOOLS = Path(__file__).resolve().parent
CONSTRAINTS = TOOLS.parent / "constraints.txt"
DOWNLOAD = (
    *(sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download"),
    *("--only-binary", ":all:", "--constraint", str(CONSTRAINTS)),
)
INSTALLER = "install.py"


def best_wheel(folder: Path) -> Path:
    """The wheel of a folder that fits this machine, for the oldest C library where there are two.

    Raises
    ------
    SystemExit
        If none fits, or several are of different versions.
    """
    fitting = set(sys_tags())
    found = {path: parse_wheel_filename(path.name) for path in sorted(folder.glob("sfumato-*.whl"))}
    usable = [path for path, (*_, tags) in found.items() if tags & fitting]
    if not usable:
        raise SystemExit(f"{folder} has no wheel for this machine; run: make dist")
    if len({found[path][1] for path in usable}) > 1:
        raise SystemExit(f"{folder} has wheels of several versions; run: make dist")
    # What was built for any Linux runs on older ones than what was built here.
    return max(usable, key=lambda path: "manylinux" in path.name)


def requirement(path: Path, extras: str) -> str:
    """A line of pip's that takes this very wheel and no other."""
    name, version, *_ = parse_wheel_filename(path.name)
    wanted = f"[{extras}]" if name == "sfumato" and extras else ""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{name}{wanted}=={version} --hash=sha256:{digest}\n"


def packed(name: str, files: dict[str, bytes]) -> bytes:
    """Files as an archive that says nothing of when, where and by whom it was made."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for file, content in sorted(files.items()):
            entry = tarfile.TarInfo(f"{name}/{file}")
            entry.size, entry.mode = len(content), 0o755 if file == INSTALLER else 0o644
            archive.addfile(entry, io.BytesIO(content))
    # Wheels are compressed already.
    return gzip.compress(plain.getvalue(), compresslevel=1, mtime=0)


def bundle(folder: Path, extras: str) -> Path:
    """Make the archive of the folder's wheel with some extras."""
    wheel = best_wheel(folder)
    version = parse_wheel_filename(wheel.name)[1]
    with tempfile.TemporaryDirectory(prefix="sfumato-bundle-") as place:
        wanted = f"{wheel}[{extras}]" if extras else str(wheel)
        subprocess.run((*DOWNLOAD, "--dest", place, wanted), check=True)  # noqa: S603
        wheels = sorted(Path(place).glob("*.whl"))
        files = {f"wheels/{path.name}": path.read_bytes() for path in wheels}
        lines = "".join(requirement(path, extras) for path in wheels)
    files["requirements.txt"] = lines.encode()
    files[INSTALLER] = (TOOLS / "bundle_installer.py").read_bytes()
    machine = sysconfig.get_platform().replace("-", "_")
    files["made_for.txt"] = f"{sys.version_info[0]}.{sys.version_info[1]} {machine}\n".encode()
    parts = ["sfumato", str(version), f"py{sys.version_info[0]}{sys.version_info[1]}", machine]
    name = "-".join([*parts, *(extras.split(",") if extras else ["core"])])
    made = folder / f"{name}.tar.gz"
    made.write_bytes(packed(name, files))
    digest = hashlib.sha256(made.read_bytes()).hexdigest()
    made.with_name(f"{made.name}.sha256").write_text(f"{digest}  {made.name}\n", encoding="utf-8")
    return made


def main(words: list[str]) -> int:
    """Make it, and say how large it is."""
    own = subprocess.check_output((sys.executable, TOOLS / "version.py"), text=True).strip()  # noqa: S603
    folder = Path(words[0]).resolve()
    if str(parse_wheel_filename(best_wheel(folder).name)[1]) != own:
        raise SystemExit(f"the wheel is of another version than {own}; run: make dist")
    made = bundle(folder, words[1] if len(words) > 1 else "")
    print(f"{made.name}: {made.stat().st_size / 1e6:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
