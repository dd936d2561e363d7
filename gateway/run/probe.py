"""Checks whether the gateway is ready."""

import http.client
from urllib.parse import urlsplit

from gateway.run.options import Options

ANSWER_SECONDS = 2.0


def answers(options: Options) -> bool:
    """Return whether the server responds to GET /healthz with 200, bypassing any proxy that the base URL names."""
    connection = http.client.HTTPConnection(options.probe_host, options.port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", "/healthz", headers={"Host": urlsplit(options.base_url).netloc})
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
