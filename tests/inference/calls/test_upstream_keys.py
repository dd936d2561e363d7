"""While an upstream's key is replaced, a call that it refuses for one key is sent with the other one, and charged once."""

from typing import Any

import pytest
from django.utils import timezone

from gateway.core.encryption.fields import is_encrypted
from inference.metering import upstream_keys
from inference.models import Upstream
from inference.operations import upstream_keys as rotation
from tests.inference.calls.test_alarms import alarmed, errors
from tests.support.database import connect
from tests.support.stage import CHAT, MESSAGE, RESPONSES, Caller, Stage, ask, chat, message

OLD = "sk-old-key-0000000001"


@pytest.mark.parametrize("kept", ["next_api_key", "previous_api_key"])
@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize(("path", "body"), [(CHAT, chat), (RESPONSES, ask), (MESSAGE, message)])
def test_a_refused_key_is_followed_by_the_other_one(
    stage: Stage, caplog: pytest.LogCaptureFixture, path: str, body: Any, streams: bool, kept: str
) -> None:
    upstream = stage.upstream_row(api_key=OLD, **{kept: stage.api_key})
    alias, caller = stage.model(upstream=upstream), stage.caller()
    for _ in range(2):
        assert call(caller, body(alias), path, streams) == 200
    assert [each.state for each in caller.calls] == ["settled", "settled"]
    assert len(stage.upstream.ledger.entries) == 2  # what it accepted
    assert caller.wallet["held"] == 0
    assert caller.wallet["balance"] == 1_000_000 - sum(each.charge_microusd for each in caller.calls)
    [line] = errors(caplog)
    assert "answered 401" in line
    assert OLD not in line
    alarmed(upstream, 1)  # the second call began with the key that is accepted


def call(caller: Caller, body: Any, path: str, streams: bool) -> int:
    if not streams:
        return caller.post(body, path=path).status_code
    with caller.stream(body, path=path) as response:
        response.read()
    return response.status_code


def test_two_refused_keys_refuse_the_call_without_a_charge(stage: Stage) -> None:
    upstream = stage.upstream_row(api_key=OLD, next_api_key="sk-next-key-000000001")
    caller = stage.caller()
    assert caller.post(chat(stage.model(upstream=upstream))).status_code == 503
    assert (caller.only_call.state, caller.wallet) == ("released", {"balance": 1_000_000, "held": 0, "debt": 0})
    assert not stage.upstream.ledger.entries
    alarmed(upstream, 2)


@pytest.mark.parametrize("preset", ["missing-model", "bad-gateway", "overloaded", "usage-missing"])
def test_nothing_but_a_refused_key_is_sent_with_the_other_one(stage: Stage, preset: str) -> None:
    """Whether such a call was accepted depends on the upstream, and its key had nothing to do with it."""
    upstream = stage.upstream_row(previous_api_key=OLD)
    stage.caller().post(chat(stage.model(preset, upstream=upstream)))
    assert upstream_keys._refused == {}


def test_an_upstream_that_bills_errors_gets_no_call_twice(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    upstream = stage.upstream_row(api_key=OLD, next_api_key=stage.api_key, bills_errors=True)
    alias, caller = stage.model(upstream=upstream), stage.caller()
    assert caller.post(chat(alias)).status_code == 503
    assert (caller.only_call.state, caller.wallet) == ("released", {"balance": 1_000_000, "held": 0, "debt": 0})
    assert not stage.upstream.ledger.entries
    assert len(errors(caplog)) == 1
    alarmed(upstream, 1)
    assert caller.post(chat(alias)).status_code == 200  # with the other key, which later calls begin with
    assert len(stage.upstream.ledger.entries) == 1
    assert [each.state for each in caller.calls] == ["released", "settled"]
    alarmed(upstream, 1)


def test_a_key_is_rotated_step_by_step(stage: Stage) -> None:
    upstream = stage.upstream_row(api_key=OLD)
    pk = upstream.pk
    assert keys(pk) == (OLD, "", "")
    with pytest.raises(rotation.RefusedError, match="This is the current key"):
        rotation.add_next(pk, OLD)
    for step in (rotation.switch, rotation.switch_back):
        with pytest.raises(rotation.RefusedError):
            step(pk, now=timezone.now())
    for seen in rotation.COLUMNS:
        with pytest.raises(rotation.RefusedError):
            rotation.remove_other(pk, seen)
    assert keys(pk) == (OLD, "", "")

    rotation.add_next(pk, "sk-typo")
    with pytest.raises(rotation.RefusedError, match="There is a next key already"):
        rotation.add_next(pk, stage.api_key)
    assert rotation.add_next(pk, stage.api_key, replaces=True)
    assert keys(pk) == (OLD, stage.api_key, "")
    rotation.switch(pk, now=timezone.now())
    assert keys(pk) == (stage.api_key, "", OLD)
    with pytest.raises(rotation.RefusedError, match="Somebody may have switched already"):
        rotation.switch(pk, now=timezone.now())
    with pytest.raises(rotation.RefusedError, match="Remove it first"):
        rotation.add_next(pk, "sk-third")
    rotation.switch_back(pk, now=timezone.now())
    assert keys(pk) == (OLD, stage.api_key, "")
    rotation.switch(pk, now=timezone.now())
    assert all(is_encrypted(text) for text in stored(pk) if text)
    rotation.remove_other(pk, "old")
    assert keys(pk) == (stage.api_key, "", "")


def keys(pk: int) -> tuple[str, str, str]:
    row = Upstream.objects.get(pk=pk)
    return row.api_key, row.next_api_key, row.previous_api_key


def stored(pk: int) -> tuple[str, ...]:
    with connect() as database:
        query = "SELECT api_key, next_api_key, previous_api_key FROM inference_upstream WHERE id = %s"
        return database.execute(query, [pk]).fetchone() or ()
