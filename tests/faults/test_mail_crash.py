"""A worker killed between any two lines of its code loses no mail, and what it sends again has the same id."""

import os
import sys
from collections import Counter

import pytest
from allauth.account.models import EmailAddress
from django.utils import timezone
from pytest_django import Settings

from gateway.core.events.models import Event, Mail
from gateway.core.events.operations.fanning_out import fan_out
from gateway.core.events.operations.mails import Postman
from tests.factories.organizations import account
from tests.support.database import database_url
from tests.support.forked import run
from tests.support.mail_server import MailServer

pytestmark = pytest.mark.django_db(transaction=True)

STEP = 9
"""How many lines are between two deaths."""


def test_a_worker_killed_at_any_line_sends_each_mail_at_least_once(settings: Settings) -> None:
    EmailAddress.objects.create(user=account("alice"), email="alice@example.com", verified=True, primary=True)
    with MailServer() as server:
        mail = {"EMAIL_URL": f"smtp://127.0.0.1:{server.port}"}
        command = [sys.executable, "-m", "tests.faults.crashing_mails", str(STEP)]
        environment = {**os.environ, "DATABASE_URL": database_url(), **mail}
        killed = int(run(command, check=True, env=environment).stdout)
        settings.MAIL_IS_CONFIGURED = True
        settings.EMAIL_BACKEND = "gateway.core.events.adapters.smtp.LimitedSmtp"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        Mail.objects.update(claimed_until=None)
        fan_out(now=timezone.now())
        Postman().send_due(timezone.now)
    assert killed > 12
    assert set(Mail.objects.values_list("status", "context", "claim")) == {("sent", "", None)}
    sent = Counter(message["Message-ID"] for message in server.messages)
    events = Event.objects.order_by("pk").values_list("public_id", "mails__pk")
    assert set(sent) == {f"<{public_id}.{mail_id}@localhost>" for public_id, mail_id in events}
    assert len(sent) == killed + 1
    assert max(sent.values()) <= 2, "a mail is sent again only if its worker died while it was sent"
