"""URL of the judgement route, which the lean handler (`gateway.asgi`) serves."""

from django.urls import URLPattern, path

from judgement.route.route import JudgementViewSet

metered_urlpatterns: list[URLPattern] = [path("v1/judgement", JudgementViewSet.as_view({"post": "create"}))]

urlpatterns = metered_urlpatterns
