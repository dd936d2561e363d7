"""The rate limits of one request: which apply, what was used of them, and how its answer states them."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import orjson
from psycopg.adapt import PyFormat, Transformer

from accounts.rules.principal import Principal
from billing.rules import limits as rules
from billing.rules.limits import Applied, Caller, Level, Limits
from gateway.core.contract.errors import RateLimited
from gateway.core.contract.headers import RATE_LIMIT, RATE_LIMIT_POLICY
from gateway.core.contract.rate_limits import policy_of, state_of

_NUMBERS = 1 + len(Level._fields)
_UNUSED = Level(None, None, None)


class _Rendered(NamedTuple):
    """What every call under the same limits has in common: the limits as the first statement takes them, and their policy."""

    argument: orjson.Fragment
    policy: str


@lru_cache(maxsize=4096)
def _rendered(applied: tuple[Applied, ...]) -> _Rendered:
    # PostgreSQL reads an array's literal in a quarter of the time that it takes for JSON's objects.
    members = [(limit.scope.value, limit.subject, *limit.quotas) for limit in applied]
    literal = bytes(Transformer().get_dumper(members, PyFormat.TEXT).dump(members) or b"")
    policy = policy_of(rules.stated(applied, [_UNUSED] * len(applied)))
    return _Rendered(orjson.Fragment(orjson.dumps(literal.decode())), policy)


class RequestLimits:
    """Filled as the request is checked: first without its alias, which is not known then, and with it once it is."""

    __slots__ = ("_levels", "_principal", "_tokens", "applied", "is_counted")

    def __init__(self, principal: Principal) -> None:
        self._principal = principal
        self._levels: list[Level] | None = None
        self._tokens = 0
        self.applied: tuple[Applied, ...] = ()
        self.is_counted = False

    def apply(self, limits: Limits, alias: str | None = None) -> None:
        """Choose those of the limits in force that apply to the caller and the alias."""
        if limits:
            principal = self._principal
            caller = Caller(principal.owner, principal.membership_id, principal.client_id, alias)
            self.applied = limits.applied_to(caller)

    def argument(self) -> orjson.Fragment:
        """Return the limits as the first statement takes them."""
        return _rendered(self.applied).argument

    def take(self, levels: Sequence[int | None] | None, *, is_counted: bool) -> None:
        """Take what the statement returned: four numbers for each limit, without this call, of which the first is not for answers.
        Functions of the version before return none."""
        if levels is None:
            return
        self._levels = [Level(*levels[at + 1 : at + _NUMBERS]) for at in range(0, len(levels), _NUMBERS)]
        self.is_counted = is_counted

    def use(self, tokens: int) -> None:
        """Count the tokens that the call has used by now."""
        self._tokens = tokens

    def refusal(self) -> RateLimited:
        """Build the error of the limit that refused the call."""
        found = rules.exceeded(self.applied, self._levels or ())
        assert found is not None
        seconds = found.retry_after_seconds
        details = {"scope": found.scope, "limit": found.kind, "remaining": 0, "retryAfterSeconds": seconds}
        message = f"The limit {found.kind} of this {found.scope} is reached. Try again in {seconds} s."
        return RateLimited(message, details=details, headers={"Retry-After": str(seconds)})

    def headers(self) -> dict[str, str]:
        """Return the header fields that state the limits; none if there are none, or what was used of them is not known."""
        levels = self._levels
        if levels is None:
            return {}
        if self.is_counted:
            levels = rules.counted(levels, self._tokens)
        state = state_of(rules.stated(self.applied, levels))
        return {RATE_LIMIT_POLICY: _rendered(self.applied).policy, RATE_LIMIT: state}
