"""Images in the vendor's format: one body, or a stream of partial images and an image."""

import base64
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.factories.images import FIRST_BYTES, PNG
from tests.support.upstream.behaviours import HOST, Behaviour
from tests.support.upstream.stream import Frame
from tests.support.upstream.tokens import count_text
from tests.support.upstream.usage import ABSENT, report

PATH = "/images/generations"
PARTIAL, COMPLETED = "image_generation.partial_image", "image_generation.completed"
PARTIAL_TOKENS = 100
TOKENS = {"low": 272, "medium": 1056, "high": 4160}
KIND = "1024x1024/medium"

HEADER = PNG[: FIRST_BYTES["image/png"]]

Data = list[dict[str, Any]]

SPOILED: Mapping[str, Callable[[Data], Any]] = {
    "": lambda data: data,
    "few": lambda data: data[1:],
    "many": lambda data: [*data, *data],
    "none": lambda data: [],
    "null": lambda data: None,
    "object": lambda data: {"0": data[0]},
    "text": lambda data: ["iVBORw0KGgo="],
    "no_data": lambda data: [{"revised_prompt": "a badger"}],
    "empty_data": lambda data: [{"b64_json": ""}],
    "number_data": lambda data: [{"b64_json": 7}],
}
"""The effects of `Behaviour.shape` on images. `silent` omits their properties, as older models do; `more_partials`,
`no_image` and `no_data` break a stream."""


def data_of(behaviour: Behaviour, number: int = 0) -> bytes:
    """Return the bytes of an image, which depend on its number."""
    return HEADER + bytes([number]) * (behaviour.image_bytes - len(HEADER))


def tokens_of(body: Mapping[str, Any], behaviour: Behaviour) -> int:
    """Count the output tokens of every image, and of a stream's partial ones."""
    each = TOKENS.get(_kind(body, behaviour)["quality"], 1056)
    return each * (body.get("n") or 1) + PARTIAL_TOKENS * (body.get("partial_images") or 0)


def render(body: Mapping[str, Any], behaviour: Behaviour) -> Any:
    """Build a complete response."""
    data = [_image(behaviour, number) for number in range(body.get("n") or 1)]
    answer = {"created": int(time.time()), "data": SPOILED.get(behaviour.shape, SPOILED[""])(data), "served_by": HOST}
    if behaviour.shape == "silent":
        return answer
    return {**answer, **_kind(body, behaviour), **_made(body), **_usage(body, behaviour)}


def stream(body: Mapping[str, Any], behaviour: Behaviour) -> Iterator[Frame]:
    """Yield the events; each counts as one token for pauses and cuts."""
    common = {"created_at": int(time.time()), **_kind(body, behaviour), **_made(body), "served_by": HOST}
    partial_images = (body.get("partial_images") or 0) + (behaviour.shape == "more_partials")
    for index in range(partial_images):
        event = {"type": PARTIAL, **_b64(behaviour, index + 1), "partial_image_index": index, **common}
        yield Frame(event, 1, PARTIAL)
    if behaviour.error_event:
        yield Frame({"error": {"message": f"The server {HOST} had an error.", "code": None}}, 0, "error")
    if partial_images:
        yield Frame({"type": "image_generation.unknown", "told_by": HOST}, 0, "image_generation.unknown")
    if behaviour.shape != "no_image":
        b64_json = {} if behaviour.shape == "no_data" else _b64(behaviour, 0)
        yield Frame({"type": COMPLETED, **b64_json, **common, **_usage(body, behaviour)}, 1, COMPLETED)


def _b64(behaviour: Behaviour, number: int) -> dict[str, str]:
    return {"b64_json": base64.b64encode(data_of(behaviour, number)).decode()}


def _image(behaviour: Behaviour, number: int) -> dict[str, Any]:
    if behaviour.image_url:
        return {"url": behaviour.image_url, "revised_prompt": "a badger"}
    return _b64(behaviour, number)


def _kind(body: Mapping[str, Any], behaviour: Behaviour) -> dict[str, str]:
    size, quality = (behaviour.made or KIND).split("/")
    if behaviour.made:
        return {"size": size, "quality": quality}
    requested = {name: body.get(name) for name in ("size", "quality")}
    made = {"size": size, "quality": quality}
    return {name: value if value not in (None, "auto") else made[name] for name, value in requested.items()}


def _made(body: Mapping[str, Any]) -> dict[str, str]:
    return {"background": "opaque", "output_format": body.get("output_format") or "png"}


def _usage(body: Mapping[str, Any], behaviour: Behaviour) -> dict[str, Any]:
    input_tokens, output_tokens = count_text(body["prompt"]), tokens_of(body, behaviour)
    true = {
        "input_tokens": input_tokens,
        "input_tokens_details": {"text_tokens": input_tokens, "image_tokens": 0},
        "output_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
    }
    usage = report(true, behaviour.usage)
    return {} if usage is ABSENT else {"usage": usage}
