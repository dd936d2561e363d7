"""How the model routes stand in the API reference: the vendor's shapes, as far as the gateway reads or promises them.

Members that are not shown pass to the upstream, and answers may carry more than shown.
"""

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema

from gateway.api.schema import refuses
from gateway.contract.aliases import Route
from gateway.contract.errors import ModelNotFound, NoSeat, NotMember, ProductDisabled

Schema = dict[str, Any]
EVENTS = "text/event-stream"
JSON = "application/json"


def _object(required: str, **properties: Schema) -> Schema:
    shape = {"type": "object", "properties": properties, "additionalProperties": {}}
    return {**shape, "required": required.split()} if required else shape


def _list(items: Schema, **bounds: Any) -> Schema:
    return {"type": "array", "items": items, **bounds}


def _optional(schema: Schema) -> Schema:
    return {**schema, "nullable": True}


TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
LIMIT: Schema = _optional({"type": "integer", "minimum": 1, "description": "Output tokens, within the alias's limit."})
FLAG: Schema = _optional({"type": "boolean"})
MODEL: Schema = {"type": "string", "description": "An alias, or a raw model that the integration may use."}
ANYTHING: Schema = {}

CHAT_REQUEST = _object(
    "model messages",
    model=MODEL,
    messages=_list(_object("role", role=TEXT, content=ANYTHING), minItems=1),
    stream=FLAG,
    stream_options=_optional(_object("", include_usage=FLAG)),
    max_tokens=LIMIT,
    max_completion_tokens=LIMIT,
    n=_optional({"type": "integer", "minimum": 1, "maximum": 128}),
    tools=_optional(_list(_object("type", type=TEXT))),
)
USAGE = _optional(_object("", prompt_tokens=COUNT, completion_tokens=COUNT, total_tokens=COUNT))
CHAT_ANSWER = _object(
    "id object created model choices",
    id=TEXT,
    object={"type": "string", "enum": ["chat.completion"]},
    created=COUNT,
    model=TEXT,
    choices=_list(_object("index message", index=COUNT, message=_object("role", role=TEXT), finish_reason=ANYTHING)),
    usage=USAGE,
)
CHAT_EVENTS: Schema = {
    "type": "string",
    "description": "Server-sent events of `chat.completion.chunk`. The last line, after `data: [DONE]`, is the comment "
    '`: service {"usage_id":"use_…","charge_microusd":9}`.',
}
EMBEDDING_REQUEST = _object(
    "model input",
    model=MODEL,
    input={"oneOf": [TEXT, _list({"oneOf": [TEXT, COUNT, _list(COUNT)]}, minItems=1, maxItems=2048)]},
    dimensions=_optional({"type": "integer", "minimum": 1}),
    encoding_format=_optional({"type": "string", "enum": ["float", "base64"]}),
)
VECTOR: Schema = {"oneOf": [_list({"type": "number"}), TEXT]}
EMBEDDING_ANSWER = _object(
    "object model data",
    object={"type": "string", "enum": ["list"]},
    model=TEXT,
    data=_list(_object("object index embedding", object=TEXT, index=COUNT, embedding=VECTOR)),
    usage=USAGE,
)
MODEL_ANSWER = _object(
    "id object created owned_by routes pricing authorized",
    id=TEXT,
    object={"type": "string", "enum": ["model"]},
    created=COUNT,
    owned_by=TEXT,
    routes=_list({"type": "string", "enum": [route.value for route in Route]}),
    pricing={
        "type": "object",
        "additionalProperties": {},
        "description": "Micro-USD per unit as decimal strings, by component.",
    },
    authorized={"type": "boolean", "description": "Whether this token may call it."},
)
MODELS_ANSWER = _object("object data", object={"type": "string", "enum": ["list"]}, data=_list(MODEL_ANSWER))


CHAT_REQUEST["example"] = {"model": "fast", "messages": [{"role": "user", "content": "Hello"}], "stream": False}
CHAT_ANSWER["example"] = {
    "id": "chatcmpl_01m7yshq1s6zw3kzc8ypm54agq",
    "object": "chat.completion",
    "created": 1795256076,
    "model": "fast",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello!"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 8, "completion_tokens": 2, "total_tokens": 10},
}
EMBEDDING_REQUEST["example"] = {"model": "embedding", "input": ["Hello"], "encoding_format": "float"}
EMBEDDING_ANSWER["example"] = {
    "object": "list",
    "model": "embedding",
    "data": [{"object": "embedding", "index": 0, "embedding": [0.12, -0.07, 0.33]}],
    "usage": {"prompt_tokens": 1, "total_tokens": 1},
}
MODEL_ANSWER["example"] = {
    "id": "fast",
    "object": "model",
    "created": 0,
    "owned_by": "account-gateway",
    "routes": ["chat.completions", "responses"],
    "pricing": {"input_token": "0.15", "cached_input_token": "0.075", "output_token": "0.6"},
    "authorized": True,
}


def _metered(operation_id: str, summary: str, request: Schema, answers: dict[Any, Any]) -> Any:
    describe = extend_schema(
        operation_id=operation_id, tags=["Models"], summary=summary, request={JSON: request}, responses=answers
    )
    return lambda action: describe(refuses(NotMember, NoSeat, ProductDisabled, status=403)(action))


def _answer(schema: Schema, description: str = "") -> OpenApiResponse:
    return OpenApiResponse(response=schema, description=description)


describe_chat = _metered(
    "create_chat_completion",
    "Answer a chat, as JSON or as a stream",
    CHAT_REQUEST,
    {(200, JSON): _answer(CHAT_ANSWER), (200, EVENTS): _answer(CHAT_EVENTS)},
)
describe_embeddings = _metered(
    "create_embeddings", "Embed texts", EMBEDDING_REQUEST, {(200, JSON): _answer(EMBEDDING_ANSWER)}
)
describe_models = extend_schema(
    operation_id="list_models",
    tags=["Models"],
    summary="List the enabled models and their prices",
    responses={(200, JSON): _answer(MODELS_ANSWER)},
)


def describe_model(action: Any) -> Any:
    """Describe the route of one model."""
    describe = extend_schema(
        operation_id="get_model",
        tags=["Models"],
        summary="Show one model",
        responses={(200, JSON): _answer(MODEL_ANSWER)},
    )
    return describe(refuses(ModelNotFound)(action))
