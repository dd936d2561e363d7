"""Reads the gateway's answers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import requests

from account_gateway_client.errors import GatewayError, GatewayUnreachable


@contextmanager
def reaching(base_url: str) -> Iterator[None]:
    """Raise GatewayUnreachable for whatever goes wrong on the way there and back."""
    try:
        yield
    except requests.exceptions.SSLError as error:
        untrusted = "its certificate is not trusted, or it does not speak TLS"
        raise GatewayUnreachable(f"There is no secure connection to {base_url}: {untrusted}.") from error
    except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
        raise GatewayUnreachable(f"{base_url} does not answer.") from error
    except OSError as error:  # also the rest of what requests raises: a proxy or certificates that cannot be used
        raise GatewayUnreachable(f"{base_url} cannot be asked ({error}).") from error


def json_of(response: requests.Response) -> dict[str, Any]:
    """Return the body of a 2xx, or raise GatewayError."""
    body = _body_of(response)
    if not response.ok or not isinstance(body, dict):
        raise GatewayError.of(response.status_code, body)
    return body


def error_of(response: requests.Response) -> GatewayError:
    """Return the error that an answer is, whatever its body."""
    return GatewayError.of(response.status_code, _body_of(response))


def _body_of(response: requests.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        return None
