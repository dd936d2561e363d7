"""The wire format of responses, and the API reference of stored ones."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema

from gateway.core.api.pagination import AFTER, LIMIT
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


Items = list[dict[str, Any]]

ORDER = OpenApiParameter(
    "order", {"type": "string", "enum": ["asc", "desc"], "default": "desc"}, description="Newest first, or oldest."
)
ITEMS = shapes.object_of(
    "object data first_id last_id has_more",
    object={"type": "string", "enum": ["list"]},
    data=shapes.list_of(shapes.object_of("id type", id=shapes.TEXT, type=shapes.TEXT)),
    first_id=shapes.optional(shapes.TEXT),
    last_id=shapes.optional(shapes.TEXT),
    has_more={"type": "boolean"},
)
DELETED = shapes.object_of(
    "id object deleted",
    id=shapes.TEXT,
    object={"type": "string", "enum": ["response"]},
    deleted={"type": "boolean"},
)
ITEMS["example"] = {
    "object": "list",
    "data": [
        {
            "id": "msg_01m7yshq1s6zw3kzc8ypm54agq",
            "type": "message",
            "role": "user",
            "status": "completed",
            "content": [{"type": "input_text", "text": "Hello"}],
        }
    ],
    "first_id": "msg_01m7yshq1s6zw3kzc8ypm54agq",
    "last_id": "msg_01m7yshq1s6zw3kzc8ypm54agq",
    "has_more": False,
}
DELETED["example"] = {"id": "resp_01m7yshq1s6zw3kzc8ypm54agq", "object": "response", "deleted": True}

describe_response = extend_schema(
    operation_id="get_response",
    summary="Read a stored response",
    responses={(200, shapes.JSON): shapes.answer(RESPONSE)},
)
describe_delete = extend_schema(
    operation_id="delete_response",
    summary="Delete a stored response",
    responses={(200, shapes.JSON): shapes.answer(DELETED)},
)
describe_input_items = extend_schema(
    operation_id="list_response_input_items",
    summary="List the input of a stored response",
    parameters=[LIMIT, AFTER, ORDER],
    responses={(200, shapes.JSON): shapes.answer(ITEMS)},
)


def page_of(items: Items, limit: int) -> dict[str, Any]:
    """Render the first `limit` items as a vendor list."""
    page = items[:limit]
    return {
        "object": "list",
        "data": page,
        "first_id": page[0]["id"] if page else None,
        "last_id": page[-1]["id"] if page else None,
        "has_more": len(items) > limit,
    }


def render_deleted(response_id: str) -> dict[str, Any]:
    """Render the confirmation of a deletion."""
    return {"id": response_id, "object": "response", "deleted": True}
