"""Images, as one body or as a stream of events. An image that an answer gives by URL is fetched: the client gets its data, and
never learns the URL."""

import asyncio
import base64
from collections.abc import Sequence
from typing import Any

from gateway.core.contract.errors import ImageRejected
from gateway.core.contract.limits import IMAGE_MAX_BYTES
from gateway.core.outbound.public_fetch import FetchError
from gateway.core.outbound.response import Response
from inference.adapters import fetched_images
from inference.adapters.exchange import NotJSONError
from inference.adapters.http_endpoint import JsonEndpoint
from inference.interface.answer import Answer
from inference.interface.upstream import Attempt
from inference.routes.images.bound import BoundedImages
from inference.rules.images import check_remote, is_inline, read_data_url, read_image
from inference.vendors.openai.images.stream import ImageStream, created_of, image_properties, read_data

TYPES = frozenset({"image/png", "image/jpeg", "image/webp"})

ALL_MAX_BYTES = 48 * 1024 * 1024
"""The largest total size of the images by URL of one answer."""


class OpenAIImages(JsonEndpoint[BoundedImages]):
    """`POST /images/generations`."""

    path = "/images/generations"
    stream = ImageStream
    answer_max_bytes = 96 * 1024 * 1024

    def body(self, attempt: Attempt[BoundedImages], *, streams: bool) -> dict[str, Any]:
        """Request data instead of a URL, if the client's `response_format` shows that the model has the choice."""
        body = super().body(attempt, streams=streams)
        if body.get("response_format") is not None:
            body["response_format"] = "b64_json"
        return body

    def convert_answer(self, attempt: Attempt[BoundedImages], body: dict[str, Any]) -> None:
        """Keep only the documented members of an answer, and at most the requested number of images."""
        data = body.get("data")
        if not isinstance(data, list) or not data:
            raise NotJSONError("no images")
        answer = {
            "created": created_of(body, "created"),
            "model": attempt.call.public_model,
            "data": [_image(item) for item in data[: attempt.request.params.images]],
            **image_properties(body),
            **({"usage": body["usage"]} if body.get("usage") else {}),
        }
        body.clear()
        body |= answer

    async def read(self, attempt: Attempt[BoundedImages], response: Response) -> Answer:
        """Read the answer, and fetch the images that it gives by URL."""
        answer = await super().read(attempt, response)
        answer.body["data"] = await with_bytes(answer.body["data"])
        return answer


def _image(item: Any) -> dict[str, Any]:
    """Keep an image's data or its URL, and the revised prompt."""
    if not isinstance(item, dict):
        raise NotJSONError("an image that is not an object")
    url, revised = item.get("url"), item.get("revised_prompt")
    has_data = item.get("b64_json") is not None or not isinstance(url, str)
    image = {"b64_json": read_data(item)} if has_data else {"url": url}
    return {**image, "revised_prompt": revised} if isinstance(revised, str) else image


async def with_bytes(images: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the images with `b64_json` in place of URLs. Raises NotJSONError if one cannot be fetched: there is then no
    answer, but the upstream may have charged for the image."""
    fetched = _Fetched()
    tasks = [asyncio.create_task(_with_bytes(image, fetched)) for image in images]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()  # if one failed, the others are not needed


class _Fetched:
    """Counts the bytes of one answer's images as they arrive."""

    size_bytes = 0

    def add(self, size_bytes: int) -> None:
        """Count one image. Raises NotJSONError if their total is too large."""
        self.size_bytes += size_bytes
        if self.size_bytes > ALL_MAX_BYTES:
            raise NotJSONError("the images by URL are too large together")


async def _with_bytes(image: dict[str, Any], fetched: _Fetched) -> dict[str, Any]:
    url = image.pop("url", None)
    if url is None:
        return image
    try:
        data = await _data_of(url)
    except (FetchError, ImageRejected) as error:
        raise NotJSONError(f"an image by URL: {error} {getattr(error, 'message', '')}") from error
    fetched.add(len(data))
    return {"b64_json": base64.b64encode(data).decode(), **image}


async def _data_of(url: str) -> bytes:
    if is_inline(url):
        return read_data_url(url, TYPES, "url").data
    check_remote(url, TYPES, "url")
    accept = ", ".join(sorted(TYPES))
    data = await fetched_images.FETCHER.fetch(url, max_bytes=IMAGE_MAX_BYTES, accept=accept)
    return read_image(data, TYPES, "url").data
