"""What the vendor's own SDK makes of refusals, failures and lost answers: its own errors, and no second charge."""

import asyncio
from typing import Any

import anthropic
import pytest

from account_gateway_client import Receipt, call_headers
from tests.inference.routes.anthropic_sdk import async_sdk, sdk
from tests.inference.routes.test_messages import FORMS
from tests.inference.routes.test_messages_with_the_anthropic_sdk import MESSAGES, TEXT, call_of
from tests.support.concurrency import eventually
from tests.support.stage import Caller, Stage


@pytest.fixture(params=FORMS, name="form")
def _form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def refusal_of(caller: Caller, call: dict[str, Any], **options: Any) -> anthropic.APIStatusError:
    """Return the error that a call raises."""
    with sdk(caller, **options) as client, pytest.raises(anthropic.APIStatusError) as raised:
        client.messages.create(**call)
    return raised.value


@pytest.mark.parametrize(
    ("members", "caller", "kind", "error_type", "code"),
    [
        ({"messages": []}, {}, anthropic.BadRequestError, "invalid_request_error", "invalid_request"),
        ({}, {"balance": 0}, anthropic.PaymentRequiredError, "billing_error", "insufficient_funds"),
        ({}, {"scopes": ("infer:other",)}, anthropic.PermissionDeniedError, "permission_error", "insufficient_scope"),
        ({"model": "nothing"}, {}, anthropic.NotFoundError, "not_found_error", "model_not_found"),
    ],
    ids=["bad request", "no money", "no scope", "no model"],
)
def test_a_refusal_is_the_sdks_own_error(
    stage: Stage, members: Any, caller: Any, kind: Any, error_type: str, code: str
) -> None:
    error = refusal_of(stage.caller(**caller), {**call_of(stage, "anthropic"), **members})
    assert type(error) is kind
    assert (error.type, error.body["error"]["code"]) == (error_type, code)  # type: ignore[index]
    assert error.request_id == error.response.headers["x-request-id"]
    assert stage.upstream.ledger.entries == []


def test_a_token_that_is_refused_is_an_authentication_error(stage: Stage) -> None:
    caller = stage.caller()
    caller.token += "x"
    error = refusal_of(caller, call_of(stage, "anthropic"))
    assert (type(error), error.type) == (anthropic.AuthenticationError, "authentication_error")


def test_a_key_of_another_call_is_refused(stage: Stage) -> None:
    caller, call = stage.caller(), call_of(stage, "anthropic")
    mine = call_headers(max_cost_microusd=50_000, idempotency_key="mine")
    with sdk(caller) as client:
        client.messages.create(**call, extra_headers=mine)
        with pytest.raises(anthropic.UnprocessableEntityError) as raised:
            client.messages.create(**{**call, "max_tokens": 9}, extra_headers=mine)
    assert (raised.value.type, len(caller.calls)) == ("invalid_request_error", 1)


@pytest.mark.parametrize(
    ("behaviour", "kind", "error_type"),
    [
        ("status=500", anthropic.InternalServerError, "api_error"),
        ("status=503&error_code=overloaded", anthropic.ServiceUnavailableError, "overloaded_error"),
        ("form=garbage", anthropic.InternalServerError, "api_error"),
        ("status=400", anthropic.BadRequestError, "invalid_request_error"),
        ("status=413", anthropic.RequestTooLargeError, "request_too_large"),
        ("status=401", anthropic.ServiceUnavailableError, "overloaded_error"),
    ],
)
def test_a_failure_of_the_upstream_is_the_sdks_own_error(
    stage: Stage, form: str, behaviour: str, kind: Any, error_type: str
) -> None:
    error = refusal_of(stage.caller(), call_of(stage, form, f"small-1?{behaviour}"))
    assert isinstance(error, kind)
    assert error.type == error_type
    assert "upstream" not in str(error.body).replace("upstream_", "")


def test_the_vendors_own_overload_is_the_sdks_own_error(stage: Stage) -> None:
    error = refusal_of(stage.caller(), call_of(stage, "anthropic", "small-1?status=529"))
    assert (type(error), error.type) == (anthropic.ServiceUnavailableError, "overloaded_error")


@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
def test_an_upstream_that_recovers_is_paid_once(stage: Stage, form: str, streams: bool) -> None:
    """The gateway and the SDK both try again; each attempt of the SDK has the key of the first."""
    caller, call = stage.caller(), call_of(stage, form)
    stage.upstream.script(status=503, retry_after_seconds=0, error_code="overloaded", times=4)
    with sdk(caller, max_retries=4) as client:
        assert text_of(client, call, streams=streams) == TEXT
    assert [made.state for made in caller.calls if made.state != "released"] == ["settled"]
    assert caller.wallet["held"] == 0


def text_of(client: Any, call: dict[str, Any], *, streams: bool) -> Any:
    """Return the text of a message, whole or streamed."""
    if not streams:
        return client.messages.create(**call).content[0].text
    with client.messages.stream(**call) as stream:
        return stream.get_final_text()


@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
def test_a_lost_answer_is_replayed_and_paid_once(stage: Stage, form: str, streams: bool) -> None:
    caller, call, receipts = stage.caller(), call_of(stage, form), list[Receipt]()
    with sdk(caller, lose=2, max_retries=2, on_receipt=receipts.append) as client:
        assert text_of(client, call, streams=streams) == TEXT
    made = caller.only_call
    assert (made.state, len(stage.upstream.ledger.entries)) == ("settled", 1)
    assert receipts[-1] == Receipt(made.id, made.hold_microusd, made.charge_microusd, replayed=True)
    assert caller.wallet == {"balance": 1_000_000 - made.charge_microusd, "held": 0, "debt": 0}


def test_a_lost_answer_of_the_asynchronous_client_is_paid_once(stage: Stage) -> None:
    caller, call = stage.caller(), call_of(stage, "anthropic")

    async def run() -> Any:
        async with async_sdk(caller, lose=1, max_retries=2) as client:
            return await client.messages.create(**call)

    assert asyncio.run(run()).content[0].text == TEXT
    assert caller.only_call.state == "settled"


def test_a_lost_answer_is_not_sent_again_without_retries(stage: Stage) -> None:
    caller, call = stage.caller(), call_of(stage, "anthropic")
    with sdk(caller, lose=1) as client:
        with pytest.raises(anthropic.APIConnectionError):
            client.messages.create(**call)
        assert client.messages.create(**call).content[0].text == TEXT
    assert len(caller.calls) == 2


def test_an_error_in_the_middle_of_a_stream_is_raised(stage: Stage, form: str) -> None:
    caller, call, texts = stage.caller(), call_of(stage, form, "small-1?error_event=true"), []
    with (
        sdk(caller) as client,
        pytest.raises(anthropic.APIStatusError) as raised,
        client.messages.stream(**call) as stream,
    ):
        texts.extend(stream.text_stream)
    body: Any = raised.value.body
    assert "".join(texts).startswith("the quick")
    assert (raised.value.type, body["error"]["code"]) == ("api_error", "upstream_error")
    assert body["request_id"] == raised.value.request_id
    assert caller.only_call.state == "review"


def test_a_stream_that_ends_without_its_end_is_an_error(stage: Stage) -> None:
    call = call_of(stage, "anthropic", "small-1?done=false")
    with (
        sdk(stage.caller()) as client,
        pytest.raises(anthropic.APIStatusError),
        client.messages.stream(**call) as stream,
    ):
        stream.get_final_message()


def test_a_stream_that_is_left_is_charged_for_what_was_delivered(stage: Stage, form: str) -> None:
    caller, call = stage.caller(), call_of(stage, form, "small-1?tokens=4000&token_delay_ms=5", max_tokens=4000)
    with sdk(caller) as client, client.messages.stream(**call) as stream:
        for _ in zip(range(3), stream.text_stream, strict=False):
            pass
    eventually(lambda: caller.only_call.state == "settled")
    assert 3 <= caller.only_call.usage_record.output_tokens < 4000


def test_counting_is_refused_like_a_call(stage: Stage) -> None:
    call = call_of(stage, "anthropic")
    with (
        sdk(stage.caller(scopes=("infer:other",))) as client,
        pytest.raises(anthropic.PermissionDeniedError) as raised,
    ):
        client.messages.count_tokens(model=call["model"], messages=MESSAGES)
    assert raised.value.type == "permission_error"
