"""Asks the gateway whether it is ready."""

import http.client
from urllib.parse import urlsplit

from gateway.run.options import Options

ANSWER_SECONDS = 2.0


def answers(options: Options) -> bool:
    """Return whether GET /healthz answers 200, straight from the server, whatever proxy the base URL names."""
    connection = http.client.HTTPConnection(options.probe_host, options.port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", "/healthz", headers={"Host": urlsplit(options.base_url).netloc})
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
