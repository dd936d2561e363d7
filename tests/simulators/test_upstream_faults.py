"""The fake upstream misbehaves exactly as it is asked to, and remembers what it really did."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import aiohttp
import httpx
import pytest

from tests.support import plain_http
from tests.support.concurrency import eventually
from tests.support.upstream import LEAKS, PRESETS, FakeUpstream, closed_port, mute_port
from tests.support.upstream.behaviours import Behaviour
from tests.support.upstream.ledger import Entry

MESSAGES = [{"role": "user", "content": "Count for me, please."}]


@pytest.fixture
def client(upstream: FakeUpstream) -> Iterator[httpx.Client]:
    with plain_http.client(base_url=upstream.base_url, timeout=60) as client:
        yield client


def ask(client: httpx.Client, model: str, **members: Any) -> httpx.Response:
    return client.post("/chat/completions", json={"model": model, "messages": MESSAGES, **members})


def read_stream(client: httpx.Client, model: str) -> tuple[bytes, Exception | None]:
    """Read a stream to its end or its breaking, whichever comes."""
    body = {"model": model, "messages": MESSAGES, "stream": True}
    received = b""
    try:
        with client.stream("POST", "/chat/completions", json=body) as response:
            for piece in response.iter_raw():
                received += piece
    except httpx.TransportError as error:
        return received, error
    return received, None


def settled(upstream: FakeUpstream) -> Entry:
    [entry] = upstream.ledger
    eventually(lambda: entry.outcome != "open")
    return entry


@pytest.mark.parametrize(
    ("model", "reported"),
    [
        ("usage-boolean", True),
        ("usage-fractional", 16.5),
        ("usage-huge", 10**30),
        ("usage-infinite", float("inf")),
        ("usage-negative", -16),
        ("usage-over-cap", 160),
        ("usage-string", "16"),
    ],
)
def test_usage_can_be_wrong_in_every_way(
    upstream: FakeUpstream, client: httpx.Client, model: str, reported: Any
) -> None:
    assert ask(client, model).json()["usage"]["completion_tokens"] == reported
    assert settled(upstream).completion_tokens == 16


def test_usage_can_be_absent_null_or_partial(upstream: FakeUpstream, client: httpx.Client) -> None:
    assert "usage" not in ask(client, "usage-missing").json()
    assert ask(client, "usage-null").json()["usage"] is None
    assert "completion_tokens" not in ask(client, "usage-partial").json()["usage"]


def test_wrong_usage_is_streamed_too(upstream: FakeUpstream, client: httpx.Client) -> None:
    options = {"stream": True, "stream_options": {"include_usage": True}}
    wrong = ask(client, "usage-string", **options).text.split("\n\n")[-3]
    missing = ask(client, "usage-missing", **options).text
    assert json.loads(wrong.removeprefix("data: "))["usage"]["completion_tokens"] == "16"
    assert '"choices":[]' not in missing


@pytest.mark.parametrize("model", [name for name, behaviour in PRESETS.items() if behaviour.status >= 400])
def test_an_error_status_is_a_refusal_without_work(upstream: FakeUpstream, client: httpx.Client, model: str) -> None:
    response = ask(client, model)
    assert response.status_code == PRESETS[model].status
    assert (settled(upstream).outcome, settled(upstream).completion_tokens) == ("refused", 0)


def test_secrets_stand_where_a_careless_gateway_would_pass_them_on(
    upstream: FakeUpstream, client: httpx.Client
) -> None:
    response = ask(client, "secret-error")
    shown = f"{response.text} {response.headers}"
    assert all(leak in shown for leak in LEAKS)


@pytest.mark.parametrize(
    ("model", "tokens"),
    [("cut-before-headers", 0), ("cut-mid-body", 16), ("cut-first-event", 16)],
)
def test_a_cut_breaks_a_json_answer(upstream: FakeUpstream, client: httpx.Client, model: str, tokens: int) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        ask(client, model)
    assert (settled(upstream).outcome, settled(upstream).completion_tokens) == ("cut", tokens)


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("cut-before-headers", 0),
        ("cut-first-event", 0),
        ("cut-mid-stream", 8),
        ("cut-mid-event", 8),
        ("cut-before-done", 16),
    ],
)
def test_a_cut_breaks_a_stream_where_it_says(
    upstream: FakeUpstream, client: httpx.Client, model: str, tokens: int
) -> None:
    received, error = read_stream(client, model)
    assert isinstance(error, httpx.RemoteProtocolError)
    assert b"[DONE]" not in received
    assert received.count(b'"delta":{"content":" ') + (tokens > 0) == tokens + (model == "cut-mid-event")
    assert received.endswith(b"\n\n") == (model not in {"cut-mid-event", "cut-before-headers"})
    assert (settled(upstream).outcome, settled(upstream).completion_tokens) == ("cut", tokens)


def test_a_cut_can_be_a_reset(upstream: FakeUpstream, client: httpx.Client) -> None:
    upstream.script("cut-before-headers", reset=True)
    with pytest.raises(httpx.ReadError):
        ask(client, "small-1")


@pytest.mark.parametrize("model", ["hang-before-headers", "hang-mid-body"])
def test_a_hang_lasts_until_the_peer_leaves(upstream: FakeUpstream, client: httpx.Client, model: str) -> None:
    with pytest.raises(httpx.ReadTimeout):
        # Longer than a busy upstream needs to read the request: it drops one whose client has left before.
        client.post("/chat/completions", json={"model": model, "messages": MESSAGES}, timeout=2)
    eventually(lambda: [entry.outcome for entry in upstream.ledger] == ["left"])


async def test_a_leaving_peer_stops_the_count(upstream: FakeUpstream) -> None:
    body = {"model": "slow?token_delay_ms=20&tokens=1000", "messages": MESSAGES, "stream": True}
    url = f"{upstream.base_url}/chat/completions"
    async with aiohttp.ClientSession() as session, session.post(url, json=body) as response:
        for _ in range(5):
            await response.content.readuntil(b"\n\n")
    [entry] = upstream.ledger
    await asyncio.to_thread(eventually, lambda: entry.outcome == "left")
    assert entry.left_after_tokens == entry.completion_tokens
    assert 4 <= entry.completion_tokens < 1000


def test_an_endless_stream_ignores_every_limit(upstream: FakeUpstream, client: httpx.Client) -> None:
    body = {"model": "endless", "messages": MESSAGES, "stream": True, "max_tokens": 2}
    with client.stream("POST", "/chat/completions", json=body) as response:
        lines = response.iter_lines()
        words = [line for line in (next(lines) for _ in range(40)) if '"content"' in line]
    [entry] = upstream.ledger
    eventually(lambda: entry.outcome == "left")
    assert len(words) > 2
    assert entry.completion_tokens > 2


@pytest.mark.parametrize("model", [name for name, behaviour in PRESETS.items() if behaviour.framing != "plain"])
def test_every_framing_carries_the_same_words(upstream: FakeUpstream, client: httpx.Client, model: str) -> None:
    received, error = read_stream(client, model)
    expected = PRESETS[model].text or "the quick brown fox jumps over the lazy dog"
    words = "".join(word for word in _deltas(received.decode()) if word)
    assert error is None
    assert words.startswith(expected)
    assert settled(upstream).outcome == "complete"


def _deltas(text: str) -> Iterator[str | None]:
    for event in text.replace("\r\n", "\n").split("\n\n"):
        data = [line[6:] for line in event.split("\n") if line.startswith("data: ")]
        if data and data != ["[DONE]"]:
            yield json.loads("\n".join(data))["choices"][0]["delta"].get("content")


def test_bodies_can_be_no_json_at_all(upstream: FakeUpstream, client: httpx.Client) -> None:
    for model in ("garbage-json", "empty-body", "truncated-json"):
        with pytest.raises(json.JSONDecodeError):
            ask(client, model).json()
    assert isinstance(ask(client, "json-array").json(), list)
    assert ask(client, "wrong-type").headers["Content-Type"].startswith("text/html")


def test_an_answer_can_come_in_the_other_form(upstream: FakeUpstream, client: httpx.Client) -> None:
    assert ask(client, "swapped").text.endswith("data: [DONE]\n\n")
    assert ask(client, "swapped", stream=True).json()["object"] == "chat.completion"


def test_a_stream_can_end_in_an_error_or_without_done(upstream: FakeUpstream, client: httpx.Client) -> None:
    failed = ask(client, "error-event", stream=True).text
    short = ask(client, "no-done", stream=True).text
    assert failed.split("\n\n")[-3].startswith('data: {"error":')
    assert "[DONE]" not in short


def test_headers_can_be_too_much_for_a_client(upstream: FakeUpstream, client: httpx.Client) -> None:
    assert len(ask(client, "huge-headers").headers["x-debug-trace"]) == 65536
    assert len(ask(client, "many-headers").headers) > 500


def test_scripts_are_taken_in_order_by_what_they_match(upstream: FakeUpstream, client: httpx.Client) -> None:
    upstream.script("overloaded", model="other")
    upstream.script("rate-limited", times=2)
    statuses = [ask(client, "small-1").status_code for _ in range(3)]
    assert statuses == [429, 429, 200]
    assert ask(client, "other").status_code == 503


def test_the_control_routes_do_the_same_from_another_process(upstream: FakeUpstream, client: httpx.Client) -> None:
    url = upstream.origin
    client.post(f"{url}/_script", json={"behaviour": {"tokens": 3, "status": 200}})
    assert ask(client, "small-1").json()["usage"]["completion_tokens"] == 3
    ledger = client.get(f"{url}/_ledger").json()
    assert ledger["totals"] == {"requests": 1, "prompt_tokens": 6, "completion_tokens": 3}
    assert ledger["data"][0]["outcome"] == "complete"
    assert client.get(f"{url}/_ledger", params={"after": 1}).json()["data"] == []
    client.post(f"{url}/_reset")
    assert client.get(f"{url}/_ledger").json()["totals"]["requests"] == 0


def test_work_done_twice_under_one_key_is_found(upstream: FakeUpstream, client: httpx.Client) -> None:
    for key in ("a", "b", "a"):
        client.headers["Idempotency-Key"] = key
        ask(client, "small-1")
    assert upstream.ledger.repeated_keys() == ["a"]


def test_a_model_name_sets_single_behaviours() -> None:
    parsed = Behaviour.parse({"tokens": "40", "token_delay_ms": "2.5", "endless": "true"})
    assert (parsed.tokens, parsed.token_delay_ms, parsed.endless) == (40, 2.5, True)
    with pytest.raises(ValueError, match="unknown behaviour: speed"):
        Behaviour.parse({"speed": 1})


def test_a_closed_port_refuses_and_a_mute_one_never_answers() -> None:
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{closed_port()}/")
    with mute_port() as port, pytest.raises(httpx.ReadTimeout):
        httpx.get(f"http://127.0.0.1:{port}/", timeout=0.2)
