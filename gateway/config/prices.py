"""The `price` of an alias or a raw model: micro-USD per unit of each component, as decimal strings."""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from billing.rules.prices import check_image_kind, parse_price
from gateway.config.row import Row

IMAGE_KINDS_MAX = 100


def _price(value: object) -> str:
    """Read an exact decimal. A YAML float is refused: parsing has already made it inexact."""
    if isinstance(value, float):
        raise ValueError(f'quote this price, as in "{value}": an unquoted decimal is not exact')
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    parse_price(text)
    return str(text)


Price = Annotated[str, BeforeValidator(_price)]
ImageKind = Annotated[str, AfterValidator(check_image_kind)]


ImagePrice = Annotated[
    Annotated[Price, Tag("<one>")]
    | Annotated[dict[ImageKind, Price], Field(min_length=1, max_length=IMAGE_KINDS_MAX), Tag("<kinds>")],
    Discriminator(lambda value: "<kinds>" if isinstance(value, dict) else "<one>"),
]


class PriceRow(Row):
    """A price list. A component without a price is not sold: a route that needs it responds `model_unavailable`."""

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
        """Return the priced components in the form of a price version."""
        return self.model_dump(exclude_none=True)
