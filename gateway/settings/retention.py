"""Retention periods, and how long closed calls stay in the hot tables. `docs/retention.md` lists
every table, and what decides if there is no setting."""

from gateway.settings.reading import env

STORED_RESPONSE_DAYS = env.days(
    "STORED_RESPONSE_DAYS", default=30, at_least=30, because="the API promises to store a response for that long"
)
PROVIDER_EVENT_DAYS = env.days(
    "PROVIDER_EVENT_DAYS", default=30, at_least=4, because="the payment provider repeats an event for three days"
)
EVENT_DAYS = env.days("EVENT_DAYS", default=30, at_least=7, because="an endpoint gets an event for up to four days")
REQUEST_TRACE_DAYS = env.days(
    "REQUEST_TRACE_DAYS", default=14, at_least=1, because="a request is looked for while it is remembered"
)
TRAFFIC_DAYS = env.days(
    "TRAFFIC_DAYS", default=365, at_least=62, because="the console compares 30 days with the 30 days before"
)
EXECUTION_DAYS = env.days(
    "EXECUTION_DAYS", default=30, at_least=1, because="a repeated request is answered with its run for a day"
)
CI_RUN_DAYS = env.days("CI_RUN_DAYS", default=365, at_least=7, because="a provider repeats its reports for days")
JUDGEMENT_COUNT_DAYS = env.days(
    "JUDGEMENT_COUNT_DAYS", default=90, at_least=90, because="the console compares the last 90 days"
)
LEDGER_HOT_DAYS = env.days(
    "LEDGER_HOT_DAYS",
    default=90,
    at_least=35,
    because="reviews are decided, keys free and seals made by then",
)
INVITATION_EMAIL_DAYS = env.days(
    "INVITATION_EMAIL_DAYS", default=30, at_least=7, because="an invitation can be accepted for that long"
)
# The audit log and the operators' log. Unlimited if not set.
AUDIT_DAYS = env.optional_days(
    "AUDIT_DAYS", at_least=365, because="the database refuses to delete younger entries of the audit log"
)
