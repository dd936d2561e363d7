"""The vendor's own SDK: straight at the fake upstream, which it finds nothing odd about, and through the gateway."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import openai
import pytest
from openai.types.realtime import ResponseDoneEvent, SessionCreatedEvent

from tests.inference.realtime.test_sessions import HELLO, cost
from tests.support.sessions import SILENCE, SPEECH, headers_of, live_model, settled, talker
from tests.support.stage import Stage
from tests.support.stage_fixtures import API_KEY

DIRECT, THROUGH = "straight at the upstream", "through the gateway"


@contextmanager
def connected(stage: Stage, way: str) -> Iterator[Any]:
    """Open the SDK's connection."""
    if way == DIRECT:
        client = openai.OpenAI(base_url=stage.upstream.base_url, api_key=API_KEY)
        with client.realtime.connect(model="live-1") as connection:
            yield connection
        return
    caller, alias = talker(stage), live_model(stage)
    client = openai.OpenAI(base_url=f"{caller.origin}/v1", api_key="unused")
    with client.realtime.connect(model=alias, extra_headers=headers_of(caller)) as connection:
        yield connection
    assert settled(caller).charge_microusd == cost(4, 0, 8) if way == THROUGH else True


@pytest.mark.parametrize("way", [DIRECT, THROUGH])
def test_it_talks_in_text(stage: Stage, way: str) -> None:
    with connected(stage, way) as connection:
        assert isinstance(connection.recv(), SessionCreatedEvent)
        connection.session.update(session={"type": "realtime", "output_modalities": ["text"]})
        content = [{"type": "input_text", "text": HELLO}]
        connection.conversation.item.create(item={"type": "message", "role": "user", "content": content})
        connection.response.create()
        text = ""
        for event in connection:
            if event.type == "response.output_text.delta":
                text += event.delta
            if event.type == "response.done":
                break
        assert isinstance(event, ResponseDoneEvent)
        assert text.split() == [f"word{number}" for number in range(8)]
        usage: Any = event.response.usage
        assert (usage.input_tokens, usage.output_tokens, usage.input_token_details.text_tokens) == (4, 8, 4)


@pytest.mark.parametrize("way", [DIRECT, THROUGH])
def test_its_mistakes_are_reported(stage: Stage, way: str) -> None:
    with connected(stage, way) as connection:
        connection.recv()
        connection.conversation.item.delete(item_id="none", event_id="mine")
        event = next(event for event in connection if event.type == "error")
        assert (event.error.code, event.error.event_id) == ("item_not_found", "mine")
        content = [{"type": "input_text", "text": HELLO}]
        connection.conversation.item.create(item={"type": "message", "role": "user", "content": content})
        connection.response.create()
        next(event for event in connection if event.type == "response.done")


def test_it_talks_aloud_and_is_answered_at_a_pause(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    client = openai.OpenAI(base_url=f"{caller.origin}/v1", api_key="unused")
    with client.realtime.connect(model=alias, extra_headers=headers_of(caller)) as connection:
        for audio in (SPEECH, SILENCE):
            connection.input_audio_buffer.append(audio=base64.b64encode(audio).decode())
        kinds = []
        for event in connection:
            kinds.append(event.type)
            if event.type == "response.done":
                break
    assert "input_audio_buffer.committed" in kinds
    assert settled(caller).charge_microusd == cost(0, 0, 8, 2)
