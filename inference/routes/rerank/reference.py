"""Reranking in the API reference."""

from inference.serializers import reference as shapes

SCORE: shapes.Schema = {
    "type": "number",
    "description": "A cue for the order alone; scores of two models do not compare.",
}
RERANK_REQUEST = shapes.object_of(
    "model query documents",
    model=shapes.MODEL,
    query={"type": "string", "minLength": 1},
    documents=shapes.list_of({"type": "string", "minLength": 1}, minItems=1, maxItems=1000),
    instruction=shapes.optional({"type": "string", "minLength": 1, "description": "How the query is to be read."}),
    top_n=shapes.optional({"type": "integer", "minimum": 1, "maximum": 1000, "description": "How many results."}),
    return_documents=shapes.FLAG,
    truncation=shapes.optional(
        {"type": "boolean", "description": "Cut what is too long, if the model's provider takes that."}
    ),
)
RERANK_ANSWER = shapes.object_of(
    "id object model results",
    id=shapes.TEXT,
    object={"type": "string", "enum": ["list"]},
    model=shapes.TEXT,
    results=shapes.list_of(
        shapes.object_of(
            "index relevance_score",
            index=shapes.COUNT,
            relevance_score=SCORE,
            document=shapes.object_of("text", text=shapes.TEXT),
        ),
        description="Best first.",
    ),
    usage=shapes.optional(shapes.object_of("input_bytes", input_bytes=shapes.COUNT, total_tokens=shapes.COUNT)),
)
RERANK_REQUEST["example"] = {
    "model": "rerank",
    "query": "What do badgers eat?",
    "documents": ["Rain is expected on Tuesday.", "Badgers eat mostly earthworms."],
    "top_n": 1,
}
RERANK_ANSWER["example"] = {
    "id": "rrk_01m7yshq1s6zw3kzc8ypm54agq",
    "object": "list",
    "model": "rerank",
    "results": [{"index": 1, "relevance_score": 0.91}],
    "usage": {"input_bytes": 98, "total_tokens": 27},
}
describe_rerank = shapes.describe_metered(
    "rerank", "Order documents by their relevance to a query", RERANK_REQUEST, {shapes.JSON: RERANK_ANSWER}
)
