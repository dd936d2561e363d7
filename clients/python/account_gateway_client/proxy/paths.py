"""Which requests the proxy passes on: the model routes, in the shapes that tools know. It gives no way to the wallet, the
organizations or the token routes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

VERSION_HEADER = "anthropic-version"
MODELS = "/v1/models"


class Dialect(Enum):
    """The shape of errors, and of the list of models."""

    OPENAI = "openai"
    MESSAGES = "messages"


@dataclass(frozen=True, slots=True)
class Route:
    """One path. `usage_route` is its name in usage records, for a path whose POST is a metered call."""

    path: re.Pattern[str]
    methods: tuple[str, ...]
    usage_route: str | None = None


def _metered(path: str, usage_route: str) -> Route:
    return Route(re.compile(re.escape(path)), ("POST",), usage_route)


_SEGMENT = r"(?!\.{1,2}(?:/|$))[A-Za-z0-9._~:@+-]+"

ROUTES = (
    _metered("/v1/chat/completions", "chat.completions"),
    _metered("/v1/responses", "responses"),
    _metered("/v1/messages", "messages"),
    _metered("/v1/embeddings", "embeddings"),
    _metered("/v1/embeddings/contextual", "embeddings.contextual"),
    _metered("/v1/late-interaction/score", "late-interaction.score"),
    _metered("/v1/rerank", "rerank"),
    _metered("/v1/images/generations", "images.generations"),
    _metered("/v1/audio/speech", "audio.speech"),
    _metered("/v1/audio/transcriptions", "audio.transcriptions"),
    _metered("/v1/audio/translations", "audio.translations"),
    _metered("/v1/judgement", "judgement"),
    Route(re.compile(r"/v1/messages/count_tokens"), ("POST",)),
    Route(re.compile(MODELS), ("GET",)),
    Route(re.compile(rf"{MODELS}/{_SEGMENT}(?:/{_SEGMENT})*"), ("GET",)),
    Route(re.compile(rf"/v1/responses/{_SEGMENT}"), ("GET", "DELETE")),
    Route(re.compile(rf"/v1/responses/{_SEGMENT}/input_items"), ("GET",)),
)


def route_of(path: str) -> Route | None:
    """Return the route of a path as it was sent, or None. Encoded characters and `..` belong to none."""
    return next((route for route in ROUTES if route.path.fullmatch(path)), None)


def dialect_of(path: str, headers: Mapping[str, str]) -> Dialect:
    """Return the shape that a tool expects: the path tells, or the header that only clients of messages send."""
    is_messages = path.startswith("/v1/messages") or VERSION_HEADER in headers
    return Dialect.MESSAGES if is_messages else Dialect.OPENAI
