"""Links in mails use the portal's own URL, whatever host a request names."""

import re
import socket
from pathlib import Path
from typing import Any

import allauth
import pytest
from django.core import mail
from django.template import engines
from django.test import Client
from pytest_django import Settings

from accounts.models import Account
from accounts.portal.mail import with_portal_links
from tests.factories.accounts import make_account
from tests.portal.test_pages import sign_up

pytestmark = pytest.mark.django_db

EVIL = {"Host": "evil.example"}
LINK = re.compile(r"https?://[^\s]+")


@pytest.fixture(autouse=True)
def with_mail(settings: Settings) -> None:
    settings.MAIL_IS_CONFIGURED = True
    settings.ALLOWED_HOSTS = ["*"]
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.ACCOUNT_PREVENT_ENUMERATION = "strict"


def verified() -> Account:
    """Sign Alice up, and verify her address."""
    client = Client()
    sign_up(client)
    [link] = LINK.findall(str(mail.outbox.pop().body))
    client.post(link.removeprefix("https://gateway.example"))
    return Account.objects.get(email="alice@example.com")


def only_mail() -> str:
    [sent] = mail.outbox
    body = f"{sent.subject}\n{sent.body}"
    assert "evil.example" not in body
    assert all(link.startswith("https://gateway.example/account/") for link in LINK.findall(body))
    assert LINK.search(body)
    return body


def test_a_reset_requested_at_another_host_leads_to_the_portal() -> None:
    verified()
    Client().post("/account/password/reset/", {"email": "alice@example.com"}, headers=EVIL)
    assert "/account/password/reset/key/" in only_mail()


def test_a_verification_requested_at_another_host_leads_to_the_portal() -> None:
    Client().post("/account/signup/", {"email": "bob@example.com", "password1": "correct horse battery"}, headers=EVIL)
    assert "/account/confirm-email/" in only_mail()


def test_a_verification_is_sent_again() -> None:
    client = Client()
    sign_up(client)
    assert "Send again" in client.get("/account/confirm-email/").content.decode()
    answer = client.post("/account/confirm-email/", follow=True)
    assert "We sent the link again" in answer.content.decode()
    assert [(sent.to, sent.subject) for sent in mail.outbox] == [
        (["alice@example.com"], "Verify your email address")
    ] * 2
    for _ in range(10):
        client.post("/account/confirm-email/")
    assert len(mail.outbox) == 5, "mails to one mailbox are limited"


def test_sending_again_does_not_tell_whether_there_is_an_account() -> None:
    verified()
    answers = []
    for email in ("alice@example.com", "new@example.com"):
        client = Client()
        client.post("/account/signup/", {"email": email, "password1": "correct horse battery"})
        answer = client.post("/account/confirm-email/", follow=True)
        answers.append((answer.redirect_chain, "We sent the link again" in answer.content.decode()))
    assert answers[0] == answers[1] == ([("/account/confirm-email/", 303)], True)
    assert len(mail.outbox) == 4


def test_nothing_is_sent_again_without_a_sign_up() -> None:
    answer = Client().post("/account/confirm-email/", follow=True)
    assert answer.redirect_chain == [("/account/login/", 303)]
    assert "Sign in to have the link sent again." in answer.content.decode()
    assert mail.outbox == []


def test_the_mail_to_a_person_with_an_account_leads_to_the_portal() -> None:
    verified()
    Client().post(
        "/account/signup/", {"email": "alice@example.com", "password1": "correct horse battery"}, headers=EVIL
    )
    assert "/account/password/reset/" in only_mail()


def test_the_mail_to_a_person_without_an_account_leads_to_the_portal() -> None:
    Client().post("/account/password/reset/", {"email": "nobody@example.com"}, headers=EVIL)
    assert "/account/signup/" in only_mail()


def test_a_suspended_account_is_mailed_no_link() -> None:
    account = verified()
    Account.objects.filter(pk=account.pk).update(suspended_at="2026-01-01T00:00:00Z")
    Client().post("/account/password/reset/", {"email": "alice@example.com"})
    [sent] = mail.outbox
    assert sent.subject == "Your account is suspended"
    assert "Contact the operator" in sent.body
    assert LINK.search(str(sent.body)) is None


def test_mail_to_one_mailbox_is_limited_for_each_sender() -> None:
    verified()
    for _ in range(10):
        Client().post("/account/password/reset/", {"email": "alice@example.com"}, REMOTE_ADDR="203.0.113.7")
    assert len(mail.outbox) == 5
    Client().post("/account/password/reset/", {"email": "Alice@example.com"}, REMOTE_ADDR="198.51.100.20")
    assert len(mail.outbox) == 6


def test_every_link_of_the_librarys_mails_is_one_that_we_rewrite() -> None:
    templates = list((Path(allauth.__file__).parent / "templates").glob("*/email/*.txt"))
    assert templates
    for template in templates:
        text = template.read_text()
        variables = set(re.findall(r"{{ *([\w.]+)", text)) | set(re.findall(r"=([\w.]+)", text))
        assert not {name for name in variables if "uri" in name or name.startswith("request")}, template
        assert not re.search(r"{% *url ", text), template
        assert {name for name in variables if "url" in name} <= {name for name in variables if name.endswith("_url")}, (
            template
        )


def test_a_template_is_given_the_portal_as_its_site(settings: Settings) -> None:
    context: dict[str, Any] = with_portal_links({"signup_url": "http://evil.example/account/signup/?next=/#top"})
    page = engines["django"].from_string("{{ signup_url }} {{ current_site.domain }} {{ current_site.name }}")
    assert page.render(context) == (
        "https://gateway.example/account/signup/?next=/#top gateway.example gateway.example"
    )


def test_mails_speak_in_the_portals_words() -> None:
    verified()
    stranger = Client()
    for path, form in (
        ("signup", {"email": "bob@example.com", "password1": "correct horse battery"}),
        ("signup", {"email": "alice@example.com", "password1": "correct horse battery"}),
        ("password/reset", {"email": "alice@example.com"}),
        ("password/reset", {"email": "nobody@example.com"}),
    ):
        stranger.post(f"/account/{path}/", form)
    assert [sent.subject for sent in mail.outbox] == [
        "Verify your email address",
        "You already have an account",
        "Reset your password",
        "No account found",
    ]
    for sent in mail.outbox:
        assert str(sent.body).endswith("\n\ngateway.example")
        assert "{" not in sent.body


def test_a_reset_looks_the_same_for_every_address_also_while_the_mail_server_is_away(settings: Settings) -> None:
    suspended, closed = verified(), make_account("closed", email="closed@example.com")
    Account.objects.filter(pk=suspended.pk).update(suspended_at="2026-01-01T00:00:00Z")
    Account.objects.filter(pk=closed.pk).update(is_active=False)
    make_account("assigned", email="assigned@example.com")
    for _ in range(2):
        sign_up(Client(), email="claimed@example.com")
    mail.outbox.clear()
    people = [f"{name}@example.com" for name in ("alice", "closed", "assigned", "claimed", "nobody")]
    pages = {reset_page(email) for email in people}
    assert (len(pages), "could not be sent" in pages.pop()) == (1, False)
    assert {sent.to[0]: sent.subject for sent in mail.outbox} == {
        "alice@example.com": "Your account is suspended",
        "closed@example.com": "No account found",
        "assigned@example.com": "Reset your password",
        "claimed@example.com": "No account found",
        "nobody@example.com": "No account found",
    }
    assert len(mail.outbox) == len(people)
    be_away(settings)
    pages = {reset_page(email) for email in people}
    assert (len(pages), pages.pop().count("The mail could not be sent.")) == (1, 1)


def reset_page(email: str) -> str:
    """Ask for a reset link; return where that leads and what it shows."""
    answer = Client().post("/account/password/reset/", {"email": email}, follow=True)
    shown = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", answer.content.decode())
    return f"{answer.redirect_chain} {shown.replace(email, 'EMAIL')}"


def be_away(settings: Settings) -> None:
    """Send mail to a port where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        away = free.getsockname()[1]
    settings.EMAIL_BACKEND = "gateway.core.events.adapters.smtp.LimitedSmtp"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", away


@pytest.mark.parametrize("path", ["/account/signup/", "/account/password/reset/"])
def test_a_mail_server_that_is_away_is_said_and_the_mail_is_sent_again_later(settings: Settings, path: str) -> None:
    form = {"email": "alice@example.com", "password1": "correct horse battery"}
    working = settings.EMAIL_BACKEND
    be_away(settings)
    client = Client()
    answer = client.post(path, form, follow=True)
    assert answer.status_code == 200
    assert "The mail could not be sent. Try again in a few minutes." in answer.content.decode()
    assert "We sent" not in answer.content.decode()
    again = client.post("/account/confirm-email/", follow=True) if "signup" in path else answer
    assert "We sent" not in again.content.decode()
    settings.EMAIL_BACKEND = working
    client.post("/account/confirm-email/" if "signup" in path else path, form)
    assert [sent.to for sent in mail.outbox] == [["alice@example.com"]]
