"""Hands mails to the mail server through Django's mail backend, one connection for several, and says what became of each."""

import logging
import smtplib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import Any, NamedTuple

from django.conf import settings
from django.core.mail import EmailMessage, get_connection

MAIL_SECONDS = 60.0
"""How long one mail may take, with the connection that is opened for it. The setting EMAIL_TIMEOUT limits each wait, this limits a
server that sends a byte at a time."""

GOODBYE_SECONDS = 10.0
"""How long the end of a connection may take."""

CUT_AGAIN_SECONDS = 1.0
"""When to cut once more what took too long, because the connection may have been opened since."""

_DJANGOS = "django.core.mail.backends.smtp.EmailBackend"
_REACHABLE = "gateway.core.django_internals.SmtpBackend"

TOO_SLOW = "The mail server took too long."
SERVICE_NOT_AVAILABLE = 421
ERROR_MAX_CHARACTERS = 500

log = logging.getLogger("gateway.mails")


class Outcome(StrEnum):
    """What became of a mail: accepted, refused for good, not now, not tried because the server is away, or not wanted any more."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    POSTPONED = "postponed"
    AWAY = "away"
    UNWANTED = "unwanted"


class Answer(NamedTuple):
    """What became of a mail, with the server's words."""

    outcome: Outcome
    error: str = ""


class MailServer:
    """A connection to the mail server that is opened for the first mail, and again after a failure."""

    def __init__(self) -> None:
        self._backend = _backend()

    def send(self, message: EmailMessage) -> Answer:
        """Send a mail. Returns within MAIL_SECONDS and GOODBYE_SECONDS, and one wait for an address or a name."""
        with _cut_after(MAIL_SECONDS, self._backend) as cut:
            answer = self._open() or self._deliver(message)
        if cut.is_set() or answer.outcome is not Outcome.ACCEPTED:
            self.close()
        if cut.is_set() and answer.outcome is not Outcome.ACCEPTED:
            return Answer(Outcome.AWAY, TOO_SLOW)
        return answer

    def _open(self) -> Answer | None:
        try:
            self._backend.open()
        except Exception as error:  # noqa: BLE001 - whatever a backend raises: the mail stays
            return Answer(Outcome.AWAY, _words(error))
        return None

    def _deliver(self, message: EmailMessage) -> Answer:
        try:
            self._backend.send_messages([message])
        except Exception as error:  # noqa: BLE001 - whatever a backend raises: the mail stays
            return _answer_of(error)
        return Answer(Outcome.ACCEPTED)

    def close(self) -> None:
        """End the connection, whether or not the server still answers."""
        try:
            with _cut_after(GOODBYE_SECONDS, self._backend):
                self._backend.close()
        except Exception:
            log.info("the mail server did not say goodbye", exc_info=True)
            self._backend = _backend()


def _backend() -> Any:
    """Return the backend that is set; of SMTP the one whose connection can be cut before the server's greeting."""
    return get_connection(_REACHABLE if settings.EMAIL_BACKEND == _DJANGOS else None)


def _answer_of(error: Exception) -> Answer:
    """Classify a failure. A refusal of the recipient or of the content (RFC 5321 section 4.2.1: 5yz) is one of this mail; all
    others, of the sender or the password too, are an operator's to correct, and the mail waits for that. A connection that is dropped
    says nothing of the server, which can be connected to or not for the next mail.
    """
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        [(code, words)] = list(error.recipients.values())[:1] or [(0, b"")]
        outcome = Outcome.REFUSED if code >= 500 else Outcome.POSTPONED
        return Answer(outcome, f"{code} {_decoded(words)}"[:ERROR_MAX_CHARACTERS])
    if isinstance(error, smtplib.SMTPDataError):
        outcome = Outcome.REFUSED if error.smtp_code >= 500 else Outcome.POSTPONED
        return Answer(outcome, f"{error.smtp_code} {_decoded(error.smtp_error)}"[:ERROR_MAX_CHARACTERS])
    if isinstance(error, smtplib.SMTPResponseException) and error.smtp_code != SERVICE_NOT_AVAILABLE:
        return Answer(Outcome.POSTPONED, _words(error))
    is_dropped = isinstance(error, smtplib.SMTPServerDisconnected)
    is_away = isinstance(error, OSError) and not is_dropped
    return Answer(Outcome.AWAY if is_away else Outcome.POSTPONED, _words(error))


def _words(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        words = f"{error.smtp_code} {_decoded(error.smtp_error)}"
    else:
        words = f"{type(error).__name__}: {error}"
    return " ".join(words.replace("\x00", "").split())[:ERROR_MAX_CHARACTERS]


def _decoded(words: bytes | str) -> str:
    text = words.decode("utf-8", "replace") if isinstance(words, bytes) else words
    return " ".join(text.replace("\x00", "").split())


@contextmanager
def _cut_after(seconds: float, backend: Any) -> Iterator[threading.Event]:
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
