"""Mails through a real SMTP server: accepted, refused for good, not now, hanging, gone."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from django.core.mail import send_mail
from pytest_django import Settings

from gateway.core.events.adapters import mail_server as adapter
from gateway.core.events.adapters import smtp
from gateway.core.events.models import Mail
from gateway.core.events.operations.mails import Postman
from gateway.core.events.rules.mail_retries import PAUSES
from tests.events.mailing import ALICE, BOB, NOW, alarming, low
from tests.support.concurrency import PATIENCE_SECONDS
from tests.support.mail_server import ACCEPTED, DROPPED, MailServer

pytestmark = pytest.mark.django_db


def send() -> dict[str, int]:
    return Postman().send_due(lambda: NOW)


def state(one: Mail) -> tuple[str, object, str]:
    one.refresh_from_db()
    return one.status, one.next_at, one.error


def test_mails_arrive_over_one_connection(mail_server: MailServer) -> None:
    low(ALICE, BOB)
    assert send() == {"accepted": 2}
    assert mail_server.connections == 1
    first, second = mail_server.messages
    assert (first["To"], second["To"]) == ("alice@example.com", "bob@example.com")
    assert first["Subject"] == "$0.80 left in the wallet of Acme"
    assert first["From"] == "Account Gateway <no-reply@localhost>"
    assert [part.get_content_type() for part in first.iter_parts()] == ["text/plain", "text/html"]
    text, html = (part.get_content() for part in first.iter_parts())
    assert "There is $0.80 left in the wallet of Acme at Account Gateway." in " ".join(text.split())
    assert 'href="https://gateway.example/wallet"' in html
    assert first["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


def test_a_mail_that_is_sent_again_has_the_same_id(mail_server: MailServer) -> None:
    [one] = low()
    send()
    Mail.objects.filter(pk=one.pk).update(status="due", next_at=NOW, sent_at=None, context=one.context)
    send()
    first, second = mail_server.messages
    assert first["Message-ID"] == second["Message-ID"] == f"<{one.event.public_id}.{one.pk}@localhost>"


def test_a_refused_recipient_is_final_and_stops_no_other(mail_server: MailServer) -> None:
    mail_server.on_recipient = lambda address: "550 5.1.1 no such user" if address.startswith("alice") else "250 OK"
    alice, bob = low(ALICE, BOB)
    assert send() == {"refused": 1, "accepted": 1}
    assert state(alice) == ("failed", None, "550 5.1.1 no such user")
    assert state(bob) == ("sent", None, "")


def test_a_refused_content_is_final(mail_server: MailServer) -> None:
    mail_server.on_data = lambda message: "554 5.7.1 spam"
    [one] = low()
    assert send() == {"refused": 1}
    assert state(one) == ("failed", None, "554 5.7.1 spam")


@pytest.mark.parametrize("answer", ["450 4.2.1 try again later", "452 4.2.2 mailbox full"])
def test_a_temporary_refusal_is_tried_again(mail_server: MailServer, answer: str) -> None:
    mail_server.on_recipient = lambda address: answer
    [one] = low()
    assert send() == {"postponed": 1}
    assert state(one) == ("due", NOW + PAUSES[0], answer)


def test_a_mail_at_which_the_server_drops_the_connection_delays_no_other(mail_server: MailServer) -> None:
    """A filter may do so because of one mail, whose text strangers can choose; the server is there for the others."""
    mail_server.on_data = lambda message: DROPPED if message["To"].startswith("alice") else ACCEPTED
    alice, bob = low(ALICE, BOB)
    assert send() == {"postponed": 1, "accepted": 1}
    assert state(alice)[:2] == ("due", NOW + PAUSES[0])
    assert state(bob) == ("sent", None, "")
    assert mail_server.connections == 2


def test_a_long_answer_is_shortened(mail_server: MailServer) -> None:
    mail_server.on_recipient = lambda address: "550 " + "no " * 300
    [one] = low()
    send()
    assert len(state(one)[2]) <= 500


def test_nobody_listens(mail_server: MailServer, settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        settings.EMAIL_PORT = free.getsockname()[1]
    alice, bob = low(ALICE, BOB)
    assert send() == {"away": 1}
    assert state(alice)[:2] == ("due", NOW + PAUSES[0])
    assert "ConnectionRefusedError" in alice.error
    assert state(bob) == ("due", NOW, "")


SCRIPTS = {
    "silence": [],
    "greeting": [],
    "hello": [b"220 mail.example\r\n"],
    "sender": [b"220 mail.example\r\n", b"250 mail.example\r\n"],
    "goodbye": [
        b"220 mail.example\r\n",
        b"250 mail.example\r\n",
        b"250 OK\r\n",
        b"250 OK\r\n",
        b"354 go on\r\n",
        b"250 OK\r\n",
    ],
}
"""What a server says before it begins to hang, by what hangs."""


@contextmanager
def server(hangs: str) -> Iterator[int]:
    """Listen as a server that comes to a point where it sends a byte at a time and never ends the line, or says nothing at all."""
    stop = threading.Event()

    def serve(listener: socket.socket) -> None:
        peer, _ = listener.accept()
        with peer, peer.makefile("rb") as lines, suppress(OSError):
            for line in SCRIPTS[hangs]:
                peer.sendall(line)
                while lines.readline() not in (b"", b".\r\n") and line[:3] == b"354":
                    pass
            while not stop.wait(0.05):
                if hangs != "silence":
                    peer.sendall(b"2")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        stop.set()
        thread.join()


def test_a_mail_that_django_sends_itself_has_a_limit_too(
    mail_server: MailServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EMAIL_TIMEOUT = PATIENCE_SECONDS
    monkeypatch.setattr(smtp, "MAIL_SECONDS", 0.5)
    with server("sender") as settings.EMAIL_PORT, pytest.raises(OSError, match="222"):
        send_mail("Subject", "Text", None, ["alice@example.com"])


@pytest.mark.parametrize("hangs", ["silence", "greeting", "hello", "sender"])
def test_a_server_that_hangs_is_left(
    mail_server: MailServer, settings: Settings, monkeypatch: pytest.MonkeyPatch, hangs: str
) -> None:
    """EMAIL_TIMEOUT ends a silence alone; the others would go on for days."""
    settings.EMAIL_TIMEOUT = 0.3 if hangs == "silence" else PATIENCE_SECONDS
    monkeypatch.setattr(smtp, "MAIL_SECONDS", 0.5)
    alice, bob = low(ALICE, BOB)
    with server(hangs) as settings.EMAIL_PORT:
        assert send() == {"away": 1}
    assert state(alice)[:2] == ("due", NOW + PAUSES[0])
    assert (alice.error == adapter.TOO_SLOW) is (hangs != "silence")
    assert state(bob) == ("due", NOW, "")


def test_a_goodbye_that_drips_does_not_hold_the_worker(
    mail_server: MailServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EMAIL_TIMEOUT = PATIENCE_SECONDS
    monkeypatch.setattr(adapter, "GOODBYE_SECONDS", 0.5)
    [one] = low(ALICE)
    with server("goodbye") as settings.EMAIL_PORT:
        assert send() == {"accepted": 1}
    assert state(one)[0] == "sent"


def test_a_wrong_password_is_an_operators_to_correct(mail_server: MailServer, settings: Settings) -> None:
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "gateway", "wrong"
    one = alarming()
    assert send() == {"away": 1}
    assert state(one)[:2] == ("due", NOW + PAUSES[0])
    assert "wrong" not in one.error
