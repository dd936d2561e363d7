"""`POST /webhooks/ci/<provider>` and `/webhooks/sandbox/<run_id>`: reports of CI providers and of a remote runner.

They are outside /v1, because they are signed and carry no token.
"""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from gateway.core.contract.errors import ApiError, RequestTooLarge
from gateway.core.contract.limits import CI_WEBHOOK_BODY_MAX_BYTES, SANDBOX_CALLBACK_BODY_MAX_BYTES
from gateway.core.http.refused_webhooks import limits_refused
from gateway.core.http.request_ids import request_id_of
from gateway.core.http.responses import error_response, json_response
from integrations.operations import ci_reports, remote_runs
from integrations.rules import signatures

SIGNATURE = "X-Hub-Signature-256"
EVENT = "X-GitHub-Event"


@csrf_exempt
@require_POST
@limits_refused
def ci(request: HttpRequest, provider: str) -> HttpResponse:
    """Process a signed delivery. The status is 200 even if nothing changes."""
    try:
        ci_reports.receive(
            provider,
            _body(request, CI_WEBHOOK_BODY_MAX_BYTES),
            request.headers.get(SIGNATURE, ""),
            request.headers.get(EVENT),
        )
    except ApiError as error:
        return error_response(error, request_id_of(request))
    return json_response({"received": True})


@csrf_exempt
@require_POST
@limits_refused
def sandbox(request: HttpRequest, run_id: str) -> HttpResponse:
    """Process a remote runner's signed report. The status is 200 even if nothing changes."""
    stamp, signature = (request.headers.get(name, "") for name in (signatures.TIMESTAMP, signatures.SIGNATURE))
    try:
        body = _body(request, SANDBOX_CALLBACK_BODY_MAX_BYTES)
        remote_runs.receive(run_id, body, timestamp=stamp, signature=signature)
    except ApiError as error:
        return error_response(error, request_id_of(request))
    return json_response({"received": True})


def _body(request: HttpRequest, max_bytes: int) -> bytes:
    body = request.read(max_bytes + 1)
    if len(body) > max_bytes:
        raise RequestTooLarge
    return body
