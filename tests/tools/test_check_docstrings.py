"""The docstring rules find what they are there to find."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "check_docstrings.py"
Check = Callable[[str], list[tuple[int, str]]]


@pytest.fixture(scope="module")
def check_source() -> Check:
    spec = importlib.util.spec_from_file_location("check_docstrings", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.check_source


RAISES = '\n    """Do.\n\n    Raises\n    ------\n    {}\n        If so.\n    """\n'

BROKEN = {
    "a raise": 'def f(): \n    """Do."""\n    raise ValueError',
    "another exception": "def f():" + RAISES.format("KeyError") + "    raise ValueError('x')",
    "through a helper": 'def f():\n    """Do."""\n    _g()\n\ndef _g():\n    raise ValueError',
    "a method's helper": 'class A:\n    """An A."""\n\n    def f(self):\n        """Do."""\n'
    "        self._g()\n\n    def _g(self):\n        raise ValueError",
    "a constructor": 'class A:\n    """An A."""\n\n    def __post_init__(self):\n'
    "        raise ValueError",
    "raised again": 'def f():\n    """Do."""\n    try:\n        g()\n'
    "    except ValueError:\n        raise",
    "made elsewhere": 'def f():\n    """Do."""\n    raise made(1)',
    "parameters in another order": 'def f(a, b):\n    """Do.\n\n    Parameters\n    ----------\n'
    '    b, a\n        Both.\n    """',
    "an entry that only repeats its name": 'def f(a, pair_id):\n    """Do.\n\n'
    '    Parameters\n    ----------\n    pair_id\n        The id of the pair.\n    """',
    "an entry that only repeats its type": 'class A:\n    """An A.\n\n    Attributes\n'
    '    ----------\n    day\n        The date of the day.\n    """\n\n    day: date',
    "a parameter that is gone": 'def f(a):\n    """Do.\n\n    Parameters\n    ----------\n'
    '    a, b\n        Both.\n    """',
    "a field without a word": 'class A:\n    """An A.\n\n    Attributes\n    ----------\n'
    '    a\n        Small.\n    """\n\n    a: int\n    b: int',
}
KEPT = {
    "says so": "def f():" + RAISES.format("ValueError") + "    raise ValueError('x')",
    "catches it": 'def f():\n    """Do."""\n    try:\n        raise ValueError\n'
    "    except ValueError:\n        pass",
    "is private": "def _f():\n    raise ValueError",
    "made by a helper": "def f():"
    + RAISES.format("KeyError")
    + "    raise _g()\n\ndef _g() -> KeyError:\n    return KeyError()",
    "two parameters at once": 'def f(a, *b):\n    """Do.\n\n    Parameters\n    ----------\n'
    '    a, *b\n        Both.\n    """',
    "a parameter left out": 'def f(a, b):\n    """Do.\n\n    Parameters\n    ----------\n'
    '    b\n        Bytes that may be read.\n    """',
    "a field with a word below": 'class A:\n    """An A."""\n\n    a: int\n    """One."""',
}


@pytest.mark.parametrize("source", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_rule_is_found(source: str, check_source: Check) -> None:
    assert len(check_source(source)) == 1


@pytest.mark.parametrize("source", KEPT.values(), ids=KEPT.keys())
def test_a_kept_rule_is_left_alone(source: str, check_source: Check) -> None:
    assert check_source(source) == []


def test_what_is_not_exported_needs_no_section(check_source: Callable[..., list[Any]]) -> None:
    for name in ("a raise", "another exception", "a field without a word"):
        assert check_source(BROKEN[name]) != []
        assert check_source(BROKEN[name], {"g"}) == []
    for name in ("an entry that only repeats its type", "a parameter that is gone"):
        assert check_source(BROKEN[name], {"g"}) != []
