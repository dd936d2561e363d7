"""The forms in which the fake upstream reports, or misreports, its usage."""

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from tests.support.upstream.behaviours import Behaviour

Usage: TypeAlias = dict[str, Any]
ABSENT = object()
"""A form's result that means: omit the member."""

HUGE_TOKENS = 10**30
"""More than fits in 64 bits, to detect a parser that truncates."""
OVER_CAP_FACTOR = 10
BEYOND_HOLD_FACTOR = 10_000


class Infinite(float):
    """A float that orjson cannot serialize and json writes as Infinity."""


def _counted(usage: Usage) -> str:
    """Return the member that a form changes: the output count, or the input count if there is none."""
    names = ("completion_tokens", "output_tokens", "prompt_tokens", "input_tokens", "total_tokens", "seconds")
    return next(name for name in names if name in usage)


def _with_completion(usage: Usage, tokens: Any) -> Usage:
    return {**usage, _counted(usage): tokens}


def _completion(usage: Usage) -> int:
    return int(usage[_counted(usage)])


def _partial(usage: Usage) -> Usage:
    return {name: value for name, value in usage.items() if not name.endswith("_tokens") and name != "seconds"}


FORMS: Mapping[str, Callable[[Usage], Any]] = {
    "beyond_hold": lambda usage: _with_completion(usage, _completion(usage) * BEYOND_HOLD_FACTOR),
    "boolean": lambda usage: _with_completion(usage, True),
    "fractional": lambda usage: _with_completion(usage, _completion(usage) + 0.5),
    "huge": lambda usage: _with_completion(usage, HUGE_TOKENS),
    "infinite": lambda usage: _with_completion(usage, Infinite("inf")),
    "missing": lambda usage: ABSENT,
    "negative": lambda usage: _with_completion(usage, -_completion(usage)),
    "null": lambda usage: None,
    "over_cap": lambda usage: _with_completion(usage, _completion(usage) * OVER_CAP_FACTOR),
    "partial": _partial,
    "string": lambda usage: _with_completion(usage, str(_completion(usage))),
    "true": lambda usage: usage,
}


def report(usage: Usage, form: str) -> Any:
    """Return the response's usage member for `form`, or ABSENT."""
    return FORMS[form](usage)


def of_input(behaviour: Behaviour) -> Usage:
    """Return what of the input was read from a cache and written to it."""
    parts: Usage = {"cached_tokens": behaviour.cached_tokens}
    if behaviour.cache_write_tokens:
        parts["cache_write_tokens"] = behaviour.cache_write_tokens
    if behaviour.cache_write_1h_tokens:
        shorter = behaviour.cache_write_tokens - behaviour.cache_write_1h_tokens
        longer = {"ephemeral_1h_input_tokens": behaviour.cache_write_1h_tokens}
        parts["cache_creation"] = {"ephemeral_5m_input_tokens": shorter, **longer}
    return parts


def with_counted(usage: Usage, behaviour: Behaviour) -> Usage:
    """Merge the behavior's own counters into a usage."""
    counted = json.loads(behaviour.counted or "{}")
    groups = {name: {**usage.get(name, {}), **value} for name, value in counted.items() if isinstance(value, dict)}
    return {**usage, **counted, **groups}


def tiers_of(body: Mapping[str, Any], behaviour: Behaviour) -> Iterator[Any]:
    """Yield the service tier of each event of a stream; a whole answer has the last one."""
    told = json.loads(behaviour.service_tiers or "[]")
    yield from told[:-1]
    last = told[-1] if told else json.loads(behaviour.service_tier or "null") or body.get("service_tier") or "default"
    yield from itertools.repeat(last)


def tier_of(body: Mapping[str, Any], behaviour: Behaviour) -> Any:
    """Return the service tier of a whole answer."""
    told = json.loads(behaviour.service_tiers or "[]")
    return told[-1] if told else next(tiers_of(body, behaviour))
