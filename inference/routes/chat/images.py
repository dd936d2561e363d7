"""Finds the images in a chat's messages, and replaces their URLs for the upstream."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.limits import FETCHED_IMAGES_MAX
from inference.interface.model import ServedModel
from inference.rules.images import CHAT_TYPES, check_remote, is_inline, read_data_url


class ImageAt(NamedTuple):
    """One image by the indices of its message and part, with its URL."""

    message: int
    part: int
    url: str

    @property
    def param(self) -> str:
        """Return the path of the member with the image."""
        return f"messages.{self.message}.content.{self.part}.image_url.url"


Urls = Mapping[ImageAt, str]


def read_images(messages: list[Any], *, model: ServedModel) -> tuple[Urls, tuple[ImageAt, ...]]:
    """Check every image; return replacement URLs for images with a wrong media type, and the images to fetch.

    An upstream that fetches images itself gets their URLs. Raises ImageRejected or InvalidRequest naming the member.
    """
    relabelled: dict[ImageAt, str] = {}
    remote = []
    for image in _images(messages):
        if not is_inline(image.url):
            check_remote(image.url, CHAT_TYPES, image.param)
            remote.append(image)
        elif not image.url.startswith(f"data:{(read := _read(image)).media_type};"):
            relabelled[image] = read.url
    if remote and model.fetches_images:
        return relabelled, ()
    if len(remote) > FETCHED_IMAGES_MAX:
        raise InvalidRequest(
            f"At most {FETCHED_IMAGES_MAX} images may be URLs.", param=remote[FETCHED_IMAGES_MAX].param
        )
    return relabelled, tuple(remote)


def with_urls(body: Mapping[str, Any], urls: Urls) -> Mapping[str, Any]:
    """Return a copy of a body with other URLs for some images."""
    if not urls:
        return body
    messages = list(body["messages"])
    for image, url in urls.items():
        message = messages[image.message]
        content = [*message["content"]]
        content[image.part] = _with_url(content[image.part], url)
        messages[image.message] = {**message, "content": content}
    return {**body, "messages": messages}


def _read(image: ImageAt) -> Any:
    return read_data_url(image.url, CHAT_TYPES, image.param)


def _images(messages: list[Any]) -> Iterator[ImageAt]:
    for at, message in enumerate(messages):
        content = message.get("content")
        for index, part in enumerate(content if isinstance(content, list) else ()):
            if isinstance(part, dict) and part.get("type") == "image_url":
                yield _image(at, index, part.get("image_url"))


def _image(at: int, index: int, member: Any) -> ImageAt:
    url = member.get("url") if isinstance(member, dict) else member
    if not isinstance(url, str):
        raise InvalidRequest("image_url needs a url.", param=ImageAt(at, index, "").param)
    return ImageAt(at, index, url)


def _with_url(part: Mapping[str, Any], url: str) -> dict[str, Any]:
    member = part["image_url"]
    return {**part, "image_url": {**member, "url": url} if isinstance(member, dict) else url}
