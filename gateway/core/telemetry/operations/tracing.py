"""Starts and stops the traces of a server process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.conf import settings

from gateway.core.telemetry import observers

if TYPE_CHECKING:
    from gateway.core.telemetry.adapters.opentelemetry import Tracer

CLOSE_SECONDS = 2.0
"""How long a stop waits for a collector to take the last spans."""

_running: list[Tracer] = []
"""The tracer of this process, if it has one."""


def start(paths: Mapping[str, str]) -> None:
    """Trace requests, if the environment asks for it. `paths` has the address of each route. Repeating changes nothing.

    Nothing of the SDK is loaded otherwise.
    """
    if not settings.TRACES or _running:
        return
    from gateway.core.telemetry.adapters.opentelemetry import Tracer

    _running.append(Tracer(paths))
    observers.subscribe(_running[0].observe)


def finish() -> None:
    """Send the last spans, within CLOSE_SECONDS."""
    while _running:
        tracer = _running.pop()
        observers.unsubscribe(tracer.observe)
        tracer.close(CLOSE_SECONDS)
