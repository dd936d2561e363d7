"""Embeddings in the vendor's format: deterministic unit vectors, float or base64."""

import base64
import hashlib
import itertools
import math
import struct
from collections.abc import Mapping
from typing import Any

from tests.support.upstream.behaviours import Behaviour
from tests.support.upstream.tokens import count_text
from tests.support.upstream.usage import ABSENT, report

DEFAULT_DIMENSIONS = 256


def inputs_of(body: Mapping[str, Any]) -> list[str | list[int]]:
    """List the inputs: texts, or lists of token ids."""
    given = body["input"]
    if isinstance(given, str) or (given and isinstance(given[0], int)):
        return [given]
    return list(given)


def count_inputs(inputs: list[str | list[int]]) -> int:
    """Count the prompt tokens of every input; each token id counts as one."""
    return sum(count_text(item) if isinstance(item, str) else len(item) for item in inputs)


def render(body: Mapping[str, Any], behaviour: Behaviour) -> Any:
    """Build the complete embeddings response."""
    inputs = inputs_of(body)
    dimensions = body.get("dimensions") or DEFAULT_DIMENSIONS
    encode = _base64 if body.get("encoding_format") == "base64" else list
    data = [
        {"object": "embedding", "index": index, "embedding": encode(vector(item, dimensions))}
        for index, item in enumerate(inputs)
    ]
    tokens = count_inputs(inputs)
    usage = report({"prompt_tokens": tokens, "total_tokens": tokens}, behaviour.usage)
    answer = {"object": "list", "data": data, "model": body["model"]}
    return answer if usage is ABSENT else {**answer, "usage": usage}


def vector(item: str | list[int], dimensions: int) -> tuple[float, ...]:
    """Build the unit vector of one input, always the same for the same input."""
    seed = hashlib.sha256(repr(item).encode()).digest()
    raw = [byte - 127.5 for byte in itertools.islice(itertools.cycle(seed), dimensions)]
    length = math.sqrt(sum(value * value for value in raw))
    return tuple(value / length for value in raw)


def _base64(values: tuple[float, ...]) -> str:
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()
