"""Runs Django's synchronous routes in a bounded number of slots, which slow clients cannot occupy.

A request takes a slot after its body has been received, and frees it before its response is sent: only the gateway's
own work runs in between.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings

from gateway.core.contract.errors import ApiError, NotReady
from gateway.core.contract.limits import (
    CI_WEBHOOK_BODY_MAX_BYTES,
    CONSOLE_BODY_MAX_BYTES,
    EVOLUTION_BODY_MAX_BYTES,
    JSON_BODY_MAX_BYTES,
    SANDBOX_BODY_MAX_BYTES,
    SANDBOX_CALLBACK_BODY_MAX_BYTES,
    WEBHOOK_BODY_MAX_BYTES,
)
from gateway.core.http.lean import BodyReader, ClientLeft
from gateway.core.http.server.refusals import refuse
from gateway.core.runtime.budget import ByteBudget

Application = Callable[[dict[str, Any], Any, Any], Awaitable[None]]
Message = dict[str, Any]

BODY_MAX_BYTES = {
    "/admin/": CONSOLE_BODY_MAX_BYTES,
    "/webhooks/ci/": CI_WEBHOOK_BODY_MAX_BYTES,
    "/webhooks/sandbox/": SANDBOX_CALLBACK_BODY_MAX_BYTES,
    "/webhooks/": WEBHOOK_BODY_MAX_BYTES,
    "/v1/evolution/": EVOLUTION_BODY_MAX_BYTES,
    "/v1/sandbox/": SANDBOX_BODY_MAX_BYTES,
}
"""The body limit by path prefix, the first match; for other paths it is that of a JSON body."""

UNCOUNTED_ANSWER_BYTES = 64 * 1024
UNSENT_MAX_BYTES = 64 * 1024 * 1024
"""The memory for buffered large responses in total while their clients read them."""


class DjangoSlots:
    """Serves requests with Django, at most SYNC_REQUESTS_MAX at a time. Each takes a thread and soon a connection of
    Django's pool; further ones would only wait for a connection until they time out."""

    def __init__(self, django: Application) -> None:
        self._django = django
        self._slots = asyncio.Semaphore(settings.SYNC_REQUESTS_MAX)
        self._unsent = ByteBudget(lambda: UNSENT_MAX_BYTES)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Serve one request, or refuse its body."""
        try:
            body = await BodyReader(receive, scope["headers"]).read(_limit_bytes(scope["path"]))
        except ClientLeft:
            return
        except ApiError as error:
            await refuse(scope, send, error)
            return
        answer = Answer()
        async with self._slots:
            await self._django(_with_length(scope, body), _once(body, receive), answer.add)
        await self._send(scope, send, answer)

    async def _send(self, scope: dict[str, Any], send: Any, answer: "Answer") -> None:
        counted = answer.size_bytes if answer.size_bytes > UNCOUNTED_ANSWER_BYTES else 0
        if counted and not self._unsent.try_take(counted):
            await refuse(scope, send, NotReady(headers={"Retry-After": "5"}))
            return
        try:
            for message in answer.messages:
                await send(message)
        finally:
            if counted:
                self._unsent.release(counted)


class Answer:
    """A response that waits to be sent, as ASGI messages."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.size_bytes = 0

    async def add(self, message: Message) -> None:
        """Store a message of the application."""
        self.messages.append(message)
        self.size_bytes += len(message.get("body", b""))


def _limit_bytes(path: str) -> int:
    limits = (limit for prefix, limit in BODY_MAX_BYTES.items() if path.startswith(prefix))
    return next(limits, JSON_BODY_MAX_BYTES)


def _with_length(scope: dict[str, Any], body: bytes) -> dict[str, Any]:
    """Return the request's scope with the body's length, which a chunked body does not declare."""
    if not body or any(name == b"content-length" for name, _ in scope["headers"]):
        return scope
    others = [(name, value) for name, value in scope["headers"] if name != b"transfer-encoding"]
    return {**scope, "headers": [*others, (b"content-length", str(len(body)).encode())]}


def _once(body: bytes, receive: Any) -> Any:
    """Return a `receive` that returns the body first, then the server's messages."""
    pending = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_next() -> Message:
        return pending.pop() if pending else await receive()

    return receive_next
