"""Responses in the API reference."""

from inference.serializers import reference as shapes
from inference.serializers.stored_responses import RESPONSE

RESPONSE_REQUEST = shapes.object_of(
    "model input",
    model=shapes.MODEL,
    input={
        "oneOf": [shapes.TEXT, shapes.list_of(shapes.object_of("", type=shapes.TEXT, content=shapes.ANYTHING))],
        "description": "A text, or a list of messages, tool calls, their outputs and reasoning.",
    },
    instructions=shapes.optional(shapes.TEXT),
    previous_response_id=shapes.optional(
        {"type": "string", "description": "A stored response of the same owner, to continue from."}
    ),
    store=shapes.optional({"type": "boolean", "default": True}),
    stream=shapes.FLAG,
    max_output_tokens=shapes.LIMIT,
    tools=shapes.optional(shapes.list_of(shapes.object_of("type", type=shapes.TEXT))),
    service_tier=shapes.SERVICE_TIER,
    metadata=shapes.optional({"type": "object", "additionalProperties": shapes.TEXT}),
)
RESPONSE_EVENTS: shapes.Schema = {
    "type": "string",
    "description": "The vendor's server-sent events, from `response.created` to `response.completed`, "
    "`response.incomplete` or `response.failed`, after which a stored response can be read. The last line is the comment "
    '`: service {"usage_id":"use_…","charge_microusd":9}`.',
}
RESPONSE_REQUEST["example"] = {"model": "fast", "input": "Hello", "stream": False}
describe_responses = shapes.describe_metered(
    "create_response",
    "Create a response, as JSON or as a stream",
    RESPONSE_REQUEST,
    {shapes.JSON: RESPONSE, shapes.EVENTS: RESPONSE_EVENTS},
)
