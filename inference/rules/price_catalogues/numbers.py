"""Reads the JSON of a catalogue with exact numbers, however it is malformed."""

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn

from billing.rules.prices import PRICE_MAX_MICROUSD
from gateway.core.json.strict import has_more_values

CATALOGUE_MAX_BYTES = 16 * 1024 * 1024
VALUES_MAX = 1_000_000
NUMBER_MAX_CHARACTERS = 64
DECIMALS_MAX = 40

MICRO_PER_USD = Fraction(10**6)


class CatalogueError(ValueError):
    """The catalogue cannot be read at all. The message is one line for the operator."""


class EntryError(ValueError):
    """A model's entry cannot be read. The message names its member."""


class Repeated:
    """Stands for the value of a name that an object has more than once: which of them applies is not known."""


class Unreadable:
    """Stands for a number that is too long."""


def load(text: bytes) -> Any:
    """Parse JSON with numbers as `Decimal`. Raises CatalogueError."""
    if len(text) > CATALOGUE_MAX_BYTES:
        raise CatalogueError(f"it is larger than {CATALOGUE_MAX_BYTES // 1024**2} MiB")
    if has_more_values(text, VALUES_MAX):
        raise CatalogueError(f"it has more than {VALUES_MAX:,} members and elements")
    try:
        return _DECODER.decode(text.decode("utf-8-sig"))
    except RecursionError:
        raise CatalogueError("it is nested too deeply") from None
    except UnicodeDecodeError:
        raise CatalogueError("it is not UTF-8") from None
    except ValueError as error:
        raise CatalogueError(f"it is not JSON: {error}") from None


def price(member: str, value: Any, micro_per_unit: Fraction) -> Fraction | None:
    """Read a price, a number or a decimal string, in micro-USD; None where there is none. Raises EntryError."""
    if value is None:
        return None
    found = _number(member, value)
    if found.is_signed() and found:
        raise EntryError(f"{member} is negative")
    if not found:
        return Fraction(0)
    if found.adjusted() > DECIMALS_MAX or _exact(found) * micro_per_unit > PRICE_MAX_MICROUSD:
        raise EntryError(f"{member} is more than {PRICE_MAX_MICROUSD} micro-USD")
    return _exact(found) * micro_per_unit


def tokens(member: str, value: Any) -> int:
    """Read a number of tokens. Raises EntryError."""
    found = _number(member, value)
    if not 0 < found < 10**9 or found != found.to_integral_value():
        raise EntryError(f"{member} is no number of tokens")
    return int(found)


def number(value: Any) -> Any:
    """Return a number or a decimal string as a `Decimal`, anything else as it is."""
    return _read(value) if isinstance(value, str) else value


def _number(member: str, value: Any) -> Decimal:
    value = number(value)
    if isinstance(value, Repeated):
        raise EntryError(f"{member} is stated more than once")
    if not isinstance(value, Decimal) or not value.is_finite():
        raise EntryError(f"{member} is not a number")
    return value


def _exact(found: Decimal) -> Fraction:
    """Return a number exactly, or a tiny one for one whose exponent would take too much memory."""
    return Fraction(found) if found.adjusted() >= -DECIMALS_MAX else Fraction(1, 10**DECIMALS_MAX)


def _read(text: str) -> Decimal | Unreadable:
    if len(text) > NUMBER_MAX_CHARACTERS or not text.isascii() or "_" in text:
        return Unreadable()
    try:
        return Decimal(text)
    except ArithmeticError:
        return Unreadable()


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                found[name] = Repeated()
            seen.add(name)
    return found


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


_DECODER = json.JSONDecoder(object_pairs_hook=_members, parse_float=_read, parse_int=_read, parse_constant=_refuse)
