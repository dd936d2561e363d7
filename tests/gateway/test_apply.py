"""`manage.py apply`: what a file sets, and that it sets it once."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from accounts.models import Account, AppearanceProduct, Integration, Product, PublicClient
from accounts.operations.operator_log import CONFIGURATION_DID
from billing.models import CostVersion, CreditLot, PriceVersion, Transfer, Wallet
from gateway.config.known import is_configured
from inference.models import Alias, Deployment, RawModel, Upstream
from judgement.models import JudgementFallback, JudgementSettings
from tests.gateway.config_files import WHOLE, apply_file, apply_text

pytestmark = pytest.mark.django_db

DEMO = Path(__file__).resolve().parents[2] / "gateway" / "demo.yaml"


@pytest.fixture(autouse=True)
def _credential(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIMARY_API_KEY", "sk-primary-secret")


def test_a_whole_file_is_set(tmp_path: Path) -> None:
    applied = apply_text(tmp_path, WHOLE)

    assert (applied.code, applied.err) == (0, "")
    assert applied.summary == "gateway.yaml applied: 33 created."
    assert list(Product.objects.values_list("slug", "name", "seat_price_microusd")) == [("studio", "Studio", 20000000)]
    assert set(AppearanceProduct.objects.values_list("slug", flat=True)) == {"service", "studio", "courier"}
    integration = Integration.objects.get()
    assert (integration.issuer, integration.audience) == ("https://studio.example", "https://gateway.example")
    assert (integration.product_id, integration.did_prefix) == ("studio", "did:web:studio.example:")
    assert integration.capabilities == ["wallet:read", "usage:read", "infer:*", "orgs:read", "orgs:manage"]
    assert [key["kid"] for key in integration.jwks["keys"]] == ["k1"]
    assert integration.enabled
    client = PublicClient.objects.get()
    assert (client.client_id, client.name, client.redirect_uris) == (
        "mobile",
        "Phone app",
        ["com.example.app:/callback"],
    )
    assert not client.trusted


def test_upstreams_aliases_and_raw_models_are_set(tmp_path: Path) -> None:
    apply_text(tmp_path, WHOLE)

    primary = Upstream.objects.get(name="primary")
    assert (primary.adapter, primary.base_url, primary.timeout_seconds) == ("openai", "https://models.example/v1", 60)
    assert (primary.api_key, primary.bills_errors, primary.fetches_images) == ("sk-primary-secret", False, False)
    apply_text(tmp_path, WHOLE.replace("timeout_seconds: 60", "timeout_seconds: 60\n    fetches_images: true"))
    assert Upstream.objects.get(name="primary").fetches_images
    fast = Alias.objects.get(name="fast")
    assert (fast.enabled, fast.max_output_tokens, fast.context_tokens) == (True, 4096, 128000)
    deployments = fast.deployments.order_by("priority").values_list("upstream__name", "model", "priority", "weight")
    assert list(deployments) == [("primary", "small-1", 0, 1), ("primary", "small-2", 1, 3)]
    raw = RawModel.objects.get()
    assert (raw.model, raw.upstream.name, raw.max_output_tokens) == ("vendor/large-2", "primary", 1000)
    assert [integration.issuer for integration in raw.integrations.all()] == ["https://studio.example"]
    settings = JudgementSettings.objects.get()
    assert (str(settings.text_backend), str(settings.vision_backend)) == ("judgement-backend-b", "judgement-backend-c")
    assert str(JudgementFallback.objects.get()) == "judgement-backend-b to judgement-backend-c"


def test_the_routes_that_an_upstream_knows_are_set_and_cleared_among_its_options(tmp_path: Path) -> None:
    row = "upstreams: [{name: chats, adapter: openai, base_url: https://models.example/v1%s}]"
    assert apply_text(tmp_path, row % ", routes: [chat.completions]").code == 0
    chats = Upstream.objects.get(name="chats")
    assert chats.options == {"routes": ["chat.completions"]}
    Upstream.objects.filter(name="chats").update(options={**chats.options, "project": "p"})

    assert "unchanged" in apply_text(tmp_path, row % ", routes: [chat.completions]").lines[0]
    apply_text(tmp_path, row % "")
    chats.refresh_from_db()
    assert chats.options == {"routes": ["chat.completions"], "project": "p"}
    apply_text(tmp_path, row % ", routes: null")
    chats.refresh_from_db()
    assert chats.options == {"project": "p"}


def test_an_upstream_without_service_tiers_is_set_and_cleared_among_its_options(tmp_path: Path) -> None:
    row = 'upstreams: [{name: chats, adapter: openai, base_url: "https://chats.example/v1"%s}]'
    apply_text(tmp_path, row % ", routes: [responses], service_tiers: false")
    assert Upstream.objects.get(name="chats").options == {"routes": ["responses"], "service_tiers": False}
    apply_text(tmp_path, row % ", service_tiers: null")
    assert Upstream.objects.get(name="chats").options == {"routes": ["responses"]}
    assert apply_text(tmp_path, row % ', service_tiers: "no"').code == 1


def test_how_an_upstream_is_authenticated_is_set_and_cleared_among_its_options(tmp_path: Path) -> None:
    row = 'upstreams: [{name: chats, adapter: openai, base_url: "https://models.example/openai/v1"%s}]'
    apply_text(tmp_path, row % ", auth: api-key, query: {api-version: preview}")
    assert Upstream.objects.get(name="chats").options == {"auth": "api-key", "query": {"api-version": "preview"}}
    apply_text(tmp_path, row % ", auth: null, query: null")
    assert Upstream.objects.get(name="chats").options == {}
    for wrong in (
        "auth: Content-Length",
        'auth: "a b"',
        "auth: 1",
        "query: {}",
        "query: {a: 1}",
        'query: {"a&b": x}',
        "query: [a]",
    ):
        assert apply_text(tmp_path, row % f", {wrong}").code == 1, wrong


def test_what_an_upstream_looks_up_is_set_and_cleared_among_its_options(tmp_path: Path) -> None:
    row = "upstreams: [{name: chats, adapter: openai, base_url: https://models.example/v1%s}]"
    apply_text(tmp_path, row % ", routes: [responses], looks_up: generations")
    assert Upstream.objects.get(name="chats").options == {"routes": ["responses"], "looks_up": "generations"}
    apply_text(tmp_path, row % ", looks_up: null")
    assert Upstream.objects.get(name="chats").options == {"routes": ["responses"]}
    assert apply_text(tmp_path, row % ", looks_up: responses").code == 1
    assert Upstream.objects.get(name="chats").options == {"routes": ["responses"]}


def test_prices_are_dated_versions(tmp_path: Path) -> None:
    apply_text(tmp_path, WHOLE)

    components = dict(PriceVersion.objects.values_list("alias", "components"))
    assert components["fast"] == {"input_token": "0.15", "cached_input_token": "0.075", "output_token": "0.60"}
    assert components["image"] == {"image": {"1024x1024/high": "40000", "1024x1024/low": "10000"}}
    assert components["vendor/large-2"] == {"input_token": "2", "output_token": "8"}

    applied = apply_text(tmp_path, WHOLE.replace('"0.60"', '"0.61"').replace('"0.15"', '"0.150"'))
    versions = PriceVersion.objects.filter(alias="fast").order_by("effective_at").values_list("components", flat=True)
    assert [version["output_token"] for version in versions] == ["0.60", "0.61"]
    assert [line.split(" from ")[0] for line in applied.lines if "unchanged" not in line] == ["created   price of fast"]


COSTS = """
upstreams: [{name: up, adapter: demo}]
aliases:
  - name: fast
    deployments:
      - upstream: up
        model: small-1
        cost: {input_token: "0.10", output_token: "0.40"}
      - {upstream: up, model: small-2}
raw_models:
  - {model: vendor/large-2, upstream: up, cost: {request: 5}}
"""


def costs_of(model: str) -> list[Any]:
    """Return a deployment's costs, oldest first."""
    deployment = Deployment.objects.filter(model=model).first()
    key = str(deployment.pk) if deployment else f"raw:{RawModel.objects.get(model=model).pk}"
    rows = CostVersion.objects.filter(deployment=key).order_by("effective_at")
    return [row.components for row in rows]


def test_costs_are_dated_versions_of_deployments(tmp_path: Path) -> None:
    applied = apply_text(tmp_path, COSTS)
    assert applied.code == 0
    assert [line.split(" from ")[0] for line in applied.lines if "cost" in line] == [
        "created   cost of fast: up/small-1",
        "created   cost of vendor/large-2",
    ]
    assert costs_of("small-1") == [{"input_token": "0.10", "output_token": "0.40"}]
    assert (costs_of("small-2"), costs_of("vendor/large-2")) == ([], [{"request": "5"}])

    again = apply_text(tmp_path, COSTS.replace('"0.10"', '"0.1"'))
    assert [line for line in again.lines if "cost" in line] == [
        "unchanged cost of fast: up/small-1",
        "unchanged cost of vendor/large-2",
    ]
    changed = apply_text(tmp_path, COSTS.replace('"0.40"', '"0.41"').replace("request: 5", ""))
    assert [line.split(": ")[-1] for line in changed.lines if "created" in line] == [
        "input_token 0.10, output_token 0.41",
        "not known",
    ]
    assert [cost["output_token"] for cost in costs_of("small-1")] == ["0.40", "0.41"]


def test_a_cost_that_is_left_out_stays_and_null_takes_it_away(tmp_path: Path) -> None:
    apply_text(tmp_path, COSTS)
    left_out = COSTS.replace('        cost: {input_token: "0.10", output_token: "0.40"}\n', "")
    assert not [line for line in apply_text(tmp_path, left_out).lines if "cost of fast" in line]
    assert len(costs_of("small-1")) == 1
    apply_text(tmp_path, COSTS.replace('{input_token: "0.10", output_token: "0.40"}', "null"))
    assert costs_of("small-1")[1:] == [{}]
    apply_text(tmp_path, COSTS)
    assert costs_of("small-1")[2:] == [{"input_token": "0.10", "output_token": "0.40"}]


def test_credits_are_granted_once(tmp_path: Path) -> None:
    apply_text(tmp_path, WHOLE)
    apply_text(tmp_path, WHOLE)

    alice, bob = "did:web:studio.example:alice", "did:web:studio.example:bob"
    assert set(Account.objects.values_list("did", flat=True)) == {alice, bob, CONFIGURATION_DID}
    assert not Account.objects.get(did=alice).has_usable_password()
    lots = CreditLot.objects.order_by("source_key").values_list(
        "wallet__owner_kind", "wallet__owner_key", "remaining_microusd", "product", "expires_at", "source_kind"
    )
    assert list(lots) == [
        ("account", bob, 500000, "studio", datetime(2027, 1, 31, tzinfo=UTC), "config"),
        ("account", alice, 5000000, None, None, "config"),
    ]
    assert sorted(Transfer.objects.values_list("kind", "amount_microusd")) == [("grant", 500000), ("grant", 5000000)]
    assert Wallet.objects.count() == 2


def test_a_second_application_changes_nothing(tmp_path: Path) -> None:
    apply_text(tmp_path, WHOLE)
    before = _everything()

    applied = apply_text(tmp_path, WHOLE)

    assert applied.code == 0
    assert applied.summary == "gateway.yaml applied: 33 unchanged."
    assert _everything() == before


def test_a_change_is_printed_and_nothing_else_is_touched(tmp_path: Path) -> None:
    apply_text(tmp_path, WHOLE)
    changed = WHOLE.replace("name: Studio", "name: Atelier").replace("timeout_seconds: 60", "timeout_seconds: 30")

    applied = apply_text(tmp_path, changed)

    assert [line for line in applied.lines if not line.startswith("unchanged")] == [
        "updated   product studio: name Studio -> Atelier",
        "updated   upstream primary: timeout_seconds 60.0 -> 30.0",
    ]


def test_what_the_file_leaves_out_stays(tmp_path: Path) -> None:
    apply_text(tmp_path, WHOLE)
    Alias.objects.filter(name="fast").update(enabled=False, max_output_tokens=7)

    apply_text(
        tmp_path,
        "aliases: [{name: fast, context_tokens: 9}]\nupstreams: [{name: primary, adapter: openai, base_url: 'https://models.example/v1'}]",
    )

    fast = Alias.objects.get(name="fast")
    assert (fast.enabled, fast.max_output_tokens, fast.context_tokens) == (False, 7, 9)
    assert fast.deployments.count() == 2
    assert Upstream.objects.get(name="primary").api_key == "sk-primary-secret"
    assert Alias.objects.count() == 4


def test_null_clears(tmp_path: Path) -> None:
    apply_text(tmp_path, WHOLE)

    applied = apply_text(
        tmp_path,
        "aliases: [{name: fast, max_output_tokens: null}]\n"
        "upstreams: [{name: primary, adapter: openai, base_url: 'https://models.example/v1', api_key: null}]",
    )

    assert Alias.objects.get(name="fast").max_output_tokens is None
    assert Upstream.objects.get(name="primary").api_key == ""
    assert "updated   upstream primary: api_key replaced" in applied.lines


def test_deployments_are_replaced_as_a_set(tmp_path: Path) -> None:
    apply_text(tmp_path, WHOLE)
    unchanged = Deployment.objects.get(model="small-2").pk

    applied = apply_text(
        tmp_path,
        "aliases: [{name: fast, deployments: [{upstream: primary, model: small-2}, {upstream: primary, model: new}]}]",
    )

    rows = Alias.objects.get(name="fast").deployments.order_by("id").values_list("id", "model", "priority", "weight")
    assert [row[1:] for row in rows] == [("small-2", 0, 1), ("new", 0, 1)]
    assert rows[0][0] == unchanged
    assert applied.lines == [
        "unchanged alias fast",
        "updated   deployment fast: primary/small-2: priority 1 -> 0, weight 3 -> 1",
        "created   deployment fast: primary/new",
        "updated   alias fast: no longer served by primary/small-1",
    ]


def test_facts_of_representations_are_options(tmp_path: Path) -> None:
    text = (
        "upstreams: [{name: r, adapter: representation, base_url: 'https://r.example'}]\n"
        "aliases:\n"
        "  - name: embedding-contextual\n"
        "    dimensions: 1024\n"
        "    quantization: int8\n"
        "    normalized: true\n"
        "    revision: 2026-08-01\n"
        "    provider: r\n"
        "    deployments: [{upstream: r, model: ctx-1}]\n"
    )
    apply_text(tmp_path, text)
    options = Alias.objects.get().options
    assert options == {
        "dimensions": 1024,
        "quantization": "int8",
        "normalized": True,
        "revision": "2026-08-01",
        "provider": "r",
    }

    apply_text(tmp_path, "aliases: [{name: embedding-contextual, dimensions: 2048, provider: null}]")
    assert Alias.objects.get().options == {
        name: value for name, value in (options | {"dimensions": 2048}).items() if name != "provider"
    }


@pytest.mark.parametrize("adapter", Upstream.Adapter.values)
def test_every_adapter_is_taken(tmp_path: Path, adapter: str) -> None:
    text = f"upstreams: [{{name: u, adapter: {adapter}, base_url: 'https://u.example/v1/'}}]"
    assert apply_text(tmp_path, text).code == 0
    assert Upstream.objects.values_list("adapter", "base_url").get() == (adapter, "https://u.example/v1")


def test_a_check_tells_and_changes_nothing(tmp_path: Path) -> None:
    before = _everything()

    applied = apply_text(tmp_path, WHOLE, "--check")

    assert applied.code == 0
    assert applied.summary == "gateway.yaml is valid; it would be: 33 created."
    assert "created   alias fast" in applied.lines
    assert _everything() == before


def test_a_new_integration_without_an_audience_gets_the_gateways_address(tmp_path: Path) -> None:
    elsewhere = WHOLE.replace("audience: https://gateway.example", "audience: https://elsewhere.example")
    silent = WHOLE.replace("    audience: https://gateway.example\n", "")
    assert apply_text(tmp_path, silent).code == 0
    assert Integration.objects.get().audience == "https://gateway.example"
    apply_text(tmp_path, elsewhere)
    assert apply_text(tmp_path, silent).summary.endswith(" unchanged.")
    assert Integration.objects.get().audience == "https://elsewhere.example"


def test_a_check_warns_of_an_audience_that_is_not_the_gateways_address(tmp_path: Path) -> None:
    other = WHOLE.replace("audience: https://gateway.example", "audience: https://elsewhere.example")
    warning = (
        "warning   integration https://studio.example: its audience is https://elsewhere.example, not this gateway's"
        " address, https://gateway.example"
    )
    assert warning in apply_text(tmp_path, other, "--check").lines
    assert "warning" not in apply_text(tmp_path, other).out
    assert "warning" not in apply_text(tmp_path, WHOLE, "--check").out


@pytest.mark.parametrize("text", ["products: [{slug: one, name: One}]", "upstreams: [{name: one, adapter: demo}]"])
def test_a_database_with_a_file_applied_is_configured(tmp_path: Path, text: str) -> None:
    assert not is_configured()
    apply_text(tmp_path, text)
    assert is_configured()


def test_an_empty_file_is_good(tmp_path: Path) -> None:
    assert apply_text(tmp_path, "# nothing yet\n").summary == "gateway.yaml applied: nothing to set."


def test_the_demo_configuration_is_good() -> None:
    applied = apply_file(DEMO)
    assert (applied.code, applied.err) == (0, "")
    assert set(Alias.objects.values_list("name", flat=True)) >= {"fast", "balanced", "reasoning", "vision", "embedding"}
    assert set(Upstream.objects.values_list("adapter", flat=True)) == {"demo"}
    assert apply_file(DEMO).summary.endswith(" unchanged.")


def test_secrets_rest_encrypted_and_are_printed_nowhere(tmp_path: Path) -> None:
    first = apply_text(tmp_path, WHOLE)
    second = apply_text(tmp_path, WHOLE.replace("sk-literal-secret", "sk-another-secret"))

    assert "updated   upstream judge: api_key replaced" in second.lines
    shown = first.out + first.err + second.out + second.err
    assert not [secret for secret in ("sk-primary-secret", "sk-literal-secret", "sk-another-secret") if secret in shown]
    with connection.cursor() as cursor:
        cursor.execute("SELECT row_to_json(u)::text FROM inference_upstream u")
        rows = [row[0] for row in cursor.fetchall()]
    assert len(rows) == 2
    assert all(json.loads(row)["api_key"].startswith("gAAAA") for row in rows)
    assert not [row for row in rows if "sk-" in row]


def test_a_secret_of_the_environment_may_end_in_a_newline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIMARY_API_KEY", "sk-from-a-file\n")
    apply_text(tmp_path, WHOLE)
    assert Upstream.objects.get(name="primary").api_key == "sk-from-a-file"


def _everything() -> list[list[tuple[object, ...]]]:
    """Read every row that a file can set, keys and times included."""
    models = (
        *(Product, AppearanceProduct, Integration, PublicClient, Account, Upstream, Alias, Deployment, RawModel),
        *(JudgementSettings, JudgementFallback, PriceVersion, Wallet, CreditLot, Transfer),
    )
    return [list(model._default_manager.order_by("pk").values_list()) for model in models]
