"""The base of every asynchronous viewset under /v1."""

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import markcoroutinefunction
from rest_framework.viewsets import ViewSet

from gateway.core.contract.errors import MethodNotAllowed
from gateway.core.http.exceptions import answered
from gateway.core.http.lean import ClientLeft, LeanAnswer, LeanRequest
from gateway.core.http.responses import error_response

AsyncView = Callable[..., Awaitable[LeanAnswer]]


class LeanViewSet(ViewSet):
    """A viewset whose actions are coroutines that take the lean handler's request.

    `error_style="messages"` gives the error bodies of the Messages API. Actions declare their access like all others, but authenticate themselves: the statement that places the hold also
    records their proof. DRF's request, negotiation and authentication do not run.
    """

    http_method_names = ["get", "post", "put", "patch", "delete"]
    error_style = "api"

    @classmethod
    def as_view(cls, actions: Any = None, **initkwargs: Any) -> Any:
        """Build the URLconf's callable, with the attributes by which tools find the viewset."""
        declared = super().as_view(actions, **initkwargs)
        methods = {method.upper(): action for method, action in (actions or {}).items()}

        async def view(request: LeanRequest, *args: Any, **kwargs: Any) -> LeanAnswer:
            return await cls(**initkwargs).respond(request, methods, *args, **kwargs)

        for name in ("cls", "actions", "initkwargs", "csrf_exempt"):
            setattr(view, name, getattr(declared, name))
        markcoroutinefunction(view)
        return view

    async def respond(self, request: LeanRequest, methods: dict[str, str], *args: Any, **kwargs: Any) -> LeanAnswer:
        """Run the method's action and render any exception as a catalogue error."""
        try:
            return await self._action_of(request, methods)(request, *args, **kwargs)
        except ClientLeft:
            raise
        except Exception as error:  # noqa: BLE001 - the one handler, which logs what it does not know
            return error_response(answered(error), request.request_id, style=self.error_style)

    def _action_of(self, request: LeanRequest, methods: dict[str, str]) -> AsyncView:
        try:
            self.action = methods[request.method]
        except KeyError:
            raise MethodNotAllowed(headers={"Allow": ", ".join(methods)}) from None
        action: AsyncView = getattr(self, self.action)
        return action
