"""The items of a conversation or an answer: messages with their parts, function calls and outputs, reasoning.

`at` is a part's path in the original request, so that a writer can refuse it by that path.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Logprobs = Sequence[Any]
"""Tokens with their log-probabilities, which are the same in both formats."""


@dataclass(frozen=True, slots=True)
class Text:
    """Input or output text. `logprobs` is None if not requested."""

    text: str
    logprobs: Logprobs | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """The model's text when it refuses to answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """An image by its URL or data URL."""

    url: str
    detail: str | None = None
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Audio:
    """Audio in base64, and its format."""

    data: str
    format: str
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class File:
    """A file by its data URL, or by its address."""

    data: str | None = None
    url: str | None = None
    filename: str | None = None
    at: str = field(default="", compare=False)


Part = Text | Refusal | Image | Audio | File


@dataclass(frozen=True, slots=True)
class Message:
    """A message of one role. `phase` is the purpose of an assistant's message, if the format states it."""

    role: str
    parts: tuple[Part, ...]
    phase: str | None = None
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call of one of the caller's functions; `arguments` is JSON as the model wrote it."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class FunctionOutput:
    """The output of a function call. `is_error` says that the call failed; only one format can state it."""

    call_id: str
    parts: tuple[Part, ...]
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The model's reasoning: its text, summaries of it, or the provider's encrypted form. `id` and `signature` are the
    provider's: it takes reasoning back only with its own."""

    text: str = ""
    summaries: tuple[str, ...] = ()
    encrypted: str | None = None
    id: str | None = None
    signature: str | None = None


Item = Message | FunctionCall | FunctionOutput | Reasoning
