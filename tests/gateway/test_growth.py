"""What grows: every table that somebody without an account, or anybody at will, can fill is emptied by a job."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.sessions.models import Session
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import (
    Account,
    AuthorizationCode,
    AuthorizationRequest,
    CacheEntry,
    ConsumedAssertion,
    DeviceSession,
    Integration,
    Limit,
    ProofReplay,
    RefusedAssertion,
)
from billing.models import LimitUse, ProviderEvent, StoredReplay
from gateway.celery import app
from gateway.core.contract.ids import new_id
from gateway.core.events.models import Delivery, Endpoint, Event, Mail
from gateway.core.telemetry.models import HourlyTraffic, RequestTrace
from gateway.schedule import INTERVAL_SECONDS
from gateway.settings import retention
from inference.models import StoredResponse
from integrations.models import CIProvider, CIRun, EvolutionJob, Project, SandboxRun
from judgement.models import AnswerCount
from organizations.models import AuditEntry, Invitation, Membership, Organization
from tests.contract.test_docs import rows_of
from tests.factories.accounts import make_account, make_integration
from tests.factories.billing import ANSWER, Purse, settle
from tests.factories.organizations import Team
from tests.factories.proofs import ProductServer
from tests.integrations.test_projects import project

pytestmark = pytest.mark.django_db

BLANKS = "organizations.tasks.blank_invitation_emails"
LONG = timedelta(days=400)
KEY = "kept"
AVOIDABLE = ("seqscan", "bitmapscan", "sort", "incremental_sort")
SIGN_IN: dict[str, Any] = {"client_id": "https://app.example", "redirect_uri": "https://app.example/cb", "scopes": []}

# Books: what was agreed, paid and done; nothing is ever deleted.
BOOKS = {
    *("billing_auto_top_up", "billing_auto_top_up_charge", "billing_payment_method"),
    *("billing_budget", "billing_checkout", "billing_credit_lot", "billing_external_mapping", "billing_loss"),
    *(
        "billing_invoice",
        "billing_invoice_line",
        "billing_invoice_payment",
        "billing_credit_note",
        "billing_seat_price",
    ),
    "billing_lost_receipt",
    *("billing_difference_closing", "billing_matched_day", "billing_payment_difference", "billing_provider_movement"),
    *(
        "billing_ledger_month",
        "billing_cost_version",
        "billing_price_version",
        "billing_reservation",
        "billing_seal",
        "billing_transfer",
        "billing_usage_record",
    ),
    *(
        "billing_takeover",
        "billing_wallet",
        "organizations_entitlement",
    ),
    *("organizations_entitlementinterval", "organizations_invitation", "organizations_membership"),
    *("organizations_organization", "organizations_seat", "organizations_seatinterval"),
}
# Sums of the books: at most a row for each of their calls, far fewer where there are many.
SUMS = {
    *("billing_active_account", "billing_active_day", "billing_margin_day", "billing_model_margin"),
    *("billing_usage_day", "billing_usage_subject", "telemetry_day"),
}
# What operators write, and the groups of their roles.
CONFIGURATION = {
    *("accounts_note", "accounts_operator_role"),
    *("accounts_appearance_product", "accounts_integration", "accounts_product", "accounts_public_client"),
    *(
        "accounts_account_groups",
        "accounts_account_user_permissions",
        "accounts_receipt_key",
        "accounts_signing_key",
        "socialaccount_socialapp",
    ),
    *(
        "auth_group",
        "auth_group_permissions",
        "auth_permission",
        "billing_limit",
        "django_content_type",
        "inference_alias",
    ),
    *(
        "inference_price_proposal",
        "inference_deployment",
        "inference_rawmodel",
        "inference_rawmodel_integrations",
        "inference_upstream",
    ),
    *("judgement_judgementfallback", "judgement_judgementsettings"),
    *("integrations_ciprovider", "integrations_cirepository", "integrations_evolutionprogram"),
    *("events_endpoint", "events_subscription"),
    *("integrations_integrationswitch", "integrations_project", "integrations_sandboxsettings"),
}
# People, with what they sign in by. Sign-ups of one address are limited.
PEOPLE = {
    *("accounts_account", "accounts_closing", "account_emailaddress", "mfa_authenticator"),
    "socialaccount_socialaccount",
}
# What an owner has as many of as it has accounts, clients or projects, or as a limit allows. Meters are of owners,
# members and configured limits. Representations come from the answers of configured models, counters from their usages, up to a limit.
# Deployments that fail have a row each, and their trials as many as are kept of each; so has each folder of journals, for some days.
BOUNDED = {
    *("accounts_consent", "billing_limit_meter", "events_mail_opt_out", "events_owner", "inference_representation"),
    *("inference_deployment_trouble", "inference_journal_folder", "inference_trial", "inference_unpriced_counter"),
    *("integrations_accountkey", "integrations_evolutionartifact"),
    *("integrations_evolutionevidence", "integrations_evolutionrevision", "integrations_executionconfig"),
}
# The record of the jobs itself, purged as tests/gateway/jobs says: running the jobs writes to it.
RECORDS = {"jobs_run"}
# One row, or none: confirmations are signed links, and no token of an identity provider is stored.
FEW = {"accounts_replay_epoch", "account_emailconfirmation", "billing_usage_horizon", "socialaccount_socialtoken"}


def code(at: datetime, name: str) -> None:
    who = Account.objects.first() or make_account()
    AuthorizationCode.objects.create(
        **SIGN_IN, code_sha256=name.encode(), account=who, code_challenge=name, created_at=at, expires_at=at
    )


def device(at: datetime, name: str) -> None:
    who = Account.objects.first() or make_account()
    DeviceSession.objects.create(id=name, account=who, client_id="mobile", created_at=at, expires_at=at)


def browser(at: datetime, name: str) -> None:
    who = Account.objects.first() or make_account()
    Session.objects.create(session_key=name, session_data="", expire_date=at)
    UserSession.objects.create(user=who, session_key=name, ip="192.0.2.1", user_agent="")


def answer(at: datetime, name: str) -> None:
    call = Purse().pay(100).call(10, name)
    settle(call, 5, replay=ANSWER)
    StoredReplay.objects.filter(pk=call).update(expires_at=at)


def audit_entry(at: datetime, name: str) -> None:
    of, _ = Organization.objects.get_or_create(id="org_1", defaults={"name": "A", "created_at": at, "changed_at": at})
    AuditEntry.objects.create(organization=of, actor_did="did:a", action="budget.set", subject=name, created_at=at)


def operator_entry(at: datetime, name: str) -> None:
    who = Account.objects.first() or make_account()
    LogEntry.objects.create(user=who, action_time=at, object_repr=name, action_flag=CHANGE)


def ci_run(at: datetime, name: str) -> None:
    of = Project.objects.first() or project("did:a")
    provider, _ = CIProvider.objects.get_or_create(name="ci", defaults={"created_at": at})
    CIRun.objects.create(
        id=name, project=of, provider=provider, external_id=name, status="failed", created_at=at, updated_at=at
    )


def event(at: datetime, name: str) -> Event:
    return Event.objects.create(
        public_id=name,
        owner_kind="account",
        owner_key="did:a",
        sequence=Event.objects.count(),
        type="wallet.low",
        data={},
        created_at=at,
        fanned_out_at=at,
    )


def delivery(at: datetime, name: str) -> None:
    to, _ = Endpoint.objects.get_or_create(name="studio", defaults={"product": "studio", "types": []})
    Delivery.objects.create(event=event(at, name), endpoint=to, next_at=at)


def sandbox_run(at: datetime, name: str) -> None:
    of = Project.objects.first() or project("did:a")
    SandboxRun.objects.create(id=name, project=of, status="failed", created_at=at, finished_at=at)


def invitation(at: datetime) -> Invitation:
    host = Membership.objects.first() or Team()["olivia"]
    name = new_id("inv")
    return Invitation.objects.create(
        id=name,
        organization=host.organization,
        role="member",
        email="guest@example.com",
        token_sha256=name.encode(),
        invited_by=host,
        created_at=at,
        expires_at=at + Invitation.LIFETIME,
    )


FILL: dict[str, Callable[[datetime, str], object]] = {
    "accounts_limit": lambda at, name: Limit.objects.create(digest=name.encode(), used=1, ends_at=at),
    "accounts_cache_entry": lambda at, name: CacheEntry.objects.create(key=name, value="", expires_at=at),
    "accounts_proof_replay": lambda at, name: ProofReplay.objects.create(digest=name.encode(), expires_at=at),
    "accounts_consumed_assertion": lambda at, name: ConsumedAssertion.objects.create(
        issuer="https://studio.example", jti=name, expires_at=at
    ),
    "accounts_refused_assertion": lambda at, name: RefusedAssertion.objects.create(
        integration=Integration.objects.first() or make_integration(ProductServer()), cause=name, count=1, last_at=at
    ),
    "accounts_authorization_request": lambda at, name: AuthorizationRequest.objects.create(
        **SIGN_IN, id=name, browser_sha256=b"", state="", code_challenge="", created_at=at, expires_at=at
    ),
    "accounts_authorization_code": code,
    "accounts_device_session": device,
    "django_session": lambda at, name: Session.objects.create(session_key=name, session_data="", expire_date=at),
    "usersessions_usersession": browser,
    "billing_provider_event": lambda at, name: ProviderEvent.objects.create(
        provider="stripe", event_id=name, type="charge.refunded", object_ref="ch_1", received_at=at
    ),
    "billing_limit_use": lambda at, name: LimitUse.objects.create(scope="alias", subject=name, tokens=1, used_at=at),
    "billing_stored_replay": answer,
    "events_event": event,
    "events_delivery": delivery,
    "events_mail": lambda at, name: Mail.objects.create(
        event=event(at, name), recipient="did:a", kind="wallet", template="wallet_low", subject="", next_at=at
    ),
    "django_admin_log": operator_entry,
    "organizations_auditentry": audit_entry,
    "integrations_cirun": ci_run,
    "integrations_evolutionjob": lambda at, name: EvolutionJob.objects.create(
        id=name, owner_kind="account", owner_key="did:a", status="failed", created_at=at, finished_at=at
    ),
    "integrations_sandboxrun": sandbox_run,
    "telemetry_hour": lambda at, name: HourlyTraffic.objects.create(hour=at, model=name),
    "telemetry_request": lambda at, name: RequestTrace.objects.create(
        request_id=name, began_at=at, duration_microseconds=1, overhead_microseconds=1
    ),
    "judgement_answercount": lambda at, name: AnswerCount.objects.create(
        identity=name, kind="noul", day=at.date(), bucket=0, shard=0, count=1
    ),
    "inference_stored_response": lambda at, name: StoredResponse.objects.create(
        id=name, owner_kind="account", owner_key="did:a", response="{}", input_items="[]", created_at=at, expires_at=at
    ),
}


def code_of_page(heading: str) -> list[list[list[str]]]:
    """Return the words in code type of each cell of the page's table under a heading."""
    return [[re.findall(r"`([\w.]+)`", cell) for cell in row] for row in rows_of("retention.md", heading)]


def jobs() -> dict[str, str]:
    """Return the job that empties each table, as the page says."""
    return {table: job for tables, _, _, [job] in code_of_page("What is purged") for table in tables}


def run(job: str) -> Any:
    app.loader.import_default_modules()
    return app.tasks[job]()


@pytest.fixture(autouse=True)
def audit_for_a_year(settings: Any) -> None:
    """Set an age at which the logs are purged that are kept for ever by default."""
    settings.AUDIT_DAYS = 365


def test_every_table_is_emptied_by_a_job_or_retained_for_a_reason() -> None:
    tables = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    kinds = (BOOKS, SUMS, CONFIGURATION, PEOPLE, FEW, BOUNDED, RECORDS, set(FILL))
    assert set().union(*kinds) == tables
    assert sum(map(len, kinds)) == len(tables)


def test_the_page_lists_every_table() -> None:
    documented = [table for tables, _ in code_of_page("What is kept") for table in tables]
    assert set(jobs()) == set(FILL) | RECORDS
    assert set(documented) == BOOKS | SUMS | CONFIGURATION | PEOPLE | FEW | BOUNDED
    assert len(documented) == len(set(documented))
    assert {job for job in INTERVAL_SECONDS if "purge" in job} == set(jobs().values())


def test_the_page_names_every_setting() -> None:
    headings = ("What is purged", "What is blanked")
    named = {name for heading in headings for _, _, words, _ in code_of_page(heading) for name in words}
    named |= {name for [name], _ in code_of_page("Old months")}
    assert named == {name for name in vars(retention) if name.isupper()}


@pytest.mark.parametrize("table", FILL)
def test_its_job_empties(table: str) -> None:
    [model] = [each for each in apps.get_models() if each._meta.db_table == table]
    now = timezone.now()
    for number in range(5):
        FILL[table](now - LONG, f"old {number}")
    FILL[table](now + timedelta(minutes=5), KEY)
    assert model._default_manager.count() == 6
    run(jobs()[table])
    assert model._default_manager.count() == 1
    run(jobs()[table])
    assert model._default_manager.count() == 1


def test_the_page_lists_what_is_blanked() -> None:
    rows = [(table, column, job) for [table], [column], _, [job] in code_of_page("What is blanked")]
    assert rows == [("organizations_invitation", "email", BLANKS)]
    assert {job for job in INTERVAL_SECONDS if "blank" in job} == {BLANKS}


def test_invitations_keep_their_row_and_lose_their_address() -> None:
    invitations = [invitation(timezone.now() - timedelta(days=days)) for days in (400, 31, 29, 0)]
    assert run(BLANKS) == 2
    found = {one.pk: one for one in Invitation.objects.all()}
    assert [found[one.pk].email for one in invitations] == [None, None, "guest@example.com", "guest@example.com"]
    for one in invitations:
        one.email = found[one.pk].email
        assert {**vars(found[one.pk]), "_state": None} == {**vars(one), "_state": None}
    assert run(BLANKS) == 0


@pytest.mark.parametrize("job", sorted({*jobs().values(), BLANKS}))
def test_a_purge_reads_an_index_in_its_order(job: str) -> None:
    """Nothing is read but what is deleted, however large the table.

    With few rows, or with statistics left behind by a test that committed many, scanning or sorting everything is cheaper.
    So both are forbidden: they remain in a plan only if no index makes them unnecessary.
    """
    with CaptureQueriesContext(connection) as queries:
        run(job)
    batches = [query["sql"] for query in queries if "SKIP LOCKED" in query["sql"]]
    assert batches
    with connection.cursor() as cursor:
        cursor.execute("; ".join(f"SET LOCAL enable_{node} = off" for node in AVOIDABLE))
        for batch in batches:
            cursor.execute(f"EXPLAIN {batch}")
            plan = "\n".join(row[0] for row in cursor.fetchall())
            assert "LIMIT" in batch, batch
            assert "Index" in plan, plan
            assert "Seq Scan" not in plan, plan
            assert "Sort" not in plan, plan


def test_the_audit_log_is_kept_for_ever_by_default(settings: Any) -> None:
    assert retention.AUDIT_DAYS is None
    settings.AUDIT_DAYS = None
    at = timezone.now() - timedelta(days=3660)
    audit_entry(at, "old")
    operator_entry(at, "old")
    assert run("organizations.tasks.purge_audit_log") == run("accounts.tasks.purge_operator_log") == 0
    assert AuditEntry.objects.count() == LogEntry.objects.count() == 1


def test_the_database_refuses_to_forget_a_year_of_the_audit_log(settings: Any) -> None:
    settings.AUDIT_DAYS = 1
    audit_entry(timezone.now() - timedelta(days=364), "young")
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        run("organizations.tasks.purge_audit_log")
    audit_entry(timezone.now() - timedelta(days=366), "old")
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        AuditEntry.objects.filter(subject="old").update(subject="other")
    assert AuditEntry.objects.count() == 2
