"""What of keys and events' endpoints needs a person, and what a new gateway lacks."""

from datetime import datetime, timedelta
from typing import Any

from accounts.tasks import RECEIPT_KEY_LIFETIME, SIGNING_KEY_LIFETIME
from gateway.core.console import needs
from gateway.core.console.needs import Need

OVERDUE = timedelta(days=1)
"""The time after which a job that rotates keys should have done so."""

LINES_MAX = 10

_KEY = """
SELECT count(*), min(activated_at), '', 'it should have been rotated', '' FROM {table}
 WHERE state = 'active' AND activated_at < %({parameter})s
"""
_ENDPOINTS = f"""
SELECT count(*) OVER (), failing_since, name, coalesce(nullif(disabled_reason, ''), 'its last attempts failed'), id::text
  FROM events_endpoint
 WHERE (enabled AND failing_since IS NOT NULL) OR (NOT enabled AND disabled_reason <> '')
 ORDER BY failing_since, id LIMIT {LINES_MAX}
"""  # noqa: S608 - a number
_NO_PRODUCT = "SELECT 1, NULL::timestamptz, '', '', '' WHERE NOT EXISTS (SELECT FROM accounts_product)"


def _signing_since(now: datetime) -> dict[str, Any]:
    return {"accounts_signing_since": now - SIGNING_KEY_LIFETIME - OVERDUE}


def _receipts_since(now: datetime) -> dict[str, Any]:
    return {"accounts_receipts_since": now - RECEIPT_KEY_LIFETIME - OVERDUE}


needs.register(
    Need(
        key="events.endpoints",
        right="events.view_endpoint",
        one="Event endpoint that does not answer",
        many="Event endpoints that do not answer",
        page="events_endpoint_changelist",
        row_page="events_endpoint_change",
        sql=_ENDPOINTS,
    ),
    Need(
        key="accounts.signing_keys",
        right="accounts.view_signingkey",
        one="signing key is old",
        many="signing keys are old",
        page="accounts_signingkey_changelist",
        sql=_KEY.format(table="accounts_signing_key", parameter="accounts_signing_since"),
        parameters=_signing_since,
    ),
    Need(
        key="accounts.receipt_keys",
        right="accounts.view_receiptkey",
        one="receipt key is old",
        many="receipt keys are old",
        page="accounts_receiptkey_changelist",
        sql=_KEY.format(table="accounts_receipt_key", parameter="accounts_receipts_since"),
        parameters=_receipts_since,
    ),
    Need(
        key="accounts.no_product",
        right="accounts.add_product",
        one="Add a product: the app or service that your customers use",
        many="",
        page="accounts_product_add",
        sql=_NO_PRODUCT,
        is_setup=True,
    ),
)
