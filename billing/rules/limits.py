"""Rate limits of metered calls: which of them apply to a call, what is left of them, and which one refuses it.

A limit of a minute is a bucket that drains evenly: the generic cell rate algorithm with a burst of the whole minute. Its level is
`UNIT` for each request or token, and it drains by its quota in a microsecond, so that all arithmetic is of whole numbers.
"""

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from billing.rules.owners import Owner
from gateway.core.contract.rate_limits import RateLimit

WINDOW_SECONDS = 60
MICROSECONDS = 1_000_000
UNIT = WINDOW_SECONDS * MICROSECONDS
"""The level of one request or token; `billing/sql/limits.sql` has the same number."""

AT_ONCE_RETRY_SECONDS = 1
"""When to try again where calls at once are exceeded: nobody knows when one ends."""


class LimitScope(StrEnum):
    """Whose calls a limit counts, in the order in which limits are checked and stated."""

    ACCOUNT = "account"
    ORGANIZATION = "organization"
    MEMBER = "member"
    CLIENT = "client"
    ALIAS = "alias"


NEEDS_SUBJECT = frozenset({LimitScope.CLIENT, LimitScope.ALIAS})
"""Scopes without limits for every subject. They are shared by wallets."""


class Kind(StrEnum):
    """What a limit counts, in the order in which they are checked and stated."""

    REQUESTS = "requests_per_minute"
    TOKENS = "tokens_per_minute"
    CONCURRENT = "concurrent"


KINDS = tuple(Kind)
_CONCURRENT = Kind.CONCURRENT  # a name of the module is read faster than an enumeration's member
_NAMES = {scope: tuple(f"{scope}-{kind.partition('_')[0]}" for kind in KINDS) for scope in LimitScope}
"""The names of the items of the header fields, in the order of the kinds."""


class Quotas(NamedTuple):
    """The numbers of one row; None is no limit."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    concurrent: int | None = None


NO_QUOTAS = Quotas()


class Applied(NamedTuple):
    """The quotas of one subject, which apply to a call."""

    scope: LimitScope
    subject: str
    quotas: Quotas


class Level(NamedTuple):
    """What a subject had used of its limits when a call was weighed: the levels of its two buckets, and its calls under way; None
    without that limit."""

    requests: int | None
    tokens: int | None
    concurrent: int | None


class Caller(NamedTuple):
    """Whose call it is. `alias` is None while the model is not known."""

    owner: Owner
    membership_id: str | None
    client_id: str
    alias: str | None = None

    def subjects(self) -> Iterator[tuple[LimitScope, str]]:
        """Yield the subjects whose limits apply, in the order of the checks."""
        kind, key = self.owner
        yield LimitScope(kind), key
        if kind == LimitScope.ORGANIZATION and self.membership_id is not None:
            yield LimitScope.MEMBER, self.membership_id
        yield LimitScope.CLIENT, self.client_id
        if self.alias is not None:
            yield LimitScope.ALIAS, self.alias


CALLERS_MAX = 10_000
"""For how many callers a reading of the limits remembers which apply to them."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Every limit in force, by its scope and subject; the subject of a general one is None."""

    rows: Mapping[tuple[LimitScope, str | None], Quotas] = field(default_factory=dict)
    _applied: MutableMapping[Caller, tuple[Applied, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __bool__(self) -> bool:
        return bool(self.rows)

    def applied_to(self, caller: Caller) -> tuple[Applied, ...]:
        """Return the limits of a call, in the order of the checks. A subject's own row replaces the general one."""
        applied = self._applied.get(caller)
        if applied is None:
            if len(self._applied) >= CALLERS_MAX:
                self._applied.clear()
            found = (Applied(scope, subject, self.of(scope, subject)) for scope, subject in caller.subjects())
            applied = self._applied[caller] = tuple(limit for limit in found if any(limit.quotas))
        return applied

    def of(self, scope: LimitScope, subject: str) -> Quotas:
        """Return what is in force for a subject."""
        own = self.rows.get((scope, subject))
        return self.rows.get((scope, None), NO_QUOTAS) if own is None else own


class Exceeded(NamedTuple):
    """The limit that refuses a call, and when to try again."""

    scope: LimitScope
    kind: Kind
    retry_after_seconds: int


def stated(applied: Sequence[Applied], levels: Sequence[Level]) -> list[RateLimit]:
    """Return the items of the header fields, one for each limit."""
    return [
        _at_once(name, quota, level or 0) if kind is _CONCURRENT else _of_a_minute(name, quota, level or 0)
        for limit, used in zip(applied, levels, strict=True)
        for name, kind, quota, level in zip(_NAMES[limit.scope], KINDS, limit.quotas, used, strict=True)
        if quota is not None
    ]


def exceeded(applied: Sequence[Applied], levels: Sequence[Level]) -> Exceeded | None:
    """Return the first limit that leaves no room for another call, None if all do."""
    items = iter(stated(applied, levels))
    for limit in applied:
        for kind, quota in zip(KINDS, limit.quotas, strict=True):
            if quota is not None and (item := next(items)).remaining < 1:
                return Exceeded(limit.scope, kind, max(item.reset_seconds or 0, AT_ONCE_RETRY_SECONDS))
    return None


def counted(levels: Sequence[Level], tokens: int = 0) -> list[Level]:
    """Return the levels with a call that was admitted, and the tokens that it has used by now."""
    return [
        Level(
            None if level.requests is None else level.requests + UNIT,
            None if level.tokens is None else level.tokens + tokens * UNIT,
            None if level.concurrent is None else level.concurrent + 1,
        )
        for level in levels
    ]


def drained(level: int, elapsed_microseconds: int, quota: int) -> int:
    """Return a bucket's level after a time, as `billing_drained` does. A clock that was set back drains nothing."""
    return max(level - max(elapsed_microseconds, 0) * quota, 0)


def used_of(level: int) -> int:
    """Return how many requests or tokens a level is, rounded up: what the quota lacks."""
    return -(-level // UNIT)


def _at_once(name: str, quota: int, level: int) -> RateLimit:
    return RateLimit(name, quota, None, max(quota - level, 0), None)


def _of_a_minute(name: str, quota: int, level: int) -> RateLimit:
    remaining = max((quota * UNIT - level) // UNIT, 0)
    return RateLimit(name, quota, WINDOW_SECONDS, remaining, _seconds_until_more(quota, level, remaining))


def _seconds_until_more(quota: int, level: int, remaining: int) -> int:
    """Return the whole seconds until one more is there, rounded up; 0 if nothing is used."""
    over = level - (quota - remaining - 1) * UNIT
    return -(-over // (quota * MICROSECONDS)) if level and over > 0 else 0
