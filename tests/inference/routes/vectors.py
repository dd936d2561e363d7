"""A test's own models at upstreams of vectors."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from tests.support.stage import Caller, Stage
from tests.support.vector_upstreams import CohereUpstream, RepresentationUpstream, VoyageUpstream

PRICE = {"input_token": "2"}
BALANCE = 1_000_000

Upstream = CohereUpstream | RepresentationUpstream | VoyageUpstream
ADAPTERS = {CohereUpstream: "cohere", RepresentationUpstream: "representation", VoyageUpstream: "voyage"}


@dataclass
class Bench:
    """A model at an upstream of vectors, and a caller with money."""

    stage: Stage
    upstream: Upstream
    caller: Caller
    path: str
    model: str = ""

    def serve(self, model: str = "vectors-1", *, price: Any = PRICE, **fields: Any) -> None:
        """Make the model anew."""
        row = self.stage.upstream_row(adapter=ADAPTERS[type(self.upstream)], base_url=self.upstream.base_url)
        self.model = self.stage.model(model, price=price, upstream=row, **fields)

    def post(self, *, key: str = "", max_cost: int = 100_000, **members: Any) -> httpx.Response:
        """Send a request."""
        return self.caller.post({"model": self.model, **members}, path=self.path, key=key, max_cost=max_cost)

    def assert_nothing_happened(self) -> None:
        """Check that nothing was held and nothing sent."""
        assert self.caller.calls == []
        assert self.caller.wallet == {"balance": BALANCE, "held": 0, "debt": 0}
        assert self.upstream.requests == []

    def assert_refused(self, answer: httpx.Response, status: int, code: str, param: str | None = None) -> None:
        """Check a refusal before anything was held."""
        error = answer.json()["error"]
        assert (answer.status_code, error["code"], error["param"]) == (status, code, param), answer.text
        self.assert_nothing_happened()

    def assert_charged(self, cost_microusd: int) -> None:
        """Check the money of the only call."""
        call = self.caller.only_call
        assert (call.state, call.charge_microusd) == ("settled", cost_microusd)
        assert call.hold_microusd >= cost_microusd
        assert self.caller.wallet == {"balance": BALANCE - cost_microusd, "held": 0, "debt": 0}

    def assert_in_review(self) -> None:
        """Check that the only call's hold stands."""
        call = self.caller.only_call
        assert call.state == "review"
        assert self.caller.wallet == {"balance": BALANCE, "held": call.hold_microusd, "debt": 0}


def alias_options(path: str) -> dict[str, Any]:
    """Return the options of an alias for the route at a path."""
    routes = {
        "/v1/embeddings": "embeddings",
        "/v1/embeddings/contextual": "embeddings.contextual",
        "/v1/late-interaction/score": "late-interaction.score",
    }
    return {"routes": [routes[path]]}


@contextmanager
def bench(stage: Stage, upstream: Upstream, path: str) -> Iterator[Bench]:
    """Set a test's own world up around a running upstream."""
    upstream.requests.clear()
    upstream.twist = None
    made = Bench(stage, upstream, stage.caller(balance=BALANCE), path)
    made.serve(options=alias_options(path))
    yield made


def manifest_id(manifest: dict[str, Any]) -> str:
    """Hash a manifest as a client would."""
    members = {name: value for name, value in manifest.items() if name != "input_type"}
    compact = json.dumps(members, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(compact.encode()).hexdigest()
