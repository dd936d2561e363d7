"""Shared parts of the model routes' API reference: the vendor's formats, as far as the gateway reads or promises them.
Each route has its own in its folder.

Members that are not shown pass upstream, and responses may contain more than shown.
"""

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema

from gateway.core.api.schema import refuses
from gateway.core.contract.aliases import Route
from gateway.core.contract.errors import ModelNotFound

Schema = dict[str, Any]
EVENTS = "text/event-stream"
JSON = "application/json"


def object_of(required: str, **properties: Schema) -> Schema:
    """Build an open object's schema; `required` lists members, separated by spaces."""
    shape = {"type": "object", "properties": properties, "additionalProperties": {}}
    return {**shape, "required": required.split()} if required else shape


def list_of(items: Schema, **bounds: Any) -> Schema:
    """Build a list's schema."""
    return {"type": "array", "items": items, **bounds}


def optional(schema: Schema) -> Schema:
    """Build the schema of a member that may be null."""
    return {**schema, "nullable": True}


TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
LIMIT: Schema = optional(
    {"type": "integer", "minimum": 1, "description": "The most output tokens, within the alias's limit."}
)
FLAG: Schema = optional({"type": "boolean"})
MODEL: Schema = {"type": "string", "description": "An alias, or a raw model that the integration can use."}
SERVICE_TIER: Schema = optional(
    {"type": "string", "description": "A tier of the model's `pricing`; `auto` and `default` are the default one."}
)
ANYTHING: Schema = {}

USAGE = optional(object_of("", prompt_tokens=COUNT, completion_tokens=COUNT, total_tokens=COUNT))
MANIFEST = object_of(
    "alias provider model revision dimensions quantization normalized input_type",
    alias=TEXT,
    provider=TEXT,
    model=TEXT,
    revision=TEXT,
    dimensions=COUNT,
    quantization={"type": "string", "enum": ["float", "int8"]},
    normalized={"type": "boolean"},
    input_type=optional({"type": "string", "enum": ["query", "document"]}),
)
MANIFEST_ID: Schema = {
    "type": "string",
    "description": "Hex SHA-256 of the manifest's compact, key-sorted JSON without `input_type`. Compare vectors only if theirs "
    "are equal.",
}
MODEL_ANSWER = object_of(
    "id object created owned_by routes pricing authorized",
    id=TEXT,
    object={"type": "string", "enum": ["model"]},
    created=COUNT,
    owned_by=TEXT,
    routes=list_of(
        {"type": "string", "enum": [route.value for route in Route]}, description="The routes that serve this model."
    ),
    pricing={
        "type": "object",
        "additionalProperties": {},
        "description": "Micro-USD per unit as decimal strings, by component.",
    },
    authorized={"type": "boolean", "description": "Whether this token may call it."},
)
MODELS_ANSWER = object_of("object data", object={"type": "string", "enum": ["list"]}, data=list_of(MODEL_ANSWER))

MODEL_ANSWER["example"] = {
    "id": "fast",
    "object": "model",
    "created": 0,
    "owned_by": "account-gateway",
    "routes": ["chat.completions"],
    "pricing": {"input_token": "0.15", "cached_input_token": "0.075", "output_token": "0.6"},
    "authorized": True,
}


def describe_metered(
    operation_id: str, summary: str, request: Schema, answers: dict[str, Schema], *, media_type: str = JSON
) -> Any:
    """Describe a metered route: its request, and its answers by media type."""
    responses = {(200, answered): answer(schema) for answered, schema in answers.items()}
    return extend_schema(operation_id=operation_id, summary=summary, request={media_type: request}, responses=responses)


def answer(schema: Schema, description: str = "") -> OpenApiResponse:
    """Describe one response."""
    return OpenApiResponse(response=schema, description=description)


describe_models = extend_schema(
    operation_id="list_models",
    summary="List the enabled models and their prices",
    responses={(200, JSON): answer(MODELS_ANSWER)},
)


def describe_model(action: Any) -> Any:
    """Describe the route of one model."""
    describe = extend_schema(
        operation_id="get_model",
        summary="Show one model",
        responses={(200, JSON): answer(MODEL_ANSWER)},
    )
    return describe(refuses(ModelNotFound)(action))
