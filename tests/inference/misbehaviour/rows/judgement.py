"""Judgements by a backend of our own protocol, and by a text model."""

import math
from typing import Any

from tests.inference.misbehaviour.behaviours import TOO_LARGE
from tests.inference.misbehaviour.row import Json, Row
from tests.support.upstream.behaviours import HOST

SHARED: dict[str, Any] = {
    "path": "/v1/judgement",
    "route": "judgement",
    "body": lambda alias: {
        "model": alias,
        "state": "The store opens at nine.",
        "questions": {"grounded": {"type": "noul", "instructions": "Does the source support the answer?"}},
    },
    "scopes": ("judgement:evaluate",),
    "outcomes": {"400 context length": TOO_LARGE},
}


def token(text: str, probability: float, **members: Any) -> Json:
    """Make one token with its log-probability."""
    return {"token": text, "logprob": math.log(probability), "bytes": list(text.encode()), **members}


WRITTEN: Json = token("A", 0.75, top_logprobs=[token("A", 0.75), token("B", 0.25)])

ROWS = [
    Row(
        "judgement",
        adapter="judgement",
        answer={
            "version": "2026-08-01",
            "answers": {"grounded": {"probabilities": {"true": 0.75, "false": 0.25}}},
            "usage": {"input_tokens": 40},
            "served_by": HOST,
        },
        price={"input_token": "0.5"},
        charge_microusd=20,
        **SHARED,
    ),
    Row(
        "judgement over chat completions",
        adapter="openai",
        answer={
            "id": "upstream-1",
            "object": "chat.completion",
            "model": "small-1-2026-08-01",
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": "A"}, "logprobs": {"content": [WRITTEN]}}
            ],
            "usage": {"prompt_tokens": 40, "completion_tokens": 1, "total_tokens": 41},
            "system_fingerprint": HOST,
        },
        price={"input_token": "0.5", "output_token": "1"},
        charge_microusd=21,
        **SHARED,
    ),
]
