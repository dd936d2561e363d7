"""Turning mails off by the link of a mail: in one step, without signing in, and nothing else."""

from typing import Any

import pytest
from django.core import signing
from django.test import Client

from gateway.core.events.mail_people import Person, recipient_of_address
from gateway.core.events.models import Mail, MailOptOut
from gateway.core.events.operations import unsubscribing
from gateway.core.events.operations.unsubscribing import Subject
from organizations.models import Organization
from tests.events.mailing import ALICE, BOB, NOW, low
from tests.factories.organizations import Team

pytestmark = [pytest.mark.django_db]


@pytest.fixture
def team() -> Team:
    return Team(name="Acme & <b>")


def link(team: Team, person: Person = ALICE) -> str:
    [mail] = low(person, org_id=team.id)
    return unsubscribing.path_of(mail)


def off() -> list[tuple[str, str, str, str]]:
    return list(MailOptOut.objects.values_list("recipient", "owner_kind", "owner_key", "kind"))


def page(answer: Any) -> str:
    return " ".join(answer.content.decode().partition("<main")[2].split())


def test_a_scanner_that_follows_the_link_turns_nothing_off(team: Team) -> None:
    path = link(team)
    for method in ("get", "head"):
        answer = getattr(Client(), method)(path)
        assert (answer.status_code, off()) == (200, [])
    shown = page(Client().get(path))
    assert "“Low balance” of Acme &amp; &lt;b&gt;" in shown
    assert '<button type="submit">Turn off</button>' in shown
    assert "alice" not in shown, "the link may have been passed on"


def test_a_mail_program_turns_it_off_in_one_step(team: Team) -> None:
    browser = Client(enforce_csrf_checks=True)
    answer = browser.post(
        link(team), {"List-Unsubscribe": "One-Click"}, headers={"Sec-Fetch-Site": "cross-site", "Origin": "null"}
    )
    assert answer.status_code == 200
    assert "Turned off" in page(answer)
    assert off() == [(ALICE.recipient, "organization", team.id, "wallet")]
    assert not browser.cookies


def test_repeating_changes_nothing(team: Team) -> None:
    path = link(team)
    for _ in range(2):
        assert Client().post(path).status_code == 200
    assert len(off()) == 1
    assert "Turned off" in page(Client().get(path))


def test_a_link_is_for_one_person_one_kind_and_one_owner(team: Team) -> None:
    Client().post(link(team))
    [bob] = low(BOB, org_id=team.id)
    [elsewhere] = low(ALICE, org_id="org_2")
    [alice] = low(ALICE, org_id=team.id)
    assert [one.error for one in (bob, elsewhere, alice)] == [
        "No mail server is configured.",
        "No mail server is configured.",
        "Turned off by the person.",
    ]


def test_an_address_without_an_account_turns_invitations_off(team: Team) -> None:
    recipient = recipient_of_address("carol@example.com")
    mail = Mail(recipient=recipient, owner_kind="organization", owner_key=team.id, kind="invitation")
    answer = Client().post(unsubscribing.path_of(mail))
    assert "Open Alerts" not in page(answer), "there is nothing to sign in to"
    assert off() == [(recipient, "organization", team.id, "invitation")]


def test_a_link_outlives_its_mail_and_its_organization(team: Team) -> None:
    path = link(team)
    Mail.objects.all().delete()
    assert Client().post(path).status_code == 200
    token = unsubscribing.path_of(
        Mail(recipient=ALICE.recipient, owner_kind="organization", owner_key="org_gone", kind="wallet")
    )
    assert not Organization.objects.filter(pk="org_gone").exists()
    assert Client().post(token).status_code == 200


def signed(*values: object, salt: str = unsubscribing.SALT) -> str:
    return signing.Signer(salt=salt).sign_object(list(values))


@pytest.mark.parametrize(
    "token",
    [
        "x",
        "WyJhIl0:AAAA",
        signed(ALICE.recipient, "organization", "org_1", "wallet", salt="another"),
        signed(ALICE.recipient, "organization", "org_1", "security"),
        signed(ALICE.recipient, "organization", "org_1", "no such kind"),
        signed(ALICE.recipient, "organization"),
        "%00",
        "a" * 5000,
    ],
)
def test_any_other_link_changes_nothing(token: str) -> None:
    for method in ("get", "post"):
        answer = getattr(Client(), method)(f"/mail/unsubscribe/{token}")
        assert answer.status_code in (400, 404)
    assert off() == []


def test_a_changed_link_is_no_link(team: Team) -> None:
    path = link(team)
    token = path.rpartition("/")[2]
    other = signing.b64_encode(b'["did:web:studio.example:bob","organization","org_1","wallet"]').decode()
    for changed in (f"{other}:{token.partition(':')[2]}", token[:-1] + ("A" if token[-1] != "A" else "B")):
        assert Client().post(f"/mail/unsubscribe/{changed}").status_code == 404
    assert off() == []


def test_other_methods_are_refused(team: Team) -> None:
    assert Client().put(link(team)).status_code == 405


def test_turning_on_again(team: Team) -> None:
    subject = Subject(ALICE.recipient, "organization", team.id, "wallet")
    unsubscribing.turn_off(subject=subject, now=NOW)
    unsubscribing.turn_on(subject=subject)
    unsubscribing.turn_on(subject=subject)
    assert off() == []
