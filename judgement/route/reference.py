"""Shapes of judgements in the API reference."""

from gateway.core.contract.limits import JUDGEMENT_IMAGES_MAX, JUDGEMENT_LABELS_MAX, JUDGEMENT_QUESTIONS_MAX
from inference.serializers import reference as shapes
from judgement.rules.questions import Kind


def _map_of(values: shapes.Schema, **bounds: int) -> shapes.Schema:
    return {"type": "object", "additionalProperties": values, **bounds}


def _closed(required: str, **properties: shapes.Schema) -> shapes.Schema:
    shape = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**shape, "required": required.split()}


KIND: shapes.Schema = {"type": "string", "enum": [kind.value for kind in Kind]}
PROBABILITY: shapes.Schema = {"type": "number", "minimum": 0, "maximum": 1}
QUESTION = _closed(
    "type instructions",
    type=KIND,
    instructions=shapes.TEXT,
    criteria={
        **_map_of(shapes.TEXT, maxProperties=JUDGEMENT_LABELS_MAX),
        "description": "Descriptions by label. A noul's labels are `true` and `false`, and may be omitted; a "
        "score's are numbers; a choice and a score have two or more.",
    },
)
REQUEST = _closed(
    "state questions",
    model=shapes.optional(
        {"type": "string", "description": "An alias. Default: `judgement`, the default text backend."}
    ),
    state={"oneOf": [shapes.TEXT, _map_of(shapes.TEXT)]},
    questions=_map_of(QUESTION, minProperties=1, maxProperties=JUDGEMENT_QUESTIONS_MAX),
    images=shapes.optional(
        shapes.list_of(
            shapes.TEXT,
            maxItems=JUDGEMENT_IMAGES_MAX,
            description="Public https URLs, or base64 data URLs, of PNG, JPEG or WebP images of up to 5 MB each.",
        )
    ),
    allow_fallback=shapes.FLAG,
)
ANSWER = shapes.object_of(
    "type answer probabilities",
    type=KIND,
    answer={"oneOf": [{"type": "boolean"}, {"type": "string"}, {"type": "number"}]},
    probabilities=_map_of(PROBABILITY),
)
RESPONSE = shapes.object_of(
    "id object model answers fallback usage created",
    id=shapes.TEXT,
    object={"type": "string", "enum": ["judgement"]},
    model={
        "type": "string",
        "description": "`<alias>/<version>` of the backend that answered. Thresholds belong to it.",
    },
    answers=_map_of(ANSWER),
    fallback=shapes.optional(
        shapes.object_of("from to reason", **{"from": shapes.TEXT, "to": shapes.TEXT, "reason": shapes.TEXT})
    ),
    usage=shapes.object_of("input_tokens", input_tokens=shapes.optional(shapes.COUNT)),
    created=shapes.COUNT,
)
REQUEST["example"] = {
    "state": {"source": "The store opens at nine.", "answer": "It opens at 9 a.m."},
    "questions": {
        "grounded": {"type": "noul", "instructions": "Does the source support the answer?"},
        "tone": {
            "type": "choice",
            "instructions": "What is the tone of the answer?",
            "criteria": {"calm": "Factual", "angry": "Rude"},
        },
    },
}
RESPONSE["example"] = {
    "id": "jdg_01",
    "object": "judgement",
    "model": "judgement-backend-a/2026-08-01",
    "answers": {
        "grounded": {"type": "noul", "answer": True, "probabilities": {"true": 0.97, "false": 0.03}},
        "tone": {"type": "choice", "answer": "calm", "probabilities": {"calm": 0.8, "angry": 0.2}},
    },
    "fallback": None,
    "usage": {"input_tokens": 112},
    "created": 1790000000,
}
describe_judgement = shapes.describe_metered("create_judgement", "Judge a state", REQUEST, {shapes.JSON: RESPONSE})
