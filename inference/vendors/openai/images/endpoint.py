"""Images, as one body or as a stream of events."""

from typing import Any

from gateway.core.outbound.response import Response
from inference.adapters.exchange import NotJSONError
from inference.adapters.http_endpoint import JsonEndpoint
from inference.interface.answer import Answer
from inference.interface.upstream import Attempt
from inference.routes.images.bound import BoundedImages
from inference.vendors.openai.images.remote import with_bytes
from inference.vendors.openai.images.shapes import created_of, image_properties, read_data
from inference.vendors.openai.images.stream import ImageStream


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
