"""Embeddings in the API reference."""

from inference.serializers.reference import (
    COUNT,
    JSON,
    MODEL,
    TEXT,
    USAGE,
    Schema,
    answer,
    describe_metered,
    list_of,
    object_of,
    optional,
)

EMBEDDING_REQUEST = object_of(
    "model input",
    model=MODEL,
    input={"oneOf": [TEXT, list_of({"oneOf": [TEXT, COUNT, list_of(COUNT)]}, minItems=1, maxItems=2048)]},
    dimensions=optional({"type": "integer", "minimum": 1}),
    encoding_format=optional({"type": "string", "enum": ["float", "base64"]}),
)
VECTOR: Schema = {"oneOf": [list_of({"type": "number"}), TEXT]}
EMBEDDING_ANSWER = object_of(
    "object model data",
    object={"type": "string", "enum": ["list"]},
    model=TEXT,
    data=list_of(object_of("object index embedding", object=TEXT, index=COUNT, embedding=VECTOR)),
    usage=USAGE,
)
EMBEDDING_REQUEST["example"] = {"model": "embedding", "input": ["Hello"], "encoding_format": "float"}
EMBEDDING_ANSWER["example"] = {
    "object": "list",
    "model": "embedding",
    "data": [{"object": "embedding", "index": 0, "embedding": [0.12, -0.07, 0.33]}],
    "usage": {"prompt_tokens": 1, "total_tokens": 1},
}
describe_embeddings = describe_metered(
    "create_embeddings", "Embed texts", EMBEDDING_REQUEST, {(200, JSON): answer(EMBEDDING_ANSWER)}
)
