"""A server for the tests of this folder; each of them finds it empty."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from server.booted import booted, emptied

from sfumato.review import reviewer_agreement
from sfumato.server.config import ServerConfig

FEW = 50
"""Samples for the interval of a statistic; how good intervals are is looked at elsewhere."""
# Playwright runs an event loop in the thread of the tests; Django takes that for asynchronous code.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"


@pytest.fixture(scope="session")
def server() -> ServerConfig:
    """How the server of this process is set up."""
    reviewer_agreement.RESAMPLES = FEW
    return booted()


@pytest.fixture(autouse=True)
def _empty(server: ServerConfig) -> Iterator[None]:
    emptied()
    yield
    from django.db import connections

    connections.close_all()
