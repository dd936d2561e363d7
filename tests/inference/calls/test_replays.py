"""A repeated request gets the same bytes as the first one, and is not charged."""

from typing import Any

from tests.support.serving import RunningGateway
from tests.support.stage import Caller, Stage, chat
from tests.support.unguarded import unguarded


def read(caller: Caller, alias: Any, key: Any, **members: Any) -> Any:
    with caller.stream(chat(alias, **members), key=key) as answer:
        return answer.status_code, b"".join(answer.iter_raw()), answer.headers


def test_a_json_answer_is_replayed_after_a_restart(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=16), stage.caller()
    first = caller.post(chat(alias), key="one")
    paid = caller.wallet
    with RunningGateway() as another:
        caller.origin = another.origin
        again = caller.post(chat(alias), key="one")
    assert (again.status_code, again.content) == (200, first.content)
    assert again.headers["idempotent-replayed"] == "true"
    assert "idempotent-replayed" not in first.headers
    for name in ("content-type", "x-service-usage-id", "x-service-hold-microusd", "x-service-charge-microusd"):
        assert again.headers[name] == first.headers[name]
    assert again.headers["x-request-id"] != first.headers["x-request-id"]
    assert caller.wallet == paid
    assert len(stage.upstream.ledger) == 1


def test_a_stream_is_replayed_as_the_same_events(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=16), stage.caller()
    options = {"stream_options": {"include_usage": True}}
    status, events, headers = read(caller, alias, "one", **options)
    with RunningGateway() as another:
        caller.origin = another.origin
        again_status, again_events, again_headers = read(caller, alias, "one", **options)
    assert (status, again_status) == (200, 200)
    assert again_events == events
    assert again_headers["idempotent-replayed"] == "true"
    assert again_headers["content-type"] == headers["content-type"] == "text/event-stream"
    assert again_headers["x-service-usage-id"] == headers["x-service-usage-id"]
    assert len(stage.upstream.ledger) == 1


def test_a_repeated_body_is_recognized_in_another_serialization(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=16), stage.caller()
    first = caller.post(chat(alias, temperature=0.5), key="one")
    rewritten = (
        '{ "temperature": 5e-1, "messages": [{"content": "Say something about badgers.", '
        f'"role": "us\\u0065r"}}],\n "model": "{alias}"}}'
    )
    again = caller.post(None, content=rewritten.encode(), key="one")
    assert again.content == first.content
    other = caller.post(chat(alias, temperature=0.6), key="one")
    assert (other.status_code, other.json()["error"]["code"]) == (422, "idempotency_key_reused")


def test_an_answer_is_purged_after_a_day_and_the_key_is_free(stage: Stage) -> None:
    from datetime import timedelta

    from billing.models import Call

    alias, caller = stage.model(max_output_tokens=16), stage.caller()
    caller.post(chat(alias), key="one")
    call = caller.only_call
    with unguarded():
        Call.objects.filter(pk=call.pk).update(closed_at=call.closed_at - timedelta(hours=24))
    again = caller.post(chat(alias), key="one")
    assert "idempotent-replayed" not in again.headers
    assert len(caller.calls) == 2


def test_a_call_whose_answer_was_not_stored_is_not_made_again(stage: Stage) -> None:
    from billing.models import StoredReplay

    alias, caller = stage.model(max_output_tokens=16), stage.caller()
    caller.post(chat(alias), key="one")
    StoredReplay.objects.filter(call=caller.only_call).delete()
    again = caller.post(chat(alias), key="one")
    assert (again.status_code, again.json()["error"]["code"]) == (422, "idempotency_key_reused")
    assert again.json()["error"]["details"] == {"usageId": caller.only_call.id}
    assert len(stage.upstream.ledger) == 1
