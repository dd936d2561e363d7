"""One account at one gateway."""

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import requests

from account_gateway_client import account_keys, judgements, sdk_http, signed_receipts
from account_gateway_client.account_keys import AccountKey
from account_gateway_client.answers import json_of, reaching
from account_gateway_client.ci import CI
from account_gateway_client.evolution import Evolution
from account_gateway_client.judgements import Judgement
from account_gateway_client.projects import Projects
from account_gateway_client.requests_auth import DPoPRequestsAuth
from account_gateway_client.routes import segment
from account_gateway_client.sandbox import Sandbox
from account_gateway_client.signing import RequestSigner
from account_gateway_client.tokens import TokenSource

if TYPE_CHECKING:
    from account_gateway_client.httpx_auth import DPoPAuth


class Gateway:
    """Reads an account's own resources, and makes the HTTP clients that other libraries call models with."""

    def __init__(self, base_url: str, tokens: TokenSource, *, timeout_seconds: float = 30.0) -> None:
        self.base_url = base_url.rstrip("/")
        self.signer = RequestSigner(self.base_url, tokens)
        self._timeout_seconds = timeout_seconds
        self.projects = Projects(self.request)
        self.sandbox = Sandbox(self.request)
        self.ci = CI(self.request)
        self.evolution = Evolution(self.request)

    @property
    def api_url(self) -> str:
        """Return the base URL that the OpenAI SDK takes; the Anthropic SDK takes `base_url`."""
        return f"{self.base_url}/v1"

    @property
    def requests_auth(self) -> DPoPRequestsAuth:
        """Return an auth for `requests`."""
        return DPoPRequestsAuth(self.signer)

    @property
    def httpx_auth(self) -> "DPoPAuth":
        """Return an auth for `httpx.Client` and `httpx.AsyncClient`."""
        from account_gateway_client.httpx_auth import DPoPAuth

        return DPoPAuth(self.signer)

    def http_client(self, *, sdk: str | None = None, **options: Any) -> Any:
        """Make an HTTP client for `OpenAI(http_client=...)` or `Anthropic(http_client=...)`: an `httpx2.Client`, or an
        `httpx.Client` where the installed SDK takes that.

        `max_cost_microusd` is the default limit of a call, `on_receipt` is called with each call's Receipt; the other
        options are those of the library's `Client`. `sdk` is `openai` or `anthropic`, where both are installed in versions
        that take different libraries.
        """
        return sdk_http.clients(sdk).GatewayHttpClient(self.signer, **options)

    def async_http_client(self, *, sdk: str | None = None, **options: Any) -> Any:
        """Make an HTTP client for `AsyncOpenAI(http_client=...)` or `AsyncAnthropic(http_client=...)`; options as
        `http_client`."""
        return sdk_http.clients(sdk).AsyncGatewayHttpClient(self.signer, **options)

    def request(self, method: str, path: str, **options: Any) -> requests.Response:
        """Send one signed request to a path of the gateway; options as `requests.request`. May raise
        GatewayUnreachable; an answer of whatever status is returned."""
        with reaching(self.base_url):
            return requests.request(
                method,
                self.base_url + path,
                auth=self.requests_auth,
                **{"timeout": self._timeout_seconds, **options},
            )

    def account(self) -> dict[str, Any]:
        """Return who the token speaks for, and what it may do."""
        return self._get("/v1/account")

    def models(self) -> list[dict[str, Any]]:
        """Return the enabled models with their prices; `authorized` tells whether the token may call one."""
        models: list[dict[str, Any]] = self._get("/v1/models")["data"]
        return models

    def model(self, name: str) -> dict[str, Any]:
        """Return one enabled model with its prices."""
        return self._get(f"/v1/models/{segment(name)}")

    def wallet(self) -> dict[str, Any]:
        """Return the wallet in micro-USD: balance, credits, held, available, debt."""
        return self._get("/v1/wallet")

    def usage(self, limit: int = 20) -> list[dict[str, Any]]:
        """Return the latest usage records, newest first, 1 to 100 of them."""
        records: list[dict[str, Any]] = self._get(f"/v1/usage?limit={limit}")["data"]
        return records

    def budgets(self) -> list[dict[str, Any]]:
        """Return the budgets that limit the token's calls, newest first, with what each has spent and holds. Needs
        `usage:read`."""
        budgets: list[dict[str, Any]] = self._get("/v1/account/budgets")["data"]
        return budgets

    def usage_record(self, usage_id: str) -> dict[str, Any]:
        """Return one usage record, with the `components` of its charge and when it was sealed."""
        return self._get(f"/v1/usage/{segment(usage_id)}")

    def receipt(self, usage_id: str) -> str:
        """Return the signed receipt of a settled call. Raises GatewayError (409 `not_settled`) for any other call."""
        receipt: str = self._get(f"/v1/usage/{segment(usage_id)}/receipt")["receipt"]
        return receipt

    def receipt_keys(self) -> dict[str, Any]:
        """Return the JWK set that the gateway publishes for its receipts."""
        return signed_receipts.fetch_receipt_keys(self.base_url, timeout_seconds=self._timeout_seconds)

    def verify_receipt(self, receipt: str, keys: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the claims of a receipt of this gateway, or raise InvalidReceipt. Without `keys`, they are fetched."""
        known = self.receipt_keys() if keys is None else keys
        return signed_receipts.verify_receipt(receipt, known, issuer=self.base_url)

    def checkout(self, amount_microusd: int, *, idempotency_key: str | None = None) -> dict[str, Any]:
        """Begin a top-up of whole cents, from 1 to 10,000 dollars, and return `transactionId` and the `url` to pay at.

        The same key gives the same transaction, so give your own and send it again where an answer was lost.
        """
        body = {"amountMicros": amount_microusd, "idempotencyKey": idempotency_key or uuid.uuid4().hex}
        return json_of(self.request("POST", "/v1/billing/checkout", json=body))

    def account_key(self) -> AccountKey:
        """Return the key that the account's devices share; the first request makes it. Needs `sync:key:read`."""
        recipient = account_keys.Recipient()
        answer = json_of(self.request("POST", account_keys.PATH, json={"public_jwk": recipient.jwk}))
        return AccountKey(answer["kid"], recipient.open(answer["jwe"]))

    def judge(
        self,
        state: str | Mapping[str, str],
        questions: Mapping[str, Mapping[str, Any]],
        *,
        max_cost_microusd: int,
        model: str | None = None,
        images: Sequence[str] = (),
        allow_fallback: bool = False,
        idempotency_key: str | None = None,
    ) -> Judgement:
        """Ask typed questions about a state. With a key, the same request gets the same answer, and pays once.

        `model` is an alias; the default text backend's where it is left out. `images` are https or data URLs.
        """
        sent = judgements.request_of(
            state,
            questions,
            max_cost_microusd=max_cost_microusd,
            model=model,
            images=images,
            allow_fallback=allow_fallback,
            idempotency_key=idempotency_key,
        )
        return Judgement.of(self.request("POST", judgements.PATH, **sent))

    def _get(self, path: str) -> dict[str, Any]:
        return json_of(self.request("GET", path))
