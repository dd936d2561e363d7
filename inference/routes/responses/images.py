"""Finds the images in a response's input, and replaces their URLs for the upstream."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.limits import FETCHED_IMAGES_MAX
from inference.interface.model import ServedModel
from inference.routes.responses.items import Item, parts_of
from inference.rules.images import CHAT_TYPES, check_remote, is_inline, read_data_url


class ImageAt(NamedTuple):
    """One image: the index of its item, the member with its part, the part's index, its URL, and its path in the
    request."""

    item: int
    member: str
    part: int
    url: str
    param: str


Urls = Mapping[ImageAt, str]


def read_images(items: Sequence[Item], known: int, *, model: ServedModel) -> tuple[Urls, tuple[ImageAt, ...]]:
    """Check every image; return replacement URLs for images with a wrong media type, and the images to fetch.

    The first `known` items come from a stored response, and were already checked. An upstream
    that fetches images itself gets their URLs. Raises ImageRejected or InvalidRequest naming the member.
    """
    relabelled: dict[ImageAt, str] = {}
    remote = []
    for image in _images(items, known):
        if not is_inline(image.url):
            check_remote(image.url, CHAT_TYPES, image.param)
            remote.append(image)
        elif image.item >= known:
            read = read_data_url(image.url, CHAT_TYPES, image.param)
            if not image.url.startswith(f"data:{read.media_type};"):
                relabelled[image] = read.url
    if remote and model.fetches_images:
        return relabelled, ()
    if len(remote) > FETCHED_IMAGES_MAX:
        raise InvalidRequest(
            f"At most {FETCHED_IMAGES_MAX} images may be URLs.", param=remote[FETCHED_IMAGES_MAX].param
        )
    return relabelled, tuple(remote)


def with_urls(items: Sequence[Item], urls: Urls) -> list[Item]:
    """Return a copy of items with other URLs for some images."""
    replaced = list(items)
    for image, url in urls.items():
        item = replaced[image.item]
        parts = [*item[image.member]]
        parts[image.part] = {**parts[image.part], "image_url": url}
        replaced[image.item] = {**item, image.member: parts}
    return replaced


def _images(items: Sequence[Item], known: int) -> Iterator[ImageAt]:
    for index, item in enumerate(items):
        member, parts = parts_of(item)
        for number, part in enumerate(parts):
            if part.get("type") == "input_image":
                param = f"input.{index - known}.{member}.{number}.image_url"
                yield _image(index, member, number, part, param if index >= known else "previous_response_id")


def _image(index: int, member: str, number: int, part: Mapping[str, Any], param: str) -> ImageAt:
    url = part.get("image_url")
    if not isinstance(url, str):
        raise InvalidRequest("image_url must be a text.", param=param)
    return ImageAt(index, member, number, url, param)
