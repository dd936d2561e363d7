"""Rate limits on metered routes: what a caller sees of them, and what counts."""

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from billing.models import Limit, LimitMeter
from inference.queries import catalogue
from tests.factories.limits import admissible
from tests.support.concurrency import at_once, eventually
from tests.support.stage import CHAT, RESPONSES, Stage, ask, chat


@pytest.fixture(autouse=True)
def no_limits_remain() -> Iterator[None]:
    yield
    Limit.objects.all().delete()
    catalogue.forget()


def limit(scope: str, subject: str | None = None, **numbers: int | None) -> None:
    """Set a limit, which this process sees at once."""
    Limit.objects.update_or_create(scope=scope, subject=subject, defaults=numbers)
    catalogue.forget()


def rate_headers(answer: Any) -> tuple[str | None, str | None]:
    return answer.headers.get("RateLimit-Policy"), answer.headers.get("RateLimit")


def refusal(scope: str, kind: str, seconds: int) -> dict[str, Any]:
    return {"scope": scope, "limit": kind, "remaining": 0, "retryAfterSeconds": seconds}


def assert_refused(answer: Any, scope: str, kind: str, seconds: int) -> None:
    assert answer.status_code == 429, answer.text
    error = answer.json()["error"]
    assert (error["code"], error["type"], error["param"]) == ("rate_limited", "rate_limit_error", None)
    assert error["details"] == refusal(scope, kind, seconds)
    assert answer.headers["Retry-After"] == str(seconds)


def test_an_answer_without_limits_states_none(stage: Stage) -> None:
    answer = stage.caller().post(chat(stage.model()))
    assert (answer.status_code, rate_headers(answer)) == (200, (None, None))
    assert not LimitMeter.objects.filter(subject=stage.caller().did).exists()


def test_requests_are_counted_and_stated(stage: Stage) -> None:
    caller, model = stage.caller(), stage.model()
    limit("account", caller.did, requests_per_minute=2)
    first, second, third = (caller.post(chat(model)) for _ in range(3))
    assert rate_headers(first) == ('"account-requests";q=2;w=60', '"account-requests";r=1;t=30')
    assert rate_headers(second)[1] == '"account-requests";r=0;t=30'
    assert third.status_code == 429
    seconds = int(third.headers["Retry-After"])
    assert 1 <= seconds <= 30
    assert_refused(third, "account", "requests_per_minute", seconds)
    assert rate_headers(third) == (rate_headers(first)[0], f'"account-requests";r=0;t={seconds}')
    assert (caller.call_count, caller.wallet["held"]) == (2, 0)


def test_a_refused_key_is_free(stage: Stage) -> None:
    caller, model = stage.caller(), stage.model()
    limit("account", caller.did, requests_per_minute=1)
    caller.post(chat(model))
    assert caller.post(chat(model), key="again").status_code == 429
    limit("account", caller.did, requests_per_minute=100)
    again = caller.post(chat(model, temperature=0.5), key="again")
    assert (again.status_code, again.headers.get("Idempotent-Replayed")) == (200, None)


def test_replays_do_not_count_and_state_the_limits_of_now(stage: Stage) -> None:
    caller, model = stage.caller(), stage.model()
    limit("account", caller.did, requests_per_minute=1)
    first = caller.post(chat(model), key="once")
    again = caller.post(chat(model), key="once")
    assert (again.status_code, again.headers["Idempotent-Replayed"], again.content) == (200, "true", first.content)
    assert rate_headers(first)[1] == '"account-requests";r=0;t=60'
    policy, state = rate_headers(again)
    assert policy == '"account-requests";q=1;w=60'
    assert state is not None
    assert state.startswith('"account-requests";r=0;t=')
    Limit.objects.all().delete()
    catalogue.forget()
    assert rate_headers(caller.post(chat(model), key="once")) == (None, None)


@pytest.mark.parametrize(
    ("body", "options", "code"),
    [
        ({"max_tokens": "many"}, {}, "invalid_request"),
        ({}, {"max_cost": 1}, "max_cost_exceeded"),
        ({}, {"key": None}, "idempotency_key_required"),
    ],
    ids=["invalid", "maximum", "no-key"],
)
def test_refusals_do_not_count_and_state_the_limits(
    stage: Stage, body: dict[str, Any], options: dict[str, Any], code: str
) -> None:
    caller, model = stage.caller(), stage.model()
    limit("account", caller.did, requests_per_minute=1, concurrent=3)
    refused = caller.post(chat(model, **body), **options)
    assert refused.json()["error"]["code"] == code
    policy = '"account-requests";q=1;w=60, "account-concurrent";q=3'
    assert rate_headers(refused) == (policy, '"account-requests";r=1;t=0, "account-concurrent";r=3')
    assert caller.post(chat(model)).status_code == 200


def test_a_call_without_funds_does_not_count(stage: Stage) -> None:
    caller, model = stage.caller(balance=0), stage.model()
    limit("account", caller.did, requests_per_minute=1)
    for _ in range(2):
        refused = caller.post(chat(model))
        assert (refused.status_code, refused.json()["error"]["code"]) == (402, "insufficient_funds")
        assert rate_headers(refused)[1] == '"account-requests";r=1;t=0'


def test_the_limit_comes_before_the_worst_case_cost_and_after_validation(stage: Stage) -> None:
    caller, model = stage.caller(), stage.model()
    limit("account", caller.did, requests_per_minute=1)
    caller.post(chat(model))
    assert caller.post(chat(model), max_cost=1).json()["error"]["code"] == "rate_limited"
    assert caller.post(chat(model, max_tokens="many")).json()["error"]["code"] == "invalid_request"
    assert caller.post(chat("no-such-model")).json()["error"]["code"] == "model_not_found"
    assert caller.call_count == 1


def test_a_stream_counts_until_its_end(stage: Stage) -> None:
    caller, model, endless = stage.caller(), stage.model(), stage.model("endless")
    limit("account", caller.did, concurrent=1)
    with caller.stream(chat(endless)) as stream:
        assert rate_headers(stream) == ('"account-concurrent";q=1', '"account-concurrent";r=0')
        assert_refused(caller.post(chat(model)), "account", "concurrent", 1)
    eventually(lambda: caller.only_call.closed_at)
    assert caller.post(chat(model)).status_code == 200


def test_a_limit_counts_calls_that_began_under_another_limit_of_calls_at_once(stage: Stage) -> None:
    caller, model, endless = stage.caller(), stage.model(), stage.model("endless")
    limit("alias", endless, concurrent=9)
    with caller.stream(chat(endless)):
        limit("account", caller.did, concurrent=1)
        assert_refused(caller.post(chat(model)), "account", "concurrent", 1)


def test_tokens_are_paid_back(stage: Stage) -> None:
    caller, model = stage.caller(), stage.model()
    limit("account", caller.did, tokens_per_minute=20)
    first = caller.post(chat(model))
    used = first.json()["usage"]
    tokens = used["prompt_tokens"] + used["completion_tokens"]
    assert tokens > 20
    assert rate_headers(first) == (
        '"account-tokens";q=20;w=60',
        f'"account-tokens";r=0;t={-(-(tokens - 19) * 60 // 20)}',
    )
    refused = caller.post(chat(model))
    seconds = int(refused.headers["Retry-After"])
    assert (tokens - 19) * 3 - 30 < seconds <= (tokens - 19) * 3
    assert_refused(refused, "account", "tokens_per_minute", seconds)


@pytest.mark.parametrize("scope", ["client", "alias"])
def test_a_shared_limit_counts_the_calls_and_tokens_of_all(stage: Stage, scope: str) -> None:
    alice, bob, model = stage.caller(), stage.caller(), stage.model()
    subject = model if scope == "alias" else "https://studio.example"
    limit(scope, subject, requests_per_minute=2, tokens_per_minute=1000)
    first, second = alice.post(chat(model)), bob.post(chat(model))
    tokens = sum(first.json()["usage"][name] for name in ("prompt_tokens", "completion_tokens"))
    assert f'"{scope}-requests";r=1;t=30, "{scope}-tokens";r={1000 - tokens};' in str(rate_headers(first)[1])
    found = re.search(rf'"{scope}-requests";r=0;t=(\d+), "{scope}-tokens";r=(\d+);', str(rate_headers(second)[1]))
    assert found is not None
    drained_seconds = 30 - int(found[1])
    assert 0 <= drained_seconds < 30
    assert 0 <= int(found[2]) - (1000 - 2 * tokens) <= (drained_seconds + 1) * 1000 / 60
    refused = alice.post(chat(model))
    assert (refused.status_code, refused.json()["error"]["details"]["scope"]) == (429, scope)


def test_the_first_of_several_is_named(stage: Stage) -> None:
    caller, model = stage.caller(), stage.model()
    limit("alias", model, requests_per_minute=1)
    limit("account", caller.did, requests_per_minute=1, concurrent=5)
    first = caller.post(chat(model))
    assert rate_headers(first) == (
        '"account-requests";q=1;w=60, "account-concurrent";q=5, "alias-requests";q=1;w=60',
        '"account-requests";r=0;t=60, "account-concurrent";r=4, "alias-requests";r=0;t=60',
    )
    refused = caller.post(chat(model))
    assert_refused(refused, "account", "requests_per_minute", int(refused.headers["Retry-After"]))


def test_a_row_of_a_subject_replaces_the_general_one(stage: Stage) -> None:
    alice, bob, model = stage.caller(), stage.caller(), stage.model()
    limit("account", requests_per_minute=1, concurrent=1)
    limit("account", alice.did, tokens_per_minute=1_000_000)
    assert rate_headers(alice.post(chat(model)))[0] == '"account-tokens";q=1000000;w=60'
    assert rate_headers(bob.post(chat(model)))[0] == '"account-requests";q=1;w=60, "account-concurrent";q=1'
    assert alice.post(chat(model)).status_code == 200
    assert bob.post(chat(model)).status_code == 429


def test_fifty_at_once_admit_ten(stage: Stage) -> None:
    caller, model = stage.caller(), stage.model()
    limit("account", caller.did, requests_per_minute=10)
    begun_at = time.monotonic()
    answers = at_once(*[lambda: caller.post(chat(model)) for _ in range(50)])
    assert {answer.status_code for answer in answers} == {200, 429}
    assert caller.call_count in admissible(10, begun_at)
    assert caller.call_count == sum(answer.status_code == 200 for answer in answers)


@pytest.mark.parametrize("path", [CHAT, RESPONSES])
def test_an_upstream_s_refusal_counts_its_request(stage: Stage, path: str) -> None:
    caller, model = stage.caller(), stage.model("reject-parameter")
    limit("account", caller.did, requests_per_minute=1)
    body = chat(model) if path == CHAT else ask(model)
    refused = caller.post(body, path=path)
    assert refused.status_code == 400, refused.text
    assert rate_headers(refused)[1] == '"account-requests";r=0;t=60'
    assert caller.post(body, path=path).status_code == 429
