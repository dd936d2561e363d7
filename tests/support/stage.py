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
from tests.factories.rows import columns, rendered
from tests.support import plain_http
from tests.support.forms import Form
from tests.support.kept_models import KeptModels, forget_models
from tests.support.upstream import FakeUpstream

CHAT = "/v1/chat/completions"
EMBEDDINGS = "/v1/embeddings"
MESSAGE = "/v1/messages"
RESPONSES = "/v1/responses"
PRICE = {"input_token": "0.15", "cached_input_token": "0.075", "output_token": "0.60"}
MESSAGES = [{"role": "user", "content": "Say something about badgers."}]
ADD_MODEL = """
WITH upstream AS (
    INSERT INTO inference_upstream ({upstream})
    SELECT {upstream} FROM json_populate_recordset(NULL::inference_upstream, %(upstreams)s) RETURNING id),
alias AS (
    INSERT INTO inference_alias ({alias})
    SELECT {alias} FROM json_populate_recordset(NULL::inference_alias, %(alias)s) RETURNING id),
price AS (
    INSERT INTO billing_price_version ({price})
    SELECT {price} FROM json_populate_recordset(NULL::billing_price_version, %(prices)s)),
deployment AS (
    INSERT INTO inference_deployment (alias_id, upstream_id, model, priority, weight, enabled)
    SELECT alias.id, at.id, %(model)s, 0, 1, true
      FROM alias, (SELECT id FROM upstream UNION ALL SELECT unnest(%(known)s::bigint[])) at RETURNING id)
SELECT (SELECT id FROM upstream), (SELECT id FROM deployment)
"""
"""Adds all rows of a model at once. The upstream is new or `known`."""
WALLET = """
SELECT w.balance_microusd + coalesce(sum(l.remaining_microusd), 0)::bigint,
       w.held_microusd + coalesce(sum(l.held_microusd), 0)::bigint, w.debt_microusd
  FROM billing_wallet w LEFT JOIN billing_credit_lot l ON l.wallet_id = w.id
 WHERE w.owner_kind = 'account' AND w.owner_key = %s GROUP BY w.id
"""
NOWHERE = object()
"""In place of an upstream: the alias has no deployment."""
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
    """Creates what a test needs; names are unique. With `kept`, models and upstreams may be those of an earlier test."""

    def __init__(self, origin: str, upstream: FakeUpstream, api_key: str, kept: KeptModels | None = None) -> None:
        self.origin = origin
        self.upstream = upstream
        self.api_key = api_key
        self.vectors: Any = None  # an upstream of vectors, if a test has one
        self._kept = kept
        self._upstreams: list[int] = [] if kept is None else kept.upstreams
        self.client = plain_http.client(timeout=120)

    def close(self) -> None:
        """Hang up, and delete the models, unless they are kept: a gateway reads every one that is left whenever a test adds
        another."""
        self.client.close()
        if self._kept is None:
            forget_models(self._upstreams)

    def caller(self, *, balance: int = 1_000_000, scopes: tuple[str, ...] = ("infer:*",), **token: Any) -> Caller:
        """Create an account with `balance` micro-USD."""
        from tests.factories.payments import make_payer

        did = f"did:web:studio.example:{uuid.uuid4().hex}"
        if balance:
            make_payer(did, balance)
        else:
            make_account(did)
        signer = Signer()
        return Caller(did, signer, mint_token(did, scopes, signer, **token), self.origin, self.client)

    def upstream_row(self, **fields: Any) -> Any:
        """Create an upstream, by default the fake one."""

        def make() -> Any:
            upstream = self._upstream(**fields)
            upstream.save(force_insert=True)
            self._upstreams.append(upstream.pk)
            return upstream

        return self._kept.take(fields, make) if self._kept else make()

    def _upstream(self, **fields: Any) -> Any:
        from inference.models import Upstream

        row = {"adapter": "openai", "base_url": self.upstream.base_url, "api_key": self.api_key, "timeout_seconds": 30}
        return Upstream(name=f"upstream-{uuid.uuid4().hex}", **{**row, **fields})

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

        def make() -> str:
            alias = name or f"alias-{uuid.uuid4().hex[:12]}"
            # Prices of a given name may be known already.
            first_price = None if name else price
            deployment = self._add_model(alias, model, upstream if deploy else NOWHERE, first_price, fields)
            self._publish(alias, price if name else None, str(deployment), cost if deploy else None)
            return alias

        made_with = (model, price, getattr(upstream, "pk", None), cost, deploy, fields)
        taken: str = self._kept.take(made_with, make) if self._kept and name is None else make()
        return taken

    def _publish(
        self, alias: str, price: Mapping[str, Any] | None, deployment: str, cost: Mapping[str, Any] | None
    ) -> None:
        from billing.operations import costs, prices
        from inference.queries import catalogue

        if cost is not None:
            costs.publish(deployment, cost, now=_a_second_ago())
        if price is not None:
            prices.publish(alias, price, now=_a_second_ago())
        catalogue.forget()

    def _add_model(
        self, alias: str, model: str, upstream: Any, price: Mapping[str, Any] | None, fields: dict[str, Any]
    ) -> int | None:
        """Insert the rows, and return the deployment's id."""
        from billing.models import PriceVersion
        from inference.models import Alias, Upstream

        upstreams = [self._upstream()] if upstream is None else []
        versions = (
            [PriceVersion(alias=alias, components=dict(price), effective_at=_a_second_ago())]
            if price is not None
            else []
        )
        rows: dict[str, Any] = {
            "upstreams": rendered(*upstreams),
            "alias": rendered(Alias(name=alias, **fields)),
            "prices": rendered(*versions),
            "model": model,
            "known": [] if upstream in (None, NOWHERE) else [upstream.pk],
        }
        tables = {"upstream": columns(Upstream), "alias": columns(Alias), "price": columns(PriceVersion)}
        with connection.cursor() as cursor:
            cursor.execute(ADD_MODEL.format(**tables), rows)
            [(made, deployment)] = cursor.fetchall()
        if upstreams:
            self._upstreams.append(made)
        return None if deployment is None else int(deployment)


def _a_second_ago() -> datetime:
    return datetime.now(UTC) - timedelta(seconds=1)


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
