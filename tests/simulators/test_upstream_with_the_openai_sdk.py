"""The vendor's own SDK finds nothing odd about the fake upstream, and its ledger is true."""

import json
from collections.abc import Iterator
from typing import Any, TypeAlias

import openai
import pytest

from tests.factories.audio import wav
from tests.support.plain_http import NO_AUTHORITIES
from tests.support.upstream import FakeUpstream
from tests.support.upstream.audio import TEXT, audio_of
from tests.support.upstream.behaviours import Behaviour
from tests.support.upstream.tokens import count_text

Sdk: TypeAlias = Any
"""The client itself; its signatures refuse the plain dictionaries that callers really send."""

PROMPT = "Say something about badgers."
MESSAGES = [{"role": "user", "content": PROMPT}]
WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Tell the weather.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


@pytest.fixture
def upstream() -> Iterator[FakeUpstream]:
    with FakeUpstream(api_key="sk-right") as running:
        yield running


@pytest.fixture
def sdk(upstream: FakeUpstream) -> Iterator[Sdk]:
    http = openai.DefaultHttpxClient(verify=NO_AUTHORITIES)
    with openai.OpenAI(
        base_url=upstream.base_url, api_key="sk-right", max_retries=0, timeout=60, http_client=http
    ) as client:
        yield client


def test_chat_reports_the_tokens_that_the_ledger_holds(upstream: FakeUpstream, sdk: Sdk) -> None:
    completion = sdk.chat.completions.create(
        model="small-1", messages=MESSAGES, extra_headers={"Idempotency-Key": "k-1"}
    )
    [entry] = upstream.ledger
    assert len(completion.choices[0].message.content.split()) == 16
    assert completion.choices[0].finish_reason == "stop"
    assert completion.usage.prompt_tokens == entry.prompt_tokens == count_text(PROMPT)
    assert completion.usage.completion_tokens == entry.completion_tokens == 16
    assert (entry.idempotency_key, entry.outcome, entry.status) == ("k-1", "complete", 200)


@pytest.mark.parametrize("limit", ["max_tokens", "max_completion_tokens"])
def test_chat_stops_at_an_output_limit(upstream: FakeUpstream, sdk: Sdk, limit: str) -> None:
    completion = sdk.chat.completions.create(model="small-1", messages=MESSAGES, **{limit: 5})
    assert completion.choices[0].message.content == "the quick brown fox jumps"
    assert completion.choices[0].finish_reason == "length"
    assert completion.usage.completion_tokens == 5


def test_chat_bills_every_choice(upstream: FakeUpstream, sdk: Sdk) -> None:
    completion = sdk.chat.completions.create(model="small-1", messages=MESSAGES, n=3, max_tokens=4)
    assert [choice.index for choice in completion.choices] == [0, 1, 2]
    assert completion.usage.completion_tokens == 12


def test_a_stream_with_usage_ends_in_a_chunk_without_choices(upstream: FakeUpstream, sdk: Sdk) -> None:
    chunks = list(
        sdk.chat.completions.create(
            model="small-1",
            messages=MESSAGES,
            max_tokens=5,
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    *content, last = chunks
    text = "".join(chunk.choices[0].delta.content or "" for chunk in content)
    assert text == "the quick brown fox jumps"
    assert all("usage" in chunk.model_fields_set and chunk.usage is None for chunk in content)
    assert (last.choices, last.usage.completion_tokens) == ([], 5)
    assert content[-1].choices[0].finish_reason == "length"


def test_a_stream_without_usage_never_names_it(upstream: FakeUpstream, sdk: Sdk) -> None:
    chunks = list(sdk.chat.completions.create(model="small-1", messages=MESSAGES, stream=True))
    assert not any("usage" in chunk.model_fields_set for chunk in chunks)
    assert all(chunk.choices for chunk in chunks)


def test_a_tool_is_called_and_its_result_answered_in_words(upstream: FakeUpstream, sdk: Sdk) -> None:
    first = sdk.chat.completions.create(model="small-1", messages=MESSAGES, tools=[WEATHER])
    message = first.choices[0].message
    assert first.choices[0].finish_reason == "tool_calls"
    assert message.tool_calls[0].function.name == "get_weather"
    assert message.tool_calls[0].function.arguments == '{"city":"Reykjavík"}'
    result = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "sunny"}
    second = sdk.chat.completions.create(model="small-1", messages=[*MESSAGES, message, result], tools=[WEATHER])
    assert second.choices[0].finish_reason == "stop"


def test_a_streamed_tool_call_adds_up_to_its_arguments(upstream: FakeUpstream, sdk: Sdk) -> None:
    with sdk.chat.completions.stream(model="small-1", messages=MESSAGES, tools=[WEATHER]) as stream:
        completion = stream.get_final_completion()
    call = completion.choices[0].message.tool_calls[0]
    assert call.function.arguments == '{"city":"Reykjavík"}'


def test_embeddings_are_the_same_unit_vectors_as_floats_and_as_base64(upstream: FakeUpstream, sdk: Sdk) -> None:
    request = {"model": "small-1", "input": ["one", "two two"], "dimensions": 8}
    floats = sdk.embeddings.create(**request, encoding_format="float")
    default = sdk.embeddings.create(**request)
    assert [item.embedding for item in default.data] == [
        pytest.approx(item.embedding, rel=1e-6) for item in floats.data
    ]
    assert sum(value**2 for value in floats.data[0].embedding) == pytest.approx(1)
    assert floats.usage.prompt_tokens == count_text("one") + count_text("two two")
    assert [entry.body.get("encoding_format") for entry in upstream.ledger] == ["float", "base64"]


def test_a_response_is_whole_and_its_events_add_up(upstream: FakeUpstream, sdk: Sdk) -> None:
    response = sdk.responses.create(model="small-1", input=PROMPT)
    with sdk.responses.stream(model="small-1", input=PROMPT) as stream:
        streamed = stream.get_final_response()
    assert streamed.output_text == response.output_text
    assert len(response.output_text.split()) == response.usage.output_tokens == 16
    assert response.usage.input_tokens == count_text(PROMPT)


def test_a_response_cut_by_its_limit_is_incomplete(upstream: FakeUpstream, sdk: Sdk) -> None:
    response = sdk.responses.create(model="small-1", input=PROMPT, max_output_tokens=3)
    assert (response.status, response.output_text) == ("incomplete", "the quick brown")
    assert response.incomplete_details.reason == "max_output_tokens"


def test_a_response_can_call_a_function(upstream: FakeUpstream, sdk: Sdk) -> None:
    tool = {"type": "function", **WEATHER["function"], "strict": False}
    request = {"model": "small-1", "input": PROMPT, "tools": [tool]}
    with sdk.responses.stream(**request) as stream:
        streamed = stream.get_final_response()
    [item] = sdk.responses.create(**request).output
    assert item.arguments == streamed.output[0].arguments == '{"city":"Reykjavík"}'


@pytest.mark.parametrize("calls", [1, 3])
def test_a_response_can_call_a_function_several_times_at_once(upstream: FakeUpstream, sdk: Sdk, calls: int) -> None:
    request = {
        "model": f"small-1?calls={calls}",
        "input": PROMPT,
        "tools": [{"type": "function", **WEATHER["function"]}],
    }
    with sdk.responses.stream(**request) as stream:
        streamed = stream.get_final_response()
    made = sdk.responses.create(**request)
    assert len({item.call_id for item in streamed.output}) == len(made.output) == calls
    assert [entry.completion_tokens for entry in upstream.ledger] == [made.usage.output_tokens] * 2 == [calls] * 2


def test_a_response_can_think_first(upstream: FakeUpstream, sdk: Sdk) -> None:
    request = {"model": "small-1?reasoning_tokens=9", "input": PROMPT, "include": ["reasoning.encrypted_content"]}
    with sdk.responses.stream(**request) as stream:
        streamed = stream.get_final_response()
    made = sdk.responses.create(**request)
    assert [item.type for item in streamed.output] == [item.type for item in made.output] == ["reasoning", "message"]
    assert made.output[0].encrypted_content
    assert [entry.completion_tokens for entry in upstream.ledger] == [made.usage.output_tokens] * 2 == [25] * 2


def test_a_response_can_be_a_refusal(sdk: Sdk) -> None:
    request = {"model": "small-1?refusal=true&text=I+cannot.", "input": PROMPT}
    with sdk.responses.stream(**request) as stream:
        streamed = stream.get_final_response()
    parts = [made.output[0].content[0] for made in (streamed, sdk.responses.create(**request))]
    assert [(part.type, part.refusal) for part in parts] == [("refusal", "I cannot.")] * 2


def test_a_response_can_be_structured(sdk: Sdk) -> None:
    schema = {"type": "object", "required": ["city", "country"]}
    text_format = {"type": "json_schema", "name": "place", "schema": schema}
    made = sdk.responses.create(model="small-1", input=PROMPT, text={"format": text_format})
    assert json.loads(made.output_text) == {"city": "Reykjavík", "country": "Reykjavík"}


def test_a_response_can_fail(sdk: Sdk) -> None:
    request = {"model": "small-1?failed=true", "input": PROMPT}
    assert sdk.responses.create(**request).status == "failed"
    assert list(sdk.responses.create(**request, stream=True))[-1].type == "response.failed"


def test_models_lists_the_presets(upstream: FakeUpstream, sdk: Sdk) -> None:
    assert {"small-1", "usage-missing"} <= {model.id for model in sdk.models.list()}


@pytest.mark.parametrize(
    ("model", "error", "code"),
    [
        ("reject-context-length", openai.BadRequestError, "context_length_exceeded"),
        ("reject-content-policy", openai.BadRequestError, "content_policy_violation"),
        ("reject-unprocessable", openai.UnprocessableEntityError, "invalid_value"),
        ("unauthorized", openai.AuthenticationError, "invalid_api_key"),
        ("forbidden", openai.PermissionDeniedError, "unsupported_country_region_territory"),
        ("missing-model", openai.NotFoundError, "model_not_found"),
        ("rate-limited", openai.RateLimitError, "rate_limit_exceeded"),
        ("overloaded", openai.InternalServerError, "overloaded"),
    ],
)
def test_refusals_are_the_sdks_own_exceptions(
    upstream: FakeUpstream, sdk: Sdk, model: str, error: type[openai.APIStatusError], code: str
) -> None:
    with pytest.raises(error) as raised:
        sdk.chat.completions.create(model=model, messages=MESSAGES)
    [entry] = upstream.ledger
    assert raised.value.code == code
    assert (entry.outcome, entry.completion_tokens) == ("refused", 0)


def test_a_wrong_key_is_refused_before_anything_is_remembered(upstream: FakeUpstream, sdk: Sdk) -> None:
    with pytest.raises(openai.AuthenticationError):
        sdk.with_options(api_key="sk-wrong").chat.completions.create(model="small-1", messages=MESSAGES)
    assert len(upstream.ledger) == 0


def test_a_body_without_messages_names_them(upstream: FakeUpstream, sdk: Sdk) -> None:
    with pytest.raises(openai.BadRequestError) as raised:
        sdk.post("/chat/completions", body={"model": "small-1"}, cast_to=object)
    assert raised.value.param == "messages"


def test_speech_is_bytes_or_events_that_hold_the_same(upstream: FakeUpstream, sdk: Sdk) -> None:
    request = {"model": "small-1", "input": "Hello.", "voice": "alloy"}
    assert sdk.audio.speech.create(**request, response_format="wav").content == audio_of(Behaviour())
    with sdk.audio.speech.with_streaming_response.create(**request) as answer:
        assert b"".join(answer.iter_bytes()) == audio_of(Behaviour())
    assert [entry.outcome for entry in upstream.ledger] == ["complete", "complete"]


@pytest.mark.parametrize("route", ["transcriptions", "translations"])
def test_a_file_is_measured_and_answered_in_the_requested_layout(upstream: FakeUpstream, sdk: Sdk, route: str) -> None:
    ask = getattr(sdk.audio, route).create
    file = ("a.wav", wav(1.5))
    assert ask(model="small-1", file=file).text == TEXT
    assert ask(model="small-1", file=file, response_format="verbose_json").duration == 1.5
    assert ask(model="small-1", file=file, response_format="srt").startswith("1\n00:00:00,000 --> ")
    [first, *_] = upstream.ledger
    assert first.body["file"] | {"sha256": ""} == {
        "name": "a.wav",
        "type": "audio/x-wav",
        "size": 48_044,
        "sha256": "",
        "seconds": 1.5,
    }


def test_a_transcription_streams_its_words_and_then_its_usage(upstream: FakeUpstream, sdk: Sdk) -> None:
    with sdk.audio.transcriptions.create(model="small-1", file=("a.wav", wav(1.5)), stream=True) as stream:
        *deltas, done = list(stream)
    assert "".join(event.delta for event in deltas) == done.text == TEXT
    assert done.usage.seconds == 2
