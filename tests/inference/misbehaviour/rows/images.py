"""Images, whole and as they become clearer."""

import base64

from tests.factories.images import PNG
from tests.inference.misbehaviour.row import Json, Row
from tests.support.upstream.behaviours import HOST

IMAGE = base64.b64encode(PNG + bytes(range(256))).decode()
IMAGE_MEMBERS: Json = {
    "b64_json": IMAGE,
    "background": "opaque",
    "output_format": "png",
    "quality": "low",
    "size": "1024x1024",
}
USAGE: Json = {"input_tokens": 6, "output_tokens": 272, "total_tokens": 278}
PARTIAL: Json = {"type": "image_generation.partial_image", "created_at": 1, "served_by": HOST, **IMAGE_MEMBERS}

ROWS = [
    Row(
        "images",
        "/v1/images/generations",
        "images.generations",
        lambda alias: {"model": alias, "prompt": "A badger in the rain."},
        answer={"created": 1, **IMAGE_MEMBERS, "data": [{"b64_json": IMAGE}], "served_by": HOST, "usage": USAGE},
        charge_microusd=205,
        price={"image": "40", "input_token": "0.15", "output_token": "0.60"},
        fields={"max_output_tokens": 400},
        events=[
            *({**PARTIAL, "partial_image_index": index} for index in range(3)),
            {"type": "image_generation.completed", "created_at": 1, "served_by": HOST, **IMAGE_MEMBERS, "usage": USAGE},
        ],
        stream_members={"stream": True, "partial_images": 3},
    ),
]
"""40 + 6 x 0.15 + 272 x 0.60 = 204.1 micro-USD, rounded up once."""
