"""A request for text in no form's words."""

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
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "temperature",
    "top_p",
    "user",
)
"""Members that mean the same in both forms, under the same name."""


class Form(Enum):
    """A wire form."""

    CHAT = "chat completions"
    RESPONSES = "responses"


@dataclass(frozen=True, slots=True)
class Function:
    """A function that the model may call. `strict` is None where the request leaves it to its form's default."""

    name: str
    description: str | None = None
    parameters: Mapping[str, Any] | None = None
    strict: bool | None = None


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Whether functions may (`auto`), must (`required`) or must not (`none`) be called; `forced` or `allowed` name which."""

    mode: str
    forced: str | None = None
    allowed: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class TextFormat:
    """The form of the answer's text: `text`, `json_object`, or `json_schema` with its schema."""

    kind: str
    name: str | None = None
    description: str | None = None
    schema: Mapping[str, Any] | None = None
    strict: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What is asked for: the items so far, and how the answer should be.

    - `form` is the one that it was read from.
    - `top_logprobs` is how many alternatives a token's log-probabilities should have, None where none are asked for.
    - `shared` has the members named by SHARED, under those names.
    - `particular` has what only `form` can say, by its path there; the other form's writer refuses it.
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
    top_logprobs: int | None = None
    metadata: Mapping[str, Any] | None = None
    shared: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    particular: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)

    def refuse_particular(self, written: Form) -> None:
        """Raise InvalidRequest naming the first thing that only the form it was read in can say, unless it is `written`."""
        if written is not self.form:
            for path in self.particular:
                raise unsupported(path)
