"""What of the money needs a person."""

from datetime import datetime, timedelta
from typing import Any

from gateway.core.console import needs
from gateway.core.console.needs import Need

EVENT_WAITS = timedelta(minutes=10)
"""An event of the payment provider that was not handled for this long has failed: it is handled at once, and retried."""

_REVIEWS = """
SELECT count(*), min(created_at), '',
       concat_ws(', ', nullif(count(*) FILTER (WHERE created_at < %(now)s - interval '1 day'), 0) || ' older than a day',
                 nullif(count(*) FILTER (WHERE created_at < %(now)s - interval '1 hour'
                                           AND created_at >= %(now)s - interval '1 day'), 0) || ' older than an hour'), ''
  FROM billing_reservation WHERE closed_at IS NULL AND review_reason IS NOT NULL AND state = 'review'
"""
_LOST = """
SELECT count(*), min(found_at), '', '$' || to_char(coalesce(sum(charge_microusd), 0) / 1000000.0, 'FM999,999,999,990.000000')
       || ' on their receipts', ''
  FROM billing_lost_receipt WHERE outcome IS NULL
"""
_CHECKOUTS = "SELECT count(*), min(created_at), '', '', '' FROM billing_checkout WHERE status = 'review'"
_CHARGES = """
SELECT count(*), min(begun_at), '', '', '' FROM billing_auto_top_up_charge WHERE ended_at IS NULL AND status = 'review'
"""
_DIFFERENCES = """
SELECT count(*), min(d.found_at), '', '', '' FROM billing_payment_difference d
 WHERE NOT EXISTS (SELECT FROM billing_difference_closing c WHERE c.difference_id = d.id)
"""
_EVENTS = """
SELECT count(*), min(received_at), '', '', '' FROM billing_provider_event
 WHERE handled_at IS NULL AND received_at < %(billing_events_before)s
"""
_PAST_DUE = """
SELECT count(*), min(issued_at), '', '$' || to_char(sum(due_microusd) / 1000000.0, 'FM999,999,999,990.00') || ' are owed', ''
  FROM billing_invoice WHERE status = 'past_due'
"""
_MARGINS = """
SELECT count(*), min(negative_since), '', string_agg(model, ', ' ORDER BY negative_since, model) FILTER (WHERE place <= 5), ''
  FROM (SELECT model, negative_since, row_number() OVER (ORDER BY negative_since, model) AS place
          FROM billing_model_margin WHERE negative_since IS NOT NULL) m
"""
# The newest run of each audit that ended, if it found something; and since when every run did.
_AUDIT = """
SELECT sum((newest.counts ->> 'findings')::bigint)::bigint, min(begun.at), '', 'the log names them', ''
  FROM unnest(ARRAY['billing.tasks.audit_ledger', 'billing.tasks.audit_whole_ledger']) AS audit (job),
       LATERAL (SELECT * FROM jobs_run r WHERE r.job = audit.job AND r.ended_at IS NOT NULL ORDER BY r.id DESC LIMIT 1) newest,
       LATERAL (SELECT min(r.started_at) AS at FROM jobs_run r
                 WHERE r.job = audit.job AND r.counts ? 'findings'
                   AND r.id > coalesce((SELECT max(s.id) FROM jobs_run s WHERE s.job = audit.job AND s.outcome = 'done'
                                           AND NOT s.counts ? 'findings'), 0)) begun
 WHERE newest.counts ? 'findings'
"""


def _events_before(now: datetime) -> dict[str, Any]:
    return {"billing_events_before": now - EVENT_WAITS}


needs.register(
    Need(
        key="billing.audit",
        right="jobs.view_jobrun",
        one="finding of the ledger's audit",
        many="findings of the ledger's audit",
        page="jobs_jobrun_changelist",
        query="?job=billing.tasks.audit_ledger",
        sql=_AUDIT,
        badge="jobs.states",
        is_urgent=True,
    ),
    Need(
        key="billing.lost",
        right="billing.view_lostreceipt",
        one="receipt was lost by the database",
        many="receipts were lost by the database",
        page="billing_lostreceipt_changelist",
        query="?state=open",
        sql=_LOST,
        is_urgent=True,
    ),
    Need(
        key="billing.differences",
        right="billing.view_paymentdifference",
        one="payment differs from the provider's balance",
        many="payments differ from the provider's balance",
        page="billing_paymentdifference_changelist",
        query="?state=open",
        sql=_DIFFERENCES,
    ),
    Need(
        key="billing.reviews",
        right="billing.view_call",
        one="call waits for a decision",
        many="calls wait for a decision",
        page="billing_call_changelist",
        query="?state__exact=review",
        sql=_REVIEWS,
    ),
    Need(
        key="billing.checkouts",
        right="billing.view_checkout",
        one="payment in review",
        many="payments in review",
        page="billing_checkout_changelist",
        query="?status__exact=review",
        sql=_CHECKOUTS,
    ),
    Need(
        key="billing.charges",
        right="billing.view_autotopupcharge",
        one="automatic charge in review",
        many="automatic charges in review",
        page="billing_autotopupcharge_changelist",
        query="?status__exact=review",
        sql=_CHARGES,
    ),
    Need(
        key="billing.events",
        right="billing.view_providerevent",
        one="webhook of the payment provider was not handled",
        many="webhooks of the payment provider were not handled",
        page="billing_providerevent_changelist",
        query="?handled_at__isempty=1",
        sql=_EVENTS,
        parameters=_events_before,
    ),
    Need(
        key="billing.past_due",
        right="billing.view_invoice",
        one="invoice is past due",
        many="invoices are past due",
        page="billing_invoice_changelist",
        query="?status__exact=past_due",
        sql=_PAST_DUE,
    ),
    Need(
        key="billing.margins",
        right="billing.view_marginday",
        one="model is sold below its cost",
        many="models are sold below their cost",
        page="billing_marginday_changelist",
        sql=_MARGINS,
    ),
)
