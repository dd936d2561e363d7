"""What a gateway of a small company has after two months: customers, calls with costs, and something that has gone wrong.

`fill` runs in a process of the gateway's own. The calls are booked as the gateway books them, so that every sum of a page is
right; only the traffic, of which no money is decided, is written as sums.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from math import ceil
from pathlib import Path
from random import Random
from typing import Any

from django.utils import timezone

from accounts.models import Account
from billing.models import Call, CostVersion, PriceVersion
from billing.operations import usage_days
from gateway.core.contract.ids import new_id
from gateway.core.telemetry.models import HourlyTraffic
from gateway.core.telemetry.rules.buckets import bucket_of, empty
from inference.models import Alias, DeploymentTrouble
from inference.queries.rows import deployment_id
from organizations.operations import organizations
from tests.factories.billing import Purse, review, settle
from tests.gateway.config_files import apply_text
from tests.gateway.traces import attempt, refused, trace_of

DAYS = 60
SEED = 7
CONFIGURATION = """
upstreams:
  - {name: frankfurt, adapter: demo}
  - {name: oregon, adapter: demo}
aliases:
  - name: fast
    max_output_tokens: 4096
    context_tokens: 128000
    deployments:
      - {upstream: frankfurt, model: demo-fast, priority: 0, weight: 3}
      - {upstream: oregon, model: demo-fast, priority: 1}
    price: {input_token: "0.15", cached_input_token: "0.075", output_token: "0.60"}
  - name: reasoning
    max_output_tokens: 16384
    context_tokens: 200000
    deployments:
      - {upstream: oregon, model: demo-reasoning}
    price: {input_token: "3", cached_input_token: "0.75", output_token: "12"}
"""
NAMES = (
    "Grace Hopper",
    "Alan Turing",
    "Mary Jackson",
    "Edsger Dijkstra",
    "Barbara Liskov",
    "Tony Hoare",
    "Radia Perlman",
)
PRODUCTS = (None, "studio", "studio", "courier")
MARKS = [
    ["authenticated", 400],
    ["received", 900],
    ["checked", 1_500],
    ["held", 4_500],
    ["sent", 4_600],
    ["first_byte", 754_600],
    ["upstream_done", 1_900_000],
    ["settled", 1_903_000],
    ["answered", 1_903_250],
]


@dataclass(frozen=True)
class Sold:
    """A model as it is sold: its price, where it is served, and what that costs."""

    name: str
    price: PriceVersion
    cost: CostVersion

    @classmethod
    def of(cls, name: str, upstream: str, begun_at: datetime) -> "Sold":
        """Find a model, and give its deployment at an upstream a cost of 60 % of the price."""
        price = PriceVersion.objects.filter(alias=name).latest("effective_at")
        served = Alias.objects.get(name=name).deployments.get(upstream__name=upstream)
        components = {part: str(Decimal(str(each)) * 6 / 10) for part, each in price.components.items()}
        cost = CostVersion.objects.create(
            deployment=deployment_id(served), components=components, effective_at=begun_at
        )
        return cls(name, price, cost)

    def call(self, purse: Purse, did: str, now: datetime, tokens: tuple[int, int], product: str | None) -> str:
        """Book a call of so many tokens of input and output, and return its usage id."""
        charge, cost = (_amount(version.components, tokens) for version in (self.price, self.cost))
        about = {"model": self.name, "price_version": self.price.pk, "product": product, "did": did}
        usage_id = purse.call(2 * charge, new_id("key"), now=now, request_id=new_id("req"), **about)
        counted = {"input_tokens": tokens[0], "output_tokens": tokens[1]}
        known = {"cost_microusd": cost, "cost_version_id": self.cost.pk}
        ended_at = now + timedelta(seconds=2)
        settle(usage_id, charge, quantities={**counted, **known}, deployment=self.cost.deployment, now=ended_at)
        return usage_id


def fill(did: str, folder: str) -> None:
    """Fill the gateway; the account of this DID is the customer whose pages are shown."""
    now, chance = timezone.now(), Random(SEED)
    applied = apply_text(Path(folder), CONFIGURATION)
    assert not applied.err, applied.err
    begun_at = now - timedelta(days=DAYS + 1)
    models = [Sold.of("fast", "frankfurt", begun_at), Sold.of("reasoning", "oregon", begun_at)]
    purses = {each: Purse("account", each).pay(60_000_000) for each in (did, *_customers())}
    for day in range(DAYS, -1, -1):
        for _ in range(4 + (DAYS - day) // 8 + chance.randrange(4)):
            at = now - timedelta(days=day, minutes=1 + chance.randrange(60))
            who = did if chance.random() < 0.5 else chance.choice(list(purses))
            tokens = (20_000 + chance.randrange(60_000), 4_000 + chance.randrange(12_000))
            chance.choice(models).call(purses[who], who, at, tokens, chance.choice(PRODUCTS))
    _trace(models[0].call(purses[did], did, now - timedelta(seconds=30), (52_300, 9_800), "studio"), models)
    _trouble(purses[did], models[1], now)
    organizations.create(name="Ada Analytics", account=Account.objects.get(did=did), now=now)
    _traffic(now, chance)
    usage_days.rebuild()


def _amount(components: dict[str, str], tokens: tuple[int, int]) -> int:
    return ceil(
        sum(
            Decimal(str(components[f"{kind}_token"])) * count
            for kind, count in zip(("input", "output"), tokens, strict=True)
        )
    )


def _customers() -> list[str]:
    dids = []
    for name in NAMES:
        last = name.lower().split()[-1]
        dids.append(f"did:web:studio.example:{last}")
        Account.objects.create_user(dids[-1], f"{last}@studio.example", None, display_name=name)
    return dids


def _trace(usage_id: str, models: list[Sold]) -> None:
    """Keep the steps of a call that one upstream refused and the other answered."""
    call = Call.objects.get(pk=usage_id)
    busy = attempt(
        models[1].cost.deployment, upstream="oregon", first_byte=None, ended=120_000, status=503, cause="upstream_5xx"
    )
    answered = attempt(
        models[0].cost.deployment, upstream="frankfurt", began=121_000, first_byte=754_600, ended=1_900_000
    )
    hold = {
        "price_version": models[0].price.pk,
        "max_cost_microusd": call.max_cost_microusd,
        "input_tokens": 52_300,
        "output_tokens": 16_384,
    }
    trace_of(
        usage_id,
        marks=MARKS,
        attempts=[busy, answered],
        hold=hold,
        upstream="frankfurt",
        product="studio",
        duration_microseconds=1_903_250,
        first_byte_microseconds=754_600,
        hold_microusd=call.hold_microusd,
    )


def _trouble(purse: Purse, model: Sold, now: datetime) -> None:
    """Leave what a person has to look at: a call without a known use, an upstream that refuses, and refused requests."""
    about: dict[str, Any] = {"model": model.name, "price_version": model.price.pk, "request_id": new_id("req")}
    assert review(purse.call(200_000, now=now - timedelta(hours=5), **about), "timed out")
    DeploymentTrouble.objects.create(
        deployment=model.cost.deployment,
        cause="answered 401: invalid key",
        failures=17,
        since=now - timedelta(minutes=12),
        last_at=now,
    )
    for number, code in enumerate(("budget_exceeded", "insufficient_funds", "invalid_request")):
        refused(code, model=model.name, account=purse.key, began_at=now - timedelta(minutes=3 * number + 1))


def _traffic(now: datetime, chance: Random) -> None:
    hours = [now - timedelta(hours=ago) for ago in range(24)] + [now - timedelta(days=ago) for ago in range(1, DAYS)]
    for at in {hour.replace(minute=0, second=0, microsecond=0) for hour in hours}:
        for upstream, milliseconds in (("frankfurt", 700), ("oregon", 1_600)):
            for outcome, cause, requests in (
                ("settled", "", 180 + chance.randrange(80)),
                ("released", "upstream_5xx", chance.randrange(4)),
            ):
                took, first = empty(), empty()
                took[bucket_of(2_000 * milliseconds)] += requests
                first[bucket_of(1_000 * milliseconds)] += requests
                HourlyTraffic.objects.create(
                    hour=at,
                    route="chat.completions",
                    model="fast" if upstream == "frankfurt" else "reasoning",
                    product="studio",
                    upstream=upstream,
                    outcome=outcome,
                    cause=cause,
                    requests=requests,
                    duration_buckets=took,
                    first_byte_buckets=first,
                )
