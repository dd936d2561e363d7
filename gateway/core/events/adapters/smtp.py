"""SMTP with a time limit for each mail: each single wait is limited by Django, all of them together here."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from django.core.mail import EmailMessage

from gateway.core.django_internals import SmtpBackend

MAIL_SECONDS = 60.0
"""How long one mail may take, with the connection that is opened for it. The setting EMAIL_TIMEOUT limits each wait, this limits a
server that sends a byte at a time."""

CUT_AGAIN_SECONDS = 1.0
"""When to cut once more what took too long, because the connection may have been opened since."""


class LimitedSmtp(SmtpBackend):
    """The mail backend for SMTP. Raises an OSError, as for any server that is away, if mails take longer than MAIL_SECONDS each."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Send mails, over one connection."""
        messages = list(email_messages)
        with cut_after(MAIL_SECONDS * len(messages), self):
            return super().send_messages(messages) or 0


@contextmanager
def cut_after(seconds: float, backend: Any) -> Iterator[threading.Event]:
    """Cut the connection of an SMTP backend, and set the event, if the block lasts longer."""
    cut, over = threading.Event(), threading.Event()
    thread = threading.Thread(target=_cut_until, args=(over, seconds, backend, cut), name="mail-deadline", daemon=True)
    thread.start()
    try:
        yield cut
    finally:
        over.set()
        thread.join()


def _cut_until(over: threading.Event, seconds: float, backend: Any, cut: threading.Event) -> None:
    while not over.wait(seconds):
        cut.set()
        seconds = CUT_AGAIN_SECONDS
        sock: socket.socket | None = getattr(getattr(backend, "begun", None), "sock", None)
        if sock is not None:
            with suppress(OSError):  # it is closed already, or is becoming one with TLS
                sock.shutdown(socket.SHUT_RDWR)
