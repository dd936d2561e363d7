"""A client that disconnects at any moment pays for what was delivered, and nothing remains held."""

import socket
import time
from typing import Any

import orjson
import pytest

from tests.factories.proofs import BASE_URL
from tests.support.concurrency import eventually
from tests.support.stage import CHAT, MESSAGE, Caller, Stage, chat, message
from tests.support.upstream.tokens import count_text

BODIES = {CHAT: chat, MESSAGE: message}
each = pytest.mark.parametrize("path", BODIES)


def model_at(stage: Stage, path: str, model: str = "small-1") -> str:
    """Return an alias at an upstream that has the route."""
    return stage.model(
        model, max_output_tokens=500, upstream=stage.upstream_row(adapter="anthropic" if path == MESSAGE else "openai")
    )


def raw_request(caller: Caller, body: Any, key: Any = "one", path: str = CHAT) -> Any:
    content = orjson.dumps(body)
    headers = {
        **caller.signer.headers("POST", BASE_URL + path, caller.token),
        "Host": "gateway",
        "Content-Type": "application/json",
        "Content-Length": str(len(content)),
        "Idempotency-Key": key,
        "x-service-max-cost-microusd": "100000",
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode() + content


def connect(caller: Caller) -> Any:
    host, port = caller.origin.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)))
    connection.settimeout(60)
    return connection


def settled(caller: Caller) -> Any:
    return caller.calls and caller.calls[0].state == "settled"


def test_a_plain_call_is_completed_and_its_answer_is_stored_for_the_retry(stage: Stage) -> None:
    alias, caller = stage.model("small-1?delay_ms=400", max_output_tokens=20), stage.caller(balance=5_000)
    with connect(caller) as connection:
        connection.sendall(raw_request(caller, chat(alias)))
        eventually(lambda: len(stage.upstream.ledger) == 1)
    eventually(lambda: settled(caller))
    call = caller.only_call
    again = caller.post(chat(alias), key="one")
    assert again.headers["idempotent-replayed"] == "true"
    assert again.headers["x-service-charge-microusd"] == str(call.charge_microusd)
    assert caller.wallet == {"balance": 5_000 - call.charge_microusd, "held": 0, "debt": 0}
    assert len(stage.upstream.ledger) == 1


@each
def test_a_disconnect_mid_stream_cancels_the_upstream_and_charges_what_was_delivered(stage: Stage, path: str) -> None:
    alias = model_at(stage, path, "small-1?tokens=400&token_delay_ms=20")
    caller = stage.caller(balance=5_000)
    body = BODIES[path](alias, stream=True, max_tokens=500)
    with connect(caller) as connection:
        connection.sendall(raw_request(caller, body, path=path))
        got = b""
        while got.count(b"\ndata: ") < 12:
            got += connection.recv(4096)
    eventually(lambda: settled(caller))
    eventually(lambda: stage.upstream.ledger.entries[0].outcome == "left")
    call, [entry] = caller.only_call, stage.upstream.ledger
    record = call.usage_record
    assert record.basis == "delivered"
    least = 9 if path == MESSAGE else 10  # the first three events of a message carry no output
    assert least <= record.output_tokens <= entry.completion_tokens < 400
    cost = -(-(record.input_tokens * 150_000 + record.output_tokens * 600_000) // 10**6)
    assert call.charge_microusd == cost
    assert caller.wallet == {"balance": 5_000 - cost, "held": 0, "debt": 0}
    again = caller.post(body, key="one", path=path)
    assert again.headers["idempotent-replayed"] == "true"
    assert b'"upstream_error"' in again.content
    assert again.content.startswith(b"data: " if path == CHAT else b"event: message_start\ndata: ")


@each
def test_a_disconnect_before_the_first_byte_charges_only_the_input(stage: Stage, path: str) -> None:
    alias = model_at(stage, path, "small-1?delay_ms=3000")
    caller = stage.caller(balance=5_000)
    with connect(caller) as connection:
        connection.sendall(raw_request(caller, BODIES[path](alias, stream=True), path=path))
        eventually(lambda: len(stage.upstream.ledger) == 1)
        time.sleep(0.15)
    eventually(lambda: settled(caller))
    record = caller.only_call.usage_record
    assert record.output_tokens <= 1
    assert caller.wallet["held"] == 0


@pytest.mark.parametrize("pause", [0, 0.01, 0.03, 0.06, 0.12])
def test_a_disconnect_at_any_moment_leaves_nothing_held(stage: Stage, pause: Any) -> None:
    alias = stage.model("small-1?tokens=8&token_delay_ms=5", max_output_tokens=50)
    caller = stage.caller(balance=5_000)
    for stream in (False, True):
        with connect(caller) as connection:
            connection.sendall(raw_request(caller, chat(alias, stream=stream), key=f"{stream}"))
            time.sleep(pause)
    time.sleep(0.2)

    def is_closed() -> bool:
        charged = sum(call.charge_microusd or 0 for call in caller.calls)
        is_final = all(call.state in {"settled", "released"} for call in caller.calls)
        return is_final and caller.wallet == {"balance": 5_000 - charged, "held": 0, "debt": 0}

    eventually(is_closed)


@each
def test_a_disconnect_after_the_last_byte_changes_nothing(stage: Stage, path: str) -> None:
    alias, caller = model_at(stage, path), stage.caller(balance=5_000)
    body = BODIES[path](alias, stream=True)
    with connect(caller) as connection:
        connection.sendall(raw_request(caller, body, path=path))
        got = b""
        while (b"data: [DONE]" if path == CHAT else b"event: message_stop") not in got:
            got += connection.recv(4096)
    eventually(lambda: settled(caller))
    record = caller.only_call.usage_record
    assert record.basis == "upstream"
    assert record.input_tokens == count_text(body["messages"][0]["content"])


def test_a_disconnect_before_the_body_is_complete_costs_nothing(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller(balance=5_000)
    with connect(caller) as connection:
        connection.sendall(raw_request(caller, chat(alias))[:-10])
        time.sleep(0.1)
    time.sleep(0.1)
    assert caller.calls == []
    assert len(stage.upstream.ledger) == 0
