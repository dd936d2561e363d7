"""A real SMTP server for tests, which accepts, refuses or hangs as it is told."""

from collections.abc import Callable
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiohttp import web
from aiosmtpd.smtp import SMTP, Envelope, Session

from tests.support.server_thread import HOST, ServerThread

ACCEPTED = "250 OK"
DROPPED = "421 dropped"
"""The connection ends without an answer."""


class MailServer(ServerThread):
    """Listens while its block runs. `messages` are what it accepted; `on_recipient` and `on_data` decide what it answers."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[EmailMessage] = []
        self.connections = 0
        self.on_recipient: Callable[[str], str] = lambda address: ACCEPTED
        self.on_data: Callable[[EmailMessage], str] = lambda message: ACCEPTED

    def application(self) -> web.Application:
        raise NotImplementedError

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self, server: Any, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """Answer for a recipient."""
        answer = self.on_recipient(address)
        if answer == ACCEPTED:
            envelope.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, server: Any, session: Session, envelope: Envelope) -> str:  # noqa: N802
        """Answer for a message, and keep it if it is accepted."""
        message: EmailMessage = message_from_bytes(envelope.content or b"", policy=policy.default)  # type: ignore[arg-type]
        answer = self.on_data(message)
        if answer == ACCEPTED:
            self.messages.append(message)
        if answer == DROPPED:
            server.transport.abort()
        return answer

    async def _serve(self) -> None:
        server: Any = await self.loop.create_server(self._session, HOST, self.port)
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        await self._stop.wait()
        server.close()

    def _session(self) -> SMTP:
        self.connections += 1
        return SMTP(self, hostname="mail.example", loop=self.loop)
