"""One mail of each template, with contexts like those that the apps give."""

import json
from typing import Any

from gateway.core.events.models import Event, Mail
from gateway.core.events.queries.mail_messages import subject_of
from gateway.core.events.rules.mail_kinds import KINDS

OWNED = {"owner_name": "Acme Research", "wallet_path": "/organizations/org_1/wallet"}
INVOICE = {
    "owner_name": "Acme Research",
    "number": "INV-000042",
    "total": "$1,240.00",
    "month": "October 2026",
    "invoice_path": "/organizations/org_1/invoices/inv_1",
}
TOP_UP = {**OWNED, "amount": "$50.00", "transaction": "txn_01k", "top_up_path": "/organizations/org_1/wallet"}
SAMPLES: dict[str, tuple[str, dict[str, Any]]] = {
    "account_suspended": ("suspension", {}),
    "auto_top_up_action_required": ("payment", TOP_UP),
    "auto_top_up_charged": ("payment", TOP_UP),
    "auto_top_up_paused": ("payment", {**TOP_UP, "reason": "The card has expired. Save another payment method."}),
    "budget_threshold": (
        "budget",
        {
            "owner_name": "Acme Research",
            "whose_name": "Bob, Studio",
            "percent": 80,
            "is_used_up": False,
            "budget": "the monthly budget",
            "limit": "$100.00",
            "spent": "$80.12",
            "until": "1 December 2026, 00:00 UTC",
            "budgets_path": "/organizations/org_1/budgets",
        },
    ),
    "device_session_created": (
        "security",
        {
            "app_name": "Phone app",
            "device_name": "Alice's phone",
            "at": "27 November 2026, 12:00 UTC",
            "apps_path": "/apps",
        },
    ),
    "invitation": (
        "invitation",
        {
            "inviter_name": "Olivia Owner",
            "identity_name": "Olivia Owner (olivia@acme.example)",
            "organization_name": "Acme Research",
            "role": "member",
            "meaning": "A member can use the products that they have a seat for.",
            "until": "4 December 2026, 12:00 UTC",
            "invitation_path": "/organizations/invitation#token=abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq",
        },
    ),
    "invoice_charged": ("invoice", INVOICE),
    "invoice_issued": ("invoice", INVOICE),
    "invoice_past_due": ("invoice", INVOICE),
    "model_retired": ("model", {"model_name": "fast-1", "owner_name": "", "models_path": "/developers"}),
    "organization_suspended": (
        "suspension",
        {"owner_name": "Acme Research", "invoices_path": "/organizations/org_1/invoices"},
    ),
    "organization_suspended_by_operator": (
        "suspension",
        {
            "owner_name": "Acme Research",
            "text": "Invoice INV-000042 was paid with a stolen card.",
            "organization_path": "/organizations/org_1",
        },
    ),
    "payment_failed": (
        "payment",
        {
            **OWNED,
            "amount": "$40.00",
            "number": "INV-000042",
            "reason": "The bank declined the charge.",
            "payment_path": "/organizations/org_1/invoices/inv_1",
        },
    ),
    "payment_received": (
        "payment",
        {**OWNED, "amount": "$25.00", "transaction": "txn_01k", "available": "$25.80", "payment_path": "/wallet"},
    ),
    "second_factor_added": (
        "security",
        {
            "factor": "A passkey",
            "factor_name": "Alice's key",
            "at": "27 November 2026, 12:00 UTC",
            "security_path": "/account/2fa/",
        },
    ),
    "wallet_empty": ("wallet", OWNED),
    "wallet_low": ("wallet", {**OWNED, "owner_name": "", "available": "$0.80", "threshold": "$1.00"}),
}


def sample(template: str, *, name: str = "Alice", hostile: str | None = None) -> Mail:
    """Return the mail of a template, unsaved; every name in it is `hostile`, if that is given."""

    kind, context = SAMPLES[template]
    if hostile is not None:
        context = {key: hostile if key.endswith("_name") else value for key, value in context.items()}
    return Mail(
        pk=7,
        event=Event(public_id="evt_1"),
        recipient="did:web:studio.example:alice",
        to="alice@example.com",
        name=name if hostile is None else hostile,
        owner_kind="organization",
        owner_key="org_1",
        kind=kind,
        template=template,
        subject=subject_of(template, context),
        context=json.dumps(context),
        can_unsubscribe=KINDS[kind].can_unsubscribe,
    )
