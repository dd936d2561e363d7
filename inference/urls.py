"""Routes of the model API. The metered ones, and those of sessions, are served on the event loop (`gateway.asgi`)."""

from django.urls import URLPattern, path

from inference.routes.chat.view import ChatCompletionViewSet
from inference.routes.embeddings.view import EmbeddingViewSet
from inference.routes.realtime.view import RealtimeViewSet
from inference.routes.responses.view import ResponseViewSet
from inference.views.models import ModelViewSet
from inference.views.stored_responses import InputItemViewSet, StoredResponseViewSet

metered_urlpatterns: list[URLPattern] = [
    path("v1/chat/completions", ChatCompletionViewSet.as_view({"post": "create"})),
    path("v1/embeddings", EmbeddingViewSet.as_view({"post": "create"})),
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
