"""What people are mailed about money: wallets, payments, invoices and retired models. Budgets are in `budget_mails`."""

from typing import Any

from django.urls import reverse

from billing.models import Invoice
from billing.queries import budget_mails
from billing.rules import auto_top_up_labels, invoice_labels
from gateway.core.contract.amounts import usd
from gateway.core.events.mail_people import Owners, owners_of
from gateway.core.events.models import Event
from gateway.core.events.registry import MailDraft
from gateway.core.events.rules.mail_kinds import INVOICE, MODEL, PAYMENT, WALLET, MailKind


def of_low_wallet(event: Event) -> list[MailDraft]:
    """Return the mails about a wallet below its threshold: `{availableMicrousd, thresholdMicrousd}`."""
    context = {
        "available": usd(event.data["availableMicrousd"]),
        "threshold": usd(event.data["thresholdMicrousd"]),
        "wallet_path": _page(event, "wallet"),
    }
    return _to_the_owner(event, "wallet_low", WALLET, context)


def of_empty_wallet(event: Event) -> list[MailDraft]:
    """Return the mails about an empty wallet."""
    return _to_the_owner(event, "wallet_empty", WALLET, {"wallet_path": _page(event, "wallet")})


def of_payment(event: Event) -> list[MailDraft]:
    """Return the mails about money that was received: `{transactionId, amountMicrousd}`."""
    context = {
        "amount": usd(event.data["amountMicrousd"]),
        "transaction": event.data["transactionId"],
        "available": usd(event.data.get("availableMicrousd")),
        "payment_path": _page(event, "payment", event.data["transactionId"]),
    }
    return _to_the_owner(event, "payment_received", PAYMENT, context)


def of_failed_payment(event: Event) -> list[MailDraft]:
    """Return the mails about a refused payment, of an invoice or into the wallet: `{amountMicrousd, invoiceId | transactionId,
    failureCode}`."""
    invoice = Invoice.objects.filter(pk=event.data.get("invoiceId")).first()
    transaction_id = event.data.get("transactionId", "")
    page = _page(event, "payment", transaction_id) if transaction_id else _page(event, "wallet")
    code = event.data.get("failureCode")
    context = {
        "amount": usd(event.data["amountMicrousd"]),
        "transaction": transaction_id,
        "number": invoice.number if invoice else "",
        "reason": invoice_labels.failure(code) if code else "",
        "payment_path": _page(event, "invoice", invoice.pk) if invoice else page,
    }
    return _to_the_owner(event, "payment_failed", PAYMENT, context)


def of_issued_invoice(event: Event) -> list[MailDraft]:
    """Return the mails about an issued invoice: `{invoiceId, number, totalMicrousd}`."""
    return _of_invoice(event, "invoice_issued")


def of_charged_invoice(event: Event) -> list[MailDraft]:
    """Return the mails about a charged invoice."""
    return _of_invoice(event, "invoice_charged")


def of_past_due_invoice(event: Event) -> list[MailDraft]:
    """Return the mails about an invoice that is past due."""
    return _of_invoice(event, "invoice_past_due")


def of_retired_model(event: Event) -> list[MailDraft]:
    """Return the mails about a model that the owner used and that is no longer offered: `{model}`."""
    context = {"model_name": event.data["model"], "models_path": reverse("portal_developers")}
    return _to_the_owner(event, "model_retired", MODEL, context)


def of_top_up(event: Event) -> list[MailDraft]:
    """Return the mails about an automatic top-up, one template for each of its types: `{amountMicrousd, transactionId}` of a
    charge, `{reason}` of a pause."""
    context = {
        "amount": usd(event.data.get("amountMicrousd")),
        "transaction": event.data.get("transactionId", ""),
        "reason": auto_top_up_labels.pause(event.data["reason"]) if "reason" in event.data else "",
        "wallet_path": _page(event, "wallet"),
        "top_up_path": _page(event, "top_up"),
    }
    return _to_the_owner(event, event.type.replace(".", "_"), PAYMENT, context)


def _of_invoice(event: Event, template: str) -> list[MailDraft]:
    invoice = Invoice.objects.get(pk=event.data["invoiceId"], org_id=event.owner_key)
    context = {
        "number": invoice.number,
        "total": usd(invoice.total_microusd),
        "month": f"{invoice.period_start:%B %Y}",
        "invoice_path": _page(event, "invoice", invoice.pk),
    }
    return _to_the_owner(event, template, INVOICE, context)


def _to_the_owner(event: Event, template: str, kind: MailKind, context: dict[str, Any]) -> list[MailDraft]:
    """Address a mail to everybody who gets what concerns the owner's money."""
    owners = _owners(event)
    shown = {**context, "owner_name": owners.name(event.owner_key)}
    return [MailDraft(person, template, kind.name, shown) for person in owners.people(event.owner_key)]


def _page(event: Event, name: str, *of: str) -> str:
    return _owners(event).page(event.owner_key, name, *of)


def _owners(event: Event) -> Owners:
    return owners_of(event.owner_kind)


MAILS = {
    "auto_top_up.action_required": of_top_up,
    "auto_top_up.charged": of_top_up,
    "auto_top_up.paused": of_top_up,
    "budget.threshold": budget_mails.of_threshold,
    "invoice.charged": of_charged_invoice,
    "invoice.issued": of_issued_invoice,
    "invoice.past_due": of_past_due_invoice,
    "model.retired": of_retired_model,
    "payment.failed": of_failed_payment,
    "payment.received": of_payment,
    "wallet.empty": of_empty_wallet,
    "wallet.low": of_low_wallet,
}
