"""`POST /webhooks/stripe`: receives the payment provider's events. Outside /v1: it carries a signature and no token."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from billing.operations import events
from gateway.core.contract.errors import ApiError, RequestTooLarge
from gateway.core.contract.limits import WEBHOOK_BODY_MAX_BYTES
from gateway.core.http.refused_webhooks import limits_refused
from gateway.core.http.request_ids import request_id_of
from gateway.core.http.responses import error_response, json_response

SIGNATURE = "Stripe-Signature"


@csrf_exempt
@require_POST
@limits_refused
def stripe(request: HttpRequest) -> HttpResponse:
    """Store a signed event and respond at once; a worker processes it. Respond 200 even if there is nothing to do."""
    try:
        event = events.receive(_body(request), request.headers.get(SIGNATURE, ""), now=timezone.now())
    except ApiError as error:
        return error_response(error, request_id_of(request))
    if event is not None:
        from billing import tasks  # it imports Celery, which a server of model routes does without

        tasks.hand_over(event)
    return json_response({"received": True})


def _body(request: HttpRequest) -> bytes:
    body = request.read(WEBHOOK_BODY_MAX_BYTES + 1)
    if len(body) > WEBHOOK_BODY_MAX_BYTES:
        raise RequestTooLarge
    return body
