"""Gets from elsewhere what a call needs before it can be sent, such as the images that it names by URL.

The ledger is asked first: the proof is taken, a repeated request gets its first answer, and nobody without access or money
has anything fetched. That costs one more round trip, of such requests alone. The hold that follows decides; what changed
meanwhile, it sees.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from billing.operations.ledger import Replay
from billing.rules.owners import Owner
from gateway.core.contract.aliases import Route
from gateway.core.contract.errors import ApiError, IdempotencyInProgress, IdempotencyKeyReused
from inference.metering import opening
from inference.metering.checks import Checked, Refused

_under_way: dict[tuple[Owner, Route, str], Checked] = {}
"""This process's calls that are being prepared, or were and are not yet answered."""


@contextmanager
def alone(checked: Checked) -> Iterator[Refused | None]:
    """Keep a second request with the same key from being prepared beside this one; it gets why instead."""
    key = checked.terms.idempotency_key
    name = (checked.principal.owner, checked.route.name, key or "")
    if key is None:
        yield None
    elif name in _under_way:
        yield Refused(_taken(_under_way[name], checked), checked, "hold")
    else:
        _under_way[name] = checked
        try:
            yield None
        finally:
            del _under_way[name]


async def prepare(checked: Checked) -> Checked | Replay:
    """Return the call ready to be sent, or a repeated request's first answer. Raises the catalogue's error."""
    replay = await opening.try_hold(checked)
    if replay is not None:
        return replay
    assert checked.route.prepare is not None
    request = await checked.route.prepare(checked.http, checked.request)
    return replace(checked, request=request, is_admitted=True)


def _taken(first: Checked, checked: Checked) -> ApiError:
    if first.digest != checked.digest:
        return IdempotencyKeyReused()
    return IdempotencyInProgress(details={"usageId": first.usage_id}, headers={"Retry-After": "1"})
