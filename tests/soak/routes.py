"""Every model route: what serves it, and a small honest request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from bench.servers import UPSTREAM_KEY
from tests.factories.audio import wav
from tests.support.forms import Form, form

TEXT = "Say something about badgers."
MESSAGES = [{"role": "user", "content": TEXT}]
TOKENS: Mapping[str, Any] = {"input_token": "0.15", "output_token": "0.60"}
OF_VECTORS = ["embeddings.contextual", "late-interaction.score"]
LIVE = "live"
LIVE_PRICE = dict.fromkeys(("input_token", "output_token", "input_audio_token", "output_audio_token"), "1")


@dataclass(frozen=True, slots=True)
class Route:
    """A request to a model route: a JSON body, or a form."""

    path: str
    body: Mapping[str, Any] | Form

    @property
    def content(self) -> bytes:
        """Return the body."""
        return self.body.content if isinstance(self.body, Form) else orjson.dumps(dict(self.body))

    @property
    def content_type(self) -> str:
        """Return the body's type."""
        return self.body.content_type if isinstance(self.body, Form) else "application/json"


def _text(path: str, **members: Any) -> Route:
    return Route(path, {"model": "answering", **members})


ROUTES = (
    _text("/v1/responses", input=TEXT),
    _text("/v1/responses", input=TEXT, stream=True),
    _text("/v1/messages", max_tokens=20, messages=MESSAGES),
    _text("/v1/messages", max_tokens=20, messages=MESSAGES, stream=True),
    _text("/v1/messages/count_tokens", messages=MESSAGES),
    Route("/v1/embeddings", {"model": "embedding", "input": TEXT}),
    Route("/v1/embeddings/contextual", {"model": "vectors", "input_type": "query", "queries": ["Badgers?"]}),
    Route(
        "/v1/late-interaction/score",
        {"model": "vectors", "query": "Badgers?", "documents": [{"id": "a", "text": TEXT}]},
    ),
    Route("/v1/images/generations", {"model": "image", "prompt": "A badger in the rain."}),
    Route("/v1/rerank", {"model": "rerank", "query": "badgers", "documents": ["Badgers dig.", "Foxes run."]}),
    Route("/v1/audio/speech", {"model": "audio", "input": "Badgers sleep.", "voice": "alloy"}),
    Route("/v1/audio/transcriptions", form(wav(2.5), [("model", "audio")])),
    Route("/v1/audio/translations", form(wav(2.5), [("model", "audio")])),
)
"""Chats are the load of the chaos run, and live sessions are not requests."""


def upstreams(upstream_url: str, vectors_url: str) -> list[dict[str, Any]]:
    """Describe the upstreams besides that of the chats, `bench`."""
    key = {"api_key": UPSTREAM_KEY}
    return [
        {"name": "reranker", "adapter": "voyage", "base_url": f"{upstream_url}/v1", **key},
        {"name": "vectors", "adapter": "representation", "base_url": vectors_url, **key},
        {"name": "live", "adapter": "realtime", "base_url": f"{upstream_url}/v1", **key},
    ]


def aliases() -> list[dict[str, Any]]:
    """Describe the models of these routes. No name of an upstream's model is one whose usage the chaos run compares."""
    return [
        _alias("answering", "answers-1", TOKENS, max_output_tokens=200, context_tokens=128_000),
        _alias("embedding", "embed-1", {"input_token": "0.02"}, context_tokens=8192),
        _alias("vectors", "vectors-1", {"input_token": "0.06"}, "vectors", context_tokens=8192, routes=OF_VECTORS),
        _alias("image", "image-1", {"image": "40"}),
        _alias("rerank", "rerank-1", {"input_kilobyte": "20"}, "reranker"),
        _alias("audio", "audio-1", {"input_character": "15", "audio_second": "100"}),
        _alias(LIVE, "live-1", LIVE_PRICE, "live", max_output_tokens=4096, context_tokens=32_000, routes=["realtime"]),
    ]


def _alias(name: str, model: str, price: Mapping[str, Any], upstream: str = "bench", **more: Any) -> dict[str, Any]:
    deployments = [{"upstream": upstream, "model": model, "priority": 0, "weight": 1}]
    return {"name": name, "enabled": True, "deployments": deployments, "price": dict(price), **more}
