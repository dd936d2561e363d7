"""Work for every job of the schedule, and what must be true once it is done, however often and by whomever."""

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.utils import timezone

from accounts.models import Closing, ReceiptKey, SigningKey
from accounts.operations import closing, receipt_keys, signing_keys
from billing.models import (
    AutoTopUpCharge,
    Call,
    Checkout,
    CreditLot,
    Invoice,
    ModelMargin,
    PaymentDifference,
    ProviderMovement,
    Seal,
    Transfer,
    UsageDay,
)
from billing.operations import seals, usage_days
from gateway.core.contract.ids import new_id
from gateway.core.events.models import Event
from gateway.core.jobs.models import JobRun
from inference.models import StoredResponse
from integrations.models import SandboxRun, SandboxSettings
from organizations.models import Invitation, Organization
from organizations.operations import seat_invoices
from tests.billing.auto_top_up.saver import USD, Saver
from tests.billing.payments.matching import begun
from tests.factories import invoicing
from tests.factories.accounts import make_account
from tests.factories.billing import Purse, review, settle
from tests.gateway.test_growth import FILL, KEY, LONG, invitation
from tests.integrations.test_projects import project
from tests.organizations.tenant import Tenant
from tests.support.sandbox_runner import sandbox_runner
from tests.support.stripe import FakeStripe

ROWS = 3
OWNER = "did:web:studio.example:alice"
EVIDENCE = {"input_tokens": 12, "output_tokens": 8, "charge_microusd": 7}


@dataclass(frozen=True, slots=True)
class Stage:
    """What makers of work may need."""

    provider: FakeStripe
    settings: Any
    patch: pytest.MonkeyPatch
    folder: Path
    open: ExitStack


@dataclass(frozen=True, slots=True)
class Work:
    """`make` gives the job something to do, `state` reads what became of it, `done` is what that must be.

    `counted` is what all runs together say they did; None where a run also counts what it only looked at.
    """

    make: Callable[[Stage], object]
    state: Callable[[], Any]
    done: Any
    counted: int | None = None


def old_rows(table: str) -> Work:
    """Rows whose time is over, and one to keep."""

    def make(stage: Stage) -> None:
        now = timezone.now()
        for number in range(ROWS):
            FILL[table](now - LONG, f"old {number}")
        FILL[table](now + timedelta(minutes=5), KEY)

    [model] = [each for each in apps.get_models() if each._meta.db_table == table]
    return Work(make, model._default_manager.count, 1, ROWS)


def old_log(table: str) -> Work:
    """Rows of a log that is kept for ever by default."""
    rows = old_rows(table)

    def make(stage: Stage) -> None:
        stage.settings.AUDIT_DAYS = 365
        rows.make(stage)

    return replace(rows, make=make)


def overdue_calls(stage: Stage) -> None:
    purse = Purse().pay(1000)
    for number in range(ROWS):
        purse.call(10, f"key {number}")
    Call.objects.update(deadline_at=timezone.now() - timedelta(hours=1))


def calls_in_review(stage: Stage) -> None:
    purse = Purse().pay(1000)
    for number in range(ROWS):
        assert review(purse.call(50, f"key {number}"), evidence=EVIDENCE)


def expired_credits(stage: Stage) -> None:
    for _ in range(ROWS):
        Purse().grant(10, expires_at=timezone.now())


def many_credits(stage: Stage) -> None:
    for _ in range(100):
        Purse(key=OWNER).grant(1)


def call_states() -> Counter[str]:
    """Count the calls by state."""
    return Counter(Call.objects.values_list("state", flat=True))


def payment_without_an_event(stage: Stage) -> None:
    checkout = begun()
    stage.provider.pay(str(checkout.session_ref))
    refund = stage.provider.refund(str(checkout.session_ref), amount=100)
    assert refund["status"] == "succeeded"
    Checkout.objects.update(next_check_at=timezone.now())


def booked() -> list[tuple[str, int]]:
    """List what was paid and taken back."""
    rows = Transfer.objects.exclude(kind="grant").order_by("id")
    return [(row.kind, row.amount_microusd) for row in rows]


def unknown_charge(stage: Stage) -> None:
    charge = stage.provider.sell(700, metadata={"transaction_id": new_id("txn")})
    yesterday = int((timezone.now() - timedelta(days=2)).timestamp())
    stage.provider.amend(charge["balance_transaction"], created=yesterday)


def owed_month(stage: Stage) -> None:
    tenant = Tenant(stage.provider)
    tenant.save_method()
    stage.settings.SEAT_COLLECTION_FROM = timezone.now() - timedelta(days=80)
    seat_invoices.draft_all(now=tenant.now)
    charged.append(stage.provider)


charged: list[FakeStripe] = []


def collected() -> tuple[list[str], int, list[str]]:
    """Return the invoices' states, how many charges there are, and the attempts' states."""
    invoices = list(Invoice.objects.values_list("status", flat=True))
    attempts = [one.status for invoice in Invoice.objects.all() for one in invoice.payments.all()]
    return invoices, len(charged[-1].charges), attempts


def debtor(stage: Stage) -> None:
    stage.settings.SEAT_COLLECTION_FROM = timezone.now() - timedelta(days=80)
    invoicing.refused(Tenant(stage.provider).id)


def sealable(stage: Stage) -> None:
    stage.patch.setattr(seals.seal, "__kwdefaults__", {"margin": timedelta(0)})
    Purse().pay(100)


def settled_calls(stage: Stage) -> None:
    stage.patch.setattr(usage_days.roll_up, "__kwdefaults__", {"margin": timedelta(0)})
    purse = Purse().pay(1000)
    for number in range(ROWS):
        settle(purse.call(10, f"key {number}"), 5)


def sold_below_cost(stage: Stage) -> None:
    ModelMargin.objects.create(model="fast", margins_microusd=[5, -6])


def running(**members: Any) -> None:
    """Make a sandbox run that is under way."""
    now = timezone.now()
    SandboxRun.objects.create(
        id=new_id("run"),
        project=project(make_account().did),
        requested_by="did:a",
        status="running",
        inputs="{}",
        worker="w",
        created_at=now,
        started_at=now,
        **members,
    )


def remote_run(stage: Stage) -> None:
    runner = stage.open.enter_context(sandbox_runner("secret"))
    SandboxSettings.objects.create(runner="http", base_url=runner.base_url, secret="secret")
    running(runner="http")
    report = {"sequence": 7, "status": "succeeded", "stdout": "out", "stderr": "", "exitCode": 0}
    runner.status, runner.report = 200, {"runId": SandboxRun.objects.get().id, **report}


def old_runs(stage: Stage) -> None:
    for days in range(20, 20 + ROWS):
        at = timezone.now() - timedelta(days=days)
        JobRun.objects.create(job="old", started_at=at, ended_at=at, outcome="done")


def sandbox_states() -> list[tuple[str, str]]:
    """List how the sandbox runs ended."""
    return list(SandboxRun.objects.values_list("status", "error_code"))


def old_keys(stage: Stage) -> None:
    """Leave active keys that have signed for a month and for a year, and their successors."""
    SigningKey.objects.all().delete()
    signing_keys.ensure_active_key(now=timezone.now() - timedelta(days=31))
    receipt_keys.ensure_active_key(now=timezone.now() - timedelta(days=366))


def key_states() -> Counter[str]:
    """Count the keys by state."""
    keys = (SigningKey, ReceiptKey)
    return Counter(state for model in keys for state in model.objects.values_list("state", flat=True))


def closed_accounts(stage: Stage) -> None:
    """Close accounts that have stored responses, most of them a while ago."""
    for number in range(ROWS + 1):
        person = make_account(f"closed{number}")
        at = timezone.now() - (timedelta(minutes=10) if number == ROWS else LONG)
        FILL["inference_stored_response"](timezone.now() + LONG, person.did)
        StoredResponse.objects.filter(pk=person.did).update(owner_kind="account", owner_key=person.did)
        closing.close(account=person, now=at)


def erased() -> tuple[int, int]:
    """Count the accounts that are erased, and the stored responses that are left."""
    return Closing.objects.exclude(erased_at=None).count(), StoredResponse.objects.count()


def low_wallet(stage: Stage, *, is_missed: bool = False) -> None:
    """Leave a wallet below the threshold of its owner, whose payment method is saved."""
    saver = Saver(stage.provider)
    saver.save_method()
    saver.enable()
    saver.spend(6 * USD)
    if is_missed:
        AutoTopUpCharge.objects.all().delete()


def topped_up() -> tuple[list[str], int, list[int]]:
    """Return the charges' states, how many owners were told, and what the charges brought in."""
    charges = list(AutoTopUpCharge.objects.values_list("pk", "status"))
    brought = Transfer.objects.filter(kind="payment", source__in=[pk for pk, _ in charges])
    events = Event.objects.filter(type="auto_top_up.charged").count()
    return [status for _, status in charges], events, list(brought.values_list("amount_microusd", flat=True))


WORK = {
    "accounts.tasks.erase_closed": Work(closed_accounts, erased, (ROWS, 1), ROWS),
    "accounts.tasks.purge_assertions": old_rows("accounts_consumed_assertion"),
    "accounts.tasks.purge_authorizations": old_rows("accounts_authorization_code"),
    "accounts.tasks.purge_cache": old_rows("accounts_cache_entry"),
    "accounts.tasks.purge_limits": old_rows("accounts_limit"),
    "accounts.tasks.purge_operator_log": old_log("django_admin_log"),
    "accounts.tasks.purge_portal_sessions": old_rows("usersessions_usersession"),
    "accounts.tasks.purge_proofs": old_rows("accounts_proof_replay"),
    "accounts.tasks.tend_signing_keys": Work(
        old_keys,
        key_states,
        Counter(passive=1, retired=1, active=2, pending=2),
    ),
    "billing.tasks.audit_ledger": Work(overdue_calls, call_states, Counter(dispatched=ROWS)),
    "billing.tasks.audit_whole_ledger": Work(overdue_calls, call_states, Counter(dispatched=ROWS)),
    "billing.tasks.charge_auto_top_ups": Work(low_wallet, topped_up, (["succeeded"], 1, [20 * USD]), 1),
    "billing.tasks.check_margins": Work(sold_below_cost, ModelMargin.objects.exclude(negative_since=None).count, 1, 1),
    "billing.tasks.collect_invoices": Work(owed_month, collected, (["paid"], 1, ["succeeded"])),
    "billing.tasks.find_auto_top_ups": Work(
        partial(low_wallet, is_missed=True), lambda: AutoTopUpCharge.objects.filter(status="waiting").count(), 1, 1
    ),
    "billing.tasks.match_payments": Work(
        unknown_charge, lambda: (ProviderMovement.objects.count(), PaymentDifference.objects.count()), (1, 1)
    ),
    "billing.tasks.merge_lots": Work(
        many_credits,
        lambda: (Purse(key=OWNER).wallet.credits_microusd, CreditLot.objects.filter(closed_at=None).count() < 64),
        (100, True),
    ),
    "billing.tasks.purge_events": old_rows("billing_provider_event"),
    "billing.tasks.purge_limit_uses": old_rows("billing_limit_use"),
    "billing.tasks.purge_replays": old_rows("billing_stored_replay"),
    "billing.tasks.reap": Work(overdue_calls, call_states, Counter(review=ROWS), ROWS),
    "billing.tasks.reconcile": Work(calls_in_review, call_states, Counter(settled=ROWS), ROWS),
    "billing.tasks.reconcile_payments": Work(
        payment_without_an_event, booked, [("payment", 5_000_000), ("refund", 1_000_000)]
    ),
    "billing.tasks.roll_up_usage": Work(
        settled_calls, lambda: sum(UsageDay.objects.values_list("calls", flat=True)), ROWS, ROWS
    ),
    "billing.tasks.seal_ledger": Work(sealable, Seal.objects.count, 1, 1),
    "billing.tasks.sweep_lots": Work(
        expired_credits, CreditLot.objects.filter(remaining_microusd__gt=0).count, 0, ROWS
    ),
    "inference.tasks.purge_responses": old_rows("inference_stored_response"),
    "integrations.tasks.ask_runner": Work(remote_run, sandbox_states, [("succeeded", "")]),
    "integrations.tasks.purge_ci_runs": old_rows("integrations_cirun"),
    "integrations.tasks.purge_executions": old_rows("integrations_sandboxrun"),
    "integrations.tasks.tend_executions": Work(
        lambda stage: running(heartbeat_at=timezone.now() - timedelta(minutes=5)),
        sandbox_states,
        [("failed", "worker_lost")],
        1,
    ),
    "gateway.core.events.tasks.purge_events": old_rows("events_delivery"),
    "gateway.core.jobs.tasks.purge_runs": Work(old_runs, JobRun.objects.filter(job="old").count, 0, ROWS),
    "gateway.core.telemetry.tasks.purge_telemetry": old_rows("telemetry_request"),
    "judgement.tasks.purge_answer_counts": old_rows("judgement_answercount"),
    "organizations.tasks.bill_seats": Work(
        lambda stage: Tenant(stage.provider),
        lambda: list(Invoice.objects.values_list("status", flat=True)),
        ["draft"],
        1,
    ),
    "organizations.tasks.blank_invitation_emails": Work(
        lambda stage: [invitation(timezone.now() - LONG * (number > 0)) for number in range(ROWS + 1)],
        Invitation.objects.filter(email="guest@example.com").count,
        1,
        ROWS,
    ),
    "organizations.tasks.follow_debts": Work(
        debtor, lambda: list(Organization.objects.values_list("is_past_due", flat=True)), [True], 1
    ),
    "organizations.tasks.purge_audit_log": old_log("organizations_auditentry"),
}
