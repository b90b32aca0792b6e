"""``sfumato demo``: the main job on generated data."""

from sfumato.cli.demo.run import demo

__all__ = ["demo"]
