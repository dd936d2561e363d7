"""The response object in the API reference, for the routes that create and read one."""

from inference.serializers import reference as shapes

USAGE = shapes.optional(
    shapes.object_of("", input_tokens=shapes.COUNT, output_tokens=shapes.COUNT, total_tokens=shapes.COUNT)
)
RESPONSE = shapes.object_of(
    "id object created_at status model output store previous_response_id",
    id=shapes.TEXT,
    object={"type": "string", "enum": ["response"]},
    created_at=shapes.COUNT,
    status={"type": "string", "enum": ["completed", "incomplete", "failed"]},
    error=shapes.ANYTHING,
    incomplete_details=shapes.ANYTHING,
    model=shapes.TEXT,
    output=shapes.list_of(shapes.object_of("id type", id=shapes.TEXT, type=shapes.TEXT)),
    previous_response_id=shapes.optional(shapes.TEXT),
    store={"type": "boolean", "description": "Whether it can be read again, and continued from."},
    usage=USAGE,
)
RESPONSE["example"] = {
    "id": "resp_01m7yshq1s6zw3kzc8ypm54agq",
    "object": "response",
    "created_at": 1795256076,
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "model": "fast",
    "output": [
        {
            "id": "msg_01m7yshq1s6zw3kzc8ypm54agq_0",
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Hello!", "annotations": []}],
        }
    ],
    "previous_response_id": None,
    "store": True,
    "usage": {"input_tokens": 8, "output_tokens": 2, "total_tokens": 10},
}
