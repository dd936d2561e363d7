"""Invitations by mail: to their address, with their link, which is not stored, and not without bounds."""

import re
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from gateway.core.events.mail_people import recipient_of_address
from gateway.core.events.models import Event, Mail
from gateway.core.events.operations import mails
from gateway.core.events.operations.mails import Postman
from gateway.core.events.registry import kind_of
from organizations.models import Invitation
from organizations.operations import invitation_tokens, invitations
from organizations.queries import mails as organization_mails
from organizations.rules.roles import Role
from tests.factories.organizations import Team, account

pytestmark = pytest.mark.django_db

CAROL = "carol@example.com"
LINK = re.compile(r"https://gateway\.example/organizations/invitation#token=(\S+)")


@pytest.fixture
def team(settings: Settings) -> Team:
    settings.MAIL_IS_CONFIGURED = True
    return Team(name="Acme <b>")


def invite(team: Team, email: str | None = CAROL) -> tuple[Invitation, str]:
    return invitations.invite(org_id=team.id, role=Role.ADMIN, email=email, actor_did=team.owner.did)


def fan_out() -> list[Mail]:
    """Make the mails of all invitations that were recorded."""
    for event in Event.objects.filter(type="invitation.created", fanned_out_at=None).order_by("pk"):
        mails.make(event=event, drafts=kind_of(event.type).mails(event), now=event.created_at)
        Event.objects.filter(pk=event.pk).update(fanned_out_at=event.created_at)
    return list(Mail.objects.order_by("pk"))


def send() -> list[Any]:
    fan_out()
    Postman().send_due(timezone.now)
    return list(mail.outbox)


def test_the_link_goes_to_the_address(team: Team) -> None:
    _, token = invite(team)
    [sent] = send()
    assert sent.to == [CAROL]
    assert sent.subject == "Olivia invites you to Acme <b>"
    assert LINK.findall(sent.body) == [token]
    html = sent.alternatives[0].content
    assert f'href="https://gateway.example/organizations/invitation#token={token}"' in html
    assert "Acme &lt;b&gt;" in html
    joined = invitations.accept(token=token, account=account("carol"))
    assert (joined.organization_id, joined.role) == (team.id, "admin")


def test_without_an_address_nothing_is_mailed(team: Team) -> None:
    invite(team, None)
    assert not Event.objects.filter(type="invitation.created").exists()
    assert send() == []


def test_the_token_is_stored_nowhere(team: Team) -> None:
    invitation, token = invite(team)
    fan_out()
    with connection.cursor() as cursor:
        for table in ("events_event", "events_mail", "organizations_invitation", "organizations_auditentry"):
            cursor.execute(f"SELECT count(*) FROM {table} t WHERE t::text LIKE %s", [f"%{token}%"])
            assert cursor.fetchone() == (0,), table
    assert bytes(invitation.token_sha256) == invitation_tokens.digest(token)
    [waiting] = Mail.objects.all()
    assert token in waiting.context, "it waits encrypted, because the link is in it"
    send()
    waiting.refresh_from_db()
    assert (waiting.status, waiting.context) == ("sent", "")


def test_tokens_differ_and_follow_from_the_key(team: Team, settings: Settings) -> None:
    (one, first), (other, second) = invite(team), invite(team)
    assert first != second
    assert len(first) == 43
    settings.SECRET_KEY, old = "another key " * 5, settings.SECRET_KEY
    assert invitation_tokens.token_of(one) is None
    settings.SECRET_KEY_FALLBACKS = [old]
    assert invitation_tokens.token_of(one) == first
    Invitation.objects.filter(pk=other.pk).update(token_sha256=invitation_tokens.digest("made by an earlier version"))
    other.refresh_from_db()
    assert invitation_tokens.token_of(other) is None


@pytest.mark.parametrize("end", ["revoked", "accepted", "forgotten", "key is gone"])
def test_what_ended_before_it_was_mailed_is_not_mailed(team: Team, settings: Settings, end: str) -> None:
    invitation, token = invite(team)
    if end == "revoked":
        invitations.revoke(org_id=team.id, invitation_id=invitation.pk, actor_did=team.owner.did)
    elif end == "accepted":
        invitations.accept(token=token, account=account("carol"))
    elif end == "forgotten":
        invitations.forget_emails([CAROL])
    else:
        settings.SECRET_KEY = "another key " * 5
    assert fan_out() == []


def test_an_address_is_invited_a_few_times_a_day(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(organization_mails, "ADDRESS_MAX", 2)
    other = Team("zoe", "Zenith")
    for _ in range(2):
        invite(team)
    invite(other, CAROL.upper())
    invite(team, "dave@example.com")
    assert [one.to for one in fan_out()] == [CAROL, CAROL, "dave@example.com"]
    Mail.objects.update(created_at=timezone.now() - timedelta(days=2))
    invite(team)
    assert len(fan_out()) == 4


def test_an_organization_mails_a_bounded_number_a_day(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(organization_mails, "ORGANIZATION_MAX", 2)
    for number in range(3):
        invite(team, f"p{number}@example.com")
    invite(Team("zoe", "Zenith"), "p9@example.com")
    assert [one.to for one in fan_out()] == ["p0@example.com", "p1@example.com", "p9@example.com"]


def test_an_inviter_mails_a_bounded_number_a_day(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(organization_mails, "INVITER_MAX", 2)
    other = Team(name="Zenith")
    for number, one in enumerate((team, other, other)):
        invite(one, f"p{number}@example.com")
    invite(Team("zoe", "Elsewhere"), "p9@example.com")
    assert [one.to for one in fan_out()] == ["p0@example.com", "p1@example.com", "p9@example.com"]


def test_a_stranger_and_a_person_can_turn_invitations_off(team: Team) -> None:
    invite(team)
    [stranger] = fan_out()
    assert stranger.recipient == recipient_of_address(CAROL)
    assert CAROL not in stranger.recipient
    EmailAddress.objects.create(user=account("dave"), email="dave@example.com", verified=True, primary=True)
    invite(team, "dave@example.com")
    assert fan_out()[-1].recipient == account("dave").did
    assert fan_out()[-1].name == "", "its name is nobody else's business"
