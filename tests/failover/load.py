"""Callers that make one call after another as a client does, and remember every answer with the proof that it was given for."""

import threading
import time
import uuid
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx
import orjson

from tests.factories.proofs import mint_token
from tests.support.stage import CHAT, Caller, chat

STREAM_RECEIPT = ": service "
AGAIN = {401, 409, 503}
"""What a client tries again with the same key; so does one that got no answer."""
PAUSE_SECONDS = 0.5
"""Between two tries of a client, which signs a new proof for each."""


@dataclass(frozen=True)
class Attempt:
    """One request. `charge_microusd` is of its receipt, None without one. Times are seconds of the monotonic clock."""

    caller: Caller
    key: str
    headers: dict[str, str]
    is_stream: bool
    began_at: float
    ended_at: float
    status: int | str
    usage_id: str
    charge_microusd: int | None


@dataclass
class Load:
    """One thread for each caller, from entering the context until leaving it. `attempts` grows meanwhile."""

    callers: list[Caller]
    alias: str
    attempts: list[Attempt] = field(default_factory=list)

    def __enter__(self) -> "Load":
        for caller in self.callers:  # a token is valid for minutes
            caller.token = mint_token(caller.did, ["infer:*"], caller.signer)
        self._ends = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(caller,)) for caller in self.callers]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._ends.set()
        for thread in self._threads:
            thread.join()

    @property
    def receipts(self) -> list[Attempt]:
        """Return the attempts that gave a receipt, in the order of their ends."""
        return [attempt for attempt in list(self.attempts) if attempt.charge_microusd is not None]

    def answered_since(self, moment: float) -> dict[str, float]:
        """Return when each caller, by its id, got the first receipt for a request that began after a moment."""
        first: dict[str, float] = {}
        for attempt in self.receipts:
            if attempt.began_at > moment:
                first.setdefault(attempt.caller.did, attempt.ended_at)
        return first

    def _run(self, caller: Caller) -> None:
        """Make calls of JSON and streams by turns; of every four, the last two are sent again with the same key."""
        for number in count():
            self._complete(caller, is_stream=number % 2 == 1, receipts_wanted=1 if number % 4 < 2 else 2)
            if self._ends.is_set():
                return

    def _complete(self, caller: Caller, *, is_stream: bool, receipts_wanted: int) -> None:
        """Send a request with one key until the client has the receipts that it wants, or the answer is final."""
        key = uuid.uuid4().hex
        while receipts_wanted and not self._ends.is_set():
            attempt = self._attempt(caller, key, is_stream=is_stream)
            self.attempts.append(attempt)
            if attempt.charge_microusd is not None:
                receipts_wanted -= 1
            elif isinstance(attempt.status, str) or attempt.status == 200 or attempt.status in AGAIN:
                self._ends.wait(PAUSE_SECONDS)
            else:
                return

    def _attempt(self, caller: Caller, key: str, *, is_stream: bool) -> Attempt:
        headers, began_at = caller.headers(CHAT), time.monotonic()
        body = chat(self.alias, stream=True) if is_stream else chat(self.alias)
        status: int | str
        try:
            answer = caller.post(body, key=key, headers=headers, timeout=30)
            status, usage_id, charge = answer.status_code, answer.headers.get("x-service-usage-id", ""), charged(answer)
        except httpx.HTTPError as error:
            status, usage_id, charge = type(error).__name__, "", None
        return Attempt(caller, key, headers, is_stream, began_at, time.monotonic(), status, usage_id, charge)


def charged(answer: httpx.Response) -> int | None:
    """Return the charge on an answer's receipt, in the headers or at the end of the stream."""
    if header := answer.headers.get("x-service-charge-microusd"):
        return int(header)
    for line in answer.text.splitlines():
        if line.startswith(STREAM_RECEIPT):
            receipt: dict[str, Any] = orjson.loads(line.removeprefix(STREAM_RECEIPT))
            charge = receipt.get("charge_microusd")
            return None if charge is None else int(charge)
    return None
