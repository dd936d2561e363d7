"""Fetches what a call needs before it can be sent, such as images given by URL.

The ledger is asked first: the proof is recorded, a repeated request gets its first answer, and nothing is fetched for a
caller without access or funds. This costs such requests one more round trip. The hold that follows is decisive; it also
takes account of changes in the meantime.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from billing.operations.ledger import Replay
from billing.rules.owners import Owner
from gateway.core.contract.aliases import Route
from gateway.core.contract.errors import ApiError, IdempotencyInProgress, IdempotencyKeyReused
from inference.metering import opening, uncharged
from inference.metering.admission import Checked, Refused

_under_way: dict[tuple[Owner, Route, str], Checked] = {}
"""This process's calls that are being prepared, or were prepared and are not answered yet."""


@contextmanager
def exclusively(checked: Checked) -> Iterator[Refused | None]:
    """Keep a concurrent request with the same idempotency key from being prepared too. It gets a Refused instead."""
    key = checked.identity.terms.idempotency_key
    name = (checked.arrival.principal.owner, checked.arrival.route.name, key or "")
    if key is None:
        yield None
    elif name in _under_way:
        yield Refused(_taken(_under_way[name], checked), "hold", checked.arrival, checked.identity)
    else:
        _under_way[name] = checked
        try:
            yield None
        finally:
            del _under_way[name]


async def prepare(checked: Checked) -> Checked | Replay:
    """Return the call ready to be sent, or the first answer to a repeated request. Raises the catalogue's error."""
    prepare = checked.arrival.route.prepare
    assert prepare is not None
    try:
        replay = await opening.try_hold(checked)
        if replay is not None:
            uncharged.count(checked.arrival.principal)
            return replay
        request = await prepare(checked.arrival.http, checked.request)
    except (ApiError, asyncio.CancelledError):  # refused, or the client left
        uncharged.count(checked.arrival.principal)
        raise
    return replace(checked, request=request, is_admitted=True)


def _taken(first: Checked, checked: Checked) -> ApiError:
    if first.identity.digest != checked.identity.digest:
        return IdempotencyKeyReused()
    return IdempotencyInProgress(details={"usageId": first.usage_id}, headers={"Retry-After": "1"})
