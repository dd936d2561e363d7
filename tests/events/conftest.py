"""Fixtures of the events' tests."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from gateway.core.events import registry
from tests.support.mail_server import MailServer


@pytest.fixture
def plain_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what the apps have registered: every event is sent as it was recorded, to its own product."""
    monkeypatch.setattr(registry, "_kinds", {})
    monkeypatch.setattr(registry, "_mails", {})


@pytest.fixture
def with_mail(settings: Settings) -> None:
    """Configure mail, which Django's test runner keeps in `mail.outbox`."""
    settings.MAIL_IS_CONFIGURED = True


@pytest.fixture
def mail_server(with_mail: None, settings: Settings) -> Iterator[MailServer]:
    """Run an SMTP server, and send mail to it."""
    with MailServer() as running:
        settings.EMAIL_BACKEND = "gateway.core.events.adapters.smtp.LimitedSmtp"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", running.port
        yield running
