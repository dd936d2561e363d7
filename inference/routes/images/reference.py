"""Images in the API reference."""

from inference.serializers import reference as shapes

_SIZE = {"type": "string", "description": "Such as 1024x1024; auto if left out."}
_QUALITY = {"type": "string", "description": "Such as low, medium or high; auto if left out."}
IMAGE_REQUEST = shapes.object_of(
    "model prompt",
    model=shapes.MODEL,
    prompt={"type": "string", "minLength": 1},
    n=shapes.optional({"type": "integer", "minimum": 1, "maximum": 10}),
    size=shapes.optional(_SIZE),
    quality=shapes.optional(_QUALITY),
    output_format=shapes.optional({"type": "string", "enum": ["png", "jpeg", "webp"]}),
    response_format=shapes.optional(
        {"type": "string", "enum": ["b64_json", "url"], "description": "The answer has `b64_json` either way."}
    ),
    stream=shapes.FLAG,
    partial_images=shapes.optional({"type": "integer", "minimum": 0, "maximum": 3}),
)
IMAGE_ANSWER = shapes.object_of(
    "created model data",
    created=shapes.COUNT,
    model=shapes.TEXT,
    data=shapes.list_of(shapes.object_of("b64_json", b64_json=shapes.TEXT, revised_prompt=shapes.TEXT)),
    background=shapes.TEXT,
    output_format=shapes.TEXT,
    quality=shapes.TEXT,
    size=shapes.TEXT,
    usage=shapes.optional(
        shapes.object_of("", input_tokens=shapes.COUNT, output_tokens=shapes.COUNT, total_tokens=shapes.COUNT)
    ),
)
IMAGE_EVENTS: shapes.Schema = {
    "type": "string",
    "description": "Server-sent events: `image_generation.partial_image`, as many as asked for at most, then "
    "`image_generation.completed`. The last line is the comment "
    '`: service {"usage_id":"use_…","charge_microusd":42000}`.',
}
IMAGE_REQUEST["example"] = {"model": "image", "prompt": "A badger in the rain", "size": "1024x1024", "quality": "low"}
IMAGE_ANSWER["example"] = {
    "created": 1795256076,
    "model": "image",
    "data": [{"b64_json": "iVBORw0KGgo="}],
    "output_format": "png",
    "quality": "low",
    "size": "1024x1024",
    "usage": {"input_tokens": 6, "output_tokens": 272, "total_tokens": 278},
}
describe_images = shapes.describe_metered(
    "create_image",
    "Create images from a prompt, as JSON or as a stream",
    IMAGE_REQUEST,
    {shapes.JSON: IMAGE_ANSWER, shapes.EVENTS: IMAGE_EVENTS},
)
