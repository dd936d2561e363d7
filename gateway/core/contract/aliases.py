"""The service's model aliases, and the routes of the model API. SPEC: Model request fields."""

from collections.abc import Iterable
from enum import StrEnum


class Route(StrEnum):
    """A metered route, as named in usage records and /v1/models."""

    CHAT_COMPLETIONS = "chat.completions"
    EMBEDDINGS = "embeddings"
    EMBEDDINGS_CONTEXTUAL = "embeddings.contextual"
    LATE_INTERACTION = "late-interaction.score"
    RERANK = "rerank"
    RESPONSES = "responses"
    MESSAGES = "messages"
    IMAGES = "images.generations"
    SPEECH = "audio.speech"
    TRANSCRIPTIONS = "audio.transcriptions"
    TRANSLATIONS = "audio.translations"
    REALTIME = "realtime"
    JUDGEMENT = "judgement"


VECTOR_ROUTES = frozenset((Route.EMBEDDINGS, Route.EMBEDDINGS_CONTEXTUAL, Route.LATE_INTERACTION))
"""The routes whose answers are vectors, or are computed from them."""

_TEXT = (Route.CHAT_COMPLETIONS, Route.RESPONSES, Route.MESSAGES)

# The routes of the service's aliases. A configured alias of another name serves text unless its options say otherwise.
ALIAS_ROUTES: dict[str, tuple[Route, ...]] = {
    "fast": _TEXT,
    "balanced": _TEXT,
    "reasoning": _TEXT,
    "vision": _TEXT,
    "persona": _TEXT,
    "embedding": (Route.EMBEDDINGS,),
    "embedding-image": (Route.EMBEDDINGS,),
    "embedding-contextual": (Route.EMBEDDINGS_CONTEXTUAL,),
    "late-interaction": (Route.LATE_INTERACTION,),
    "rerank": (Route.RERANK,),
    "rerank-lite": (Route.RERANK,),
    "image": (Route.IMAGES,),
    "audio": (Route.SPEECH, Route.TRANSCRIPTIONS, Route.TRANSLATIONS),
    "realtime": (Route.REALTIME,),
    "judgement": (Route.JUDGEMENT,),
    "judgement-vision": (Route.JUDGEMENT,),
    "judgement-backend-a": (Route.JUDGEMENT,),
    "judgement-backend-b": (Route.JUDGEMENT,),
    "judgement-backend-c": (Route.JUDGEMENT,),
}

# Defined, but served by no deployment. SPEC: Model request fields.
NEVER_SERVED = frozenset({"persona"})


def routes_of(name: str, configured: Iterable[str] | None = None) -> tuple[Route, ...]:
    """Return the routes that an alias serves: the configured ones, else the service's own, else text. What serves chat
    completions serves messages, too."""
    if configured:
        routes = tuple(Route(route) for route in configured)
        is_implied = Route.CHAT_COMPLETIONS in routes and Route.MESSAGES not in routes
        return (*routes, Route.MESSAGES) if is_implied else routes
    return ALIAS_ROUTES.get(name, _TEXT)
