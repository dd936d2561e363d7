"""Contextual embeddings in the API reference."""

from inference.serializers import reference as shapes

CONTEXTUAL_REQUEST = shapes.object_of(
    "model input_type",
    model=shapes.MODEL,
    input_type={"type": "string", "enum": ["query", "document"]},
    documents=shapes.list_of(
        shapes.list_of(shapes.TEXT, minItems=1),
        minItems=1,
        maxItems=1000,
        description="With `document`: each document's chunks in their order, 1000 in all.",
    ),
    queries=shapes.list_of(shapes.TEXT, minItems=1, maxItems=1000, description="With `query`."),
    dimensions=shapes.optional({"type": "integer", "enum": [1024, 2048]}),
    quantization=shapes.optional({"type": "string", "enum": ["float", "int8"]}),
)
CONTEXTUAL_ANSWER = shapes.object_of(
    "object model data manifest manifest_id",
    object={"type": "string", "enum": ["list"]},
    model=shapes.TEXT,
    data=shapes.list_of(
        shapes.object_of(
            "object index data",
            object={"type": "string", "enum": ["list"]},
            index=shapes.COUNT,
            data=shapes.list_of(
                shapes.object_of(
                    "object index embedding",
                    object=shapes.TEXT,
                    index=shapes.COUNT,
                    embedding=shapes.list_of({"type": "number"}),
                )
            ),
        )
    ),
    manifest=shapes.MANIFEST,
    manifest_id=shapes.MANIFEST_ID,
    usage=shapes.USAGE,
)
CONTEXTUAL_REQUEST["example"] = {
    "model": "embedding-contextual",
    "input_type": "document",
    "documents": [["Badgers dig.", "They sleep by day."]],
    "dimensions": 1024,
    "quantization": "float",
}
describe_contextual = shapes.describe_metered(
    "create_contextual_embeddings",
    "Embed chunks in the context of their documents",
    CONTEXTUAL_REQUEST,
    {shapes.JSON: CONTEXTUAL_ANSWER},
)
