"""The register that a repeated release was counted in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.release.release_manifest import Manifest


def check_register(manifest: Manifest, register: Path | None) -> None:
    """Refuse another register than the one that a manifest was made with.

    Raises
    ------
    InputError
        If one is missing, too much, or not the same.
    """
    from sfumato.release.release_manifest import file_sha256

    if bool(manifest.register_sha256) != (register is not None):
        raise InputError(
            "option --repeat",
            "must count the same population",
            found=f"a manifest {'without' if register else 'with'} a register",
            advice=f"{'leave out' if register else 'give'} --register",
        )
    if register is None or not register.is_file():
        return
    if manifest.register_sha256 != file_sha256(register):
        raise InputError(
            "option --register",
            "must be what the manifest of --repeat was made from",
            found="another content",
            advice="release the file anew",
        )
