"""What `agw` exits with. Scripts rely on these numbers."""

import requests

from account_gateway_client.cli.errors import CommandError
from account_gateway_client.errors import ClientError, GatewayError, GatewayUnreachable

OK, FAILED, WRONG_USE, REFUSED, NOT_FOUND, CONFLICT, TIMED_OUT, NO_MONEY = range(8)

_OF_HTTP = {401: REFUSED, 403: REFUSED, 404: NOT_FOUND, 409: CONFLICT, 504: TIMED_OUT, 402: NO_MONEY}


def of_http(status: int) -> int:
    """Return the exit status for an answer's status: 0 below 400."""
    return _OF_HTTP.get(status, FAILED) if status >= 400 else OK


def of_error(error: ClientError) -> int:
    """Return the exit status for an error of the client."""
    if isinstance(error, CommandError):
        return error.exit_status
    if isinstance(error, GatewayError):
        return of_http(error.status) or FAILED
    if isinstance(error, GatewayUnreachable) and isinstance(error.__cause__, requests.Timeout):
        return TIMED_OUT
    return FAILED
