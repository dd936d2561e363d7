"""Realtime in the API reference."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema

from gateway.core.api.schema import METERED, refuses
from gateway.core.contract.errors import ConsentRequired

_describe = extend_schema(
    operation_id="connect_realtime",
    summary="Open a live session",
    parameters=[OpenApiParameter("model", str, required=True, description="An alias that serves sessions.")],
    request=None,
    responses={101: OpenApiResponse(description="The session is open. docs/realtime.md describes its events.")},
)


def describe_realtime(action: Any) -> Any:
    """Describe the handshake."""
    return _describe(refuses(ConsentRequired, *METERED)(action))
