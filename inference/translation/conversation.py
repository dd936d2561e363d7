"""A text request, independent of the wire format."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any

from inference.translation.fields import unsupported
from inference.translation.items import Item

_NOTHING: Mapping[str, Any] = MappingProxyType({})

SHARED = (
    "parallel_tool_calls",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "temperature",
    "top_p",
    "user",
)
"""Members with the same name and meaning in chat completions and responses."""

_FIRST = re.compile(r"\w+")

_SAME = frozenset({*SHARED, "metadata", "model", "stream", "tool_choice", "tools", "top_logprobs"})


class Form(Enum):
    """A wire format."""

    CHAT = "chat completions"
    RESPONSES = "responses"
    MESSAGES = "messages"


@dataclass(frozen=True, slots=True)
class Function:
    """A function that the model may call. `strict` is None if the request leaves it to its format's default."""

    name: str
    description: str | None = None
    parameters: Mapping[str, Any] | None = None
    strict: bool | None = None


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Whether functions may (`auto`), must (`required`) or must not (`none`) be called; `forced` or `allowed` name
    them."""

    mode: str
    forced: str | None = None
    allowed: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class TextFormat:
    """The format of the answer's text: `text`, `json_object`, or `json_schema` with its schema."""

    kind: str
    name: str | None = None
    description: str | None = None
    schema: Mapping[str, Any] | None = None
    strict: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The request: the items so far, and the parameters of the answer.

    - `form` is the format that it was read from.
    - `stop` are the texts at which the answer ends.
    - `top_logprobs` is the number of alternatives for each token's log-probabilities, None if none are requested.
    - `shared` has the members named by SHARED, under those names.
    - `particular` has what only `form` can express, by its path there; the writers of other formats refuse it.
    """

    form: Form
    items: tuple[Item, ...]
    instructions: str | None = None
    tools: tuple[Function, ...] = ()
    tool_choice: ToolChoice | None = None
    text_format: TextFormat | None = None
    verbosity: str | None = None
    effort: str | None = None
    output_limit: int | None = None
    stop: tuple[str, ...] = ()
    top_logprobs: int | None = None
    metadata: Mapping[str, Any] | None = None
    shared: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    particular: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)

    def refuse_particular(self, written: Form) -> None:
        """Raise InvalidRequest naming the first member that only the source format can express, unless that is
        `written`."""
        if written is not self.form:
            for path in self.particular:
                raise unsupported(path)


def vendor_effort(effort: str | None) -> str | None:
    """Return an effort as chat completions and responses name it: their highest one in place of `max`."""
    return "xhigh" if effort == "max" else effort


def renamed(param: str | None, read: Mapping[str, str], written: Mapping[str, str]) -> str | None:
    """Return the member of `written` that corresponds to one of `read`, None if there is none.

    Both map a format's members to the fields of a `Conversation`. Only the first member of a path has a counterpart.
    """
    named = _FIRST.match(param or "")
    if named is None or named[0] in _SAME:
        return named and named[0]
    return next((name for name, field in written.items() if field == read.get(named[0])), None)
