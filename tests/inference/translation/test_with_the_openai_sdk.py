"""Answers and streams that were translated, read by the vendor's own SDK: the same as when it reads the original."""

from collections.abc import AsyncIterator
from typing import Any

import openai
import orjson
import pytest
from aiohttp import web
from openai.types.chat import ParsedChatCompletion
from openai.types.responses import ParsedResponse
from pydantic import BaseModel

from inference.translation.answer import Head
from inference.translation.chat import answer_reader as chat_answer_reader
from inference.translation.chat import answer_writer as chat_answer_writer
from inference.translation.chat import stream_reader as chat_stream_reader
from inference.translation.chat import stream_writer as chat_stream_writer
from inference.translation.responses import answer_reader as responses_answer_reader
from inference.translation.responses import answer_writer as responses_answer_writer
from inference.translation.responses import stream_reader as responses_stream_reader
from inference.translation.responses import stream_writer as responses_stream_writer
from tests.inference.translation.recordings import RECORDINGS
from tests.support.plain_http import NO_AUTHORITIES

HEAD = Head("resp_01m7yshq1s6zw3kzc8ypm54agq", "fast", 1795256076)
REQUEST = {"tools": [], "tool_choice": "auto", "parallel_tool_calls": True, "metadata": {}}
NAMES = [name for name in RECORDINGS if name not in ("length", "filter")]
"""Where an answer was cut off, the SDK's helpers raise or have no final answer; see below."""

TOOL: dict[str, Any] = {"name": "weather", "parameters": {"type": "object", "properties": {}}, "strict": False}


class Place(BaseModel):
    """A structured answer."""

    city: str


def streamed(name: str, form: str, *, translated: bool) -> bytes:
    """Lay a recording out for a client that asks in `form`."""
    recording = RECORDINGS[name]
    if form == "chat":
        chat = chat_stream_writer.StreamWriter(HEAD, show_usage=True)
        events = (
            _translated(responses_stream_reader.StreamReader(), chat, recording.responses)
            if translated
            else recording.chat
        )
        return b"".join(b"data: %b\n\n" % orjson.dumps(each) for each in events) + b"data: [DONE]\n\n"
    typed = responses_stream_writer.StreamWriter(HEAD, REQUEST)
    events = (
        _translated(chat_stream_reader.StreamReader(), typed, recording.chat) if translated else recording.responses
    )
    return b"".join(b"event: %b\ndata: %b\n\n" % (each["type"].encode(), orjson.dumps(each)) for each in events)


def _translated(reader: Any, writer: Any, recording: list[dict[str, Any]]) -> list[dict[str, Any]]:
    written: list[dict[str, Any]] = writer.begin()
    for each in recording:
        for event in reader.read(each):
            written += writer.write(event)
    return written + list(writer.finish())


def whole(name: str, form: str, *, translated: bool) -> Any:
    """Render a recording's whole answer for a client that asks in `form`."""
    response = RECORDINGS[name].responses[-1]["response"]
    if (form == "responses") != translated:
        if form == "responses":
            return response
        return chat_answer_writer.write_answer(responses_answer_reader.read_answer(response), HEAD)
    chat = chat_answer_writer.write_answer(responses_answer_reader.read_answer(response), HEAD)
    if form == "chat":
        return chat
    return responses_answer_writer.write_answer(chat_answer_reader.read_answer(chat), HEAD, REQUEST)


@pytest.fixture
async def sdks() -> AsyncIterator[dict[bool, openai.AsyncOpenAI]]:
    """Serve the recordings as they are, and translated; the model's name says which one."""

    async def serve(request: web.Request) -> web.StreamResponse:
        body, translated = orjson.loads(await request.read()), "translated" in request.path
        form = "chat" if "chat" in request.path else "responses"
        if not body.get("stream"):
            return web.json_response(whole(body["model"], form, translated=translated))
        events = streamed(body["model"], form, translated=translated)
        return web.Response(body=events, content_type="text/event-stream")

    app = web.Application()
    app.router.add_post("/{kind}/chat/completions", serve)
    app.router.add_post("/{kind}/responses", serve)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    origin = f"http://127.0.0.1:{runner.addresses[0][1]}"
    kinds = {False: "native", True: "translated"}
    clients = {
        translated: openai.AsyncOpenAI(
            base_url=f"{origin}/{kind}",
            api_key="none",
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(verify=NO_AUTHORITIES),
        )
        for translated, kind in kinds.items()
    }
    yield clients
    for client in clients.values():
        await client.close()
    await runner.cleanup()


Sdks = dict[bool, openai.AsyncOpenAI]


async def stream_response(sdk: openai.AsyncOpenAI, name: str) -> ParsedResponse[Place]:
    options: Any = {"text_format": Place} if name == "structured" else {}
    tools: Any = [{"type": "function", **TOOL}]
    async with sdk.responses.stream(model=name, input="hello", tools=tools, **options) as stream:
        async for _ in stream:
            pass
        return await stream.get_final_response()


async def stream_chat(sdk: openai.AsyncOpenAI, name: str) -> ParsedChatCompletion[Place]:
    options: Any = {"response_format": Place} if name == "structured" else {}
    messages: Any = [{"role": "user", "content": "hello"}]
    async with sdk.chat.completions.stream(
        model=name, messages=messages, stream_options={"include_usage": True}, **options
    ) as stream:
        async for _ in stream:
            pass
        return await stream.get_final_completion()


def content_of_response(response: Any) -> Any:
    """Return what a response says, without ids."""
    output = [item.model_dump(exclude={"id": True, "call_id": True}) for item in response.output]
    return response.status, response.output_text, output, response.usage.model_dump(), response.incomplete_details


def content_of_chat(completion: Any) -> Any:
    """Return what a completion says, without ids."""
    choice = completion.choices[0]
    calls = [(call.function.name, call.function.arguments) for call in choice.message.tool_calls or ()]
    message = choice.message
    content = (message.content or None, message.refusal, calls, getattr(message, "reasoning_content", None))
    return choice.finish_reason, content, choice.logprobs, completion.usage


@pytest.mark.parametrize("name", NAMES)
async def test_a_translated_response_stream_accumulates_to_the_same(sdks: Sdks, name: str) -> None:
    native, translated = [await stream_response(sdks[kind], name) for kind in (False, True)]
    assert content_of_response(translated) == content_of_response(native)


@pytest.mark.parametrize("name", NAMES)
async def test_a_translated_chat_stream_accumulates_to_the_same(sdks: Sdks, name: str) -> None:
    native, translated = [await stream_chat(sdks[kind], name) for kind in (False, True)]
    assert content_of_chat(translated) == content_of_chat(native)


@pytest.mark.parametrize("name", ["length", "filter"])
async def test_a_response_that_was_cut_off_ends_its_iterator_with_the_vendors_event(sdks: Sdks, name: str) -> None:
    endings: list[Any] = []
    for kind in (False, True):
        async with sdks[kind].responses.stream(model=name, input="hello") as stream:
            events: list[Any] = [event async for event in stream]
            endings.append(events[-1])
    assert [event.type for event in endings] == ["response.incomplete", "response.incomplete"]
    assert content_of_response(endings[1].response) == content_of_response(endings[0].response)


async def test_a_structured_answer_is_parsed(sdks: Sdks) -> None:
    assert (await stream_response(sdks[True], "structured")).output_parsed == Place(city="Rome")
    assert (await stream_chat(sdks[True], "structured")).choices[0].message.parsed == Place(city="Rome")


@pytest.mark.parametrize(
    ("name", "error"), [("length", openai.LengthFinishReasonError), ("filter", openai.ContentFilterFinishReasonError)]
)
async def test_a_chat_that_was_cut_off_raises_the_sdks_own_error(sdks: Sdks, name: str, error: type[Exception]) -> None:
    messages: Any = [{"role": "user", "content": "hello"}]
    for kind in (False, True):
        with pytest.raises(error):
            async with sdks[kind].chat.completions.stream(
                model=name, messages=messages, response_format=Place
            ) as stream:
                await stream.get_final_completion()


@pytest.mark.parametrize("name", RECORDINGS)
async def test_a_translated_response_parses_to_the_same(sdks: Sdks, name: str) -> None:
    native, translated = [await sdks[kind].responses.create(model=name, input="hello") for kind in (False, True)]
    assert content_of_response(translated) == content_of_response(native)


@pytest.mark.parametrize("name", NAMES)
async def test_a_translated_chat_parses_to_what_its_stream_says(sdks: Sdks, name: str) -> None:
    completion = await sdks[True].chat.completions.create(model=name, messages=[{"role": "user", "content": "hello"}])
    content, streamed_content = content_of_chat(completion), content_of_chat(await stream_chat(sdks[False], name))
    assert content[:2] == streamed_content[:2]
    assert content[3] == streamed_content[3]
