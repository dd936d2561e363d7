"""The smallest request of each route, with which an operator tries a deployment, and what is shown of its answer."""

from collections.abc import Mapping
from typing import Any

import orjson

from billing.rules.prices import NEEDED, PriceList
from gateway.core.contract.aliases import Route

OUTPUT_TOKENS = 16
"""The output limit. The vendors' own smallest one for responses."""
SHOWN_MAX_CHARACTERS = 300

PROMPT = "Say OK."

_BODIES: Mapping[Route, Mapping[str, Any]] = {
    Route.CHAT_COMPLETIONS: {"messages": [{"role": "user", "content": PROMPT}]},
    Route.RESPONSES: {"input": PROMPT, "store": False},
    Route.MESSAGES: {"messages": [{"role": "user", "content": PROMPT}], "max_tokens": OUTPUT_TOKENS},
    Route.EMBEDDINGS: {"input": PROMPT},
    Route.EMBEDDINGS_CONTEXTUAL: {"input_type": "document", "documents": [[PROMPT]]},
    Route.LATE_INTERACTION: {"query": PROMPT, "documents": [{"id": "1", "text": PROMPT}]},
    Route.RERANK: {"query": PROMPT, "documents": [PROMPT]},
    Route.IMAGES: {"prompt": "A dot."},
    Route.SPEECH: {"input": PROMPT, "voice": "alloy"},
    Route.JUDGEMENT: {
        "state": "The store opens at nine.",
        "questions": {"opens": {"type": "noul", "instructions": "Does the store open at nine?"}},
    },
}

ROUTES = frozenset(_BODIES)
"""The routes that can be tried. The others take a file or a socket."""


def body_for(route: Route, model: str, prices: PriceList) -> dict[str, Any]:
    """Return the smallest body of a route; of images, one of the cheapest kind that has a price."""
    body = {"model": model, **_BODIES[route]}
    if route is Route.IMAGES and prices.images:
        body["size"], body["quality"] = min(prices.images, key=lambda kind: prices.images[kind]).split("/")
    return body


def stand_in_prices(route: Route) -> dict[str, str]:
    """Return a price that serves a route, for a model that has none yet."""
    return dict.fromkeys(sorted(NEEDED[route][0]), "0")


def beginning_of(media_type: str, body: bytes) -> str:
    """Return the beginning of an answer as text: what it says, its JSON if it has no text, or its size if it is neither.

    An upstream may send anything as its text; what is none is shown as JSON.
    """
    if media_type.partition(";")[0] != "application/json":
        return f"{len(body):,} bytes of {media_type}"
    first = next(_texts(orjson.loads(body)), None)
    text = first if isinstance(first, str) and first else body.decode()
    return text if len(text) <= SHOWN_MAX_CHARACTERS else f"{text[:SHOWN_MAX_CHARACTERS]}…"


def _texts(answer: Mapping[str, Any]) -> Any:
    """Yield the texts of a chat, a response and a message."""
    for choice in answer.get("choices") or ():
        yield (choice.get("message") or {}).get("content")
    for item in answer.get("output") or ():
        yield from (part.get("text") for part in item.get("content") or () if isinstance(part, dict))
    for block in answer.get("content") or ():
        yield block.get("text")
