"""What was said to a customer and done about it: alerts and mails, operators' notes, and the log."""

from datetime import datetime

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse

from accounts.models import DeviceSession, Note
from billing.models import AutoTopUp, AutoTopUpCharge, Budget, Checkout, CreditLot, Invoice, Limit, Wallet
from gateway.core.console import parties
from gateway.core.events.models import Mail, MailStatus
from gateway.customers.customer import MODELS, Customer
from gateway.customers.section import ROWS, Part, Section, label, link, list_of, when
from organizations.models import AuditEntry

COLOURS: dict[str, str] = {MailStatus.SENT: "success", MailStatus.FAILED: "danger", MailStatus.DUE: "info"}
LOG_ROWS = 20


def alerts(request: HttpRequest, customer: Customer, now: datetime) -> Section:
    """Return the newest mails to a person, or about an organization: low wallets, budgets, payments, sign-ins."""
    of_customer = {"owner_kind": customer.kind, "owner_key": customer.key}
    if customer.account is not None:
        of_customer = {"recipient": customer.key}
    found = Mail.objects.filter(**of_customer).defer("context").order_by("-id")
    rows = [
        (
            link("events_mail_change", one.subject, one.pk),
            one.to,
            label(MailStatus(one.status).label, COLOURS.get(one.status, "")),
            when(one.created_at),
        )
        for one in found[:ROWS]
    ]
    links = [list_of("events_mail", customer)]
    return Section("Alerts", ("What was said", "To", "State", "When"), rows, "Nothing was said.", links)


def notes(request: HttpRequest, customer: Customer, now: datetime) -> Section:
    """Return the newest notes of operators."""
    found = Note.objects.filter(owner_kind=customer.kind, owner_key=customer.key).select_related("author")
    rows = [(one.text, str(parties.of_row(one.author)), when(one.created_at)) for one in found.order_by("-id")[:ROWS]]
    empty = "No operator has written a note. Notes are never shown to the customer."
    return Section("Notes", ("Note", "By", "When"), rows, empty, [list_of("accounts_note", customer)])


def log(request: HttpRequest, customer: Customer, now: datetime) -> Section:
    """Return what operators did last about the customer, its money and its devices."""
    entries = LogEntry.objects.filter(_about(customer)).select_related("user", "content_type").order_by("-id")
    rows = [
        (
            when(one.action_time),
            str(parties.of_row(one.user)),
            one.content_type.name if one.content_type else "",
            one.get_change_message() or one.get_action_flag_display(),
        )
        for one in entries[:LOG_ROWS]
    ]
    page = reverse("admin:admin_logentry_changelist", query={"q": customer.row.pk})
    return Section(
        "Log", ("When", "Operator", "Table", "What"), rows, "No operator has done anything.", [("All", page)]
    )


def _about(customer: Customer) -> Q:
    """Select the entries about the customer's own row and the rows that belong to it, by the index of a row's entries.

    Those about single calls are left out, because a customer has too many: they are on the calls' pages.
    """
    wallet = customer.wallet.pk if customer.wallet else None
    rows: list[QuerySet] = [
        CreditLot.objects.filter(wallet=wallet, source_kind="console", closed_at=None),
        Checkout.objects.filter(owner_kind=customer.kind, owner_key=customer.key),
        Budget.objects.filter(wallet=wallet),
        AutoTopUp.objects.filter(pk=wallet),
        AutoTopUpCharge.objects.filter(wallet=wallet),
        Wallet.objects.filter(pk=wallet),
        Limit.objects.filter(scope=customer.kind, subject=customer.key),
    ]
    if customer.account is not None:
        rows.append(DeviceSession.objects.filter(account=customer.account))
    else:
        rows.append(Invoice.objects.filter(org_id=customer.key))
    about = Q(content_type=_type(MODELS[customer.kind]), object_id=str(customer.row.pk))
    for found in rows:
        keys = [str(key) for key in found.order_by("-pk").values_list("pk", flat=True)[:100]]
        about |= Q(content_type=_type(found.model), object_id__in=keys)
    return about


def _type(model: type) -> ContentType:
    return ContentType.objects.get_for_model(model)


def audit(request: HttpRequest, customer: Customer, now: datetime) -> Section:
    """Return what the members of an organization did last."""
    found = AuditEntry.objects.filter(organization_id=customer.key).order_by("-id")[:ROWS]
    rows = [(when(one.created_at), one.action, one.subject, one.actor_did) for one in found]
    links = [list_of("organizations_auditentry", customer)]
    return Section("Audit log", ("When", "Action", "Subject", "By"), rows, "Nothing has happened.", links)


PARTS = (
    Part(Mail, alerts),
    Part(Note, notes),
    Part(LogEntry, log),
    Part(AuditEntry, audit, ("organization",)),
)
