"""Tells the ledger now and then how far a stream has come, and asks whether it may go on.

What is noted is what is charged should the process die before the stream's end. Whoever may not go on: a caller whose
account was suspended or whose device session was revoked, an organization's token whose live access has ended.
"""

import asyncio
import logging
from collections.abc import Callable

import orjson
from django.conf import settings

from accounts.operations.replays import refusal
from billing.rules.quantities import Quantities
from gateway import database
from gateway.api.background import spawn
from gateway.contract.errors import ApiError, NotReady
from gateway.database import BatchFunction, Element
from inference.operations.call import Call
from organizations.rules.access import denial

log = logging.getLogger("inference.checkpoints")

CHECK_IN = BatchFunction(2, "inference_check_in_calls")

ALIVE_SECONDS = 120.0
"""A stream that has not checked in for so long is taken for dead. The database may be away for less without harm."""


class Checkpoints:
    """The checkpoints of one stream: at its first chunk, then every few seconds, one at a time, never waited for.

    They go on while the upstream is silent. `ending` is why the stream may not go on, once that is known; `on_end` is
    called then.
    """

    def __init__(self, call: Call, used: Callable[[], Quantities], on_end: Callable[[], None]) -> None:
        self._call = call
        self._used = used
        self._on_end = on_end
        self._timer: asyncio.TimerHandle | None = None
        self._begun = self._stopped = False
        self.ending: ApiError | None = None

    def begin(self) -> None:
        """Make the first checkpoint, unless it was made."""
        if not self._begun:
            self._begun = True
            self._check_in()

    def stop(self) -> None:
        """Make no more."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()

    def _check_in(self) -> None:
        spawn(self._ask(self._call.evidence(self._used())))

    async def _ask(self, evidence: dict[str, int]) -> None:
        try:
            ending = await database.run(_check_in(self._call, evidence))
        except Exception as error:  # noqa: BLE001 - a checkpoint that is missed does no harm
            log.warning("%s: no checkpoint (%s)", self._call.usage_id, type(error).__name__)
            ending = None
        if self._stopped:
            return
        if ending:
            self.ending = ending
            self._on_end()
        else:
            self._timer = asyncio.get_running_loop().call_later(settings.STREAM_CHECKPOINT_SECONDS, self._check_in)


def _check_in(running: Call, evidence: dict[str, int]) -> Element[ApiError | None]:
    principal = running.intake.verified.principal
    arguments = {
        "usage_id": running.usage_id,
        "evidence": evidence,
        "alive_seconds": ALIVE_SECONDS,
        "did": principal.did,
        "session_id": principal.session_id,
        "org_id": principal.org_id,
        "product": principal.product,
    }
    return Element(CHECK_IN, running.owner, orjson.dumps(arguments), lambda answer, body: _refusal(answer["outcome"]))


def _refusal(answer: str) -> ApiError | None:
    match answer:
        case "ok" | "suspended" | "session_revoked":
            return refusal(answer)
        case "closed":
            return NotReady()
    return denial(answer)
