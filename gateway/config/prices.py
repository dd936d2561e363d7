"""The `price` of an alias or a raw model: micro-USD per unit of each component, as decimal strings."""

import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from gateway.config.row import Row

_PRICE = re.compile(r"(?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,6})?")
_IMAGE_KIND = re.compile(r"[a-z0-9]{1,32}/[a-z0-9]{1,32}")
IMAGE_KINDS_MAX = 100
PRICE_WORDS = 'must be a price in micro-USD with at most 6 decimals, such as "0.15"'


def _price(value: object) -> str:
    """Read an exact decimal. A YAML float is binary before anybody can read what was written: refused."""
    if isinstance(value, float):
        raise ValueError(f'quote this price, as in "{value}": a bare number with a point is not exact')
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not _PRICE.fullmatch(text):
        raise ValueError(PRICE_WORDS)
    return text


def _image_kind(value: str) -> str:
    if not _IMAGE_KIND.fullmatch(value):
        raise ValueError('must be size/quality, such as "1024x1024/high"')
    return value


Price = Annotated[str, BeforeValidator(_price)]
ImageKind = Annotated[str, AfterValidator(_image_kind)]


ImagePrice = Annotated[
    Annotated[Price, Tag("<one>")]
    | Annotated[dict[ImageKind, Price], Field(min_length=1, max_length=IMAGE_KINDS_MAX), Tag("<kinds>")],
    Discriminator(lambda value: "<kinds>" if isinstance(value, dict) else "<one>"),
]


class PriceRow(Row):
    """A price list. A component that is left out is not sold: a route that needs it answers `model_unavailable`."""

    input_token: Price | None = None
    cached_input_token: Price | None = None
    output_token: Price | None = None
    input_audio_token: Price | None = None
    output_audio_token: Price | None = None
    image: ImagePrice | None = None
    input_character: Price | None = None
    audio_second: Price | None = None
    input_kilobyte: Price | None = None
    input_item: Price | None = None
    request: Price | None = None

    def components(self) -> dict[str, str | dict[str, str]]:
        """Return the components that have a price, as a price version keeps them."""
        return self.model_dump(exclude_none=True)
