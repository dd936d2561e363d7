"""Closing an account: all of it or nothing, once, whatever happens at the same time."""

import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from hashlib import sha256
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from accounts.models import Account, AuthorizationCode, Closing, Consent, DeviceSession
from accounts.operations import closing, codes, consents, operators, suspension
from accounts.operations.closing import CannotClose
from accounts.rules.pkce import challenge_of
from billing.models import Checkout, CheckoutStatus, CreditLot, StoredReplay, Transfer
from billing.operations import checkout_bookings, checkouts, wallets
from billing.queries import audit
from billing.queries.wallets import view
from gateway.core.contract.errors import ApiError, Forbidden, InvalidGrant, InvitationUnavailable
from inference.models import StoredResponse
from integrations.models import AccountKey, EvolutionArtifact
from organizations.models import AuditEntry, Invitation, Membership
from organizations.operations import invitations, members, organizations
from organizations.rules.roles import Role
from tests.factories import payments
from tests.factories.billing import ANSWER, Purse, release, review, settle
from tests.factories.organizations import Team
from tests.support.concurrency import at_once
from tests.support.stripe import FakeStripe

pytestmark = pytest.mark.django_db

EMAIL = "clara@example.com"
APP = "https://app.example"


def person(name: str = "clara") -> Account:
    """Make a person who has something of everything, and no money."""
    who = Account.objects.create_user(
        f"did:web:gateway.example:accounts:acc_{name}", f"{name}@example.com", "a password", display_name=name.title()
    )
    now = timezone.now()
    EmailAddress.objects.create(user=who, email=f"{name}@example.com", primary=True, verified=True)
    Authenticator.objects.create(user=who, type="webauthn", data={"name": "Key", "credential": {}})
    SocialAccount.objects.create(user=who, provider="sso", uid=name)
    consents.give(account=who, client_id=APP, kind="realtime", now=now)
    DeviceSession.objects.create(account=who, client_id=APP, name="Laptop", created_at=now, expires_at=now)
    code_of(who)
    AccountKey.objects.create(account=who, material="s", kid=f"kid-{name}", created_at=now)
    EvolutionArtifact.objects.create(
        id=f"art_{name}",
        owner_kind="account",
        owner_key=who.did,
        kind="prompt",
        sha256="0" * 64,
        size=0,
        content=b"",
        created_at=now,
    )
    purse = Purse("account", who.did).pay(1_000_000)
    settle(purse.call(1_000_000, "key"), 999_900, replay=ANSWER)
    purse.grant(500), purse.grant(70, product="courier")
    StoredResponse.objects.create(
        id=f"resp_{name}",
        owner_kind="account",
        owner_key=who.did,
        usage_id="use_1",
        status="completed",
        response="{}",
        input_items="[]",
        created_at=now,
        expires_at=now + timedelta(days=30),
    )
    kind = ContentType.objects.get_for_model(Account)
    LogEntry.objects.create(
        user=who, content_type=kind, object_id=str(who.pk), object_repr=name.title(), action_flag=CHANGE
    )
    return who


def verifier_of(who: Account) -> str:
    return f"{who.pk:043}"


def code_of(who: Account) -> AuthorizationCode:
    now = timezone.now()
    return AuthorizationCode.objects.create(
        code_sha256=sha256(f"code{who.pk}".encode()).digest(),
        account=who,
        client_id=APP,
        redirect_uri=f"{APP}/callback",
        scopes=["wallet:read"],
        code_challenge=challenge_of(verifier_of(who)),
        created_at=now,
        expires_at=now + timedelta(seconds=60),
    )


def close(who: Account) -> bool:
    return closing.close(account=who, now=timezone.now())


def kept_of(who: Account) -> dict[str, int]:
    """Count what is stored for a person, apart from the books."""
    of_user = {
        each.__name__: each.objects.filter(user=who).count() for each in (EmailAddress, Authenticator, SocialAccount)
    }
    kinds = (Consent, DeviceSession, AuthorizationCode, AccountKey)
    of_account = {each.__name__: each.objects.filter(account=who).count() for each in kinds}
    owned = {
        each.__name__: each.objects.filter(owner_key=who.did).count() for each in (StoredResponse, EvolutionArtifact)
    }
    replays = StoredReplay.objects.filter(call__wallet__owner_key=who.did).count()
    live = Membership.objects.filter(account=who, removed_at=None).count()
    return {**of_user, **of_account, **owned, "StoredReplay": replays, "live memberships": live}


def state_of(who: Account) -> Any:
    """Return all that a closing changes."""
    account = Account.objects.filter(pk=who.pk).values().get()
    money = list(CreditLot.objects.filter(wallet__owner_key=who.did).order_by("pk").values())
    log = sorted(LogEntry.objects.values_list("object_repr", "change_message"))
    return account, kept_of(who), money, log, Transfer.objects.count(), Closing.objects.count()


@pytest.fixture
def clara() -> Account:
    return person()


class TestClosed:
    """What is left of a closed account."""

    def test_nothing_names_the_person_and_the_books_stay(self, clara: Account) -> None:
        other = person("otto")
        before, books = state_of(other)[:3], Transfer.objects.filter(wallet__owner_key=clara.did)
        posted = list(books.order_by("pk").values())
        team = Team("founder")
        _, token = invitations.invite(
            org_id=team.id, role=Role.ADMIN, email="Clara@Example.com", actor_did=team.owner.did
        )
        invitations.invite(org_id=team.id, role=Role.ADMIN, email="otto@example.com", actor_did=team.owner.did)
        invitations.accept(token=token, account=clara)
        assert close(clara)
        closing.erase(now=timezone.now())
        assert set(kept_of(clara).values()) == {0}
        account = Account.objects.get(pk=clara.pk)
        assert (account.did, account.email, account.display_name, account.last_login) == (clara.did, None, "", None)
        assert (account.is_active, account.is_live, account.has_usable_password()) == (False, False, False)
        assert list(books.order_by("pk").values())[: len(posted)] == posted
        assert sorted(books.filter(kind="forfeit").values_list("amount_microusd", flat=True)) == [70, 500]
        about = "".join(repr(row) for row in LogEntry.objects.filter(user=clara).values_list("object_repr"))
        assert "Clara" not in about
        assert state_of(other)[:3] == before
        assert set(Invitation.objects.values_list("email", flat=True)) == {None, "otto@example.com"}
        assert audit.findings() == []

    def test_the_organization_sees_that_the_person_left(self, clara: Account) -> None:
        team = Team("founder")
        _, token = invitations.invite(org_id=team.id, role=Role.MEMBER, email=None, actor_did=team.owner.did)
        joined = invitations.accept(token=token, account=clara)
        close(clara)
        [entry] = AuditEntry.objects.filter(organization_id=team.id, action="member.leave")
        assert (entry.actor_did, entry.subject, entry.detail) == (clara.did, joined.pk, {"role": "member"})

    def test_closing_again_changes_nothing(self, clara: Account) -> None:
        close(clara)
        state = state_of(clara)
        assert close(clara) is False
        assert state_of(clara) == state

    def test_less_than_a_cent_stays_where_it_is(self, clara: Account) -> None:
        close(clara)
        wallet = view(("account", clara.did), timezone.now())
        assert (wallet.balance_microusd, wallet.credits_microusd) == (100, 0)

    def test_nobody_reopens_it(self, clara: Account) -> None:
        close(clara)
        assert not suspension.unsuspend(account=clara)
        with pytest.raises(operators.AccountClosed):
            operators.promote(clara, None, now=timezone.now())
        rows = Account.objects.filter(pk=clara.pk)
        for change in (
            {"is_active": True},
            {"suspended_at": None},
            {"email": EMAIL},
            {"display_name": "Clara"},
            {"is_staff": True},
        ):
            with pytest.raises(DatabaseError, match="is closed"), transaction.atomic():
                rows.update(**change)
        for undo in (
            lambda: Closing.objects.filter(pk=clara.pk)._raw_delete("default"),
            lambda: Closing.objects.update(closed_at=timezone.now()),
        ):
            with pytest.raises(DatabaseError, match="never undone"), transaction.atomic():
                undo()
        rows.update(session_epoch=7)

    def test_the_same_address_signs_up_as_somebody_new(self, clara: Account) -> None:
        close(clara)
        again = Account.objects.create_user("did:web:gateway.example:accounts:acc_new", EMAIL)
        EmailAddress.objects.create(user=again, email=EMAIL, primary=True, verified=True)
        assert again.pk != clara.pk


class TestObstacles:
    """What keeps an account from being closed, and that nothing changes then."""

    OBSTACLES: dict[str, tuple[Callable[[Account], object], str]] = {
        "money": (lambda who: Purse("account", who.did).pay(10_000), "Your wallet has $0.0101."),
        "a product's money": (
            lambda who: payments.top_up(("account", who.did), 50_000, "studio"),
            "Your wallet has $0.0501.",
        ),
        "a debt": (lambda who: Purse("account", who.did).refund(1_000), "You owe $0.0009."),
        "an open call": (lambda who: Purse("account", who.did).call(100), "Calls are under way."),
        "a free open call": (
            lambda who: Purse("account", who.did).call(0, max_cost_microusd=5),
            "Calls are under way.",
        ),
        "a call in review": (
            lambda who: review(Purse("account", who.did).call(50)),
            "The outcome of 1 of your calls is not known yet.",
        ),
        "an organization": (
            lambda who: organizations.create(name="Acme", account=who, now=timezone.now()),
            "You are the only owner of Acme.",
        ),
        "rights": (lambda who: Account.objects.filter(pk=who.pk).update(is_staff=True), "You are an operator"),
        "a payment": (lambda who: checkout_of(who, CheckoutStatus.OPEN), "A payment of $5.00 is under way."),
        "a payment that begins": (
            lambda who: checkout_of(who, CheckoutStatus.CREATING),
            "A payment of $5.00 is under way.",
        ),
        "a payment in review": (lambda who: checkout_of(who, CheckoutStatus.REVIEW), "still has to decide"),
    }

    @pytest.mark.parametrize("name", OBSTACLES)
    def test_keeps_everything(self, clara: Account, name: str) -> None:
        make, reason = self.OBSTACLES[name]
        make(clara)
        state = state_of(clara)
        assert [
            one.reason
            for one in closing.obstacles(Account.objects.get(pk=clara.pk), timezone.now())
            if reason in one.reason
        ]
        with pytest.raises(CannotClose, match=reason.replace("$", r"\$")):
            close(clara)
        assert state_of(clara) == state
        assert Account.objects.get(pk=clara.pk).email == EMAIL

    def test_what_is_over_is_none(self, clara: Account) -> None:
        purse = Purse("account", clara.did)
        release(purse.call(100))
        checkout_of(clara, CheckoutStatus.EXPIRED)
        team = organizations.create(name="Acme", account=clara, now=timezone.now())
        successor = Account.objects.create_user("did:web:gateway.example:accounts:acc_successor")
        _, token = invitations.invite(org_id=team.organization_id, role=Role.OWNER, email=None, actor_did=clara.did)
        invitations.accept(token=token, account=successor)
        assert closing.obstacles(clara, timezone.now()) == []
        assert close(clara)


def checkout_of(who: Account, status: CheckoutStatus) -> Checkout:
    placed = status != CheckoutStatus.CREATING
    return Checkout.objects.create(
        id=f"txn_{status}",
        owner_kind="account",
        owner_key=who.did,
        kind="top_up",
        amount_microusd=5_000_000,
        idempotency_key=str(status),
        requested_by=who.did,
        provider="stripe",
        is_live=False,
        status=status,
        session_ref=f"cs_{status}" if placed else None,
        url="https://pay.example" if placed else None,
        review_reason="odd" if status == CheckoutStatus.REVIEW else None,
    )


class Killed(BaseException):
    """The process ends here."""


def dying_at(number: int) -> Any:
    """Have the process die at its n-th statement."""
    count = 0

    def run(execute: Any, *statement: Any) -> Any:
        nonlocal count
        count += 1
        if count == number:
            raise Killed
        return execute(*statement)

    return connection.execute_wrapper(run)


def test_a_death_between_any_two_statements_leaves_all_or_nothing(clara: Account) -> None:
    team = Team("founder")
    _, token = invitations.invite(org_id=team.id, role=Role.MEMBER, email=None, actor_did=team.owner.did)
    invitations.accept(token=token, account=clara)
    state, number, died = state_of(clara), 0, True
    while died:
        number += 1
        try:
            begun = transaction.savepoint()
            with dying_at(number):
                close(clara)
            died = False
        except Killed:
            transaction.savepoint_rollback(begun)
            assert state_of(clara) == state, number
    assert number > 30
    assert Closing.objects.count() == 1
    assert audit.findings() == []


def test_erasing_goes_on_after_a_death(clara: Account) -> None:
    close(clara)
    later = Closing.objects.get().closed_at + closing.SETTLED_AFTER
    number, died = 0, True
    while died:
        number += 1
        try:
            with dying_at(number):
                closing.erase(now=later)
            died = False
        except Killed:
            transaction.set_rollback(False)
            assert Closing.objects.get().erased_at is None
    assert Closing.objects.get().erased_at == later
    assert set(kept_of(clara).values()) == {0}
    assert closing.erase(now=later) == 0


def test_what_was_stored_just_after_the_closing_is_erased_in_the_end(clara: Account) -> None:
    close(clara)
    closed_at = Closing.objects.get().closed_at
    assert closing.erase(now=closed_at) == 0
    code_of(clara)
    consents.give(account=clara, client_id=APP, kind="realtime", now=closed_at)
    assert closing.erase(now=closed_at + timedelta(minutes=7)) == 0
    assert kept_of(clara)["Consent"] == 1
    assert closing.erase(now=closed_at + closing.SETTLED_AFTER) == 1
    assert set(kept_of(clara).values()) == {0}
    assert audit.findings() == []


def test_a_payment_that_arrives_afterwards_is_credited_and_raises_the_alarm(
    clara: Account,
    provider: FakeStripe,
    caplog: pytest.LogCaptureFixture,
) -> None:
    late = checkout_of(clara, CheckoutStatus.EXPIRED)
    close(clara)
    with transaction.atomic():
        checkout_bookings.credit(late, timezone.now())
        late.status = CheckoutStatus.PAID
        late.save()
    assert view(("account", clara.did), timezone.now()).balance_microusd == 5_000_100
    assert [record.levelno for record in caplog.records if late.pk in record.message] == [logging.CRITICAL]
    wallets.take_back("account", clara.did, amount_microusd=5_000_000, source=f"{late.pk}/1", payment=late.pk)
    assert view(("account", clara.did), timezone.now()).balance_microusd == 100


def test_no_payment_begins_for_a_closed_account(clara: Account, provider: FakeStripe) -> None:
    close(clara)
    with pytest.raises(Forbidden):
        begin(clara)
    assert not Checkout.objects.filter(owner_key=clara.did, status=CheckoutStatus.CREATING).exists()


def begin(who: Account) -> Checkout:
    terms: Any = {"kind": "top_up", "amount_microusd": 5_000_000, "product": None, "idempotency_key": "k"}
    return checkouts.begin(("account", who.did), now=timezone.now(), requested_by=who.did, **terms)[0]


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    """Whatever else happens at the same time."""

    def test_several_closings_close_once(self, clara: Account) -> None:
        assert sorted(at_once(*[lambda: close(clara)] * 6)) == [False] * 5 + [True]
        assert Transfer.objects.filter(kind="forfeit").count() == 2
        assert audit.findings() == []

    def test_two_owners_do_not_both_leave(self) -> None:
        one, two = person("one"), person("two")
        org_id = organizations.create(name="Acme", account=one, now=timezone.now()).organization_id
        _, token = invitations.invite(org_id=org_id, role=Role.OWNER, email=None, actor_did=one.did)
        invitations.accept(token=token, account=two)
        assert sorted(at_once(lambda: tried(one), lambda: tried(two))) == [False, True]
        assert Membership.objects.filter(removed_at=None, role=Role.OWNER).count() == 1

    def test_who_is_just_invited_is_a_member_or_closed(self) -> None:
        for number in range(4):
            who, team = person(f"guest{number}"), Team(f"host{number}")
            _, token = invitations.invite(org_id=team.id, role=Role.MEMBER, email=None, actor_did=team.owner.did)
            results = at_once(partial(tried, who), partial(invitations.accept, token=token, account=who))
            assert not (Closing.objects.filter(pk=who.pk).exists() and kept_of(who)["live memberships"]), results

    def test_who_just_founds_an_organization_is_its_owner_or_closed(self) -> None:
        for number in range(4):
            who = person(f"founder{number}")
            at_once(partial(tried, who), partial(organizations.create, name="A", account=who, now=timezone.now()))
            assert not (Closing.objects.filter(pk=who.pk).exists() and kept_of(who)["live memberships"])

    def test_who_is_just_signing_an_app_in_has_no_session(self) -> None:
        for number in range(4):
            who = person(f"app{number}")
            redemption = codes.Redemption(f"code{who.pk}", verifier_of(who), APP, f"{APP}/callback", "k" * 43, "Phone")
            at_once(partial(tried, who), partial(codes.redeem, redemption, now=timezone.now()))
            assert Closing.objects.filter(pk=who.pk).exists()
            closing.erase(now=timezone.now() + closing.SETTLED_AFTER)
            assert set(kept_of(who).values()) == {0}
            AuthorizationCode.objects.all().delete()

    def test_who_just_pays_is_paying_or_closed(self, provider: FakeStripe) -> None:
        for number in range(4):
            who = person(f"payer{number}")
            at_once(partial(tried, who), partial(begin, who))
            begun = Checkout.objects.filter(owner_key=who.did, status=CheckoutStatus.CREATING).exists()
            assert begun is not Closing.objects.filter(pk=who.pk).exists()

    def test_who_just_calls_is_calling_or_closed(self) -> None:
        for number in range(4):
            who = person(f"caller{number}")
            results = at_once(partial(tried, who), partial(placed, who))
            assert results in ([True, "insufficient_funds"], [False, "reserved"])
        assert audit.findings() == []

    def test_who_is_just_removed_is_closed(self) -> None:
        team = Team("host")
        for number in range(4):
            who = person(f"member{number}")
            _, token = invitations.invite(org_id=team.id, role=Role.MEMBER, email=None, actor_did=team.owner.did)
            joined = invitations.accept(token=token, account=who).pk
            removal = {"org_id": team.id, "membership_id": joined, "actor_did": team.owner.did}
            closed, removed = at_once(partial(tried, who), partial(members.remove, **removal))
            assert (closed, removed.pk) == (True, joined)
        assert Membership.objects.filter(removed_at=None).count() == 1


def placed(who: Account) -> str:
    return str(Purse("account", who.did).reserve(300).outcome)


def tried(who: Account) -> bool:
    """Close an account if that can be done; return whether it was."""
    with suppress(CannotClose):
        return close(who)
    return False


def test_a_new_session_or_membership_is_refused(clara: Account) -> None:
    team = Team("founder")
    _, token = invitations.invite(org_id=team.id, role=Role.MEMBER, email=None, actor_did=team.owner.did)
    close(clara)
    stale = Account(pk=clara.pk, did=clara.did)
    with pytest.raises(InvitationUnavailable):
        invitations.accept(token=token, account=stale)
    with pytest.raises(Forbidden):
        organizations.create(name="Acme", account=stale, now=timezone.now())
    code_of(clara)
    redemption = codes.Redemption(f"code{clara.pk}", verifier_of(clara), APP, f"{APP}/callback", "k" * 43, "Phone")
    with pytest.raises(InvalidGrant):
        codes.redeem(redemption, now=timezone.now())
    assert issubclass(InvalidGrant, ApiError)
    assert kept_of(clara)["DeviceSession"] == 0
