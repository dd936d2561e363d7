"""Embeddings: hashed character n-grams, so that texts which share words lie near each other."""

import asyncio
import base64
from collections.abc import Mapping
from typing import Any

from gateway.contract.errors import InvalidRequest
from inference.adapters.base import Answer, Attempt, Outcome
from inference.adapters.demo.tokens import count_tokens
from inference.adapters.demo.vectors import little_endian, vector_of

DIMENSIONS = 256
DIMENSIONS_MAX = 3072
INPUTS_MAX = 2048
INPUT_MAX_TOKENS = 8192


async def answer(attempt: Attempt) -> Outcome:
    """Embed every input. The loop breathes between inputs: a large batch must not hold up other calls."""
    texts = _texts(attempt.body)
    dimensions = _dimensions(attempt)
    counts = [_checked_count(text, index) for index, text in enumerate(texts)]
    data = []
    for index, text in enumerate(texts):
        data.append(
            {"object": "embedding", "index": index, "embedding": _encoded(attempt, vector_of(text, dimensions))}
        )
        await asyncio.sleep(0)
    usage = {"prompt_tokens": sum(counts), "total_tokens": sum(counts)}
    return Answer({"object": "list", "data": data, "model": attempt.public_model, "usage": usage}, usage)


def _texts(body: Mapping[str, Any]) -> list[str]:
    """Read one text or several, or lists of token numbers, which stand for themselves."""
    given = body.get("input")
    inputs = given if isinstance(given, list) and not (given and isinstance(given[0], int)) else [given]
    texts = [_text(one) for one in inputs]
    if not all(texts) or not 1 <= len(texts) <= INPUTS_MAX:
        raise InvalidRequest(f"input must be 1 to {INPUTS_MAX} texts that are not empty.", param="input")
    return texts


def _text(one: Any) -> str:
    if isinstance(one, list):
        return " ".join(map(str, one))
    return one if isinstance(one, str) else ""


def _checked_count(text: str, index: int) -> int:
    count = count_tokens(text)
    if count > INPUT_MAX_TOKENS:
        code = {"code": "context_length_exceeded"}
        raise InvalidRequest(f"Input {index} is longer than {INPUT_MAX_TOKENS} tokens.", param="input", details=code)
    return count


def _dimensions(attempt: Attempt) -> int:
    wanted = attempt.body.get("dimensions", attempt.target.options.get("dimensions", DIMENSIONS))
    if not isinstance(wanted, int) or not 1 <= wanted <= DIMENSIONS_MAX:
        raise InvalidRequest(f"dimensions must be 1 to {DIMENSIONS_MAX}.", param="dimensions")
    return wanted


def _encoded(attempt: Attempt, vector: list[float]) -> list[float] | str:
    if attempt.body.get("encoding_format") == "base64":
        return base64.b64encode(little_endian(vector)).decode()
    return vector
