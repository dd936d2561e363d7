"""What the console calls each scheduled job, and says that it does. How often it runs is in the schedule."""

JOB_TEXTS: dict[str, tuple[str, str]] = {
    "accounts.tasks.erase_closed": (
        "Erase closed accounts",
        "Deletes the stored responses and answers of accounts that were closed, and whatever else is left of them.",
    ),
    "accounts.tasks.purge_assertions": (
        "Purge used assertions",
        "Deletes the records of product assertions that have expired and so cannot be used again.",
    ),
    "accounts.tasks.purge_authorizations": (
        "Purge sign-ins",
        "Deletes old authorization requests, authorization codes and ended device sessions.",
    ),
    "accounts.tasks.purge_cache": ("Purge the cache", "Deletes expired cache entries."),
    "accounts.tasks.purge_limits": ("Purge limits", "Deletes the counts of rate limits whose window has ended."),
    "accounts.tasks.purge_operator_log": (
        "Purge the operators' log",
        "Deletes log entries older than AUDIT_DAYS; nothing if that is not set.",
    ),
    "accounts.tasks.purge_portal_sessions": (
        "Purge portal sessions",
        "Deletes expired sessions of the portal and what is known about their browsers.",
    ),
    "accounts.tasks.purge_proofs": (
        "Purge used proofs",
        "Deletes the records of DPoP proofs that have expired and so cannot be used again.",
    ),
    "accounts.tasks.tend_signing_keys": (
        "Rotate signing keys",
        "Rotates the keys that sign tokens and receipts when they are due, and retires keys whose tokens have all expired.",
    ),
    "billing.tasks.audit_ledger": (
        "Audit the ledger",
        "Checks all balances, and what closed within the last hour. Each finding raises an alarm.",
    ),
    "billing.tasks.audit_whole_ledger": (
        "Audit the whole ledger",
        "Checks everything that was ever booked, and every seal. Each finding raises an alarm.",
    ),
    "billing.tasks.charge_auto_top_ups": (
        "Charge automatic top-ups",
        "Charges saved payment methods for wallets below their owners' thresholds, and follows up charges with an unknown outcome.",
    ),
    "billing.tasks.check_margins": (
        "Check margins",
        "Raises the alarm for each model whose last 1,000 calls cost more than they earned.",
    ),
    "billing.tasks.collect_invoices": (
        "Collect invoices",
        "Issues and charges invoices if collection is enabled, and follows up charges with an unknown outcome.",
    ),
    "billing.tasks.find_auto_top_ups": (
        "Find automatic top-ups",
        "Begins automatic top-ups that no change of a wallet began, such as those that the last month had no room for.",
    ),
    "billing.tasks.match_payments": (
        "Match payments",
        "Compares past days of the payment provider's balance with the payments here. Each difference raises an alarm.",
    ),
    "billing.tasks.merge_lots": (
        "Merge credits",
        "Merges credits of the same terms if a wallet has more of them than a call may hold.",
    ),
    "billing.tasks.purge_events": (
        "Purge payment events",
        "Deletes the payment provider's events that are no longer needed.",
    ),
    "billing.tasks.purge_limit_uses": (
        "Purge used tokens",
        "Counts tokens of settled calls whose rate limit nobody has used for an hour, and deletes those of no limit.",
    ),
    "billing.tasks.purge_replays": (
        "Purge stored answers",
        "Deletes the answers that were stored for repeated requests, once they have expired.",
    ),
    "billing.tasks.reap": ("Find abandoned calls", "Moves calls that are past their deadline to review."),
    "billing.tasks.reconcile": (
        "Resolve reconciling calls",
        "Closes reconciling calls by the upstream's record, by what was delivered or, after long enough, as a loss.",
    ),
    "billing.tasks.reconcile_payments": (
        "Check payments",
        "Compares checkouts with the payment provider's record, and repays debts from released money.",
    ),
    "billing.tasks.roll_up_usage": (
        "Add up usage",
        "Adds the calls that have closed to the daily totals that reports read.",
    ),
    "billing.tasks.seal_ledger": ("Seal the ledger", "Seals what has closed since the last run."),
    "billing.tasks.sweep_lots": ("Expire credits", "Books the remainder of expired credits out of their wallets."),
    "inference.tasks.purge_responses": ("Purge stored responses", "Deletes stored responses that have expired."),
    "integrations.tasks.ask_runner": (
        "Ask the remote runner",
        "Asks the remote runner for the state of the sandbox runs that it executes.",
    ),
    "integrations.tasks.purge_ci_runs": ("Purge CI runs", "Deletes CI runs whose last report is old."),
    "integrations.tasks.purge_executions": (
        "Purge executions",
        "Deletes sandbox runs and evolution jobs that ended long ago, with their output.",
    ),
    "integrations.tasks.tend_executions": (
        "Tend executions",
        "Fails sandbox runs and evolution jobs whose worker died, and queues those again that no worker took.",
    ),
    "gateway.core.events.tasks.purge_events": (
        "Purge events",
        "Deletes old events with their deliveries and mails.",
    ),
    "gateway.core.telemetry.tasks.purge_telemetry": (
        "Purge telemetry",
        "Deletes old hours of traffic, and old requests with their steps.",
    ),
    "gateway.core.jobs.tasks.purge_runs": ("Purge job runs", "Deletes the records of old runs of these jobs."),
    "judgement.tasks.purge_answer_counts": (
        "Purge answer counts",
        "Deletes old counts of how judgement backends answered.",
    ),
    "organizations.tasks.bill_seats": ("Bill seats", "Drafts the invoices of past months."),
    "organizations.tasks.blank_invitation_emails": (
        "Forget invited addresses",
        "Deletes the email addresses of old invitations.",
    ),
    "organizations.tasks.follow_debts": (
        "Follow overdue invoices",
        "Refuses new seats to organizations with an overdue invoice, and allows them again once it is paid.",
    ),
    "organizations.tasks.purge_audit_log": (
        "Purge the organizations' log",
        "Deletes entries of the organizations' audit log older than AUDIT_DAYS; nothing if that is not set.",
    ),
}
