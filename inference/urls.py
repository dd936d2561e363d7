"""Routes of the model API. The metered ones and realtime sessions are served on the event loop (`gateway.asgi`)."""

from django.urls import URLPattern, path

from inference.routes.chat.route import ChatCompletionViewSet
from inference.routes.contextual.route import ContextualEmbeddingViewSet
from inference.routes.embeddings.route import EmbeddingViewSet
from inference.routes.images.route import ImageViewSet
from inference.routes.late_interaction.route import LateInteractionViewSet
from inference.routes.messages.route import MessageCountViewSet, MessageViewSet
from inference.routes.realtime.route import RealtimeViewSet
from inference.routes.rerank.route import RerankViewSet
from inference.routes.responses.route import ResponseViewSet
from inference.routes.speech.route import SpeechViewSet
from inference.routes.transcriptions.route import TranscriptionViewSet, TranslationViewSet
from inference.views.models import ModelViewSet
from inference.views.stored_responses import InputItemViewSet, StoredResponseViewSet

metered_urlpatterns: list[URLPattern] = [
    path("v1/audio/speech", SpeechViewSet.as_view({"post": "create"})),
    path("v1/audio/transcriptions", TranscriptionViewSet.as_view({"post": "create"})),
    path("v1/audio/translations", TranslationViewSet.as_view({"post": "create"})),
    path("v1/chat/completions", ChatCompletionViewSet.as_view({"post": "create"})),
    path("v1/embeddings", EmbeddingViewSet.as_view({"post": "create"})),
    path("v1/embeddings/contextual", ContextualEmbeddingViewSet.as_view({"post": "create"})),
    path("v1/images/generations", ImageViewSet.as_view({"post": "create"})),
    path("v1/late-interaction/score", LateInteractionViewSet.as_view({"post": "score"})),
    path("v1/messages/count_tokens", MessageCountViewSet.as_view({"post": "create"})),
    path("v1/messages", MessageViewSet.as_view({"post": "create"})),
    path("v1/rerank", RerankViewSet.as_view({"post": "create"})),
    path("v1/responses", ResponseViewSet.as_view({"post": "create"})),
]

session_urlpatterns: list[URLPattern] = [
    path("v1/realtime", RealtimeViewSet.as_view({"get": "connect"})),
]

urlpatterns: list[URLPattern] = [
    path("v1/models", ModelViewSet.as_view({"get": "list"})),
    path("v1/models/<path:model>", ModelViewSet.as_view({"get": "retrieve"})),
    path("v1/responses/<str:response_id>", StoredResponseViewSet.as_view({"get": "retrieve", "delete": "destroy"})),
    path("v1/responses/<str:response_id>/input_items", InputItemViewSet.as_view({"get": "list"})),
    *metered_urlpatterns,
    *session_urlpatterns,
]
