"""Chat completions in the API reference."""

from inference.serializers import reference as shapes

CHAT_REQUEST = shapes.object_of(
    "model messages",
    model=shapes.MODEL,
    messages=shapes.list_of(shapes.object_of("role", role=shapes.TEXT, content=shapes.ANYTHING), minItems=1),
    stream=shapes.FLAG,
    stream_options=shapes.optional(shapes.object_of("", include_usage=shapes.FLAG)),
    max_tokens=shapes.LIMIT,
    max_completion_tokens=shapes.LIMIT,
    n=shapes.optional({"type": "integer", "minimum": 1, "maximum": 128}),
    tools=shapes.optional(shapes.list_of(shapes.object_of("type", type=shapes.TEXT))),
    service_tier=shapes.SERVICE_TIER,
)
CHAT_ANSWER = shapes.object_of(
    "id object created model choices",
    id=shapes.TEXT,
    object={"type": "string", "enum": ["chat.completion"]},
    created=shapes.COUNT,
    model=shapes.TEXT,
    choices=shapes.list_of(
        shapes.object_of(
            "index message",
            index=shapes.COUNT,
            message=shapes.object_of("role", role=shapes.TEXT),
            finish_reason=shapes.ANYTHING,
        )
    ),
    usage=shapes.USAGE,
)
CHAT_EVENTS: shapes.Schema = {
    "type": "string",
    "description": "Server-sent events of `chat.completion.chunk`. The last line, after `data: [DONE]`, is the comment "
    '`: service {"usage_id":"use_…","charge_microusd":9}`.',
}
CHAT_REQUEST["example"] = {"model": "fast", "messages": [{"role": "user", "content": "Hello"}], "stream": False}
CHAT_ANSWER["example"] = {
    "id": "chatcmpl_01m7yshq1s6zw3kzc8ypm54agq",
    "object": "chat.completion",
    "created": 1795256076,
    "model": "fast",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello!"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 8, "completion_tokens": 2, "total_tokens": 10},
}
describe_chat = shapes.describe_metered(
    "create_chat_completion",
    "Create a chat completion, as JSON or as a stream",
    CHAT_REQUEST,
    {shapes.JSON: CHAT_ANSWER, shapes.EVENTS: CHAT_EVENTS},
)
