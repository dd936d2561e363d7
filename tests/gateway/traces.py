"""Traces of requests as the recorder writes them, for tests of the console's pages."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from billing.models import Call
from gateway.core.telemetry.models import RequestTrace

MARKS = [
    ["authenticated", 400],
    ["received", 900],
    ["checked", 1_500],
    ["held", 4_500],
    ["sent", 4_600],
    ["first_byte", 254_600],
    ["upstream_done", 300_000],
    ["settled", 303_000],
    ["answered", 303_250],
]


def attempt(deployment: str, **fields: Any) -> dict[str, Any]:
    """Describe an attempt that was answered, unless the fields say otherwise; times are in microseconds."""
    return {
        "deployment": deployment,
        "upstream": "primary",
        "began": 4_600,
        "first_byte": 254_600,
        "ended": 300_000,
        "status": 200,
        "cause": "",
        **fields,
    }


def trace_of(usage_id: str, **fields: Any) -> RequestTrace:
    """Keep the trace of a call's request; `marks`, `attempts` and `hold` are its steps."""
    call = Call.objects.get(pk=usage_id)
    steps = {name: fields.pop(name, usual) for name, usual in (("marks", MARKS), ("attempts", []), ("hold", {}))}
    made = {
        "request_id": call.request_id or "",
        "usage_id": call.pk,
        "began_at": call.created_at - timedelta(milliseconds=4),
        "route": call.route,
        "model": call.model,
        "account": call.actor_did,
        "credential": "thumbprint-of-the-key",
        "status": 200,
        "outcome": "settled",
        "duration_microseconds": 303_250,
        "first_byte_microseconds": 254_600,
        "overhead_microseconds": 7_850,
        "charge_microusd": call.charge_microusd,
    }
    return RequestTrace.objects.create(**{**made, **fields}, steps=steps)


def refused(code: str, *, began_at: datetime | None = None, **fields: Any) -> RequestTrace:
    """Keep the trace of a request that a check refused with this error."""
    steps = {name: fields.pop(name, []) for name in ("marks", "attempts")}
    made = {
        "request_id": "req_refused",
        "began_at": began_at or timezone.now(),
        "route": "chat.completions",
        "status": 402,
        "code": code,
        "cause": code,
        "outcome": "refused",
        "duration_microseconds": 2_500,
        "overhead_microseconds": 2_500,
    }
    return RequestTrace.objects.create(**{**made, **fields}, steps=steps)
