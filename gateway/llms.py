"""Serves /llms.txt: where a program that reads finds what it needs to call this gateway (https://llmstxt.org). It is public."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Return the links, with this gateway's public addresses, as Markdown."""
    addresses = {"gateway": settings.GATEWAY_BASE_URL, "portal": settings.PORTAL_URL}
    return render(request, "llms.txt", addresses, content_type="text/plain; charset=utf-8")
