"""DPoP for requests: `requests.get(url, auth=DPoPRequestsAuth(signer))`."""

from typing import Any
from urllib.parse import urljoin

from requests import PreparedRequest, Response
from requests.auth import AuthBase
from requests.sessions import SessionRedirectMixin
from requests.utils import requote_uri, rewind_body

from account_gateway_client.signing import Repairs, RequestSigner


class DPoPRequestsAuth(AuthBase):
    """Signs every request afresh: the first, each hop of a redirect, and one with a new nonce or token."""

    def __init__(self, signer: RequestSigner) -> None:
        self._signer = signer

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        """Sign the request and watch its answer."""
        self._signer.sign(request, self._signer.tokens.token())
        request.register_hook("response", _Watch(self._signer).respond)
        return request


class _Watch:
    """Sees every answer to one request, also those that requests follows by itself."""

    def __init__(self, signer: RequestSigner) -> None:
        self._signer = signer
        self._repairs = Repairs(signer)

    def respond(self, response: Response, **options: Any) -> Response:
        """Sign the next hop, send again, or leave the answer as it is."""
        if response.is_redirect:
            self._sign_next_hop(response)
            return response
        sent: Any = response.request
        if self._repairs.worthwhile(response.status_code, response.headers, sent):
            return self._send_again(response, **options)
        return response

    def _sign_next_hop(self, response: Response) -> None:
        """Change the headers that the next hop is copied from."""
        self._signer.learn(response.headers)
        hop = response.request.copy()
        hop.url = urljoin(response.url, requote_uri(response.headers["Location"]))
        SessionRedirectMixin().rebuild_method(hop, response)
        if self._signer.serves(hop.url):
            signed = self._signer.headers(str(hop.method), hop.url, self._signer.tokens.token())
            response.request.headers.update(signed)
        else:
            response.request.headers.pop("DPoP", None)
            response.request.headers.pop("Authorization", None)

    def _send_again(self, response: Response, **options: Any) -> Response:
        _ = response.content  # frees the connection
        response.close()
        again = response.request.copy()
        if getattr(again, "_body_position", None) is not None:  # the body is a file: requests' own mark
            rewind_body(again)
        self._signer.sign(again, self._signer.tokens.token())
        answer: Response = response.connection.send(again, **options)
        answer.history = [*response.history, response]
        answer.request = again
        return self.respond(answer, **options)
