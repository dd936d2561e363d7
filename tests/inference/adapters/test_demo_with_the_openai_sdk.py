"""The demo backend's answers, read by the vendor's own SDK over HTTP."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import openai
import orjson
import pytest
from aiohttp import web
from pydantic import BaseModel

from gateway.core.contract.aliases import Route
from inference.interface.answer import Answer
from inference.interface.upstream import Outcome, Rejected
from inference.routes.chat.stream import ChatFormat
from tests.inference.adapters.attempts import Endpoints, chat, embedding
from tests.support.server_thread import listening

adapter = Endpoints("demo")


class Weather(BaseModel):
    """A structured answer."""

    city: str
    degrees: int
    outlook: str | None


@pytest.fixture
async def client() -> AsyncIterator[openai.AsyncOpenAI]:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", lambda request: serve(request, Route.CHAT_COMPLETIONS))
    app.router.add_post("/v1/embeddings", lambda request: serve(request, Route.EMBEDDINGS))
    async with (
        listening(app) as port,
        openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0) as sdk,
    ):
        yield sdk


async def serve(request: web.Request, route: Route) -> web.StreamResponse:
    """Serve the adapter's answers over HTTP unchanged."""
    body: dict[str, Any] = orjson.loads(await request.read())
    show_usage = bool((body.get("stream_options") or {}).get("include_usage"))
    attempt = chat("", show_usage=show_usage, options={"token_seconds": 0})
    attempt = replace(attempt, request=replace(attempt.request, body=body))
    if route is Route.EMBEDDINGS:
        attempt = embedding("", body)
    served = await (adapter.open_stream(attempt) if body.get("stream") else adapter.send(attempt))
    if isinstance(served, Answer):
        return web.json_response(served.body)
    if isinstance(served, Rejected):
        return web.json_response(served.error.body("req_1"), status=served.error.status)
    assert not isinstance(served, Outcome)
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    async for chunk in served:
        await response.write(chunk.data)
    await response.write(ChatFormat.terminator)
    return response


TOOL: Any = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["c", "f"]}},
            "required": ["city", "unit"],
            "additionalProperties": False,
        },
    },
}
HELLO: Any = [{"role": "user", "content": "hello"}]


async def test_chat(client: openai.AsyncOpenAI) -> None:
    completion = await client.chat.completions.create(model="fast", messages=HELLO, max_completion_tokens=5)
    assert completion.choices[0].message.content == "This is the gateway's"
    assert completion.choices[0].finish_reason == "length"
    assert completion.usage is not None
    assert completion.usage.completion_tokens == 5


async def test_a_stream_with_its_usage(client: openai.AsyncOpenAI) -> None:
    stream = await client.chat.completions.create(
        model="fast", messages=HELLO, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text.startswith("This is the gateway's demo backend")
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.prompt_tokens == 1


async def test_the_sdks_own_stream_helper_assembles_a_tool_call(client: openai.AsyncOpenAI) -> None:
    async with client.chat.completions.stream(
        model="fast", messages=HELLO, tools=[TOOL], tool_choice="required"
    ) as stream:
        completion = await stream.get_final_completion()
    assert completion.choices[0].message.tool_calls is not None
    [call] = completion.choices[0].message.tool_calls
    assert call.function.parsed_arguments == {"city": "demo", "unit": "c"}


async def test_a_tool_conversation(client: openai.AsyncOpenAI) -> None:
    question: Any = [{"role": "user", "content": "what does get weather say?"}]
    first = await client.chat.completions.create(model="fast", messages=question, tools=[TOOL])
    message = first.choices[0].message
    assert message.tool_calls is not None
    result = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "get_weather: 12 degrees"}
    messages: Any = [*question, message.model_dump(exclude_none=True), result]
    second = await client.chat.completions.create(model="fast", messages=messages, tools=[TOOL])
    assert "get_weather: 12 degrees" in (second.choices[0].message.content or "")


async def test_a_structured_answer(client: openai.AsyncOpenAI) -> None:
    completion = await client.chat.completions.parse(model="fast", messages=HELLO, response_format=Weather)
    assert completion.choices[0].message.parsed == Weather(city="demo", degrees=1, outlook="demo")


async def test_embeddings_that_the_sdk_requests_in_base64(client: openai.AsyncOpenAI) -> None:
    embeddings = await client.embeddings.create(model="embedding", input=["good day", "good night"])
    plain = await client.embeddings.create(model="embedding", input=["good day", "good night"], encoding_format="float")
    assert [item.embedding for item in embeddings.data] == [item.embedding for item in plain.data]
    assert len(embeddings.data[0].embedding) == 256
    assert embeddings.usage.prompt_tokens == 4


async def test_a_refusal_is_the_sdks_own_error(client: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        await client.embeddings.create(model="embedding", input="x", dimensions=4000)
    assert refused.value.code == "invalid_request"
    assert refused.value.param == "dimensions"
