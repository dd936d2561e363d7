"""Counts the tokens of a vendor's usage object: one function for each vendor's shape.

Vendors disagree about what their totals contain, so each count is put where the ledger expects it: the input is the whole
input, with the tokens that were read from a cache and those written to one as parts of it. A counter that is not known to be a
part of a total is never free: it stays in the total that contains it, or is added to the input or the output.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from billing.rules.prices import PriceList
from billing.rules.quantities import MalformedUsage, Quantities
from gateway.core.contract.values import value_class
from inference.rules.usage import read_total

Usage = Mapping[str, Any]

_READ = ("cached_tokens", "cache_read_tokens", "cache_read_input_tokens", "prompt_cache_hit_tokens")
_WRITTEN = ("cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens")
_BY_TIME = ("cache_creation", "cache_creation_token_details")
_OF_INPUT = frozenset(
    {*_READ, *_WRITTEN, "audio_tokens", "text_tokens", "image_tokens", "video_tokens", "prompt_cache_miss_tokens"}
)
_OF_OUTPUT = frozenset(
    {
        *("reasoning_tokens", "thinking_tokens", "accepted_prediction_tokens", "rejected_prediction_tokens"),
        *("audio_tokens", "text_tokens"),
    }
)
_TOTALS = frozenset({"prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "total_tokens"})
_KNOWN = _TOTALS | _OF_INPUT | _OF_OUTPUT
_DETAILS = frozenset({f"{name}_details" for name in _TOTALS})
_PLAIN = _TOTALS | _DETAILS
_PLAIN_INPUT = frozenset({"cached_tokens", "audio_tokens", "text_tokens", "image_tokens"})
_INPUT_WORDS = ("input", "prompt", "cache")

_TIME = re.compile(r"([0-9]{1,6})([smhd])", re.ASCII)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_FIVE_MINUTES = 300
_NAME = re.compile(r"[A-Za-z0-9_.]{1,64}", re.ASCII)
OTHERS_MAX = 8


@value_class(frozen=True, slots=True)
class TokenUsage:
    """The tokens of an answer. `others` names the counters above 0 that are of no known kind. `says_times`: the upstream reported
    how long what was written to its cache is kept."""

    quantities: Quantities
    others: tuple[str, ...] = ()
    says_times: bool = False

    def of(self, service_tier: str | None, *, is_only_long: bool) -> "TokenUsage":
        """Return the same usage in a service tier. `is_only_long`: all that was written to a cache is kept for an hour."""
        used = replace(self.quantities, service_tier=service_tier)
        if is_only_long:
            used = replace(used, cache_write_1h_tokens=used.cache_write_tokens)
        return replace(self, quantities=used)

    def unpriced(self, prices: PriceList) -> tuple[str, ...]:
        """Name the counters that are charged as plain input or output because they have no price of their own."""
        used = self.quantities
        parts = used.cache_write_tokens or used.input_audio_tokens or used.output_audio_tokens
        if not (parts or self.others) or not prices.needs_token_usage:
            return ()
        priced = prices.in_force(used).unit_prices.keys()
        written_1h = used.cache_write_1h_tokens or 0
        kinds = {
            "cache_write_tokens": ((used.cache_write_tokens or 0) - written_1h, {"cache_write_token"}),
            "cache_write_1h_tokens": (written_1h, {"cache_write_token", "cache_write_1h_token"}),
            "input_audio_tokens": (used.input_audio_tokens, {"input_audio_token"}),
            "output_audio_tokens": (used.output_audio_tokens, {"output_audio_token"}),
        }
        return (*(name for name, (count, own) in kinds.items() if count and not own & priced), *self.others)


def is_longer_than_five_minutes(time: str) -> bool:
    """Return whether a cache keeps what is written for longer than five minutes; a time in an unknown form is the longest."""
    match = _TIME.fullmatch(time)
    return match is None or int(match[1]) * _SECONDS[match[2]] > _FIVE_MINUTES


def read_chat(usage: Usage) -> TokenUsage:
    """Count the usage of a chat completion. Raises MissingUsage or MalformedUsage."""
    return _read_whole(usage, "prompt_tokens", "completion_tokens")


def read_response(usage: Usage) -> TokenUsage:
    """Count the usage of a response. Raises MissingUsage or MalformedUsage."""
    return _read_whole(usage, "input_tokens", "output_tokens")


def read_message(usage: Usage) -> TokenUsage:
    """Count the usage of a message, whose `input_tokens` exclude the tokens read from a cache and written to one.

    Raises MissingUsage or MalformedUsage.
    """
    fresh, output = _count("input_tokens", read_total(usage, "input_tokens")), read_total(usage, "output_tokens")
    read, written = _agreed(_READ, usage), _agreed(_WRITTEN, usage)
    by_time = _by_time(usage)
    written = _whole_of(written, by_time)
    inputs = fresh + (read or 0) + (written or 0)
    of_input, of_output = _group(usage, "input_tokens_details"), _group(usage, "output_tokens_details")
    more_input, more_output, others = _more(usage, inputs, output, of_input, of_output)
    return TokenUsage(
        Quantities(
            input_tokens=inputs + more_input,
            cached_input_tokens=read,
            cache_write_tokens=written,
            cache_write_1h_tokens=_longer(by_time),
            output_tokens=_plus(output, more_output),
        ),
        _named([*others, *_fees(usage)]),
        bool(by_time),
    )


def _read_whole(usage: Usage, input_name: str, output_name: str) -> TokenUsage:
    """Count a usage whose input is the whole input."""
    inputs, outputs = read_total(usage, input_name), read_total(usage, output_name)
    of_input, of_output = _group(usage, f"{input_name}_details"), _group(usage, f"{output_name}_details")
    if usage.keys() <= _PLAIN and of_input.keys() <= _PLAIN_INPUT and of_output.keys() <= _OF_OUTPUT:
        return _read_plain(usage, inputs, outputs, of_input, of_output)
    by_time = _by_time(of_input) or _by_time(usage)
    written = _whole_of(_agreed(_WRITTEN, of_input, usage), by_time)
    more_input, more_output, others = _more(usage, inputs, outputs, of_input, of_output)
    return TokenUsage(
        Quantities(
            input_tokens=_plus(inputs, more_input),
            cached_input_tokens=_agreed(_READ, of_input, usage),
            cache_write_tokens=written,
            cache_write_1h_tokens=_longer(by_time),
            input_audio_tokens=of_input.get("audio_tokens"),
            output_tokens=_plus(outputs, more_output),
            output_audio_tokens=of_output.get("audio_tokens"),
        ),
        _named([*others, *_fees(usage)]),
        bool(by_time),
    )


def _read_plain(usage: Usage, inputs: Any, outputs: Any, of_input: Usage, of_output: Usage) -> TokenUsage:
    """Count a usage without other counters, as most are: what is not there need not be looked for at each call."""
    missing = _missing(usage, inputs, outputs)
    return TokenUsage(
        Quantities(
            input_tokens=inputs,
            cached_input_tokens=of_input.get("cached_tokens"),
            input_audio_tokens=of_input.get("audio_tokens"),
            output_tokens=_plus(outputs, missing),
            output_audio_tokens=of_output.get("audio_tokens"),
        ),
        ("total_tokens",) if missing and missing != of_output.get("reasoning_tokens") else (),
    )


def _group(usage: Usage, name: str) -> Usage:
    details = usage.get(name)
    if details is None or isinstance(details, dict):
        return details or {}
    raise MalformedUsage(f"{name} is not an object")


def _count(name: str, value: Any) -> int:
    if type(value) is not int or value < 0:
        raise MalformedUsage(f"{name} is not a count")
    return value


def _agreed(names: Iterable[str], *groups: Usage) -> int | None:
    """Return a count that vendors report under several names. Zeros beside it are placeholders; two counts contradict."""
    agreed: int | None = None
    for group in groups:
        for name in names:
            value = group.get(name)
            if value is None:
                continue
            count = _count(name, value)
            if agreed and count and count != agreed:
                raise MalformedUsage("the counts of a cache contradict each other")
            agreed = agreed or count
    return agreed


def _by_time(group: Usage) -> dict[str, int]:
    """Return what was written to a cache by the name of its time, empty if that is not reported."""
    for name in _BY_TIME:
        counts = _group(group, name) if name in group else {}
        if counts and (times := {time: _count(time, count) for time, count in counts.items() if count is not None}):
            return times
    return {}


def _whole_of(written: int | None, by_time: Mapping[str, int]) -> int | None:
    """Return all that was written. What belongs to no time is written for a time that is not reported."""
    of_times = sum(by_time.values())
    if not written:
        return of_times if by_time else written
    if of_times > written:
        raise MalformedUsage("more is written to a cache for some time than altogether")
    return written


def _longer(by_time: Mapping[str, int]) -> int | None:
    """Return what was written for longer than five minutes; a time that is not known counts as the longest."""
    if not by_time:
        return None
    return sum(count for name, count in by_time.items() if is_longer_than_five_minutes(_time_in(name)))


def _time_in(name: str) -> str:
    """Return the time in a name such as `ephemeral_5m_input_tokens`."""
    return next((word for word in name.split("_") if _TIME.fullmatch(word)), name)


def _unknown(details: Usage, known: frozenset[str], total: Any) -> tuple[tuple[str, ...], int]:
    """Name the unknown counters of a total, and count the tokens that cannot be part of it because they are more."""
    names, beyond = [], 0
    for name, value in details.items():
        if name not in known and name.endswith("_tokens") and value is not None and _count(name, value):
            names.append(name)
            beyond += value if type(total) is int and value > total else 0
    return tuple(names), beyond


def _more(
    usage: Usage, inputs: Any, outputs: Any, of_input: Usage, of_output: Usage
) -> tuple[int, int, tuple[str, ...]]:
    """Count what is to be added to the input and to the output, and name the unknown counters."""
    more_input, more_output, others = _outside(usage)
    unknown_input, beyond_input = _unknown(of_input, _OF_INPUT, inputs)
    unknown_output, beyond_output = _unknown(of_output, _OF_OUTPUT, outputs)
    more_input, more_output = more_input + beyond_input, more_output + beyond_output
    missing = _missing(usage, inputs, outputs) - more_input
    if missing > more_output:
        reasoning = (of_output.get("reasoning_tokens"), of_output.get("thinking_tokens"), usage.get("reasoning_tokens"))
        others += () if missing in reasoning else ("total_tokens",)
        more_output = missing
    return more_input, more_output, (*others, *unknown_input, *unknown_output)


def _outside(usage: Usage) -> tuple[int, int, tuple[str, ...]]:
    """Count the unknown counters beside the totals, of which they are no part: of input, of output, and their names."""
    of_input, of_output, names = 0, 0, []
    for name, value in usage.items():
        if name not in _KNOWN and name.endswith("_tokens") and value is not None and _count(name, value):
            names.append(name)
            if any(word in name for word in _INPUT_WORDS):
                of_input += value
            else:
                of_output += value
    return of_input, of_output, tuple(names)


def _missing(usage: Usage, inputs: Any, outputs: Any) -> int:
    """Count the tokens of the total that are neither input nor output: some vendors leave reasoning out of the output."""
    total = usage.get("total_tokens")
    if type(total) is not int or type(inputs) is not int or type(outputs) is not int or inputs < 0 or outputs < 0:
        return 0
    return max(total - inputs - outputs, 0)


def _fees(usage: Usage) -> list[str]:
    """Name the tools that the provider ran, which it bills beside the tokens."""
    tools = usage.get("server_tool_use")
    counts = [(f"server_tool_use.{name}", count) for name, count in tools.items()] if isinstance(tools, dict) else []
    counts += [(name, usage[name]) for name in ("num_search_queries", "num_sources_used") if name in usage]
    return [name for name, count in counts if type(count) is int and count > 0]


def _named(names: Iterable[str]) -> tuple[str, ...]:
    """Return names that are fit for a record, each once. An upstream may send any."""
    fit = dict.fromkeys(name if _NAME.fullmatch(name) else "unnamed" for name in names)
    return tuple(fit)[:OTHERS_MAX] if fit else ()


def _plus(total: Any, more: int) -> Any:
    """Add to a total. `Quantities` refuses one that is no count."""
    return total + more if more and type(total) is int and total >= 0 else total
