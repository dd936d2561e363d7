"""Hands mails to the mail server through Django's mail backend, one connection for several, and says what became of each."""

import logging
import smtplib
from enum import StrEnum
from typing import Any, NamedTuple

from django.conf import settings
from django.core.mail import EmailMessage, get_connection

from gateway.core.events.adapters import smtp
from gateway.core.events.adapters.smtp import cut_after

GOODBYE_SECONDS = 10.0
"""How long the end of a connection may take."""

_LIMITED = "gateway.core.events.adapters.smtp.LimitedSmtp"
_UNLIMITED = "gateway.core.django_internals.SmtpBackend"

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
        with cut_after(smtp.MAIL_SECONDS, self._backend) as cut:
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
            with cut_after(GOODBYE_SECONDS, self._backend):
                self._backend.close()
        except Exception:
            log.info("the mail server did not say goodbye", exc_info=True)
            self._backend = _backend()


def _backend() -> Any:
    """Return the backend that is set; of SMTP the one without a limit, because a mail has it here together with its connection."""
    return get_connection(_UNLIMITED if settings.EMAIL_BACKEND == _LIMITED else None)


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
