"""What the program asks of its own process leaves alone what the user has set."""

from __future__ import annotations

import ctypes
import sys

import pytest

from sfumato.cli import own_process


@pytest.fixture
def told(monkeypatch):
    """What the C library is told, whatever it is."""
    calls = []

    class Library:
        def mallopt(self, *call):
            calls.append(call)

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", lambda _: Library())
    for name in [name for name in own_process.os.environ if name.startswith("MALLOC_")]:
        monkeypatch.delenv(name)
    return calls


def test_freed_memory_is_kept(told):
    own_process.keep_memory()
    assert (own_process.M_MMAP_MAX, 0) in told


def test_what_the_user_says_of_memory_stays(told, monkeypatch):
    monkeypatch.setenv("MALLOC_ARENA_MAX", "4")
    own_process.keep_memory()
    assert not told


def test_other_c_libraries_are_left_alone(told, monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    own_process.keep_memory()
    assert not told


def test_what_the_user_says_of_threads_stays(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    monkeypatch.setenv("PYDANTIC_DISABLE_PLUGINS", "one")
    own_process.settle()
    assert own_process.os.environ["OPENBLAS_NUM_THREADS"] == "3"
    assert own_process.os.environ["PYDANTIC_DISABLE_PLUGINS"] == "one"
