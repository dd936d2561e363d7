"""A session from its handshake to its charge."""

import json

from billing.queries import audit
from tests.support.sessions import PRICE, live_model, opened, settled, subprotocols_of, talker
from tests.support.stage import Stage

HELLO = "Say something about badgers."


def cost(text_in: int, cached: int, text_out: int, audio_in: int = 0, audio_out: int = 0) -> int:
    """Compute a charge by hand, in micro-USD."""
    parts = zip(PRICE.values(), (text_in - cached, cached, text_out, audio_in, audio_out), strict=True)
    return -(-sum(round(float(price) * 10) * count for price, count in parts) // 10)


def test_text_is_answered_and_charged_by_what_the_upstream_reports(stage: Stage) -> None:
    caller, alias = talker(stage, balance=2_000_000), live_model(stage)
    with opened(caller, alias, key="one") as session:
        created = session.seen[0]["session"]
        assert caller.wallet == {"balance": 2_000_000, "held": 1_000_000, "debt": 0}
        assert (created["model"], created["max_output_tokens"]) == (alias, "inf")
        assert created["audio"]["input"]["turn_detection"]["create_response"] is True
        done = session.say(HELLO)
        usage = session.until("service.usage")
        assert done["response"]["usage"]["output_tokens"] == 8
        assert usage["charge_microusd"] == cost(4, 0, 8) == 144
        session.say("And of otters?")
        assert session.until("service.usage")["charge_microusd"] == cost(4 + 15, 4, 16)
        usage_id = session.headers["x-service-usage-id"]
        assert session.headers["x-service-hold-microusd"] == "1000000"
    call = settled(caller)
    assert (call.id, call.charge_microusd) == (usage_id, cost(4 + 15, 4, 16))
    assert caller.wallet == {"balance": 2_000_000 - call.charge_microusd, "held": 0, "debt": 0}
    [sent] = stage.upstream.realtime.sessions
    assert sent.model == "live-1"
    assert sent.headers["Authorization"] == f"Bearer {stage.api_key}"
    assert audit.findings() == []


def test_a_browser_authenticates_by_subprotocols(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias, subprotocols=subprotocols_of(caller, key="web", max_cost=500_000)) as session:
        assert session.socket.subprotocol == "service.realtime.v1"
        session.say(HELLO)
    call = settled(caller)
    assert (call.idempotency_key, call.hold_microusd, call.charge_microusd) == ("web", 500_000, 144)
    [sent] = stage.upstream.realtime.sessions
    assert caller.token not in json.dumps(sent.headers)


def test_a_session_without_events_costs_nothing(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias):
        pass
    assert settled(caller).charge_microusd == 0
    assert caller.wallet == {"balance": 1_000_000, "held": 0, "debt": 0}
