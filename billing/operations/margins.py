"""Raises the alarm for models that are sold below their cost."""

import logging
from datetime import datetime

from django.db import connection, transaction

from gateway.core.contract.amounts import usd

log = logging.getLogger("billing.margins")

# Calls that are being added up again have no margins yet, and change nothing.
_CHANGE = """
UPDATE billing_model_margin m
   SET negative_since = CASE WHEN s.margin_microusd < 0 THEN %(now)s END
  FROM (SELECT o.model, cardinality(o.margins_microusd) AS calls,
               (SELECT sum(margin) FROM unnest(o.margins_microusd) margin) AS margin_microusd
          FROM billing_model_margin o) s
 WHERE s.model = m.model AND s.calls > 0 AND (m.negative_since IS NOT NULL) <> (s.margin_microusd < 0)
RETURNING m.model, s.calls, s.margin_microusd::bigint
"""


@transaction.atomic
def check(*, now: datetime) -> int:
    """Log each model whose last calls cost more than they earned, when that begins and not again before it ended; return
    how many began."""
    with connection.cursor() as cursor:
        cursor.execute(_CHANGE, {"now": now})
        changed = cursor.fetchall()
    for model, calls, margin_microusd in changed:
        if margin_microusd < 0:
            text = "model %s is sold below its cost: the margin of its last %d calls is %s"
            log.error(text, model, calls, usd(margin_microusd))
        else:
            log.info("model %s is no longer sold below its cost", model)
    return sum(margin_microusd < 0 for *_, margin_microusd in changed)
