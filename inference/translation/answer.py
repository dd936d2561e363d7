"""A complete answer with its usage, independent of the wire format."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from inference.translation.items import Item


class MalformedAnswer(Exception):
    """An answer, or a stream event, that does not match its format."""


@dataclass(frozen=True, slots=True)
class Usage:
    """An answer's usage as the upstream reported it: None if not reported, and unchecked, because the code that charges by it
    checks it."""

    input_tokens: Any = None
    output_tokens: Any = None
    total_tokens: Any = None
    cached_tokens: Any = None
    cache_write_tokens: Any = None
    reasoning_tokens: Any = None
    input_audio_tokens: Any = None
    output_audio_tokens: Any = None
    others: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def beside(self) -> Mapping[str, Any]:
        """Return the members beside the totals that no format has, such as counters of an aggregator."""
        return self.others.get("", {})

    @property
    def of_input(self) -> Mapping[str, Any]:
        """Return the parts of the input that no format has."""
        return self.others.get("input", {})

    @property
    def of_output(self) -> Mapping[str, Any]:
        """Return the parts of the output that no format has."""
        return self.others.get("output", {})


def others_of(usage: Mapping[str, Any], names: tuple[str, str], known: frozenset[str]) -> dict[str, dict[str, Any]]:
    """Return the counters beside the totals with these names, and those within them that are not `known`. The call is charged
    by what is written in the other format, so nothing that counts tokens may be lost."""
    found = {"": _counters(usage, frozenset({*names, "total_tokens"}))}
    for kind, name in zip(_KINDS, names, strict=True):
        found[kind] = _counters(usage.get(f"{name}_details") or {}, known)
    return {kind: others for kind, others in found.items() if others}


def _counters(group: Any, known: frozenset[str]) -> dict[str, Any]:
    if not isinstance(group, Mapping):
        return {}
    return {
        name: group[name]
        for name in group
        if name not in known and (name in _BESIDE_TOKENS or name.endswith("_tokens"))
    }


_KINDS = ("input", "output")
_BESIDE_TOKENS = (
    *("cache_creation", "cache_creation_token_details"),
    *("server_tool_use", "num_search_queries", "num_sources_used"),
)
"""Members that tell for how long a cache keeps what was written, and which tools the provider ran."""


def object_of(usage: Any) -> Mapping[str, Any] | None:
    """Return a usage object, None if there is none. Raises MalformedAnswer for another type."""
    if not (usage is None or isinstance(usage, Mapping)):
        raise MalformedAnswer("usage is not an object")
    return usage


def part_of(usage: Mapping[str, Any], group: str, name: str) -> Any:
    """Return a count from a group of a usage object, unchecked, None if it is absent. Raises MalformedAnswer if the
    group is not an object."""
    details = usage.get(group)
    if not (details is None or isinstance(details, Mapping)):
        raise MalformedAnswer(f"{group} is not an object")
    return details.get(name) if details else None


def sum_of(usage: Usage) -> Any:
    """Return the upstream's total, otherwise the sum if both parts are counts."""
    parts = (usage.input_tokens, usage.output_tokens)
    if usage.total_tokens is None and all(type(part) is int for part in parts):
        return sum(parts)
    return usage.total_tokens


def or_zero(count: Any) -> Any:
    """Return a count, 0 if the upstream did not report it."""
    return 0 if count is None else count


def stated(**counts: Any) -> dict[str, Any]:
    """Omit the counts that the upstream did not report."""
    return {name: count for name, count in counts.items() if count is not None}


class End(Enum):
    """The reason why an answer ended."""

    DONE = "done"
    LIMIT = "limit"
    FILTER = "filter"


@dataclass(frozen=True, slots=True)
class Answer:
    """The model's answer. `usage` is None if the upstream sent none, `service_tier` if it reported none, `stop` if it did not
    name the text that ended the answer."""

    items: tuple[Item, ...]
    end: End
    usage: Usage | None
    service_tier: Any = None
    stop: str | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """The id, model and creation time (Unix seconds) of an answer."""

    id: str
    model: str
    created: int

    @property
    def unique(self) -> str:
        """Return the part of the id that is unique to the answer."""
        return self.id[-26:]

    def call_id(self, index: int) -> str:
        """Return the id of the answer's call with this index, from 0; upstreams accept at most 40 characters."""
        return f"call_{self.unique}_0_{index}"
