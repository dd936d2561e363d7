"""A charge that is written after the client's wait is written once, and stated in the answer to a repeated request."""

import uuid
from collections.abc import Iterator

import httpx
import pytest

from gateway.core.contract.headers import CHARGE, IDEMPOTENT_REPLAYED
from inference.metering import closing, journal
from tests.support.concurrency import eventually
from tests.support.stage import Caller, Stage, chat

AT_ONCE = 0.0


def free_slots() -> list[tuple[int, int]]:
    """Return the journal's list of free slots, with any duplicates."""
    return sorted((id(segment), at) for segment, at in journal._journal()._free)


@pytest.fixture(autouse=True)
def _each_slot_is_freed_once(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    stage.caller().post(chat(stage.model(max_output_tokens=16)))  # there is a journal from now on
    before = free_slots()
    monkeypatch.setattr(closing, "CLIENT_WAIT_SECONDS", AT_ONCE)
    yield
    eventually(lambda: free_slots() == before)


def twice(caller: Caller, alias: str, **members: object) -> tuple[httpx.Response, httpx.Response]:
    """Make a call, wait until it is settled, and repeat its request."""
    key, body = uuid.uuid4().hex, chat(alias, **members)
    first = caller.post(body, key=key)
    eventually(lambda: caller.only_call.state == "settled")
    return first, caller.post(body, key=key)


def test_a_late_charge_of_a_json_answer(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=16), stage.caller()
    first, again = twice(caller, alias)
    assert (first.status_code, CHARGE in first.headers) == (200, False)
    assert (again.status_code, again.headers[IDEMPOTENT_REPLAYED]) == (200, "true")
    assert (again.content, again.headers[CHARGE]) == (first.content, str(caller.only_call.charge_microusd))


def test_a_late_charge_of_a_stream(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=16), stage.caller()
    first, again = twice(caller, alias, stream=True)
    events, receipt = first.text.split(": service ")
    events_again, receipt_again = again.text.split(": service ")
    assert '"charge_microusd":null' in receipt
    assert f'"charge_microusd":{caller.only_call.charge_microusd}' in receipt_again
    assert (again.status_code, events_again) == (200, events)
