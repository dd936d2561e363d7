"""Input and result types of the runners."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

OUTPUT_MAX_BYTES = 256 * 1024


class RunnerMissing(Exception):
    """The machine lacks something that the runner needs. The text names it."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program and its limits. `files` maps relative paths to contents."""

    command: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    stdin: bytes = b""
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: int = 30
    memory_mb: int = 256
    egress: bool = False
    output_max_bytes: int = OUTPUT_MAX_BYTES


@dataclass(slots=True)
class Output:
    """A program's output so far; each stream is truncated at its limit."""

    max_bytes: int
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    truncated: bool = False

    def take(self, name: str, data: bytes) -> None:
        """Store what fits, and record whether output was truncated."""
        stream: bytearray = getattr(self, name)
        room = self.max_bytes - len(stream)
        stream += data[:room]
        self.truncated = self.truncated or len(data) > room


class Ending(StrEnum):
    """How a program ended."""

    EXITED = "exited"
    TIMED_OUT = "timed_out"
    STOPPED = "stopped"
    BEYOND_LIMIT = "beyond_limit"
    NOT_STARTED = "not_started"
    WORKER_LOST = "worker_lost"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A program's end. `exit_code` is None unless the program ended by itself. `reason` is shown to its owner."""

    ending: Ending
    exit_code: int | None = None
    reason: str = ""


Tick = Callable[[Output], bool]
"""Called about once a second while a program runs, with its output so far. Returning False stops it."""
