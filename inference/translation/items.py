"""What a conversation and an answer are made of: messages with their parts, function calls and outputs, reasoning.

`at` is a part's path in the request that it was read from, so that a writer can refuse it by its name there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Logprobs = Sequence[Any]
"""Tokens with their log-probabilities, which both forms write alike."""


@dataclass(frozen=True, slots=True)
class Text:
    """Text that was said or put in. `logprobs` is None where nobody asked for them."""

    text: str
    logprobs: Logprobs | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """The model's words for why it does not answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """An image by its URL or data URL."""

    url: str
    detail: str | None = None
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Audio:
    """Sound in base64, and its format."""

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
    """What one role said. `phase` is what an assistant's message was for, where the form tells."""

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
    """What a function gave back."""

    call_id: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What the model thought: its text, summaries of it, or the provider's sealed form of it. `id` is the provider's."""

    text: str = ""
    summaries: tuple[str, ...] = ()
    encrypted: str | None = None
    id: str | None = None


Item = Message | FunctionCall | FunctionOutput | Reasoning
