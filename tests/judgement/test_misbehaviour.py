"""Whatever a judgement backend does: the right status, the right money, and no leak."""

import sys
from typing import Any, NamedTuple

import pytest

from inference.adapters import exchange
from tests.judgement.bench import BALANCE, Bench, ask, post
from tests.support.upstream import LEAKS, closed_port, mute_port


class Told(NamedTuple):
    """What becomes of a call: the status, the code of the error, if any, and the state of its money."""

    status: int
    code: str | None
    state: str


OK = Told(200, None, "settled")
UNKNOWN_CHARGE = Told(200, None, "review")
REFUSED = Told(502, "upstream_error", "released")
INVALID = Told(502, "upstream_invalid", "review")
LOST = Told(502, "upstream_error", "review")
LATE = Told(504, "upstream_timeout", "review")
UNAVAILABLE = Told(503, "model_unavailable", "released")
OVERLOADED = Told(503, "upstream_overloaded", "released")
BAD = Told(400, "invalid_request", "released")
TOO_LARGE = Told(413, "input_too_large", "released")

TABLE: dict[str, Told] = {
    "reject-context-length": TOO_LARGE,
    "reject-content-policy": BAD,
    "reject-parameter": BAD,
    "reject-unprocessable": BAD,
    "reject-too-large": TOO_LARGE,
    "unauthorized": UNAVAILABLE,
    "forbidden": UNAVAILABLE,
    "missing-model": UNAVAILABLE,
    "rate-limited": OVERLOADED,
    "overloaded": OVERLOADED,
    "unavailable": REFUSED,
    "bad-gateway": REFUSED,
    "secret-error": REFUSED,
    "small-1?status=302": REFUSED,
    "small-1?status=307": REFUSED,
    "cut-before-headers": LOST,
    "hang-before-headers": LATE,
    "hang-mid-body": LATE,
    "cut-mid-body": LOST,
    "small-1?cut=mid_body&reset=true": LOST,
    "garbage-json": INVALID,
    "truncated-json": INVALID,
    "json-array": INVALID,
    "empty-body": INVALID,
    "wrong-type": INVALID,
    "huge-headers": INVALID,
    "many-headers": INVALID,
    "huge": INVALID,
    "usage-missing": UNKNOWN_CHARGE,
    "usage-null": UNKNOWN_CHARGE,
    "usage-negative": INVALID,
    "usage-fractional": INVALID,
    "usage-huge": INVALID,
    "usage-boolean": INVALID,
    "usage-string": INVALID,
    "usage-infinite": INVALID,
    "usage-over-cap": OK,
}


@pytest.fixture(autouse=True)
def small_limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the honest answer too large where that is asked for."""
    if "[huge-" in request.node.name or "-huge]" in request.node.name:
        monkeypatch.setattr(exchange, "ANSWER_MAX_BYTES", 100)


def assert_told(caller: Any, answer: Any, expected: Told) -> None:
    call = caller.only_call
    assert not [leak for leak in LEAKS if leak in answer.text + str(answer.headers)]
    assert (answer.status_code, call.state) == (expected.status, expected.state), answer.text
    if expected.code:
        assert answer.json()["error"]["code"] == expected.code
    charge = call.charge_microusd or 0
    held = call.hold_microusd if expected.state == "review" else 0
    assert caller.wallet == {"balance": BALANCE - charge, "held": held, "debt": 0}


@pytest.mark.parametrize("adapter", ["judgement", "openai"])
@pytest.mark.parametrize("behaviour", TABLE)
def test_a_backend(bench: Bench, behaviour: str, adapter: str) -> None:
    expected, caller = TABLE[behaviour], bench.caller()
    backend = bench.backend(behaviour, adapter=adapter, timeout_seconds=0.5 if "hang" in behaviour else 30)
    answer = post(caller, ask(model=backend))
    assert_told(caller, answer, expected)
    if expected is OK:
        call = caller.only_call
        assert call.charge_microusd == min(call.hold_microusd, 406 if adapter == "openai" else 4060)
    if expected is UNKNOWN_CHARGE:
        assert answer.json()["usage"] == {"input_tokens": None}
        assert "x-service-charge-microusd" not in answer.headers


def test_a_backend_that_is_not_there_costs_nothing(bench: Bench) -> None:
    upstream = {"base_url": f"http://127.0.0.1:{closed_port()}/v1"}
    caller = bench.caller()
    assert_told(caller, post(caller, ask(model=bench.backend(upstream=upstream))), REFUSED)


def test_a_backend_that_takes_the_call_and_says_nothing_is_unknown(bench: Bench) -> None:
    with mute_port() as port:
        backend = bench.backend(timeout_seconds=0.4, upstream={"base_url": f"http://127.0.0.1:{port}/v1"})
        caller = bench.caller()
        assert_told(caller, post(caller, ask(model=backend)), LATE)


def answers_of(**given: Any) -> dict[str, Any]:
    return {"version": "v1", "answers": {"grounded": {"probabilities": {"true": 0.9, "false": 0.1}}}, **given}


def grounded(**probabilities: Any) -> dict[str, Any]:
    return answers_of(answers={"grounded": {"probabilities": probabilities}})


@pytest.mark.parametrize(
    "says",
    [
        {},
        [],
        answers_of(version=None),
        answers_of(version=""),
        answers_of(version="a b"),
        answers_of(version="v" * 129),
        answers_of(version="v\n"),
        answers_of(version=7),
        answers_of(answers=None),
        answers_of(answers={}),
        answers_of(answers=[]),
        answers_of(answers={"grounded": {}, "other": {}}),
        answers_of(answers={"grounded": None}),
        answers_of(answers={"grounded": {"probabilities": None}}),
        grounded(),
        grounded(true=1.0),
        grounded(true=0.9, false=0.1, maybe=0.0),
        grounded(true=0.9, false=0.12),
        grounded(true=0.9, false=0.08),
        grounded(true=1.5, false=-0.5),
        grounded(true=True, false=False),
        grounded(true="0.9", false="0.1"),
        grounded(true=None, false=1),
        grounded(true=[1], false=0),
        answers_of(error={"message": "no"}),
        answers_of(usage=[812]),
        answers_of(usage=812),
        answers_of(usage={"input_tokens": {}}),
        answers_of(usage={"input_tokens": -1}),
        answers_of(usage={"input_tokens": 2 * 10**9 + 1}),
    ],
)
def test_a_malformed_answer_goes_to_reconciliation(bench: Bench, says: Any) -> None:
    bench.upstream.judges.says = lambda body: says
    caller = bench.caller()
    assert_told(caller, post(caller, ask(model=bench.backend())), INVALID)


@pytest.mark.parametrize(
    "says", [grounded(true=0.995, false=0.015), grounded(true=0.5, false=0.49), grounded(true=1, false=0)]
)
def test_a_sum_within_a_hundredth_is_as_it_came(bench: Bench, says: Any) -> None:
    bench.upstream.judges.says = lambda body: says
    body = post(bench.caller(), ask(model=bench.backend())).json()
    assert body["answers"]["grounded"]["probabilities"] == says["answers"]["grounded"]["probabilities"]


def test_a_tie_is_not_true(bench: Bench) -> None:
    bench.upstream.judges.says = lambda body: grounded(true=0.5, false=0.5)
    assert post(bench.caller(), ask(model=bench.backend())).json()["answers"]["grounded"]["answer"] is False


def test_what_else_a_backend_says_reaches_nobody(bench: Bench) -> None:
    bench.upstream.judges.says = lambda body: answers_of(host="inference-7.upstream.internal", id="x", model="secret")
    body = post(bench.caller(), ask(model=bench.backend())).json()
    assert body.keys() == {"id", "object", "model", "answers", "fallback", "usage", "created"}
    assert "internal" not in str(body)


def test_a_text_model_that_does_not_judge_is_malformed(bench: Bench) -> None:
    bench.upstream.judges.tokenize = lambda text: ["I would say that it is."]
    caller = bench.caller()
    assert_told(caller, post(caller, ask(model=bench.backend(adapter="openai"))), INVALID)


def test_the_table_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{name:32} {' '.join(map(str, told))}" for name, told in TABLE.items()]
    with capsys.disabled():
        sys.stdout.write("\n".join(["", "/v1/judgement: upstream, answer", *rows, ""]))
    assert len(rows) == len(TABLE) > 30
