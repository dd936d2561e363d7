"""GET /metrics, in the process that METRICS_ADDRESS has on each machine."""

import asyncio

from django.conf import settings
from django.http import HttpResponse
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from gateway.core.contract.errors import NotReady
from gateway.core.http.lean import LeanHandler, LeanRequest
from gateway.core.runtime.snapshots import Snapshot
from gateway.metrics import exposition, figures
from gateway.metrics.figures import Figures

FRESH_SECONDS = 4.0
USABLE_SECONDS = 10.0
"""Scrapes that come more often share what was read. One never waits for the database longer than a Snapshot does."""


def _read() -> Figures:
    return figures.read(now=timezone.now())


_figures = Snapshot(_read, name="metrics", fresh_seconds=FRESH_SECONDS, usable_seconds=USABLE_SECONDS)


@require_safe
async def metrics(request: LeanRequest) -> HttpResponse:
    """Render all metrics of this machine. Without the database, those that it knows are left out."""
    try:
        found = await _figures.current()
    except NotReady:
        found = None
    text = await asyncio.to_thread(exposition.render, settings.METRICS_DIR, found)
    return HttpResponse(text, content_type=CONTENT_TYPE_PLAIN_0_0_4)


application = LeanHandler([path("metrics", metrics)])
