"""Late interaction in the API reference."""

from inference.serializers import reference as shapes

_DOCUMENT = shapes.object_of("id text", id={"type": "string", "minLength": 1, "maxLength": 255}, text=shapes.TEXT)
_SPAN = shapes.object_of(
    "start end weight query_tokens",
    start={**shapes.COUNT, "description": "UTF-16 code units into the document's text."},
    end=shapes.COUNT,
    weight={"type": "number", "description": "The sum of the similarities of its query tokens; no probability."},
    query_tokens=shapes.list_of(shapes.COUNT),
)
LATE_INTERACTION_REQUEST = shapes.object_of(
    "model query documents",
    model=shapes.MODEL,
    query={"type": "string", "minLength": 1},
    documents=shapes.list_of(_DOCUMENT, minItems=1, maxItems=1000),
    top_spans=shapes.optional({"type": "integer", "minimum": 1, "maximum": 100, "default": 3}),
)
LATE_INTERACTION_ANSWER = shapes.object_of(
    "object model data manifest manifest_id",
    object={"type": "string", "enum": ["list"]},
    model=shapes.TEXT,
    data=shapes.list_of(
        shapes.object_of("id score spans", id=shapes.TEXT, score={"type": "number"}, spans=shapes.list_of(_SPAN)),
        description="Best first.",
    ),
    manifest=shapes.MANIFEST,
    manifest_id=shapes.MANIFEST_ID,
    usage=shapes.USAGE,
)
LATE_INTERACTION_REQUEST["example"] = {
    "model": "late-interaction",
    "query": "Who digs?",
    "documents": [{"id": "a", "text": "Badgers dig."}, {"id": "b", "text": "It rains."}],
    "top_spans": 1,
}
describe_late_interaction = shapes.describe_metered(
    "score_late_interaction",
    "Score documents by MaxSim, with the spans that matched",
    LATE_INTERACTION_REQUEST,
    {shapes.JSON: LATE_INTERACTION_ANSWER},
)
