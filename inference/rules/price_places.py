"""The places of a price list: each component, in the base price, above a threshold of input tokens, and in a service tier.

A price list is a tree (`bands`, `service_tiers`, sizes of images). Two of them are compared place by place.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from billing.rules.prices import COMPONENTS, PICO_PER_MICRO, PLAIN_TOKEN

BANDS, TIERS, ABOVE = "bands", "service_tiers", "above_input_tokens"


class Place(NamedTuple):
    """One component. An image's size and quality follow its name: `image 1024x1024/high`. An empty tier is the default one,
    and above 0 tokens is no band."""

    component: str
    above: int = 0
    tier: str = ""

    @property
    def scope(self) -> str:
        """Name the tier and the band; empty in the base price."""
        return ", ".join([*([self.tier] if self.tier else []), *([f"above {self.above}"] if self.above else [])])

    def __str__(self) -> str:
        return f"{self.scope}: {self.component}" if self.scope else self.component


Prices = Mapping[Place, Fraction]
"""Micro-USD per unit."""


def texts_of(components: Mapping[str, Any]) -> dict[Place, str]:
    """Return the decimal strings of a price list by their places."""
    tiers = components.get(TIERS, {})
    found = dict(_scope(components, ""))
    for tier, members in tiers.items():
        found.update(_scope(members, tier))
    return found


def prices_of(components: Mapping[str, Any]) -> dict[Place, Fraction]:
    """Return the prices of a price list by their places."""
    return {place: Fraction(text) for place, text in texts_of(components).items()}


def components_of(texts: Mapping[Place, str]) -> dict[str, Any]:
    """Build the price list that has these decimal strings at these places."""
    components = _built(texts, "")
    tiers = list(dict.fromkeys(place.tier for place in sorted(texts, key=_order) if place.tier))
    if tiers:
        components[TIERS] = {tier: _built(texts, tier) for tier in tiers}
    return components


def charged(prices: Prices, place: Place) -> Fraction:
    """Return what a unit costs at a place: its own price, or the one that applies where it has none. 0 if there is none.

    A band takes what it lacks from its tier, a tier from the base price; a component that none of them has takes its default
    in the same way. Without a band of this threshold, the next lower one applies. A tier that is not sold costs what the
    default one does.
    """
    if place.tier and all(each.tier != place.tier for each in prices):
        place = place._replace(tier="")
    component: str | None = place.component
    while component:
        for scope in _scopes(prices, place):
            if (found := prices.get(scope._replace(component=component))) is not None:
                return found
        component = PLAIN_TOKEN.get(component)
    return Fraction(0)


def decimal_text(price: Fraction) -> str:
    """Render micro-USD per unit as a decimal string of at most 6 decimals, rounded up if it has more."""
    pico = -(-price.numerator * PICO_PER_MICRO // price.denominator)
    whole, decimals = divmod(pico, PICO_PER_MICRO)
    return f"{whole}.{decimals:06}".rstrip("0").rstrip(".")


def is_exact(price: Fraction) -> bool:
    """Return whether a price can be written with 6 decimals."""
    return (price * PICO_PER_MICRO).denominator == 1


def _scopes(prices: Prices, place: Place) -> list[Place]:
    """List where a price is looked for, from the place outwards. The bands of the base price do not apply to a tier."""
    bands = (each.above for each in prices if each.tier == place.tier and each.above <= place.above)
    return [Place("", max(bands, default=0), place.tier), Place("", 0, place.tier), Place("")]


def _scope(members: Mapping[str, Any], tier: str) -> Iterator[tuple[Place, str]]:
    yield from _band(members, 0, tier)
    for band in members.get(BANDS, ()):
        yield from _band(band, band[ABOVE], tier)


def _band(members: Mapping[str, Any], above: int, tier: str) -> Iterator[tuple[Place, str]]:
    for name, value in members.items():
        if name in (BANDS, TIERS, ABOVE):
            continue
        if isinstance(value, Mapping):
            yield from ((Place(f"{name} {kind}", above, tier), text) for kind, text in value.items())
        else:
            yield Place(name, above, tier), value


def _built(texts: Mapping[Place, str], tier: str) -> dict[str, Any]:
    members = _members(texts, 0, tier)
    thresholds = sorted({place.above for place in texts if place.tier == tier and place.above})
    if thresholds:
        members[BANDS] = [{ABOVE: above, **_members(texts, above, tier)} for above in thresholds]
    return members


def _members(texts: Mapping[Place, str], above: int, tier: str) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for place in sorted((each for each in texts if (each.above, each.tier) == (above, tier)), key=_order):
        name, _, kind = place.component.partition(" ")
        if kind:
            members.setdefault(name, {})[kind] = texts[place]
        else:
            members[name] = texts[place]
    return members


def _order(place: Place) -> tuple[Any, ...]:
    """Sort by tier, band, and the components' usual order."""
    name, _, kind = place.component.partition(" ")
    known = COMPONENTS.index(name) if name in COMPONENTS else len(COMPONENTS)
    return place.tier, place.above, known, name, kind


def ordered(places: Mapping[Place, Any] | set[Place]) -> list[Place]:
    """List places in the order in which a price is read."""
    return sorted(places, key=_order)
