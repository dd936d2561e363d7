"""Validates a request for images."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.core.contract.errors import InvalidRequest
from inference.interface.model import ServedModel
from inference.routes.images.kinds import AUTO, Kind
from inference.routes.images.members import IMAGE_MEMBERS
from inference.rules.input_bound import bound_input, tokens_of_bytes
from inference.rules.json_body import JsonBody
from inference.rules.members import read_count, read_flag, refuse_members

IMAGES_MAX = 10
PARTIAL_IMAGES_MAX = 3
OUTPUT_FORMATS = ("png", "jpeg", "webp")
RESPONSE_FORMATS = ("b64_json", "url")

_PART_OF_KIND = re.compile(r"[A-Za-z0-9_.-]{1,32}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ImageRequest:
    """A valid request for `images` images of a kind. `input_bound` is the maximum of its input tokens, `input_estimate`
    the expected number."""

    body: Mapping[str, Any]
    is_large: bool
    prompt: str
    kind: Kind
    images: int
    partial_images: int
    streams: bool
    input_bound: int
    input_estimate: int


def read_request(sent: JsonBody, model: ServedModel) -> ImageRequest:
    """Validate a request for images, or raise InvalidRequest naming the member at fault."""
    body = sent.members
    refuse_members(body, IMAGE_MEMBERS)
    prompt = body.get("prompt")
    if not isinstance(prompt, str) or not prompt:
        raise InvalidRequest("prompt must be a non-empty string.", param="prompt")
    _check_choice(body, "output_format", OUTPUT_FORMATS)
    _check_choice(body, "response_format", RESPONSE_FORMATS)
    streams = read_flag(body, "stream")
    return ImageRequest(
        body=body,
        is_large=sent.is_large,
        prompt=prompt,
        kind=Kind(_part(body, "size"), _part(body, "quality")),
        images=_images(body, streams=streams),
        partial_images=_partial_images(body, streams=streams),
        streams=streams,
        input_bound=bound_input(model, sent.size_bytes, None),
        input_estimate=tokens_of_bytes(len(prompt.encode())),
    )


def _check_choice(body: Mapping[str, Any], name: str, known: tuple[str, ...]) -> None:
    if body.get(name) not in (None, *known):
        raise InvalidRequest(f"{name} must be {' or '.join(known)}.", param=name)


def _part(body: Mapping[str, Any], name: str) -> str | None:
    """Read a size or quality; None if the model chooses."""
    value = body.get(name)
    if value is None or value == AUTO:
        return None
    if not isinstance(value, str) or not _PART_OF_KIND.fullmatch(value):
        raise InvalidRequest(f"{name} must be the name of a {name}.", param=name)
    return value


def _images(body: Mapping[str, Any], *, streams: bool) -> int:
    images = read_count(body, "n", most=IMAGES_MAX) or 1
    if streams and images > 1:
        raise InvalidRequest("A stream can have only one image.", param="n")
    return images


def _partial_images(body: Mapping[str, Any], *, streams: bool) -> int:
    sent = body.get("partial_images")
    if sent is None or (type(sent) is int and sent == 0):
        return 0
    partial_images = read_count(body, "partial_images", most=PARTIAL_IMAGES_MAX) or 0
    if not streams:
        raise InvalidRequest("partial_images is only valid with stream.", param="partial_images")
    return partial_images
