"""Chat completions in the API reference."""

from inference.serializers.reference import (
    ANYTHING,
    COUNT,
    EVENTS,
    FLAG,
    JSON,
    LIMIT,
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

CHAT_REQUEST = object_of(
    "model messages",
    model=MODEL,
    messages=list_of(object_of("role", role=TEXT, content=ANYTHING), minItems=1),
    stream=FLAG,
    stream_options=optional(object_of("", include_usage=FLAG)),
    max_tokens=LIMIT,
    max_completion_tokens=LIMIT,
    n=optional({"type": "integer", "minimum": 1, "maximum": 128}),
    tools=optional(list_of(object_of("type", type=TEXT))),
)
CHAT_ANSWER = object_of(
    "id object created model choices",
    id=TEXT,
    object={"type": "string", "enum": ["chat.completion"]},
    created=COUNT,
    model=TEXT,
    choices=list_of(
        object_of("index message", index=COUNT, message=object_of("role", role=TEXT), finish_reason=ANYTHING)
    ),
    usage=USAGE,
)
CHAT_EVENTS: Schema = {
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
describe_chat = describe_metered(
    "create_chat_completion",
    "Answer a chat, as JSON or as a stream",
    CHAT_REQUEST,
    {(200, JSON): answer(CHAT_ANSWER), (200, EVENTS): answer(CHAT_EVENTS)},
)
