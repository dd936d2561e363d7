"""Which requests say something about models and upstreams, and which of them failed by no fault of the client."""

from gateway.core.telemetry.causes import Cause
from gateway.core.telemetry.observation import Outcome

NOT_SENT = (Outcome.REFUSED.value, Outcome.REPLAYED.value, Outcome.COUNTED.value)
"""These requests had no answer of a model."""

CLIENTS_OWN = (
    *(Cause.CLIENT_LEFT.value, Cause.CUT_AT_CEILING.value, Cause.ACCESS_LOST.value),
    *("upstream_400", "upstream_413", "upstream_422"),
)
"""Causes that lie with the client, its request or its money."""

IS_FAILURE = "((t.outcome = 'failed' OR t.cause <> '') AND t.cause <> ALL(%(clients_own)s))"
"""The same in SQL, of a row `t` of the hours whose outcome is none of NOT_SENT."""

PARAMETERS = {"not_sent": list(NOT_SENT), "clients_own": list(CLIENTS_OWN)}
