"""Reads the tokens and log-probabilities of a chat completion. Tokens are bytes, because one may end within a
character.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judgement.rules.answers import MalformedAnswer

TOKENS_MAX = 1024
TEXT_MAX_BYTES = 16 * 1024
ALTERNATIVES_MAX = 40
"""Limits on a response, because each token's alternatives are compared with every label on the event loop: twice what
the answers to all questions may take, and twice the alternatives requested.
"""
_LOGPROB_MAX = 1e-3  # slightly above 0, to allow for rounding
_RAW = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_MARKERS = str.maketrans({"▁": " ", "Ġ": " ", "Ċ": "\n"})


@dataclass(frozen=True, slots=True)
class Token:
    """One token of an answer. `alternatives` maps the most likely tokens at its position, itself included, to their
    probabilities.
    """

    text: bytes
    alternatives: Mapping[bytes, float]


def read_tokens(choice: Any) -> list[Token]:
    """Read the `logprobs` of a choice. Raises MalformedAnswer."""
    logprobs = choice.get("logprobs") if isinstance(choice, Mapping) else None
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not isinstance(content, list) or not 1 <= len(content) <= TOKENS_MAX:
        raise MalformedAnswer("no log-probabilities")
    tokens = [_token(each) for each in content]
    if sum(len(token.text) for token in tokens) > TEXT_MAX_BYTES:
        raise MalformedAnswer("more text than was requested")
    return tokens


def _token(sent: Any) -> Token:
    text, probability = _read(sent)
    others = sent.get("top_logprobs")
    if not isinstance(others, list) or len(others) > ALTERNATIVES_MAX:
        raise MalformedAnswer("a token without alternatives, or with more than were requested")
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
    """Return a token's bytes: the vendor's `bytes`, or else its text, in which some servers leave their tokenizer's
    markers (SentencePiece's `▁` and `<0x0A>`, byte-level BPE's `Ġ` and `Ċ`).
    """
    given, text = sent.get("bytes"), sent.get("token")
    if isinstance(given, list) and all(type(each) is int and 0 <= each <= 255 for each in given):
        return bytes(given)
    if not isinstance(text, str):
        raise MalformedAnswer("a token without its text")
    if raw := _RAW.fullmatch(text):
        return bytes.fromhex(raw[1])
    return text.translate(_MARKERS).encode("utf-8", "replace")
