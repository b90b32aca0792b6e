"""Load the compiler beside other work."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread


def load_compiler() -> Callable[[], None]:
    """Start to load the compiler in a thread; what is given back waits until it is there.

    It takes as long as reading millions of records does, most of it for modules that the first
    compiled call needs, though all loops are on disk.
    """

    def load() -> None:
        from sfumato.kernels import first_loop

        first_loop.nothing()

    loading = Thread(target=load)
    loading.start()
    return loading.join
