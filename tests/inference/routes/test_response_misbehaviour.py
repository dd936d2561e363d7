"""Whatever an upstream makes of a response, as JSON and as a stream: what is told is numbered, charged and stored as it is told.

What all routes have in common is in `tests/inference/misbehaviour`.
"""

from typing import Any, NamedTuple

import orjson
import pytest

from inference.adapters import streams
from inference.adapters.http_endpoint import JsonEndpoint
from tests.inference.routes.test_response_streams import stream
from tests.inference.routes.test_responses import READ, cost_of, respond
from tests.support.stage import RESPONSES, Caller, Stage, ask
from tests.support.upstream import leaked

BALANCE = 50_000
HUGE = "huge"


class Outcome(NamedTuple):
    """How a call ends: the status, the code of the error, if any, and the state of its money."""

    status: int
    code: str | None
    state: str


OK = Outcome(200, None, "settled")
UNKNOWN_CHARGE = Outcome(200, None, "review")
INVALID = Outcome(502, "upstream_invalid", "review")
LOST = Outcome(502, "upstream_error", "review")
LATE = Outcome(504, "upstream_timeout", "review")
BROKEN = Outcome(200, "upstream_error", "review")
BROKEN_LATE = Outcome(200, "upstream_timeout", "review")
BROKEN_INVALID = Outcome(200, "upstream_invalid", "review")

# What the upstream does; what becomes of it as JSON, and as a stream.
TABLE: dict[str, tuple[Outcome, Outcome]] = {
    "cut-first-event": (LOST, BROKEN),
    "hang-first-event": (LATE, BROKEN_LATE),
    "cut-mid-body": (LOST, BROKEN),
    "small-1?cut=mid_body&reset=true": (LOST, BROKEN),
    "hang-mid-body": (LATE, BROKEN_LATE),
    "cut-mid-event": (LOST, BROKEN),
    "cut-mid-stream": (LOST, BROKEN),
    "cut-before-done": (LOST, OK),
    "error-event": (OK, BROKEN),
    "garbage-json": (INVALID, OK),
    "truncated-json": (INVALID, OK),
    "json-array": (INVALID, OK),
    "empty-body": (INVALID, OK),
    "swapped": (INVALID, OK),
    HUGE: (INVALID, BROKEN_INVALID),
    "usage-missing": (UNKNOWN_CHARGE, UNKNOWN_CHARGE),
    "usage-null": (UNKNOWN_CHARGE, UNKNOWN_CHARGE),
    "usage-partial": (UNKNOWN_CHARGE, UNKNOWN_CHARGE),
    "usage-negative": (INVALID, BROKEN_INVALID),
    "usage-fractional": (INVALID, BROKEN_INVALID),
    "usage-huge": (INVALID, BROKEN_INVALID),
    "usage-boolean": (INVALID, BROKEN_INVALID),
    "usage-string": (INVALID, BROKEN_INVALID),
    "usage-infinite": (INVALID, BROKEN_INVALID),
    "usage-over-cap": (OK, OK),
    "small-1?failed=true": (OK, OK),
    "sse-bytewise": (OK, OK),
    "sse-coalesced": (OK, OK),
    "sse-comments": (OK, OK),
    "sse-crlf": (OK, OK),
    "sse-multiline": (OK, OK),
    "sse-split-lines": (OK, OK),
    "sse-split-utf8": (OK, OK),
}


@pytest.fixture(autouse=True)
def small_limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the honest answer too large where that is asked for."""
    if f"[{HUGE}]" in request.node.name:
        monkeypatch.setattr(JsonEndpoint, "answer_max_bytes", 70_000)
        monkeypatch.setattr(streams, "STREAM_MAX_BYTES", 500_000)


def model_of(stage: Stage, behaviour: str) -> str:
    # What comes before an upstream hangs has to come in time on a busy machine, too.
    upstream = stage.upstream_row(timeout_seconds=2 if "hang" in behaviour else 60)
    if behaviour == HUGE:
        return stage.model("small-1?tokens=40000", max_output_tokens=50_000, upstream=upstream)
    return stage.model(behaviour, max_output_tokens=30, upstream=upstream)


def assert_money(caller: Caller, expected: Outcome, usage: Any) -> None:
    """Compare the state of the call, and its money to the micro-USD."""
    call = caller.only_call
    assert call.state == expected.state
    if expected.state == "settled":
        charge = min(cost_of(usage), call.hold_microusd)
        assert call.charge_microusd == charge
        assert caller.wallet == {"balance": BALANCE - charge, "held": 0, "debt": 0}
    else:
        held = call.hold_microusd if expected.state == "review" else 0
        assert caller.wallet == {"balance": BALANCE, "held": held, "debt": 0}


def assert_refused(caller: Caller, answer: Any, expected: Outcome) -> None:
    assert (answer.status_code, answer.json()["error"]["code"]) == (expected.status, expected.code)
    assert not leaked(answer.text + str(answer.headers))
    assert_money(caller, expected, None)


@pytest.mark.parametrize("behaviour", TABLE)
def test_as_json(stage: Stage, behaviour: str) -> None:
    expected, alias, caller = (
        TABLE[behaviour][0],
        model_of(stage, behaviour),
        stage.caller(balance=BALANCE, scopes=READ),
    )
    answer = respond(caller, ask(alias))
    if expected.code:
        assert_refused(caller, answer, expected)
        return
    assert answer.status_code == 200
    assert not leaked(answer.text + str(answer.headers))
    response = answer.json()
    assert_money(caller, expected, response["usage"])
    assert (response["usage"] is None) == (expected is UNKNOWN_CHARGE)
    assert caller.get(f"{RESPONSES}/{response['id']}").json() == response


@pytest.mark.parametrize("behaviour", TABLE)
def test_as_a_stream(stage: Stage, behaviour: str) -> None:
    expected, alias, caller = (
        TABLE[behaviour][1],
        model_of(stage, behaviour),
        stage.caller(balance=BALANCE, scopes=READ),
    )
    if expected.status != 200:
        assert_refused(caller, respond(caller, ask(alias, stream=True)), expected)
        return
    events, receipt = stream(caller, ask(alias))
    last = events[-1]["response"]
    assert_money(caller, expected, last["usage"])
    assert receipt["charge_microusd"] == caller.only_call.charge_microusd
    if expected.code:
        assert (events[-2]["type"], events[-2]["code"]) == ("error", expected.code)
        assert events[-1]["type"] == "response.failed"
    else:
        assert events[-1]["type"] == f"response.{last['status']}"
        assert (last["usage"] is None) == (expected is UNKNOWN_CHARGE)
    assert [event["sequence_number"] for event in events] == sorted({event["sequence_number"] for event in events})
    assert caller.get(f"{RESPONSES}/{last['id']}").json() == last


def test_a_repeated_stream_is_the_same_stream(stage: Stage) -> None:
    alias, caller = stage.model("cut-mid-stream", max_output_tokens=30), stage.caller(balance=BALANCE)
    whole = stage.model(max_output_tokens=30)
    first, again = (stream(caller, ask(whole), key="same") for _ in range(2))
    assert first == again
    stream(caller, ask(alias), key="broken")
    refused = respond(caller, ask(alias, stream=True), key="broken")
    assert (refused.status_code, orjson.loads(refused.content)["error"]["code"]) == (409, "idempotency_in_progress")
