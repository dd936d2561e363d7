"""A test's own environment: models at the fake upstream, callers with money, and their calls."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import orjson
from django.db import connection

from tests.factories.accounts import make_account
from tests.factories.proofs import BASE_URL, ISSUER, Signer, mint_token
from tests.support import plain_http
from tests.support.forms import Form
from tests.support.unguarded import unguarded
from tests.support.upstream import FakeUpstream

CHAT = "/v1/chat/completions"
EMBEDDINGS = "/v1/embeddings"
MESSAGE = "/v1/messages"
RESPONSES = "/v1/responses"
PRICE = {"input_token": "0.15", "cached_input_token": "0.075", "output_token": "0.60"}
MESSAGES = [{"role": "user", "content": "Say something about badgers."}]
FORGET_MODELS = """
DELETE FROM inference_alias WHERE id IN (SELECT alias_id FROM inference_deployment WHERE upstream_id = ANY(%(upstreams)s));
DELETE FROM inference_deployment WHERE upstream_id = ANY(%(upstreams)s);
DELETE FROM inference_rawmodel WHERE upstream_id = ANY(%(upstreams)s);
DELETE FROM inference_upstream WHERE id = ANY(%(upstreams)s)
"""
WALLET = """
SELECT w.balance_microusd + coalesce(sum(l.remaining_microusd), 0)::bigint,
       w.held_microusd + coalesce(sum(l.held_microusd), 0)::bigint, w.debt_microusd
  FROM billing_wallet w LEFT JOIN billing_credit_lot l ON l.wallet_id = w.id
 WHERE w.owner_kind = 'account' AND w.owner_key = %s GROUP BY w.id
"""
CALL_COUNT = "SELECT count(*) FROM billing_reservation WHERE actor_did = %s"
CALLS = "SELECT * FROM billing_reservation WHERE actor_did = %s ORDER BY created_at, id"


@dataclass
class Caller:
    """An account with a wallet, a proof key and a token."""

    did: str
    signer: Signer
    token: str
    origin: str
    client: httpx.Client = field(repr=False)

    def headers(self, path: str, *, method: str = "POST", **extra: Any) -> dict[str, str]:
        """Build the headers of a request with a new proof."""
        return self.signer.headers(method, BASE_URL + path, self.token, **extra)

    def post(
        self,
        body: Any,
        *,
        path: str = CHAT,
        key: str | None = "",
        max_cost: object = 100_000,
        headers: Mapping[str, str | None] | None = None,
        content: bytes | None = None,
        **options: Any,
    ) -> httpx.Response:
        """Send a metered request, of JSON or a `Form`; an empty key is replaced by a new one, None omits the header."""
        sent: dict[str, Any] = {**self.headers(path), "Content-Type": "application/json"}
        sent["Idempotency-Key"] = key if key != "" else uuid.uuid4().hex
        sent["x-service-max-cost-microusd"] = None if max_cost is None else str(max_cost)
        if isinstance(body, Form):
            sent["Content-Type"], content = body.content_type, body.content
        sent |= headers or {}
        present = {name: value for name, value in sent.items() if value is not None}
        data = orjson.dumps(body) if content is None else content
        return self.client.post(self.origin + path, content=data, headers=present, **options)

    def stream(self, body: Any, *, key: str = "", max_cost: int = 100_000, path: str = CHAT) -> Any:
        """Open a streamed request, of JSON or a `Form` that asks for a stream, as httpx's context manager."""
        is_form = isinstance(body, Form)
        headers = {
            **self.headers(path),
            "Content-Type": body.content_type if is_form else "application/json",
            "Idempotency-Key": key or uuid.uuid4().hex,
            "x-service-max-cost-microusd": str(max_cost),
        }
        content = body.content if is_form else orjson.dumps({**body, "stream": True})
        return self.client.stream("POST", self.origin + path, content=content, headers=headers)

    def get(self, path: str, **options: Any) -> httpx.Response:
        """Send a GET request to an API route."""
        return self.client.get(
            self.origin + path, headers=self.headers(path.partition("?")[0], method="GET"), **options
        )

    def delete(self, path: str) -> httpx.Response:
        """Send a DELETE request to an API route."""
        return self.client.delete(self.origin + path, headers=self.headers(path, method="DELETE"))

    @property
    def wallet(self) -> dict[str, int]:
        """Return balance, held and debt of the wallet, credits included in the first two."""
        with connection.cursor() as cursor:
            cursor.execute(WALLET, [self.did])
            [(balance, held, debt)] = cursor.fetchall()
        return {"balance": balance, "held": held, "debt": debt}

    @property
    def calls(self) -> list[Any]:
        """Return the caller's calls, oldest first."""
        from billing.models import Call

        return list(Call.objects.raw(CALLS, [self.did]))

    @property
    def call_count(self) -> int:
        """Return how many calls the caller has made."""
        with connection.cursor() as cursor:
            cursor.execute(CALL_COUNT, [self.did])
            [(count,)] = cursor.fetchall()
        return int(count)

    @property
    def only_call(self) -> Any:
        """Return the caller's one call."""
        [call] = self.calls
        return call


class Stage:
    """Creates what a test needs; names are unique."""

    def __init__(self, origin: str, upstream: FakeUpstream, api_key: str) -> None:
        self.origin = origin
        self.upstream = upstream
        self.api_key = api_key
        self.vectors: Any = None  # an upstream of vectors, if a test has one
        self._upstreams: list[int] = []
        self.client = plain_http.client(timeout=120)

    def close(self) -> None:
        """Hang up, and delete the models: a gateway reads every one that is left whenever a test adds another."""
        self.client.close()
        if self._upstreams:
            with connection.cursor() as cursor, unguarded():
                cursor.execute(FORGET_MODELS, {"upstreams": self._upstreams})

    def caller(self, *, balance: int = 1_000_000, scopes: tuple[str, ...] = ("infer:*",), **token: Any) -> Caller:
        """Create an account with `balance` micro-USD."""
        from tests.factories.payments import top_up

        account = make_account(uuid.uuid4().hex)
        if balance:
            top_up(("account", account.did), balance)
        signer = Signer()
        return Caller(account.did, signer, mint_token(account.did, scopes, signer, **token), self.origin, self.client)

    def upstream_row(self, **fields: Any) -> Any:
        """Create an upstream, by default the fake one."""
        from inference.models import Upstream

        row = {"adapter": "openai", "base_url": self.upstream.base_url, "api_key": self.api_key, "timeout_seconds": 30}
        upstream = Upstream.objects.create(name=f"upstream-{uuid.uuid4().hex}", **{**row, **fields})
        self._upstreams.append(upstream.pk)
        return upstream

    def model(
        self,
        model: str = "small-1",
        *,
        name: str | None = None,
        price: Mapping[str, Any] | None = PRICE,
        upstream: Any = None,
        cost: Mapping[str, Any] | None = None,
        deploy: bool = True,
        **fields: Any,
    ) -> str:
        """Create an alias for a model of the fake upstream, and return its name."""
        from billing.operations import costs, prices
        from inference.models import Alias, Deployment
        from inference.queries import catalogue

        a_second_ago = datetime.now(UTC) - timedelta(seconds=1)
        alias = Alias.objects.create(name=name or f"alias-{uuid.uuid4().hex[:12]}", **fields)
        if deploy:
            at = Deployment.objects.create(alias=alias, upstream=upstream or self.upstream_row(), model=model)
            if cost is not None:
                costs.publish(str(at.pk), cost, now=a_second_ago)
        if price is not None:
            prices.publish(alias.name, price, now=a_second_ago)
        catalogue.forget()
        return alias.name


def chat(model: str, **members: Any) -> dict[str, Any]:
    """Build a chat request's body."""
    return {"model": model, "messages": MESSAGES, **members}


def ask(model: str, **members: Any) -> dict[str, Any]:
    """Build the body of a request for a response."""
    return {"model": model, "input": MESSAGES[0]["content"], **members}


def message(model: str, **members: Any) -> dict[str, Any]:
    """Build the body of a request for a message."""
    return {"model": model, "max_tokens": 100, "messages": MESSAGES, **members}


__all__ = [
    "CHAT",
    "EMBEDDINGS",
    "ISSUER",
    "MESSAGE",
    "MESSAGES",
    "PRICE",
    "RESPONSES",
    "Caller",
    "Stage",
    "ask",
    "chat",
    "message",
]
