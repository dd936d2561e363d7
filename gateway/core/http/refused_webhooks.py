"""Limits deliveries with a bad signature: anybody may send them, and each costs a reading of its body and a look-up."""

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse

from gateway.core.contract.errors import RateLimited
from gateway.core.contract.route_limits import REFUSED_WEBHOOKS
from gateway.core.http.addresses import client_network
from gateway.core.http.request_ids import request_id_of
from gateway.core.http.responses import error_response
from gateway.core.runtime import process_limits
from gateway.core.runtime.window_counts import WindowCounts

View = Callable[..., HttpResponse]

_known = WindowCounts(seconds=24 * 3600.0)
"""Addresses that have sent a delivery which was accepted. They are a provider's: anybody else who has an account there can make it
send deliveries with a bad signature from them, which must not keep out ours."""

REFUSALS = {HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND, HTTPStatus.REQUEST_ENTITY_TOO_LARGE}


def limits_refused(view: View) -> View:
    """Respond 429, before the body is read, to an address from which a webhook has refused too many deliveries. Deliveries that are
    accepted never count, and an address from which one was accepted is not limited for a day.
    """

    @wraps(view)
    def limited(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        network = client_network(request)
        if network is None or _known.used(network)[0]:
            return view(request, **kwargs)
        try:
            process_limits.check(REFUSED_WEBHOOKS, network)
        except RateLimited as error:
            return error_response(error, request_id_of(request))
        response = view(request, **kwargs)
        if response.status_code in REFUSALS:
            process_limits.count(REFUSED_WEBHOOKS, network)
        elif response.status_code == HTTPStatus.OK:
            _known.take(network, 1)
        return response

    return limited


def forget() -> None:
    """Forget the known addresses, as a new process does."""
    _known.clear()
