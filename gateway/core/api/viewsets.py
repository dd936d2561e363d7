"""The base of every synchronous viewset under /v1."""

from typing import Any

from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from gateway.core.api.parsers import ApiRequest


class ApiViewSet(ViewSet):
    """A viewset whose actions declare their access. `error_style="oauth"` gives RFC 6749's error bodies."""

    error_style = "api"
    # Without OPTIONS, which DRF answers and lists in Allow: the CORS middleware handles preflights, and the reference is the
    # documentation.
    http_method_names = ["get", "post", "put", "patch", "delete", "head"]

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        """Set the action before authentication, so that a public action never asks for a token."""
        made = super().initialize_request(request, *args, **kwargs)
        self.action = self.action_map.get((request.method or "").lower(), "")  # DRF has one for every OPTIONS
        authenticators = self.get_authenticators()
        return ApiRequest(request, made.parsers, authenticators, made.negotiator, made.parser_context)

    def perform_authentication(self, request: Request) -> None:
        """Authenticate, unless the action is public or the route has no such method (405 comes first)."""
        from gateway.core.api.access import declared_access

        access = declared_access(type(self), self.action or "")
        if access is not None and not access.public:
            super().perform_authentication(request)
