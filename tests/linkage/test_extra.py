"""The packages of the extra ``[link]``, where one of them is not installed."""

from __future__ import annotations

import sys

import pytest

from sfumato.core.errors import InputError
from sfumato.core.optional_packages import quiet


def test_splink_is_named_where_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "splink", None)
    with pytest.raises(InputError, match=r"\[link\]"), quiet("try"):
        pass
