"""What a runner gets and what comes of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

OUTPUT_MAX_BYTES = 256 * 1024


class RunnerMissing(Exception):
    """The machine lacks what the runner needs; the text says what."""


@dataclass(frozen=True, slots=True)
class Program:
    """One program and its bounds. `files` are contents by relative paths."""

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
    """What a program has written so far, each stream up to its bound."""

    max_bytes: int
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    truncated: bool = False

    def take(self, name: str, data: bytes) -> None:
        """Keep what fits, and note that something did not."""
        stream: bytearray = getattr(self, name)
        room = self.max_bytes - len(stream)
        stream += data[:room]
        self.truncated = self.truncated or len(data) > room


class Ending(StrEnum):
    """How a program came to its end."""

    EXITED = "exited"
    TIMED_OUT = "timed_out"
    STOPPED = "stopped"
    BEYOND_LIMIT = "beyond_limit"
    NOT_STARTED = "not_started"
    WORKER_LOST = "worker_lost"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end; `exit_code` is None unless the program ended by itself, `reason` is for its owner."""

    ending: Ending
    exit_code: int | None = None
    reason: str = ""


Tick = Callable[[Output], bool]
"""Called about once a second while a program runs, with what it has written; False stops it."""
