"""Routes of the model API. The metered ones are served by the lean handler (`gateway.asgi`)."""

from django.urls import URLPattern, path

from inference.routes.chat.view import ChatCompletionViewSet
from inference.routes.embeddings.view import EmbeddingViewSet
from inference.views.models import ModelViewSet

metered_urlpatterns: list[URLPattern] = [
    path("v1/chat/completions", ChatCompletionViewSet.as_view({"post": "create"})),
    path("v1/embeddings", EmbeddingViewSet.as_view({"post": "create"})),
]

urlpatterns: list[URLPattern] = [
    path("v1/models", ModelViewSet.as_view({"get": "list"})),
    path("v1/models/<path:model>", ModelViewSet.as_view({"get": "retrieve"})),
    *metered_urlpatterns,
]
