"""Saves a stream's progress in the ledger periodically, and checks whether the stream may continue.

If the process dies before the stream ends, the last recorded amount is charged. A stream may not continue if its account
was suspended, its device session was revoked, or its organization token has lost access, also because the organization was suspended.
"""

import asyncio
import logging
import time
from collections.abc import Callable

import orjson
from django.conf import settings

from accounts.operations.replays import refusal
from billing.operations import closings
from billing.operations.closings import Evidence
from billing.rules.quantities import Quantities
from gateway.core import database
from gateway.core.contract.errors import ApiError, ConsentRequired, NotReady
from gateway.core.database import BatchFunction, Element
from gateway.core.http.draining import ServerStopped, drain_of_loop
from gateway.core.runtime.background import spawn
from inference.metering.call import Call
from organizations.operations.refusals import refusal as refusal_of_access

log = logging.getLogger("inference.checkpoints")

CHECK_IN = BatchFunction(2, "inference_check_in_calls")

FIRST_SECONDS = 1.0
"""Time of a stream's first check-in; most streams have ended by then."""

NOTE_SECONDS = 0.1
"""Interval at which the delivered quantities are written to the journal."""

ALIVE_SECONDS = 120.0
"""A stream that has not checked in for this long is considered dead. A shorter database outage does no harm."""


class Checkpoints:
    """The checkpoints of one stream: every few seconds from its first chunk on, one at a time. The stream never waits for them.

    They continue while the upstream is silent. Between them, the process's journal records what was delivered. If the stream
    may not continue, or the server stops, `ending` is set to the reason and `on_end` is called.
    """

    def __init__(self, call: Call, used: Callable[[], Quantities], on_end: Callable[[], None]) -> None:
        self._call = call
        self._used = used
        self._on_end = on_end
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False
        self._note_at = 0.0
        self.ending: ApiError | None = None
        self._drain = drain_of_loop()
        self._drain.on_cut(self._cut)

    def begin(self) -> None:
        """Start checking in. The first note does so too."""
        if self._timer is None:
            self._check_in_after(min(FIRST_SECONDS, settings.STREAM_CHECKPOINT_SECONDS))

    def note(self, *, at_once: bool = False) -> None:
        """Write what was delivered so far to the journal, at most every `NOTE_SECONDS` unless `at_once`."""
        now = time.monotonic()
        if now < self._note_at and not at_once:
            return
        self.begin()
        self._note_at = now + NOTE_SECONDS
        call = self._call
        evidence = call.evidence(self._used())
        call.entry.note_closing(closings.review(call.reference, reason="process_died", evidence=evidence).note)

    def stop(self) -> None:
        """Stop making checkpoints, and forget `on_end`: its stream refers to this, and would stay in memory with the request's
        body until the garbage collector runs."""
        self._stopped = True
        self._on_end = _nothing
        self._drain.forget(self._cut)
        if self._timer is not None:
            self._timer.cancel()

    def _check_in_after(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._check_in)

    def _check_in(self) -> None:
        spawn(self._ask(self._call.evidence(self._used())))

    def _cut(self) -> None:
        self._end(ServerStopped())

    def _end(self, ending: ApiError) -> None:
        self.ending = ending
        self._on_end()

    async def _ask(self, evidence: Evidence) -> None:
        try:
            ending = await database.run(_check_in(self._call, evidence))
        except Exception as error:  # noqa: BLE001 - a missed checkpoint does no harm
            log.warning("%s: could not save a checkpoint (%s)", self._call.usage_id, type(error).__name__)
            ending = None
        if self._stopped:
            return
        if ending:
            self._end(ending)
        else:
            self._check_in_after(settings.STREAM_CHECKPOINT_SECONDS)


def _nothing() -> None:
    """Stand for an `on_end` that is called no more."""


def _check_in(running: Call, evidence: Evidence) -> Element[ApiError | None]:
    principal = running.arrival.principal
    arguments = {
        "usage_id": running.usage_id,
        "evidence": evidence,
        "alive_seconds": ALIVE_SECONDS,
        "did": principal.did,
        "session_id": principal.session_id,
        "org_id": principal.org_id,
        "product": principal.product,
        "client_id": principal.client_id,
        "consent": running.arrival.route.consent,
    }
    owner_key = principal.owner[1]
    return Element(
        CHECK_IN, principal.owner, orjson.dumps(arguments), lambda answer, body: _refusal(answer["outcome"], owner_key)
    )


def _refusal(answer: str, owner_key: str) -> ApiError | None:
    match answer:
        case "ok" | "suspended" | "session_revoked":
            return refusal(answer)
        case "closed":
            return NotReady()
        case "consent_withdrawn":
            return ConsentRequired("The consent was withdrawn.")
    return refusal_of_access(answer, owner_key)
