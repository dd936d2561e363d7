"""The base of every asynchronous viewset under /v1."""

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import markcoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework.viewsets import ViewSet

from gateway.core.contract.errors import MethodNotAllowed
from gateway.core.contract.headers import REQUEST_ID
from gateway.core.http.exceptions import answered
from gateway.core.http.lean.bodies import ClientLeft
from gateway.core.http.request_ids import request_id_from, request_id_of
from gateway.core.http.responses import error_response

AsyncView = Callable[..., Awaitable[HttpResponseBase]]


class LeanViewSet(ViewSet):
    """A viewset whose actions are coroutines that take Django's request directly.

    Actions declare their access like all others, but authenticate themselves: the statement that places the hold also
    records their proof. DRF's request, negotiation and authentication do not run.
    """

    http_method_names = ["get", "post", "put", "patch", "delete"]

    @classmethod
    def as_view(cls, actions: Any = None, **initkwargs: Any) -> Any:
        """Build the URLconf's callable, with the attributes by which tools find the viewset."""
        declared = super().as_view(actions, **initkwargs)
        methods = {method.upper(): action for method, action in (actions or {}).items()}

        async def view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            return await cls(**initkwargs).respond(request, methods, *args, **kwargs)

        for name in ("cls", "actions", "initkwargs", "csrf_exempt"):
            setattr(view, name, getattr(declared, name))
        markcoroutinefunction(view)
        return view

    async def respond(
        self, request: HttpRequest, methods: dict[str, str], *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        """Run the method's action and render any exception as a catalogue error."""
        if not hasattr(request, "request_id"):
            request.request_id = request_id_from(request.headers.get(REQUEST_ID))  # type: ignore[attr-defined]
        try:
            return await self._action_of(request, methods)(request, *args, **kwargs)
        except ClientLeft:
            raise
        except Exception as error:  # noqa: BLE001 - the one handler, which logs what it does not know
            return error_response(answered(error), request_id_of(request))

    def _action_of(self, request: HttpRequest, methods: dict[str, str]) -> AsyncView:
        try:
            self.action = methods[request.method or ""]
        except KeyError:
            raise MethodNotAllowed(headers={"Allow": ", ".join(methods)}) from None
        action: AsyncView = getattr(self, self.action)
        return action
