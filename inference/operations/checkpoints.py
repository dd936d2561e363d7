"""Tells the ledger now and then how far a stream has come, should the process die before its end."""

import asyncio
import logging
from collections.abc import Callable

from django.conf import settings

from billing.operations import ledger
from billing.rules.quantities import Quantities
from gateway.api.background import spawn
from inference.operations import ledger_trips
from inference.operations.call import Call
from inference.operations.closing import AWAY

log = logging.getLogger("inference.checkpoints")


class Checkpoints:
    """The checkpoints of one stream: at its first chunk, then every few seconds, one at a time, never waited for.

    `lost` says that the ledger no longer counts the call as under way.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self._loop = asyncio.get_running_loop()
        self._next_at = 0.0
        self._writing = False
        self.lost = False

    def note(self, used: Callable[[], Quantities]) -> None:
        """Write what was delivered so far, where it is time to."""
        now = self._loop.time()
        if now >= self._next_at and not self._writing:
            self._next_at = now + settings.STREAM_CHECKPOINT_SECONDS
            self._writing = True
            spawn(self._write(self._call.evidence(used())))

    async def _write(self, evidence: dict[str, int]) -> None:
        statement = ledger.note_delivery(usage_id=self._call.usage_id, evidence=evidence)
        try:
            self.lost = not await ledger_trips.alone(statement)
        except AWAY as error:
            log.warning("%s: no checkpoint (%s)", self._call.usage_id, type(error).__name__)
        finally:
            self._writing = False
