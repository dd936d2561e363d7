"""Embeddings of the demo backend: hashed character n-grams, so that texts which share words lie near each other."""

import asyncio
import base64
from typing import Any

from gateway.core.contract.errors import InvalidRequest
from inference.adapters.demo.endpoint import DemoEndpoint
from inference.adapters.demo.tokens import count_tokens
from inference.adapters.demo.vectors import little_endian, vector_of
from inference.routes.embeddings.bound import BoundedEmbeddings
from inference.rules.answer import Answer
from inference.rules.upstream import Attempt

DIMENSIONS = 256
DIMENSIONS_MAX = 3072
INPUT_MAX_TOKENS = 8192


class DemoEmbeddings(DemoEndpoint[BoundedEmbeddings]):
    """Embeds texts, and lists of token numbers, which stand for themselves."""

    async def answer(self, attempt: Attempt[BoundedEmbeddings]) -> Answer:
        """Embed every input. The loop breathes between inputs: a large batch must not hold up other calls."""
        texts = [_text(item) for item in attempt.request.asked.inputs]
        dimensions = _dimensions(attempt)
        counts = [_checked_count(text, index) for index, text in enumerate(texts)]
        data = []
        for index, text in enumerate(texts):
            vector = _encoded(attempt, vector_of(text, dimensions))
            data.append({"object": "embedding", "index": index, "embedding": vector})
            await asyncio.sleep(0)
        usage = {"prompt_tokens": sum(counts), "total_tokens": sum(counts)}
        return Answer({"object": "list", "data": data, "model": attempt.public_model, "usage": usage}, usage)


def _text(item: Any) -> str:
    return " ".join(map(str, item)) if isinstance(item, list) else str(item)


def _checked_count(text: str, index: int) -> int:
    count = count_tokens(text)
    if count > INPUT_MAX_TOKENS:
        code = {"code": "context_length_exceeded"}
        raise InvalidRequest(f"Input {index} is longer than {INPUT_MAX_TOKENS} tokens.", param="input", details=code)
    return count


def _dimensions(attempt: Attempt[BoundedEmbeddings]) -> int:
    wanted = attempt.request.body.get("dimensions", attempt.target.options.get("dimensions", DIMENSIONS))
    if not isinstance(wanted, int) or not 1 <= wanted <= DIMENSIONS_MAX:
        raise InvalidRequest(f"dimensions must be 1 to {DIMENSIONS_MAX}.", param="dimensions")
    return wanted


def _encoded(attempt: Attempt[BoundedEmbeddings], vector: list[float]) -> list[float] | str:
    if attempt.request.body.get("encoding_format") == "base64":
        return base64.b64encode(little_endian(vector)).decode()
    return vector
