"""`POST /webhooks/ci/<provider>`: what a CI provider reports. Outside /v1: it carries a signature and no token."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from gateway.core.api.request_ids import request_id_of
from gateway.core.api.responses import error_response, json_response
from gateway.core.contract.errors import ApiError, RequestTooLarge
from gateway.core.contract.limits import CI_WEBHOOK_BODY_MAX_BYTES
from integrations.operations import ci_reports

SIGNATURE = "X-Hub-Signature-256"
EVENT = "X-GitHub-Event"


@csrf_exempt
@require_POST
def ci(request: HttpRequest, provider: str) -> HttpResponse:
    """Take a signed delivery. 200 also where it changes nothing."""
    try:
        ci_reports.receive(provider, _body(request), request.headers.get(SIGNATURE, ""), request.headers.get(EVENT))
    except ApiError as error:
        return error_response(error, request_id_of(request))
    return json_response({"received": True})


def _body(request: HttpRequest) -> bytes:
    body = request.read(CI_WEBHOOK_BODY_MAX_BYTES + 1)
    if len(body) > CI_WEBHOOK_BODY_MAX_BYTES:
        raise RequestTooLarge
    return body
