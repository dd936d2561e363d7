"""Messages with the vendor's own SDK, at an upstream of each form: answers, streams, tools, thinking, counts and errors."""

import asyncio
import uuid
from collections.abc import Generator
from typing import Any

import anthropic
import httpx2
import pytest

from tests.inference.routes.test_messages import FORMS, PRICE
from tests.support.plain_http import NO_AUTHORITIES
from tests.support.stage import Caller, Stage

MESSAGES: Any = [{"role": "user", "content": "Say something about badgers."}]
WEATHER: Any = {
    "name": "weather",
    "description": "Tell the weather.",
    "input_schema": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
}


class _Proving(httpx2.Auth):
    """Adds what the gateway asks of a request."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response]:
        """Sign one request."""
        request.headers.pop("x-api-key", None)
        request.headers.update(self._caller.headers(request.url.path, method=request.method))
        request.headers["Idempotency-Key"] = uuid.uuid4().hex
        request.headers["x-service-max-cost-microusd"] = "100000"
        yield request


def sdk(caller: Caller) -> anthropic.Anthropic:
    http = httpx2.Client(auth=_Proving(caller), timeout=60, verify=NO_AUTHORITIES)
    return anthropic.Anthropic(base_url=caller.origin, api_key="unused", http_client=http, max_retries=0)


def async_sdk(caller: Caller) -> anthropic.AsyncAnthropic:
    http = httpx2.AsyncClient(auth=_Proving(caller), timeout=60, verify=NO_AUTHORITIES)
    return anthropic.AsyncAnthropic(base_url=caller.origin, api_key="unused", http_client=http, max_retries=0)


@pytest.fixture(params=FORMS, name="form")
def _form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def model_of(stage: Stage, form: str, model: str = "small-1?tokens=4") -> str:
    return stage.model(model, upstream=stage.upstream_row(**FORMS[form]), price=PRICE)


def test_a_message_is_answered(stage: Stage, form: str) -> None:
    with sdk(stage.caller()) as client:
        message = client.messages.create(model=model_of(stage, form), max_tokens=50, messages=MESSAGES)
    assert (message.content[0].type, message.content[0].text) == ("text", "the quick brown fox")  # type: ignore[union-attr]
    assert (message.stop_reason, message.usage.output_tokens) == ("end_turn", 4)
    assert message._request_id


def test_a_streams_helper_puts_the_message_together(stage: Stage, form: str) -> None:
    caller = stage.caller()
    alias = model_of(stage, form)
    with sdk(caller) as client, client.messages.stream(model=alias, max_tokens=50, messages=MESSAGES) as stream:
        assert "".join(stream.text_stream) == "the quick brown fox"
        message = stream.get_final_message()
    assert (message.stop_reason, message.usage.output_tokens, message.model) == ("end_turn", 4, alias)
    assert caller.only_call.state == "settled"


def test_the_asynchronous_client_streams_tools(stage: Stage, form: str) -> None:
    message = asyncio.run(_streamed(stage.caller(), model_of(stage, form)))
    [use] = message.content
    assert (use.type, use.name, use.input) == ("tool_use", "weather", {"place": "Reykjavík"})


async def _streamed(caller: Caller, alias: str) -> Any:
    async with (
        async_sdk(caller) as client,
        client.messages.stream(model=alias, max_tokens=50, messages=MESSAGES, tools=[WEATHER]) as stream,
    ):
        return await stream.get_final_message()


def test_a_tool_loop_of_the_sdk_runs_to_its_end(stage: Stage, form: str) -> None:
    @anthropic.beta_tool
    def weather(place: str) -> str:
        """Tell the weather.

        Args:
            place: Where.
        """
        return f"Rain in {place}."

    with sdk(stage.caller()) as client:
        runner = client.beta.messages.tool_runner(
            model=model_of(stage, form), max_tokens=50, messages=MESSAGES, tools=[weather]
        )
        last = runner.until_done()
    assert last.content[0].text == "the quick brown fox"  # type: ignore[union-attr]


def test_thinking_is_streamed_with_its_signature(stage: Stage) -> None:
    alias = model_of(stage, "anthropic", "small-1?tokens=2&reasoning_tokens=3")
    thinking: Any = {"type": "enabled", "budget_tokens": 1024}
    with (
        sdk(stage.caller()) as client,
        client.messages.stream(model=alias, max_tokens=3000, messages=MESSAGES, thinking=thinking) as stream,
    ):
        message = stream.get_final_message()
    assert [block.type for block in message.content] == ["thinking", "text"]
    assert (message.content[0].thinking, message.content[0].signature) == ("hm hm hm", "EqQBCkgIAxABGAIi")  # type: ignore[union-attr]


def test_tokens_are_counted(stage: Stage, form: str) -> None:
    with sdk(stage.caller()) as client:
        counted = client.messages.count_tokens(model=model_of(stage, form), messages=MESSAGES)
    assert counted.input_tokens >= 7


@pytest.mark.parametrize(
    ("members", "scopes", "kind"),
    [
        ({"messages": []}, ("infer:*",), anthropic.BadRequestError),
        ({}, ("infer:other",), anthropic.PermissionDeniedError),
        ({"model": "nothing"}, ("infer:*",), anthropic.NotFoundError),
    ],
)
def test_errors_are_the_sdks_own(stage: Stage, members: Any, scopes: tuple[str, ...], kind: Any) -> None:
    body = {"model": model_of(stage, "anthropic"), "max_tokens": 50, "messages": MESSAGES, **members}
    with sdk(stage.caller(scopes=scopes)) as client, pytest.raises(kind) as raised:
        client.messages.create(**body)
    assert raised.value.request_id
    assert raised.value.body["error"]["code"]


def test_a_stream_that_breaks_raises_the_sdks_error(stage: Stage, form: str) -> None:
    alias = model_of(stage, form, "small-1?error_event=true")
    with (
        sdk(stage.caller()) as client,
        pytest.raises(anthropic.APIStatusError) as raised,
        client.messages.stream(model=alias, max_tokens=50, messages=MESSAGES) as stream,
    ):
        stream.get_final_message()
    assert "upstream" not in raised.value.message.lower() or raised.value.body
