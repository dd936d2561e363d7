"""Renders responses as JSON; one renderer, whatever the caller's Accept header says."""

from collections.abc import Mapping
from typing import Any

from rest_framework.renderers import BaseRenderer

from gateway.core.json.strict import dumps


class OrjsonRenderer(BaseRenderer):
    """Renders with orjson."""

    media_type = "application/json"
    format = "json"
    charset = None
    render_style = "binary"

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """Return the body's bytes; empty for no data (a 204)."""
        return b"" if data is None else dumps(data)
