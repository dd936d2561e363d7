"""Embeddings in the API reference."""

from inference.serializers import reference as shapes

_IMAGE = shapes.object_of(
    "type image_url",
    type={"type": "string", "enum": ["image_url"]},
    image_url=shapes.object_of("url", url=shapes.TEXT),
)
EMBEDDING_REQUEST = shapes.object_of(
    "model input",
    model=shapes.MODEL,
    input={
        "oneOf": [
            shapes.TEXT,
            shapes.list_of(
                {"oneOf": [shapes.TEXT, shapes.COUNT, shapes.list_of(shapes.COUNT), _IMAGE]}, minItems=1, maxItems=2048
            ),
        ]
    },
    dimensions=shapes.optional({"type": "integer", "minimum": 1}),
    encoding_format=shapes.optional({"type": "string", "enum": ["float", "base64"]}),
    input_type=shapes.optional({"type": "string", "enum": ["query", "document"]}),
    truncation=shapes.FLAG,
    manifest_id=shapes.optional({**shapes.TEXT, "description": "Refused with 409 if the answer would have another."}),
)
VECTOR: shapes.Schema = {"oneOf": [shapes.list_of({"type": "number"}), shapes.TEXT]}
EMBEDDING_ANSWER = shapes.object_of(
    "object model data",
    object={"type": "string", "enum": ["list"]},
    model=shapes.TEXT,
    data=shapes.list_of(
        shapes.object_of("object index embedding", object=shapes.TEXT, index=shapes.COUNT, embedding=VECTOR)
    ),
    manifest={**shapes.MANIFEST, "description": "Present if the request selects a representation."},
    manifest_id=shapes.MANIFEST_ID,
    usage=shapes.USAGE,
)
EMBEDDING_REQUEST["example"] = {"model": "embedding", "input": ["Hello"], "encoding_format": "float"}
EMBEDDING_ANSWER["example"] = {
    "object": "list",
    "model": "embedding",
    "data": [{"object": "embedding", "index": 0, "embedding": [0.12, -0.07, 0.33]}],
    "usage": {"prompt_tokens": 1, "total_tokens": 1},
}
describe_embeddings = shapes.describe_metered(
    "create_embeddings", "Embed texts", EMBEDDING_REQUEST, {shapes.JSON: EMBEDDING_ANSWER}
)
