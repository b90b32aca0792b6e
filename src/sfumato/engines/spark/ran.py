"""What ran where, without the name or address of a machine."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Ran:
    """What a result was computed on.

    Attributes
    ----------
    engine
        The engine.
    version
        Its version.
    master
        The kind of its cluster: ``local[2]``, ``local-cluster``, ``spark``, ``yarn``, ``k8s``,
        ``connect``, or ``other``.
    executors
        Number of executors when the work began, the driver itself on one machine.
    cores
        Tasks that ran at once.
    partitions
        Partitions of the encoded file.
    """

    engine: Literal["spark"]
    version: str
    master: str
    executors: int
    cores: int
    partitions: int

    def to_json(self) -> dict[str, Any]:
        """The fields by their names."""
        return asdict(self)

    def __str__(self) -> str:
        executors = "1 executor" if self.executors == 1 else f"{self.executors:,} executors"
        cores = "1 core" if self.cores == 1 else f"{self.cores:,} cores"
        parts = "1 partition" if self.partitions == 1 else f"{self.partitions:,} partitions"
        return f"Spark {self.version} ({self.master}), {executors}, {cores}, {parts}"
