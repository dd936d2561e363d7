"""LiteLLM's `model_prices_and_context_window.json`: an object of models, each with prices in USD per unit."""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from billing.rules.prices import TOKEN_COMPONENTS
from inference.rules.price_catalogues.entries import Entry, Read, entry_of, is_nothing, left_out, reasoning
from inference.rules.price_catalogues.numbers import MICRO_PER_USD, price
from inference.rules.price_places import Place

COMPONENTS = {
    "input_cost_per_token": "input_token",
    "output_cost_per_token": "output_token",
    "cache_read_input_token_cost": "cached_input_token",
    "cache_creation_input_token_cost": "cache_write_token",
    "cache_creation_input_token_cost_above_1hr": "cache_write_1h_token",
    "input_cost_per_audio_token": "input_audio_token",
    "output_cost_per_audio_token": "output_audio_token",
    "input_cost_per_request": "request",
}
BY_MODE = {
    "audio_speech": {"input_cost_per_character": "input_character"},
    "audio_transcription": {"input_cost_per_second": "audio_second"},
    "image_generation": {"output_cost_per_image": "image"},
}
"""Components whose member means something else for models of another mode."""

TIERS = ("flex", "priority")
SAMPLE = "sample_spec"
REASONING = "output_cost_per_reasoning_token"

_SUFFIXES = re.compile(rf"(.+?)(?:_above_([1-9][0-9]{{0,5}})k_tokens)?(?:_({'|'.join(TIERS)}))?", re.ASCII)
_PRICE = re.compile(r"(?:^|_)cost(?:_|$)")


def read(value: Mapping[str, Any]) -> Iterator[Entry]:
    """Read the models."""
    for name, stated in value.items():
        if name == SAMPLE:
            continue
        provider = stated.get("litellm_provider") if isinstance(stated, dict) else ""
        provider = provider if isinstance(provider, str) else ""
        yield entry_of(name, provider, name.removeprefix(f"{provider}/"), stated, _prices)


def _prices(stated: Mapping[str, Any]) -> Read:
    mode = stated.get("mode")
    components = COMPONENTS | BY_MODE.get(mode if isinstance(mode, str) else "", {})
    prices: dict[Place, Fraction] = {}
    others = []
    for member, value in stated.items():
        place = _place(member, components)
        if place is not None:
            found = price(member, value, MICRO_PER_USD)
            if found is not None:
                prices[place] = found
        elif _PRICE.search(member) and member != REASONING and not is_nothing(value):
            others.append(member)
    if stated.get("tiered_pricing"):
        others.append("tiered_pricing")
    return prices, (*reasoning(stated.get(REASONING), stated.get("output_cost_per_token")), *left_out(others))


def _place(member: str, components: Mapping[str, str]) -> Place | None:
    """Return the place of a member: a component's name, then `_above_200k_tokens`, then `_flex`."""
    found = _SUFFIXES.fullmatch(member)
    if found is None or found[1] not in components:
        return None
    place = Place(components[found[1]], int(found[2] or 0) * 1000, found[3] or "")
    return place if not place.scope or place.component in TOKEN_COMPONENTS else None
