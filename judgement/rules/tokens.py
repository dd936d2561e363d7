"""The tokens of a chat completion with their log-probabilities, as bytes: a token may end within a character."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judgement.rules.answers import MalformedAnswer

TOKENS_MAX = 10_000
_LOGPROB_MAX = 1e-3  # a little above 0, as rounding makes it
_RAW = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_MARKERS = str.maketrans({"▁": " ", "Ġ": " ", "Ċ": "\n"})


@dataclass(frozen=True, slots=True)
class Token:
    """One token of an answer. `alternatives` are the likeliest tokens in its place with their probabilities, itself
    among them."""

    text: bytes
    alternatives: Mapping[bytes, float]


def read_tokens(choice: Any) -> list[Token]:
    """Read the `logprobs` of a choice. Raises MalformedAnswer."""
    logprobs = choice.get("logprobs") if isinstance(choice, Mapping) else None
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not isinstance(content, list) or not 1 <= len(content) <= TOKENS_MAX:
        raise MalformedAnswer("no log-probabilities")
    return [_token(each) for each in content]


def _token(sent: Any) -> Token:
    text, probability = _read(sent)
    others = sent.get("top_logprobs")
    if not isinstance(others, list):
        raise MalformedAnswer("a token without alternatives")
    alternatives = {text: probability, **dict(map(_read, others))}
    if sum(alternatives.values()) > 1.01:
        raise MalformedAnswer("probabilities of more than 1 at one token")
    return Token(text, alternatives)


def _read(sent: Any) -> tuple[bytes, float]:
    """Return a token's bytes and its probability."""
    logprob: Any = sent.get("logprob") if isinstance(sent, Mapping) else None
    if type(logprob) not in (int, float):  # a bool is an int to isinstance
        raise MalformedAnswer("a token without its log-probability")
    if logprob > _LOGPROB_MAX:
        raise MalformedAnswer("a probability above 1")
    return _bytes_of(sent), min(math.exp(logprob), 1.0)


def _bytes_of(sent: Mapping[str, Any]) -> bytes:
    """Return what a token stands for: the vendor's `bytes`, or its text, in which some servers leave their tokenizer's
    marks (SentencePiece's `▁` and `<0x0A>`, byte-level BPE's `Ġ` and `Ċ`)."""
    given, text = sent.get("bytes"), sent.get("token")
    if isinstance(given, list) and all(type(each) is int and 0 <= each <= 255 for each in given):
        return bytes(given)
    if not isinstance(text, str):
        raise MalformedAnswer("a token without its text")
    if raw := _RAW.fullmatch(text):
        return bytes.fromhex(raw[1])
    return text.translate(_MARKERS).encode("utf-8", "replace")
