"""Messages in the API reference."""

from drf_spectacular.utils import extend_schema

from inference.serializers import reference as shapes

_TEXT_OR_BLOCKS: shapes.Schema = {
    "oneOf": [shapes.TEXT, shapes.list_of(shapes.object_of("type", type=shapes.TEXT))],
    "description": "A text, or a list of blocks.",
}
MESSAGE_REQUEST = shapes.object_of(
    "model max_tokens messages",
    model=shapes.MODEL,
    max_tokens={
        "type": "integer",
        "minimum": 1,
        "description": "The most output tokens. It is lowered to the alias's limit and to what the maximum cost covers.",
    },
    messages=shapes.list_of(
        shapes.object_of(
            "role content", role={"type": "string", "enum": ["user", "assistant", "system"]}, content=_TEXT_OR_BLOCKS
        ),
        minItems=1,
    ),
    system=shapes.optional(_TEXT_OR_BLOCKS),
    stream=shapes.FLAG,
    tools=shapes.optional(shapes.list_of(shapes.object_of("name", name=shapes.TEXT))),
    thinking=shapes.optional(shapes.object_of("type", type=shapes.TEXT)),
)
MESSAGE_ANSWER = shapes.object_of(
    "id type role model content stop_reason usage",
    id=shapes.TEXT,
    type={"type": "string", "enum": ["message"]},
    role={"type": "string", "enum": ["assistant"]},
    model=shapes.TEXT,
    content=shapes.list_of(shapes.object_of("type", type=shapes.TEXT)),
    stop_reason=shapes.optional(shapes.TEXT),
    stop_sequence=shapes.optional(shapes.TEXT),
    usage=shapes.optional(
        shapes.object_of(
            "",
            input_tokens=shapes.COUNT,
            cache_creation_input_tokens=shapes.optional(shapes.COUNT),
            cache_read_input_tokens=shapes.optional(shapes.COUNT),
            output_tokens=shapes.COUNT,
        )
    ),
)
MESSAGE_EVENTS: shapes.Schema = {
    "type": "string",
    "description": "The vendor's server-sent events, from `message_start` to `message_stop`. The last line is the comment "
    '`: service {"usage_id":"use_…","charge_microusd":9}`.',
}
MESSAGE_REQUEST["example"] = {
    "model": "fast",
    "max_tokens": 256,
    "messages": [{"role": "user", "content": "Hello"}],
}
MESSAGE_ANSWER["example"] = {
    "id": "msg_01m7yshq1s6zw3kzc8ypm54agq",
    "type": "message",
    "role": "assistant",
    "model": "fast",
    "content": [{"type": "text", "text": "Hello!"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 8, "output_tokens": 2},
}
COUNT_ANSWER = shapes.object_of("input_tokens", input_tokens=shapes.COUNT)
COUNT_ANSWER["example"] = {"input_tokens": 8}
COUNT_REQUEST: shapes.Schema = {
    **MESSAGE_REQUEST,
    "required": ["model", "messages"],
    "properties": {
        name: schema for name, schema in MESSAGE_REQUEST["properties"].items() if name not in ("max_tokens", "stream")
    },
    "example": {"model": "fast", "messages": [{"role": "user", "content": "Hello"}]},
}
describe_message_count = extend_schema(
    operation_id="count_message_tokens",
    summary="Count the input tokens of a message",
    request={shapes.JSON: COUNT_REQUEST},
    responses={(200, shapes.JSON): shapes.answer(COUNT_ANSWER)},
)
describe_messages = shapes.describe_metered(
    "create_message",
    "Create a message, as JSON or as a stream",
    MESSAGE_REQUEST,
    {shapes.JSON: MESSAGE_ANSWER, shapes.EVENTS: MESSAGE_EVENTS},
)
