"""Rows for every table of the operator console, made as the gateway makes them."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.admin.models import CHANGE, LogEntry
from django.utils import timezone

from accounts.models import Account, DeviceSession
from accounts.operations import notes, receipt_keys, signing_keys
from billing.models import (
    AutoTopUp,
    AutoTopUpCharge,
    Call,
    Checkout,
    ExternalMapping,
    Limit,
    LostReceipt,
    PaymentDifference,
    ProviderEvent,
    Wallet,
)
from billing.operations import budgets, payment_differences, usage_days, wallets
from billing.queries.payment_matching import Books
from billing.queries.prices import in_force
from billing.rules.budgets import Subject
from gateway.core.contract.ids import new_id
from gateway.core.events.mail_people import Person
from gateway.core.events.models import Delivery, Endpoint, Event, Mail
from gateway.core.events.operations import endpoints, mails
from gateway.core.events.registry import MailDraft
from gateway.core.jobs.models import JobRun
from inference.models import JournalFolder, PriceProposal
from integrations.models import (
    CIRepository,
    CIRun,
    EvolutionArtifact,
    EvolutionEvidence,
    EvolutionJob,
    EvolutionRevision,
    ExecutionConfig,
    Project,
    SandboxRun,
)
from integrations.operations.account_keys import key_of
from judgement.models import AnswerCount
from organizations.operations import invitations, organizations, products, seats
from organizations.rules.roles import Role
from tests.factories import invoicing
from tests.factories.billing import Purse, review, settle
from tests.factories.payments import top_up
from tests.gateway.config_files import WHOLE, apply_text
from tests.gateway.traces import refused, trace_of
from tests.support.event_receiver import SECRET

ALICE = "did:web:studio.example:alice"
CONTENT = "what-is-its-owners-alone"


def furnish(folder: Path) -> None:
    """Fill every table of the console with at least one row."""
    apply_text(folder, WHOLE)
    signing_keys.ensure_active_key(now=timezone.now())
    receipt_keys.ensure_active_key(now=timezone.now())
    top_up(("account", ALICE), 12_345_678)
    settled, lost = make_call(), make_call()
    settle(settled, 321, quantities={"input_tokens": 7})
    settle(lost, 70_000, quantities={"input_tokens": 9})
    review(make_call(), "timeout", evidence={"output_tokens": 3})
    make_call()
    budgets.put(Subject(("account", ALICE)), limit_microusd=5_000_000)
    make_session()
    make_sign_in()
    make_organization()
    make_payments()
    make_auto_top_ups()
    make_ci_run()
    make_executions()
    make_evolution()
    usage_days.roll_up_until(timezone.now())
    AnswerCount.objects.create(identity="judge/1", kind="noul", day=timezone.now().date(), bucket=9, shard=0, count=1)
    invoicing.credit(invoicing.paid("org_acme", months_ago=2), 1_000_000)
    invoicing.refused("org_acme")
    differing("pay_" + 26 * "0")
    lose("use_lost", 1_234)
    make_proposals()
    make_delivery()
    make_mail()
    Limit.objects.create(scope="account", requests_per_minute=600, concurrent=20)
    make_note()
    trace_of(settled)
    refused("budget_exceeded", account=ALICE)
    JobRun.objects.create(job="billing.tasks.reap", started_at=timezone.now(), counts={"calls": 1})
    make_journal_folder(read_at=timezone.now() - timedelta(minutes=5))


def make_journal_folder(*, read_at: datetime, files: int = 2, **fields: Any) -> JournalFolder:
    """Add the folder of a machine's journals, which somebody read at that time."""
    place = {"host": "node-7", "path": "/srv/gateway/journal"}
    return JournalFolder.objects.create(id=uuid4(), read_at=read_at, files=files, **place, **fields)


def make_note() -> None:
    """Write a note about Alice; its author is Alice, as of the log's entries."""
    alice = Account.objects.get(did=ALICE)
    notes.add(note_id=new_id("note"), owner=("account", ALICE), author=alice, text="Prefers email.", now=timezone.now())


def make_delivery() -> Delivery:
    """Set an endpoint up, and send it a test event."""
    endpoint = Endpoint(
        name="studio", product="studio", url="https://studio.example/hooks", secret=SECRET, types=["usage.*"]
    )
    endpoints.save(endpoint)
    return endpoints.send_test(endpoint.pk, now=timezone.now())


def make_mail() -> Mail:
    """Make a mail to Alice that failed."""
    event = Event.objects.latest("pk")
    draft = MailDraft(
        Person(ALICE, "Alice", "alice@example.com"), "account_suspended", "suspension", {"secret": CONTENT}
    )
    mails.make(event=event, drafts=[draft], now=timezone.now())
    about = {"status": "failed", "next_at": None, "error": "550 unknown", "context": json.dumps(draft.context)}
    Mail.objects.filter(event=event).update(**about)
    return Mail.objects.get(event=event)


def make_call(*, hold_microusd: int = 50_000) -> str:
    """Place a hold of Alice's and return its usage id."""
    return Purse("account", ALICE).call(hold_microusd, new_id("key"), actor_did=ALICE, request_id=new_id("req"))


def make_review(*, hold_microusd: int = 50_000) -> Call:
    """Leave a call of Alice's to the operator."""
    usage_id = make_call(hold_microusd=hold_microusd)
    assert review(usage_id, "timeout")
    return Call.objects.get(pk=usage_id)


def differing(transaction_id: str) -> PaymentDifference:
    """Find a payment of $7.00 at the provider that is not known here."""
    books = Books("stripe", is_live=False)
    found = payment_differences.Difference(transaction_id, "pi_1", "unknown", 7_000_000, 7_000_000, 0, 0)
    assert payment_differences.record(books, found, now=timezone.now())
    return PaymentDifference.objects.latest("pk")


def lose(usage_id: str, charge_microusd: int | None) -> LostReceipt:
    """Find a call of Alice's that the database lost."""
    owner = {"owner_kind": "account", "owner_key": ALICE}
    return LostReceipt.objects.create(usage_id=usage_id, charge_microusd=charge_microusd, **owner)


def make_proposals() -> None:
    """Propose a price within the bounds, and one beyond them."""
    now = timezone.now()
    for name, components in (("fast", {"input_token": "0.2", "output_token": "0.60"}), ("image", {"image": "1"})):
        version = in_force(name, now)
        assert version is not None
        PriceProposal.objects.create(
            alias=name,
            version_id=version.pk,
            components_now=version.components,
            components={**version.components, **components},
            source="https://prices.example/api.json",
            deployments=[["primary/small-1", "openai/small-1"]],
            notes=["left out: web_search <b>"],
            is_beyond_bounds=name == "image",
        )


def make_ci_run() -> None:
    """Report a run of the configured repository."""
    repository = CIRepository.objects.get()
    CIRun.objects.create(
        id=new_id("ci"),
        project=repository.project,
        provider=repository.provider,
        external_id="7",
        ref="main",
        commit="a" * 40,
        status="queued",
        steps=[{"name": "build <b>", "status": "queued", "startedAt": None, "finishedAt": None}],
        created_at=timezone.now(),
        updated_at=timezone.now(),
    )


def make_executions() -> None:
    """Queue a sandbox run and an evolution job of Alice's."""
    common = {"requested_by": ALICE, "inputs": "{}", "created_at": timezone.now()}
    SandboxRun.objects.create(id=new_id("run"), project=Project.objects.get(), runner="bubblewrap", **common)
    EvolutionJob.objects.create(
        id=new_id("job"), owner_kind="account", owner_key=ALICE, program="refine", artifact_ids=["art_1"], **common
    )


def make_evolution() -> None:
    """Keep an artifact of Alice's with evidence, activate it, make her key, and configure her project's runs."""
    alices, now = {"owner_kind": "account", "owner_key": ALICE}, timezone.now()
    made = {"created_at": now, "kind": "prompt", **alices}
    artifact = EvolutionArtifact.objects.create(id="art_1", sha256="a" * 64, size=6, content=CONTENT.encode(), **made)
    EvolutionEvidence.objects.create(id="evd_1", artifact=artifact, payload={"note": CONTENT}, **made)
    EvolutionRevision.objects.create(revision=1, artifact=artifact, activated_at=now, **alices)
    key_of(Account.objects.get(did=ALICE))
    environment = f'{{"API_KEY": "{CONTENT}"}}'
    ExecutionConfig.objects.create(
        project=Project.objects.get(), command=["sh", "-c", "true"], environment=environment, version=1, updated_at=now
    )


def make_session() -> DeviceSession:
    """Sign Alice in on a phone."""
    now = datetime(2026, 11, 1, tzinfo=UTC)
    return DeviceSession.objects.create(
        account=Account.objects.get(did=ALICE),
        client_id="mobile",
        name="Phone",
        created_at=now,
        expires_at=now + timedelta(days=30),
    )


def make_sign_in() -> None:
    """Create what an account has that signs in with an address, a second factor and another provider's identity."""
    alice = Account.objects.get(did=ALICE)
    EmailAddress.objects.create(user=alice, email="alice@studio.example", primary=True, verified=True)
    Authenticator.objects.create(user=alice, type=Authenticator.Type.TOTP, data={"secret": "JBSWY3DPEHPK3PXP"})
    SocialAccount.objects.create(user=alice, provider="studio", uid="42", extra_data={"token": "sk-literal-secret"})
    UserSession.objects.create(user=alice, ip="192.0.2.1", user_agent="Browser", session_key="k" * 32, data={})


def make_organization() -> None:
    """Create an organization of Alice's, and an operator's work in its log."""
    alice = Account.objects.get(did=ALICE)
    founder = organizations.create(name="Studio people", account=alice, now=timezone.now())
    org_id = founder.organization_id
    products.enable(org_id=org_id, product="studio", actor_did=ALICE)
    seats.assign(org_id=org_id, product="studio", membership_id=founder.pk, actor_did=ALICE)
    invitations.invite(org_id=org_id, role=Role.MEMBER, email="bob@example.com", actor_did=ALICE)
    LogEntry.objects.log_actions(alice.pk, [alice], CHANGE, "Suspended.", single_object=True)


def make_payments() -> None:
    """Leave a checkout of Alice's to the operator, with the event that told of it, and a product billed elsewhere."""
    checkout = make_checkout()
    ProviderEvent.objects.create(
        provider="stripe",
        event_id="evt_1",
        type="checkout.session.completed",
        object_ref=str(checkout.session_ref),
        checkout_id=checkout.pk,
    )
    ExternalMapping.objects.create(
        org_id="org_1",
        product="studio",
        provider="stripe",
        external_org_id="acct_1",
        mode="test",
        verified_by=ALICE,
        verified_at=timezone.now(),
    )


def make_auto_top_ups() -> None:
    """Make Alice's automatic top-up, and an organization's, which is paused; each with a failed charge and one in review."""
    now = timezone.now()
    for owner, reason in ((("account", ALICE), None), (("organization", "org_1"), "card_declined")):
        wallet = wallets.ensure(*owner)
        AutoTopUp.objects.create(
            wallet=wallet,
            is_enabled=True,
            threshold_microusd=5_000_000,
            amount_microusd=20_000_000,
            monthly_limit_microusd=100_000_000,
            requested_by=ALICE,
            paused_at=now if reason else None,
            pause_reason=reason,
        )
        make_charge(wallet, status="failed", failure_code="card_declined", ended_at=now)
        make_charge(wallet, status="review", payment_ref=new_id("pi"))


def make_charge(wallet: Wallet, **fields: object) -> AutoTopUpCharge:
    sent: dict[str, Any] = {"provider": "stripe", "is_live": False, "customer_ref": "cus_1", "method_ref": "pm_1"}
    return AutoTopUpCharge.objects.create(
        id=new_id("txn"),
        wallet=wallet,
        amount_microusd=20_000_000,
        requested_by=ALICE,
        begun_at=timezone.now(),
        **sent | fields,
    )


def make_checkout(**fields: object) -> Checkout:
    """Make a checkout of Alice's that is in review, unless said otherwise."""
    row = {
        "id": new_id("txn"),
        "owner_kind": "account",
        "owner_key": ALICE,
        "kind": "top_up",
        "amount_microusd": 5_000_000,
        "idempotency_key": new_id("key"),
        "requested_by": ALICE,
        "provider": "stripe",
        "is_live": False,
        "session_ref": new_id("cs"),
        "url": "https://checkout.stripe.com/c/pay/cs_1",
        "status": "review",
        "review_reason": "amount: expected 5000000 micro-USD, got 4000000",
    }
    return Checkout.objects.create(**{**row, **fields})
