"""Bands, service tiers and images of a price as text: a line each, as an operator writes them into the price form.

200000 input_token 5 output_token 22.5          a band: its threshold, and the prices that differ above it
priority input_token 5 output_token 30          a service tier
priority above 200000 input_token 10            a band of that tier
1024x1024/high 40000                            images of a size and quality
"""

from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import ValidationError

ABOVE = "above"


def read_bands(text: str) -> list[dict[str, Any]]:
    """Read the bands of a price. Raises ValidationError."""
    return [_band(line, line.split()) for line in _lines(text)]


def show_bands(bands: list[Mapping[str, Any]]) -> str:
    """Render bands in this notation."""
    return "\n".join(_show_band(band) for band in bands)


def read_service_tiers(text: str) -> dict[str, dict[str, Any]]:
    """Read the service tiers of a price, with their bands. Raises ValidationError."""
    tiers: dict[str, dict[str, Any]] = {}
    for line in _lines(text):
        name, *words = line.split()
        tier = tiers.setdefault(name, {})
        if words[:1] == [ABOVE]:
            tier.setdefault("bands", []).append(_band(line, words[1:]))
        elif set(tier) - {"bands"}:
            raise ValidationError(f"The service tier {name} has two lines of prices.")
        else:
            tiers[name] = {**_prices(line, words), **tier}
    return tiers


def show_service_tiers(tiers: Mapping[str, Mapping[str, Any]]) -> str:
    """Render service tiers in this notation."""
    return "\n".join(line for name, tier in tiers.items() for line in _show_tier(name, tier))


def read_images(text: str) -> dict[str, str]:
    """Read the prices of images by size and quality. Raises ValidationError."""
    pairs = [line.split() for line in _lines(text)]
    if not all(len(pair) == 2 for pair in pairs):
        raise ValidationError("Each line must be size/quality and its price.")
    if len(kinds := dict(pairs)) < len(pairs):
        raise ValidationError("Each size/quality can have only one price.")
    return kinds


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _band(line: str, words: list[str]) -> dict[str, Any]:
    if not words or not words[0].isascii() or not words[0].isdigit() or len(words[0]) > 10:
        raise ValidationError(f"“{line}”: a band begins with a number of input tokens.")
    return {"above_input_tokens": int(words[0]), **_prices(line, words[1:])}


def _prices(line: str, words: list[str]) -> dict[str, str]:
    names, prices = words[::2], words[1::2]
    if len(names) != len(prices) or len(set(names)) < len(names):
        raise ValidationError(f"“{line}”: components and prices must alternate, each component once.")
    if "bands" in names:
        raise ValidationError(f"“{line}”: a band of a tier has a line of its own.")
    return dict(zip(names, prices, strict=True))


def _show_tier(name: str, tier: Mapping[str, Any]) -> Iterator[str]:
    own = {component: price for component, price in tier.items() if component != "bands"}
    if own:
        yield f"{name} {_show_prices(own)}"
    yield from (f"{name} {ABOVE} {_show_band(band)}" for band in tier.get("bands", ()))


def _show_band(band: Mapping[str, Any]) -> str:
    own = {component: price for component, price in band.items() if component != "above_input_tokens"}
    return f"{band['above_input_tokens']} {_show_prices(own)}"


def _show_prices(prices: Mapping[str, Any]) -> str:
    return " ".join(f"{component} {price}" for component, price in prices.items())
