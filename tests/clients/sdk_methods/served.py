"""A call of every served method of the SDKs, as a person would write it."""

import uuid
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel

from account_gateway_client import Gateway, call_headers
from tests.factories.audio import wav

MESSAGES: Any = [{"role": "user", "content": "Hello"}]
CHAT: Any = {"model": "fast", "messages": MESSAGES}
ASK: Any = {"model": "fast", "input": "Hello"}
SEND: Any = {"model": "fast", "max_tokens": 50, "messages": MESSAGES}
SOUND: Any = {"model": "audio", "file": ("sound.wav", wav(seconds=1))}
STORED = ("retrieve", "delete", "input_items.list")

Call = Callable[[Any], Any]


class Place(BaseModel):
    """A structured answer."""

    city: str


def openai_calls(gateway: Gateway) -> Mapping[str, Call]:
    """Return the calls of the OpenAI SDK by the method's name; each takes the method."""
    return {
        "audio.speech.create": lambda method: method(model="audio", voice="alloy", input="Hello").read(),
        "audio.transcriptions.create": lambda method: method(**SOUND).text,
        "audio.translations.create": lambda method: method(**SOUND).text,
        **_of_chat("chat.completions"),
        **_of_chat("beta.chat.completions"),
        "embeddings.create": lambda method: method(model="embedding", input="Hello").data[0].embedding,
        "images.generate": lambda method: method(model="image", prompt="A badger", quality="low").data,
        "models.list": lambda method: list(method()),
        "models.retrieve": lambda method: method("fast").id,
        "responses.create": lambda method: method(**ASK).output_text,
        "responses.parse": lambda method: method(**ASK, text_format=Place),
        "responses.stream": _streamed(ASK, lambda stream: stream.get_final_response().output_text),
        "beta.responses.create": lambda method: method(**ASK).output,
        **{f"responses.{name}": _of_stored(gateway) for name in STORED},
        **{f"beta.responses.{name}": _of_stored(gateway) for name in STORED},
        "realtime.connect": _connected(gateway),
        "beta.realtime.connect": _connected(gateway),
    }


def anthropic_calls() -> Mapping[str, Call]:
    """Return those of the Anthropic SDK."""
    tools: Any = []
    kinds = ("", "beta.")
    return {
        "beta.messages.tool_runner": lambda method: method(**SEND, tools=tools).until_done().content,
        **{f"{kind}messages.create": lambda method: method(**SEND).content for kind in kinds},
        **{f"{kind}messages.parse": lambda method: method(**SEND, output_format=Place) for kind in kinds},
        **{f"{kind}messages.stream": _streamed(SEND, lambda stream: list(stream.text_stream)) for kind in kinds},
        **{
            f"{kind}messages.count_tokens": lambda method: method(model="fast", messages=MESSAGES).input_tokens
            for kind in kinds
        },
        **{f"{kind}models.list": lambda method: list(method()) for kind in kinds},
        **{f"{kind}models.retrieve": lambda method: method("fast").id for kind in kinds},
    }


def _of_chat(resource: str) -> Mapping[str, Call]:
    return {
        f"{resource}.create": lambda method: method(**CHAT).choices[0].message.content,
        f"{resource}.parse": lambda method: method(**CHAT, response_format=Place),
        f"{resource}.stream": _streamed(CHAT, lambda stream: stream.get_final_completion()),
    }


def _streamed(arguments: Any, read: Call) -> Call:
    """Read a stream that is opened as a context manager."""

    def call(method: Any) -> Any:
        with method(**arguments) as stream:
            return read(stream)

    return call


def _of_stored(gateway: Gateway) -> Call:
    """Store a response first."""

    def call(method: Any) -> Any:
        stored = gateway.request("POST", "/v1/responses", json={**ASK, "store": True}, headers=_paid())
        return method(stored.json()["id"]) or True

    return call


def _connected(gateway: Gateway) -> Call:
    """Sign the upgrade, which the SDK sends over no HTTP client."""

    def call(method: Any) -> Any:
        token = gateway.signer.tokens.token()
        headers = {**gateway.signer.headers("GET", f"{gateway.base_url}/v1/realtime", token), **_paid()}
        with method(model="realtime", extra_headers=headers) as connection:
            return connection.recv().type

    return call


def _paid() -> dict[str, str]:
    return call_headers(max_cost_microusd=100_000, idempotency_key=uuid.uuid4().hex)
