"""What happens in a stream, in no form's words: a reader gives these, a writer takes them.

`index` counts an answer's function calls from 0.
"""

from dataclasses import dataclass
from typing import Any

from inference.translation.answer import End
from inference.translation.items import Logprobs
from inference.translation.usage import Usage


@dataclass(slots=True)
class TextDelta:
    """Some more of the answer's text. Events are not frozen: a frozen one takes two to three times as long to make."""

    text: str
    logprobs: Logprobs | None = None


@dataclass(slots=True)
class RefusalDelta:
    """Some more of the words with which the model refuses."""

    text: str


@dataclass(slots=True)
class ReasoningDelta:
    """Some more of what the model thinks, or of a summary of it."""

    text: str
    is_summary: bool = False


@dataclass(slots=True)
class CallBegun:
    """A call of the function `name` begins; its arguments follow."""

    index: int
    name: str


@dataclass(slots=True)
class ArgumentsDelta:
    """Some more of a call's arguments."""

    index: int
    text: str


@dataclass(slots=True)
class Ended:
    """The answer is complete, or as complete as it will be; its usage may still follow."""

    end: End


@dataclass(slots=True)
class Reported:
    """What the upstream counted; of several reports the last one holds."""

    usage: Usage


@dataclass(slots=True)
class Failed:
    """The upstream gives up. `cause` is its own words, which are for the log alone."""

    cause: str


Event = TextDelta | RefusalDelta | ReasoningDelta | CallBegun | ArgumentsDelta | Ended | Reported | Failed


_DELTAS = frozenset({TextDelta, RefusalDelta, ReasoningDelta, ArgumentsDelta})


def output_bytes(event: Any) -> int:
    """Return the UTF-8 bytes of output that an event carries."""
    kind = type(event)
    if kind in _DELTAS:
        return len(event.text.encode())
    return len(event.name.encode()) if kind is CallBegun else 0
