"""Which endpoint serves a route at upstreams with an adapter: the one table of routes and vendors.

A route that an upstream does not support is called on another one that it does, if there is a row for both: see `Endpoints`. An
app above has a table of its own for its routes.
"""

from collections.abc import Mapping
from typing import TypeVar

from gateway.core.contract.aliases import Route
from inference.interface.plan import Endpoints
from inference.models import Upstream
from inference.routes.embeddings.capabilities import Capabilities, Representations
from inference.vendors.anthropic.form import ANTHROPIC_MESSAGES
from inference.vendors.anthropic.messages.endpoint import AnthropicMessages
from inference.vendors.cohere.embeddings import CohereEmbeddings
from inference.vendors.cohere.rerank import CohereRerank
from inference.vendors.demo.chat import DemoChat
from inference.vendors.demo.contextual import DemoContextual
from inference.vendors.demo.embeddings import DemoEmbeddings
from inference.vendors.demo.images import DemoImages
from inference.vendors.demo.late_interaction import DemoLateInteraction
from inference.vendors.demo.messages import DemoMessages
from inference.vendors.demo.realtime.endpoint import DemoRealtime
from inference.vendors.demo.rerank import DemoRerank
from inference.vendors.demo.responses import DemoResponses
from inference.vendors.demo.speech import DemoSpeech
from inference.vendors.demo.transcriptions import DemoTranscriptions
from inference.vendors.openai.chat.endpoint import OpenAIChat
from inference.vendors.openai.embeddings import OpenAIEmbeddings
from inference.vendors.openai.forms import CHAT_COMPLETIONS, OPENAI_RESPONSES
from inference.vendors.openai.images.endpoint import OpenAIImages
from inference.vendors.openai.realtime import RealtimeEndpoint
from inference.vendors.openai.responses.endpoint import OpenAIResponses
from inference.vendors.openai.speech import OpenAISpeech
from inference.vendors.openai.transcriptions import OpenAITranscriptions, OpenAITranslations
from inference.vendors.representation.contextual import RepresentationContextual
from inference.vendors.representation.embeddings import RepresentationEmbeddings
from inference.vendors.representation.late_interaction import RepresentationLateInteraction
from inference.vendors.translated.chat import TranslatedChat
from inference.vendors.translated.messages import TranslatedMessages
from inference.vendors.translated.responses import TranslatedResponses
from inference.vendors.voyage.contextual import VoyageContextual
from inference.vendors.voyage.embeddings import VoyageEmbeddings
from inference.vendors.voyage.rerank import VoyageRerank

Adapter = Upstream.Adapter
Fact = TypeVar("Fact")

_MESSAGES_OVER_CHAT = TranslatedMessages(CHAT_COMPLETIONS)

ENDPOINTS: Mapping[Route, Endpoints] = {
    Route.CHAT_COMPLETIONS: {
        Adapter.OPENAI: OpenAIChat(),
        (Adapter.OPENAI, Route.RESPONSES): TranslatedChat(OPENAI_RESPONSES),
        Adapter.ANTHROPIC: TranslatedChat(ANTHROPIC_MESSAGES),
        Adapter.DEMO: DemoChat(),
    },
    Route.RESPONSES: {
        Adapter.OPENAI: OpenAIResponses(),
        (Adapter.OPENAI, Route.CHAT_COMPLETIONS): TranslatedResponses(CHAT_COMPLETIONS),
        Adapter.ANTHROPIC: TranslatedResponses(ANTHROPIC_MESSAGES),
        Adapter.DEMO: DemoResponses(),
    },
    Route.MESSAGES: {
        Adapter.ANTHROPIC: AnthropicMessages(),
        Adapter.OPENAI: _MESSAGES_OVER_CHAT,
        (Adapter.OPENAI, Route.CHAT_COMPLETIONS): _MESSAGES_OVER_CHAT,
        (Adapter.OPENAI, Route.RESPONSES): TranslatedMessages(OPENAI_RESPONSES),
        Adapter.DEMO: DemoMessages(),
    },
    Route.EMBEDDINGS: {
        Adapter.OPENAI: OpenAIEmbeddings(),
        Adapter.REPRESENTATION: RepresentationEmbeddings(),
        Adapter.VOYAGE: VoyageEmbeddings(),
        Adapter.COHERE: CohereEmbeddings(),
        Adapter.DEMO: DemoEmbeddings(),
    },
    Route.EMBEDDINGS_CONTEXTUAL: {
        Adapter.REPRESENTATION: RepresentationContextual(),
        Adapter.VOYAGE: VoyageContextual(),
        Adapter.DEMO: DemoContextual(),
    },
    Route.LATE_INTERACTION: {
        Adapter.REPRESENTATION: RepresentationLateInteraction(),
        Adapter.DEMO: DemoLateInteraction(),
    },
    Route.RERANK: {
        Adapter.VOYAGE: VoyageRerank(),
        Adapter.COHERE: CohereRerank(),
        Adapter.DEMO: DemoRerank(),
    },
    Route.IMAGES: {Adapter.OPENAI: OpenAIImages(), Adapter.DEMO: DemoImages()},
    Route.SPEECH: {Adapter.OPENAI: OpenAISpeech(), Adapter.DEMO: DemoSpeech()},
    Route.TRANSCRIPTIONS: {Adapter.OPENAI: OpenAITranscriptions(), Adapter.DEMO: DemoTranscriptions()},
    Route.TRANSLATIONS: {Adapter.OPENAI: OpenAITranslations(), Adapter.DEMO: DemoTranscriptions()},
    Route.REALTIME: {Adapter.REALTIME: RealtimeEndpoint(), Adapter.DEMO: DemoRealtime()},
}


def adapters_of(route: Route) -> frozenset[str]:
    """Return the adapters that serve a route."""
    return frozenset(key for key in ENDPOINTS[route] if isinstance(key, str))


def stated(route: Route, name: str, kind: type[Fact]) -> dict[str, Fact]:
    """Return what the endpoints of a route state about their vendors under a name, by adapter.

    Raises ValueError, as the server starts, if one of them states nothing: no call may be held by another vendor's limits.
    """
    facts = {adapter: getattr(ENDPOINTS[route][adapter], name, None) for adapter in adapters_of(route)}
    silent = sorted(adapter for adapter, fact in facts.items() if not isinstance(fact, kind))
    if silent:
        raise ValueError(f"{route}: the endpoint of {' and '.join(silent)} does not state its {name}")
    return {adapter: fact for adapter, fact in facts.items() if isinstance(fact, kind)}


def representing(route: Route) -> frozenset[str]:
    """Return the adapters that serve a route of representations, and those that serve such embeddings and may lack the route."""
    embeddings = stated(Route.EMBEDDINGS, "capabilities", Capabilities).items()
    return adapters_of(route) | {name for name, each in embeddings if each.representations is not Representations.NEVER}
