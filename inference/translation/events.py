"""Stream events, independent of the wire format: readers return them, writers take them.

`index` counts an answer's function calls from 0.
"""

from dataclasses import dataclass
from typing import Any

from inference.translation.answer import End, Usage
from inference.translation.items import Logprobs


@dataclass(slots=True)
class TextDelta:
    """A piece of the answer's text. Events are not frozen: frozen ones take two to three times as long to create."""

    text: str
    logprobs: Logprobs | None = None


@dataclass(slots=True)
class RefusalDelta:
    """A piece of the model's refusal."""

    text: str


@dataclass(slots=True)
class ReasoningDelta:
    """A piece of the model's reasoning, or of a summary of it."""

    text: str
    is_summary: bool = False


@dataclass(slots=True)
class CallBegun:
    """A call of the function `name` starts; its arguments follow."""

    index: int
    name: str


@dataclass(slots=True)
class ArgumentsDelta:
    """A piece of a call's arguments."""

    index: int
    text: str


@dataclass(slots=True)
class Ended:
    """The answer is complete, or as complete as it will be; its usage may still follow."""

    end: End


@dataclass(slots=True)
class Reported:
    """The upstream's usage; the last of several reports is valid."""

    usage: Usage


@dataclass(slots=True)
class Served:
    """The service tier that the upstream reports, unchecked; the last of several reports is valid."""

    service_tier: Any


@dataclass(slots=True)
class Failed:
    """The upstream failed. `cause` is its own text, only for the log, and `names` are its own names of the error, unchecked."""

    cause: str
    names: tuple[Any, ...] = ()


Event = TextDelta | RefusalDelta | ReasoningDelta | CallBegun | ArgumentsDelta | Ended | Reported | Served | Failed


_DELTAS = frozenset({TextDelta, RefusalDelta, ReasoningDelta, ArgumentsDelta})


def output_bytes(event: Any) -> int:
    """Return the UTF-8 bytes of output that an event carries."""
    kind = type(event)
    if kind in _DELTAS:
        return len(event.text.encode())
    return len(event.name.encode()) if kind is CallBegun else 0
