"""The operator console's home page. What it shows is registered by the apps (`gateway.core.console.home` and `needs`)."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone

from gateway.core.console import home, needs


def environment(request: HttpRequest) -> list[str]:
    """Return the environment's name for the header."""
    return ["Development", "info"] if settings.DEMO_ADAPTER else ["Production", "danger"]


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add what needs this operator, and the figures that they may see."""
    lines = needs.lines(request)
    context["title"] = "Overview"
    context["parts"] = home.parts(request, timezone.now())
    context["waiting"] = [line for line in lines if not line.need.is_setup]
    context["setup"] = [line for line in lines if line.need.is_setup]
    return context
