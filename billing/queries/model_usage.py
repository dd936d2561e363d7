"""Reads the usage of one model in the last days, from the sums of days."""

from datetime import datetime, timedelta

from django.db import OperationalError, connection, transaction

from billing.rules.price_impact import ModelUsage

DAYS = 30
LONGEST_MILLISECONDS = 5000
"""How long an operator waits for it. Where very many accounts use a model, the sum is left out."""

_SUM = """
SELECT coalesce(sum(d.calls), 0)::bigint, coalesce(sum(d.input_tokens), 0)::bigint, coalesce(sum(d.output_tokens), 0)::bigint,
       coalesce(sum(d.charged_microusd), 0)::bigint
  FROM billing_usage_subject s JOIN billing_usage_day d ON d.subject_id = s.id
 WHERE s.model = %s AND d.closed_on >= %s
"""


def last_days(model: str, now: datetime) -> ModelUsage | None:
    """Sum the model's settled calls of the last DAYS days that are summed up already; None if that takes too long."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = {LONGEST_MILLISECONDS}")
            cursor.execute(_SUM, [model, (now - timedelta(days=DAYS)).date()])
            [sums] = cursor.fetchall()
            cursor.execute("SET LOCAL statement_timeout = DEFAULT")
    except OperationalError:
        return None
    return ModelUsage(*sums)
