"""The schedule of all periodic jobs, as seconds between runs by task name.

Each job may run twice or late. A run that finds no worker within its interval is dropped, so that a worker that was
down does not repeat the job for an hour.
"""

from typing import Any

MINUTE = 60.0
HOUR = 60 * MINUTE

INTERVAL_SECONDS = {
    "accounts.tasks.erase_closed": 5 * MINUTE,
    "accounts.tasks.purge_assertions": 5 * MINUTE,
    "accounts.tasks.purge_authorizations": 5 * MINUTE,
    "accounts.tasks.purge_cache": 5 * MINUTE,
    "accounts.tasks.purge_limits": 5 * MINUTE,
    "accounts.tasks.purge_operator_log": HOUR,
    "accounts.tasks.purge_portal_sessions": 5 * MINUTE,
    "accounts.tasks.purge_proofs": MINUTE,
    "accounts.tasks.tend_signing_keys": 10 * MINUTE,
    "billing.tasks.audit_ledger": 10 * MINUTE,
    "billing.tasks.audit_whole_ledger": 24 * HOUR,
    "billing.tasks.charge_auto_top_ups": 15.0,
    "billing.tasks.check_margins": 10 * MINUTE,
    "billing.tasks.collect_invoices": 30.0,
    "billing.tasks.find_auto_top_ups": 5 * MINUTE,
    "billing.tasks.match_payments": HOUR,
    "billing.tasks.merge_lots": 5 * MINUTE,
    "billing.tasks.purge_events": HOUR,
    "billing.tasks.purge_limit_uses": 10 * MINUTE,
    "billing.tasks.purge_replays": MINUTE,
    "billing.tasks.reap": 15.0,
    "billing.tasks.reconcile": 30.0,
    "billing.tasks.reconcile_payments": 30.0,
    "billing.tasks.roll_up_usage": 10 * MINUTE,
    "billing.tasks.seal_ledger": 10 * MINUTE,
    "billing.tasks.sweep_lots": 5 * MINUTE,
    "inference.tasks.purge_responses": MINUTE,
    "integrations.tasks.ask_runner": MINUTE,
    "integrations.tasks.purge_ci_runs": HOUR,
    "integrations.tasks.purge_executions": HOUR,
    "integrations.tasks.tend_executions": 15.0,
    "gateway.core.events.tasks.purge_events": HOUR,
    "gateway.core.jobs.tasks.purge_runs": HOUR,
    "gateway.core.telemetry.tasks.purge_telemetry": 10 * MINUTE,
    "judgement.tasks.purge_answer_counts": HOUR,
    "organizations.tasks.bill_seats": 10 * MINUTE,
    "organizations.tasks.blank_invitation_emails": HOUR,
    "organizations.tasks.follow_debts": 15.0,
    "organizations.tasks.purge_audit_log": HOUR,
}


def beat_schedule() -> dict[str, dict[str, Any]]:
    """Return the schedule in the format of Celery's beat."""
    return {
        name: {"task": name, "schedule": seconds, "options": {"expires": seconds}}
        for name, seconds in INTERVAL_SECONDS.items()
    }
