"""The `price` of an alias or a raw model: micro-USD per unit of each component, as decimal strings."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from billing.rules.prices import (
    BANDS_MAX,
    SERVICE_TIERS_MAX,
    check_image_kind,
    check_service_tier,
    check_threshold,
    parse_price,
)
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
ServiceTier = Annotated[str, AfterValidator(check_service_tier)]
Threshold = Annotated[int, AfterValidator(check_threshold)]


ImagePrice = Annotated[
    Annotated[Price, Tag("<one>")]
    | Annotated[dict[ImageKind, Price], Field(min_length=1, max_length=IMAGE_KINDS_MAX), Tag("<kinds>")],
    Discriminator(lambda value: "<kinds>" if isinstance(value, dict) else "<one>"),
]


class TokenPrices(Row):
    """The prices of tokens, the same in a price list, a band and a service tier."""

    input_token: Price | None = None
    cached_input_token: Price | None = None
    cache_write_token: Price | None = None
    cache_write_1h_token: Price | None = None
    output_token: Price | None = None
    input_audio_token: Price | None = None
    output_audio_token: Price | None = None

    def components(self) -> dict[str, Any]:
        """Return what is priced, in the form of a price version."""
        return self.model_dump(exclude_none=True)


class BandRow(TokenPrices):
    """The prices of requests with more input than `above_input_tokens`. What it leaves out has the surrounding price."""

    above_input_tokens: Threshold

    @model_validator(mode="after")
    def _has_prices(self) -> Self:
        if len(self.components()) == 1:
            raise ValueError("a band needs at least one price")
        return self


def _ascending(bands: list[BandRow]) -> list[BandRow]:
    for index, (band, following) in enumerate(pairwise(bands), start=1):
        if following.above_input_tokens <= band.above_input_tokens:
            raise ValueError(
                f"[{index}].above_input_tokens must be more than {band.above_input_tokens}, that of [{index - 1}]"
            )
    return bands


Bands = Annotated[list[BandRow], Field(min_length=1, max_length=BANDS_MAX), AfterValidator(_ascending)]


class ServiceTierRow(TokenPrices):
    """The prices of a service tier, with bands of its own. What it leaves out has the surrounding price."""

    bands: Bands | None = None

    @model_validator(mode="after")
    def _has_prices(self) -> Self:
        if not self.components():
            raise ValueError("a service tier needs at least one price")
        return self


class PriceRow(TokenPrices):
    """A price list. A component without a price is not sold: a route that needs it responds `model_unavailable`."""

    image: ImagePrice | None = None
    input_character: Price | None = None
    audio_second: Price | None = None
    input_kilobyte: Price | None = None
    input_item: Price | None = None
    request: Price | None = None
    bands: Bands | None = None
    service_tiers: (
        Annotated[dict[ServiceTier, ServiceTierRow], Field(min_length=1, max_length=SERVICE_TIERS_MAX)] | None
    ) = None


def in_order(components: Mapping[str, Any]) -> dict[str, Any]:
    """Return stored components as a file states them, in the order of their keys there; the database keeps none."""
    return _in_order(PriceRow, components)


def _in_order(kind: type[TokenPrices], components: Mapping[str, Any]) -> dict[str, Any]:
    names = sorted(components, key=[*_first(kind), *kind.model_fields, *components].index)
    return {name: _component(name, components[name]) for name in names}


def _first(kind: type[TokenPrices]) -> tuple[str, ...]:
    return ("above_input_tokens",) if kind is BandRow else ()


def _component(name: str, value: Any) -> Any:
    if name == "bands":
        return [_in_order(BandRow, band) for band in value]
    if name == "service_tiers":
        return {tier: _in_order(ServiceTierRow, value[tier]) for tier in sorted(value)}
    return dict(sorted(value.items())) if isinstance(value, Mapping) else value
