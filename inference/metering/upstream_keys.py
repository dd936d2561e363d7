"""The keys of an upstream whose key is being replaced: which one calls are sent with in this process.

Two keys are valid then. An upstream that refuses a key (401 or 403) has accepted nothing, so the same call is sent again with
the other one, and cannot cost twice (docs/decisions/0082).
"""

import time
from dataclasses import replace

from inference.interface.model import UpstreamTarget
from inference.interface.upstream import Alarm, Rejected

REFUSED_SECONDS = 60.0
"""How long calls begin with the other key after one was refused."""

_REFUSALS = frozenset({"401", "403"})
_KNOWN_MAX = 1000

_refused: dict[tuple[str, str], float] = {}
"""Until when a key counts as refused, by the upstream's name and the key. Times are seconds of a monotonic clock."""


def keyed(target: UpstreamTarget) -> list[UpstreamTarget]:
    """Return the target with each of its valid keys, the current one first unless it was refused within the last minute."""
    if not target.other_keys:
        return [target]
    now = time.monotonic()
    keys = sorted((target.api_key, *target.other_keys), key=lambda key: _refused.get((target.name, key), 0.0) > now)
    return [replace(target, api_key=key, other_keys=()) for key in keys]


def refusal_of(outcome: object) -> Alarm | None:
    """Return the alarm of an outcome that refuses the key, None for any other."""
    alarm = outcome.alarm if isinstance(outcome, Rejected) else None
    return alarm if alarm is not None and alarm.cause in _REFUSALS else None


def note_refused(target: UpstreamTarget) -> None:
    """Record that the upstream refused this key."""
    if len(_refused) >= _KNOWN_MAX:
        _refused.clear()
    _refused[target.name, target.api_key] = time.monotonic() + REFUSED_SECONDS


def forget() -> None:
    """Forget all refusals, as in a new process."""
    _refused.clear()
