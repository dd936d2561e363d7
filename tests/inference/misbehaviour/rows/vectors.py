"""Embeddings, contextual embeddings and late interaction at each kind of upstream."""

import base64
import struct
from typing import Any

from tests.inference.misbehaviour.row import Json, Row
from tests.support.stage import EMBEDDINGS
from tests.support.upstream.behaviours import HOST

CONTEXTUAL, LATE_INTERACTION = "/v1/embeddings/contextual", "/v1/late-interaction/score"
VECTOR = [0.6, 0.8]
LONG = [1.0, *[0.0] * 1023]
PACKED = base64.b64encode(struct.pack("<2f", *VECTOR)).decode()


def ours(dimensions: int, **members: Any) -> Json:
    """Make what an upstream of our own protocol answers."""
    common = {"revision": "r1", "dimensions": dimensions, "normalized": True, "served_by": HOST}
    return {**common, **members, "usage": {"input_tokens": 1}}


def listed(embedding: Any, **members: Any) -> Json:
    """Make the vendors' list of one vector."""
    return {"object": "list", "data": [{"object": "embedding", "index": 0, "embedding": embedding}], **members}


EMBEDDING: dict[str, Any] = {
    "path": EMBEDDINGS,
    "route": "embeddings",
    "body": lambda alias: {"model": alias, "input": "Hello"},
    "charge_microusd": 1,
}
IN_CONTEXT: dict[str, Any] = {
    "path": CONTEXTUAL,
    "route": "embeddings.contextual",
    "body": lambda alias: {"model": alias, "input_type": "query", "queries": ["Badgers?"]},
    "charge_microusd": 1,
}

ROWS = [
    Row(
        "embeddings",
        answer=listed([0.5, -0.5], model="upstream-model", usage={"prompt_tokens": 1, "total_tokens": 1}),
        **EMBEDDING,
    ),
    Row("embeddings by representation", adapter="representation", answer=ours(2, embeddings=[VECTOR]), **EMBEDDING),
    Row(
        "embeddings at Voyage",
        adapter="voyage",
        answer=listed(PACKED, model=HOST, usage={"total_tokens": 1}),
        **EMBEDDING,
    ),
    Row(
        "embeddings at Cohere",
        adapter="cohere",
        answer={
            "id": "emb-upstream-1",
            "embeddings": {"float": [[0.5, -0.5]]},
            "texts": ["Hello"],
            "response_type": "embeddings_by_type",
            "meta": {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 1}},
        },
        usage=("meta", "billed_units"),
        **{**EMBEDDING, "body": lambda alias: {"model": alias, "input": "Hello", "input_type": "query"}},
    ),
    Row("contextual embeddings", adapter="representation", answer=ours(1024, embeddings=[LONG]), **IN_CONTEXT),
    Row(
        "contextual embeddings at Voyage",
        adapter="voyage",
        answer={
            "object": "list",
            "data": [{**listed(LONG), "index": 0}],
            "model": HOST,
            "usage": {"total_tokens": 1},
        },
        **IN_CONTEXT,
    ),
    Row(
        "late interaction",
        LATE_INTERACTION,
        "late-interaction.score",
        lambda alias: {"model": alias, "query": "Who digs?", "documents": [{"id": "a", "text": "Badgers."}]},
        adapter="representation",
        answer=ours(2, items=[{"vectors": PACKED, "offsets": [[0, 7]]}]),
        charge_microusd=1,
        calls=2,
    ),
]
