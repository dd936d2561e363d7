"""The inputs of a request for representations: texts and images."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.core.contract.errors import ImageRejected, InvalidRequest
from gateway.core.contract.limits import EMBEDDED_IMAGE_MAX_BYTES, EMBEDDED_IMAGES_MAX, EMBEDDED_IMAGES_MAX_BYTES
from inference.rules.images import STILL_TYPES, check_remote, is_inline, read_data_url
from inference.rules.members import refuse_media

INPUTS_MAX = 2048


@dataclass(frozen=True, slots=True)
class ImageInput:
    """An image by its position among the inputs: a data URL with `size_bytes` of data, or a URL to fetch."""

    index: int
    url: str
    size_bytes: int | None = None

    @property
    def param(self) -> str:
        """Return the path of the member with the image."""
        return f"input.{self.index}.image_url.url"

    @property
    def is_remote(self) -> bool:
        """Return whether it has to be fetched."""
        return self.size_bytes is None

    @property
    def media_type(self) -> str:
        """Return the media type detected from its bytes."""
        return self.url[len("data:") :].partition(";")[0]

    @property
    def base64(self) -> str:
        """Return its data."""
        return self.url.partition(",")[2]


Input = str | ImageInput


def has_parts(sent: Any) -> bool:
    """Return whether an input is an object, as images are."""
    return isinstance(sent, list) and any(isinstance(item, dict) for item in sent)


def read_inputs(sent: Any) -> tuple[Input, ...]:
    """Read `input`, or raise InvalidRequest or ImageRejected naming the member at fault."""
    items = [sent] if isinstance(sent, str) else sent
    if not isinstance(items, list) or not 1 <= len(items) <= INPUTS_MAX:
        raise InvalidRequest(f"input must be a string or a list of 1 to {INPUTS_MAX} inputs.", param="input")
    inputs = tuple(_input(index, item) for index, item in enumerate(items))
    _check_images(list(images_of(inputs)))
    return inputs


def images_of(inputs: Sequence[Input]) -> Iterator[ImageInput]:
    """Return the images among inputs."""
    return (item for item in inputs if isinstance(item, ImageInput))


def texts_of(inputs: Sequence[Input]) -> Iterator[str]:
    """Return the texts among inputs."""
    return (item for item in inputs if isinstance(item, str))


def sizes_of(inputs: Sequence[Input]) -> list[tuple[int, int]]:
    """Return the size of each input in (bytes of text, inputs)."""
    return [(len(item.encode()) if isinstance(item, str) else 0, 1) for item in inputs]


def _input(index: int, item: Any) -> Input:
    if isinstance(item, dict) and item.get("type") == "image_url":
        return _image(index, item)
    text = item
    if isinstance(item, dict) and item.get("type") == "text":
        refuse_media(item, "text", f"input.{index}")
        text = item.get("text")
    if not isinstance(text, str) or not text:
        raise InvalidRequest("An input must be a non-empty string or an image here.", param=f"input.{index}")
    return text


def _image(index: int, item: dict[str, Any]) -> ImageInput:
    refuse_media(item, "image_url", f"input.{index}")
    member = item.get("image_url")
    url = member.get("url") if isinstance(member, dict) else member
    image = ImageInput(index, url if isinstance(url, str) else "")
    if not isinstance(url, str):
        raise InvalidRequest("image_url needs a url.", param=image.param)
    if not is_inline(url):
        check_remote(url, STILL_TYPES, image.param)
        return image
    read = read_data_url(url, STILL_TYPES, image.param, EMBEDDED_IMAGE_MAX_BYTES)
    is_right = url.startswith(f"data:{read.media_type};base64,")
    return ImageInput(index, url if is_right else read.url, len(read.data))


def _check_images(images: list[ImageInput]) -> None:
    if len(images) > EMBEDDED_IMAGES_MAX:
        beyond = images[EMBEDDED_IMAGES_MAX]
        raise InvalidRequest(f"At most {EMBEDDED_IMAGES_MAX} inputs may be images.", param=f"input.{beyond.index}")
    if inline_bytes(images) > EMBEDDED_IMAGES_MAX_BYTES:
        message = f"The images together may have {EMBEDDED_IMAGES_MAX_BYTES} bytes."
        raise ImageRejected(message, param=images[-1].param)


def inline_bytes(images: Sequence[ImageInput]) -> int:
    """Sum the sizes of the images sent inline."""
    return sum(image.size_bytes or 0 for image in images)
