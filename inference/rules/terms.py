"""Reads a metered call's idempotency key and maximum cost from two headers (SPEC: General rules)."""

from collections.abc import Iterable

from gateway.core.contract.errors import IdempotencyKeyRequired, InvalidRequest, MaxCostExceeded, MaxCostRequired
from gateway.core.contract.headers import IDEMPOTENCY_KEY, MAX_COST
from gateway.core.contract.limits import IDEMPOTENCY_KEY_MAX_CHARACTERS, MAX_COST_MAX_MICROUSD, MAX_COST_MIN_MICROUSD
from gateway.core.contract.values import value_class

_KEY, _COST = IDEMPOTENCY_KEY.lower().encode(), MAX_COST.lower().encode()


@value_class(frozen=True, slots=True)
class Terms:
    """The caller's terms for a call: the key that makes it repeatable, and its maximum cost.

    The key is None if it is optional on the route and was not sent.
    """

    idempotency_key: str | None
    max_cost_microusd: int


def read_terms(headers: Iterable[tuple[bytes, bytes]], *, is_key_needed: bool = True) -> Terms:
    """Read both headers, with lower-case names as in ASGI, or raise the error that names the first one at fault."""
    keys, costs = [], []
    for name, value in headers:
        if name == _KEY:
            keys.append(value)
        elif name == _COST:
            costs.append(value)
    if not keys and is_key_needed:
        raise IdempotencyKeyRequired(param=IDEMPOTENCY_KEY)
    if not costs:
        raise MaxCostRequired(param=MAX_COST)
    return Terms(_idempotency_key(keys) if keys else None, _max_cost(costs))


def read_terms_with_optional_key(headers: Iterable[tuple[bytes, bytes]]) -> Terms:
    """Read both headers as `read_terms`; a call without a key is not repeatable."""
    return read_terms(headers, is_key_needed=False)


def within(cost_microusd: int, max_cost_microusd: int) -> int:
    """Return a hold that the caller's maximum covers, or raise MaxCostExceeded with the required minimum."""
    if cost_microusd > max_cost_microusd:
        message = (
            f"The request needs at least {cost_microusd} micro-USD, but {MAX_COST} allows only {max_cost_microusd}."
        )
        raise MaxCostExceeded(message, details={"requiredMicrousd": cost_microusd})
    return cost_microusd


def _idempotency_key(sent: list[bytes]) -> str:
    key = sent[0].decode("latin-1").strip(" \t")
    is_printable = key.isascii() and key.isprintable()
    if len(sent) > 1 or not is_printable or not 1 <= len(key) <= IDEMPOTENCY_KEY_MAX_CHARACTERS:
        raise InvalidRequest(
            f"Idempotency-Key must be one value of 1 to {IDEMPOTENCY_KEY_MAX_CHARACTERS} printable ASCII characters.",
            param=IDEMPOTENCY_KEY,
        )
    return key


def _max_cost(sent: list[bytes]) -> int:
    digits = sent[0].decode("latin-1").strip(" \t")
    if len(sent) == 1 and len(digits) <= len(str(MAX_COST_MAX_MICROUSD)) and digits.isascii() and digits.isdigit():
        cost = int(digits)
        if MAX_COST_MIN_MICROUSD <= cost <= MAX_COST_MAX_MICROUSD:
            return cost
    raise InvalidRequest(
        f"{MAX_COST} must be a whole number of micro-USD from {MAX_COST_MIN_MICROUSD} to {MAX_COST_MAX_MICROUSD}.",
        param=MAX_COST,
    )
