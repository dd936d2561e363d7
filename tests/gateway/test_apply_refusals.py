"""`manage.py apply`: what it refuses, each problem with its line, and that nothing is changed then."""

from pathlib import Path

import pytest
from django.test import override_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Account, Integration, Product
from billing.models import CreditLot, PriceVersion, Wallet
from inference.models import Alias, RawModel, Upstream
from tests.gateway.config_files import WHOLE, Applied, apply_file, apply_text

pytestmark = pytest.mark.django_db

KEY = "{kty: EC, crv: P-256, x: axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY, y: T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU}"
PRODUCT = "products: [{slug: studio, name: Studio}]\n"
UPSTREAM = "upstreams: [{name: up, adapter: demo}]\n"


@pytest.fixture(autouse=True)
def _credential(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIMARY_API_KEY", "sk-primary-secret")
    monkeypatch.setenv("EMPTY", "")


def integration(**members: str) -> str:
    """Write an integration, one key a line from line 3 on, in the order issuer, audience, did_prefix, …"""
    values = {
        "issuer": "https://studio.example",
        "product": "studio",
        "audience": "https://gateway.example",
        "did_prefix": '"did:web:studio.example:"',
        "capabilities": "[wallet:read]",
        "jwks": f"{{keys: [{KEY}]}}",
    } | members
    lines = [f"{name}: {value}" for name, value in values.items() if value]
    return PRODUCT + "integrations:\n  - " + "\n    ".join(lines) + "\n"


def upstream(line: str) -> str:
    return f"upstreams:\n  - name: up\n    adapter: openai\n    base_url: https://up.example\n    {line}\n"


def alias(line: str) -> str:
    return UPSTREAM + f"aliases:\n  - name: fast\n    {line}\n"


def credit(line: str) -> str:
    return f"credits:\n  - account: did:web:studio.example:alice\n    key: k\n    {line}\n"


PRICE_WORDS = 'must be a price in micro-USD with at most 6 decimals, such as "0.15"'
WEB_WORDS = "must be an https:// address (http:// only on loopback), without user, query or fragment"

PROBLEMS = {
    # what stands where nothing should
    "unknown section": ("product: []", "1 product: unknown section; the sections are products, appearance, integrations, public_clients, upstreams, aliases, raw_models, judgement, limits, projects, sandbox, ci, evolution, event_endpoints, account_key_sync, credits"),
    "unknown key": (PRODUCT + UPSTREAM + "aliases:\n - name: fast\n   price: {input_tokens: '1'}", "5 aliases[0].price.input_tokens: unknown key (did you mean input_token?)"),
    "misspelt key": ("upstreams:\n - name: a\n   adaptor: demo\n   adapter: demo", "3 upstreams[0].adaptor: unknown key (did you mean adapter?)"),
    "section of the wrong shape": ("products: {slug: a}", "1 products: must be a list"),
    "row of the wrong shape": ("products:\n  - studio", "2 products[0]: must be a mapping"),
    "section that is one row": ("appearance: [a]", "1 appearance: must be a mapping"),
    "missing key": ("products:\n  - slug: studio", "2 products[0].name: is required"),
    "duplicate row": ("products:\n  - {slug: a, name: A}\n  - {slug: b, name: B}\n  - slug: a\n    name: C", "4 products[2].slug: is the same row as products[0]"),
    # scalars
    "boolean": (alias("enabled: yes"), "4 aliases[0].enabled: must be true or false"),
    "text": ("products:\n - {slug: 5, name: A}", "2 products[0].slug: must be text (a number or true/false: quote it)"),
    "count": (alias("max_output_tokens: 0"), "4 aliases[0].max_output_tokens: must be at least 1"),
    "count as text": (alias("max_output_tokens: '4096'"), "4 aliases[0].max_output_tokens: must be a whole number"),
    "count as true": (alias("context_tokens: true"), "4 aliases[0].context_tokens: must be a whole number"),
    "huge count": (alias("context_tokens: 100000001"), "4 aliases[0].context_tokens: must be at most 100000000"),
    "weight": (alias("deployments: [{upstream: up, model: m, weight: 0}]"), "4 aliases[0].deployments[0].weight: must be at least 1"),
    "priority": (alias("deployments: [{upstream: up, model: m, priority: -1}]"), "4 aliases[0].deployments[0].priority: must be at least 0"),
    "slug": ("products: [{slug: Studio One, name: A}]", "1 products[0].slug: must be a slug: a-z, 0-9, - and _, at most 64 characters"),
    "name": ("products: [{slug: a, name: ' A'}]", "1 products[0].name: must be one line without leading or trailing spaces"),
    "seat price": ("products: [{slug: a, name: A, seat_price_microusd: -1}]", "1 products[0].seat_price_microusd: must be at least 0"),
    "alias name": ("aliases: [{name: 'a b'}]", "1 aliases[0].name: must be letters, digits and . _ : / @ -, at most 200 characters"),
    "timeout": (upstream("timeout_seconds: 0"), "5 upstreams[0].timeout_seconds: must be at least 0.1"),
    "long timeout": (upstream("timeout_seconds: 3601"), "5 upstreams[0].timeout_seconds: must be at most 3600.0"),
    "adapter": ("upstreams:\n - name: u\n   adapter: azure", "3 upstreams[0].adapter: must be one of 'openai', 'anthropic', 'voyage', 'cohere', 'representation', 'judgement', 'realtime' or 'demo'"),
    "route": (alias("routes: [chat]"), "4 aliases[0].routes[0]: must be one of chat.completions, embeddings, embeddings.contextual, late-interaction.score, rerank, responses, messages, images.generations, audio.speech, audio.transcriptions, audio.translations, realtime, judgement"),
    "route of an upstream": (upstream("routes: [chat]"), "5 upstreams[0].routes[0]: must be one of chat.completions, embeddings, embeddings.contextual, late-interaction.score, rerank, responses, messages, images.generations, audio.speech, audio.transcriptions, audio.translations, realtime, judgement"),
    "no route of an upstream": (upstream("routes: []"), "5 upstreams[0].routes: must not be empty"),
    # prices
    "price as a float": (alias("price: {input_token: 0.15}"), '4 aliases[0].price.input_token: quote this price, as in "0.15": an unquoted decimal is not exact'),
    "price with 7 decimals": (alias("price: {input_token: '0.1234567'}"), f"4 aliases[0].price.input_token: {PRICE_WORDS}"),
    "negative price": (alias("price: {input_token: '-1'}"), f"4 aliases[0].price.input_token: {PRICE_WORDS}"),
    "negative whole price": (alias("price: {input_token: -1}"), f"4 aliases[0].price.input_token: {PRICE_WORDS}"),
    "price in exponents": (alias("price: {input_token: '1e3'}"), f"4 aliases[0].price.input_token: {PRICE_WORDS}"),
    "price of true": (alias("price: {input_token: true}"), f"4 aliases[0].price.input_token: {PRICE_WORDS}"),
    "huge price": (alias("price: {input_token: 1000000001}"), "4 aliases[0].price.input_token: must be at most 1000000000 micro-USD"),
    "price in a list": (alias("price: {input_token: ['1']}"), f"4 aliases[0].price.input_token: {PRICE_WORDS}"),
    "image kind": (alias("price:\n      image:\n        large: '1'"), '6 aliases[0].price.image.large: must be size/quality, such as "1024x1024/high"'),
    "image price": (alias("price:\n      image:\n        1024x1024/high: 0.5"), '6 aliases[0].price.image["1024x1024/high"]: quote this price, as in "0.5": an unquoted decimal is not exact'),
    "no image price": (alias("price: {image: {}}"), "4 aliases[0].price.image: must not be empty"),
    "bands out of order": (alias("price:\n      bands:\n        - {above_input_tokens: 9, input_token: '1'}\n        - {above_input_tokens: 9, input_token: '2'}"), "5 aliases[0].price.bands: [1].above_input_tokens must be more than 9, that of [0]"),
    "band at nothing": (alias("price:\n      bands:\n        - {above_input_tokens: 0, input_token: '1'}"), "6 aliases[0].price.bands[0].above_input_tokens: must be a whole number from 1 to 2000000000"),
    "band at a text": (alias("price:\n      bands:\n        - {above_input_tokens: '9', input_token: '1'}"), "6 aliases[0].price.bands[0].above_input_tokens: must be a whole number"),
    "band without a threshold": (alias("price:\n      bands:\n        - {input_token: '1'}"), "6 aliases[0].price.bands[0].above_input_tokens: is required"),
    "band without a price": (alias("price:\n      bands:\n        - {above_input_tokens: 9}"), "6 aliases[0].price.bands[0]: a band needs at least one price"),
    "band of images": (alias("price:\n      bands:\n        - {above_input_tokens: 9, image: '1'}"), "6 aliases[0].price.bands[0].image: unknown key"),
    "no bands": (alias("price: {bands: []}"), "4 aliases[0].price.bands: must not be empty"),
    "price of a band as a float": (alias("price:\n      bands:\n        - {above_input_tokens: 9, input_token: 0.5}"), '6 aliases[0].price.bands[0].input_token: quote this price, as in "0.5": an unquoted decimal is not exact'),
    "tier named default": (alias("price: {service_tiers: {default: {input_token: '1'}}}"), "4 aliases[0].price.service_tiers.default: service tier default cannot be priced: its prices are those outside of service_tiers"),
    "tier in capitals": (alias("price: {service_tiers: {Flex: {input_token: '1'}}}"), '4 aliases[0].price.service_tiers.Flex: a service tier must be named in lower case, such as "flex"'),
    "tier without a price": (alias("price: {service_tiers: {flex: {}}}"), "4 aliases[0].price.service_tiers.flex: a service tier needs at least one price"),
    "tier of a tier": (alias("price: {service_tiers: {flex: {service_tiers: {}}}}"), "4 aliases[0].price.service_tiers.flex.service_tiers: unknown key"),
    "misspelt price of a tier": (alias("price: {service_tiers: {flex: {input_tokens: '1'}}}"), "4 aliases[0].price.service_tiers.flex.input_tokens: unknown key (did you mean input_token?)"),
    # costs
    "cost as a float": (alias("deployments: [{upstream: up, model: m, cost: {input_token: 0.1}}]"), '4 aliases[0].deployments[0].cost.input_token: quote this price, as in "0.1": an unquoted decimal is not exact'),
    "negative cost": (alias("deployments: [{upstream: up, model: m, cost: {input_token: '-1'}}]"), f"4 aliases[0].deployments[0].cost.input_token: {PRICE_WORDS}"),
    "unit of a cost": (alias("deployments: [{upstream: up, model: m, cost: {input_tokens: '1'}}]"), "4 aliases[0].deployments[0].cost.input_tokens: unknown key (did you mean input_token?)"),
    "cost of the wrong shape": (alias("deployments: [{upstream: up, model: m, cost: '1'}]"), "4 aliases[0].deployments[0].cost: must be a mapping"),
    "cost of a raw model": (UPSTREAM + "raw_models: [{model: m, upstream: up, cost: {output_token: 1.5}}]", '2 raw_models[0].cost.output_token: quote this price, as in "1.5": an unquoted decimal is not exact'),
    # references
    "alias to upstream": (alias("deployments: [{upstream: down, model: m}]"), "4 aliases[0].deployments[0].upstream: there is no upstream 'down'"),
    "deployment twice": (alias("deployments: [{upstream: up, model: m}, {upstream: up, model: m}]"), "4 aliases[0].deployments: list each upstream and model only once"),
    "integration to product": (integration(product="courier"), "4 integrations[0].product: there is no product 'courier'"),
    "raw model to upstream": ("raw_models: [{model: m, upstream: u}]", "1 raw_models[0].upstream: there is no upstream 'u'"),
    "raw model to integration": (UPSTREAM + "raw_models:\n  - model: m\n    upstream: up\n    integrations: [https://nobody.example]", "5 raw_models[0].integrations[0]: there is no integration 'https://nobody.example'"),
    "capability to alias": (integration(capabilities='["infer:nothing"]'), "7 integrations[0].capabilities[0]: there is no alias or raw model 'nothing'"),
    "credit to product": (credit("amount_microusd: 1\n    product: courier"), "5 credits[0].product: there is no product 'courier'"),
    "judgement to alias": ("judgement: {text_backend: mine}", "1 judgement.text_backend: there is no alias 'mine'"),
    "judgement to itself": ("judgement: {text_backend: judgement}", "1 judgement.text_backend: 'judgement' is not a judgement backend"),
    "judgement to a text alias": (UPSTREAM + "aliases: [{name: fast}]\njudgement: {vision_backend: fast}", "3 judgement.vision_backend: 'fast' is not a judgement backend"),
    "fallback to alias": ("aliases: [{name: a}]\njudgement:\n  fallbacks:\n    - {from: a, to: b}", "4 judgement.fallbacks[0].to: there is no alias 'b'"),
    "fallback to itself": ("aliases: [{name: a}]\njudgement:\n  fallbacks:\n    - {from: a, to: a}", "4 judgement.fallbacks[0]: a backend cannot fall back to itself"),
    "two fallbacks": ("aliases: [{name: a}, {name: b}, {name: c}]\njudgement: {fallbacks: [{from: a, to: b}, {from: a, to: c}]}", "2 judgement.fallbacks: a backend may have one fallback"),
    "alias and raw model of one name": (UPSTREAM + "aliases: [{name: m}]\nraw_models: [{model: m, upstream: up}]", "3 raw_models[0].model: 'm' is an alias already"),
    # identities and addresses
    "issuer": (integration(issuer="http://studio.example"), f"3 integrations[0].issuer: {WEB_WORDS}, or a DID"),
    "audience": (integration(audience="'a b'"), "5 integrations[0].audience: must be 1 to 255 printable ASCII characters without spaces"),
    "did prefix": (integration(did_prefix="web:studio"), "6 integrations[0].did_prefix: this is not a DID prefix, such as did:web:studio.example:"),
    "capability": (integration(capabilities="[wallet:write]"), "7 integrations[0].capabilities[0]: this is not a capability"),
    "wildcard": (integration(capabilities='["orgs:*"]'), "7 integrations[0].capabilities[0]: this is not a capability"),
    "no capability": (integration(capabilities="[]"), "7 integrations[0].capabilities: must not be empty"),
    "no key": (integration(jwks="{keys: []}"), "8 integrations[0].jwks.keys: must not be empty"),
    "private key": (integration(jwks=f"{{keys: [{KEY[:-1]}, d: abc}}]}}"), "8 integrations[0].jwks.keys[0]: not a usable public key: carries private key material"),
    "key off its curve": (integration(jwks=f"{{keys: [{KEY.replace('axfR', 'bxfR')}]}}"), "8 integrations[0].jwks.keys[0]: not a usable public key: not a point on P-256"),
    "key of another type": (integration(jwks="{keys: [{kty: RSA, n: abc, e: AQAB}]}"), "8 integrations[0].jwks.keys[0]: not a usable public key: neither an EC key on P-256 nor an OKP key on Ed25519"),
    "two keys without kid": (integration(jwks=f"{{keys: [{KEY}, {KEY}]}}"), "8 integrations[0].jwks.keys: If there are several keys, each needs a kid."),
    "no address": ("upstreams:\n  - name: u\n    adapter: openai", "2 upstreams[0]: base_url is required, except for the demo adapter"),
    "account": ("credits: [{account: alice, key: k, amount_microusd: 1}]", "1 credits[0].account: this is not a DID"),
    "amount": (credit("amount_microusd: 0"), "4 credits[0].amount_microusd: must be at least 1"),
    "amount with a point": (credit("amount_microusd: 5.0"), "4 credits[0].amount_microusd: must be a whole number"),
    "expiry without an offset": (credit("amount_microusd: 1\n    expires_at: 2027-01-31T00:00:00"), '5 credits[0].expires_at: must be a time such as "2027-01-31T00:00:00Z"'),
    "expiry that is no date": (credit("amount_microusd: 1\n    expires_at: 2027-02-31T00:00:00Z"), '5 credits[0].expires_at: must be a time such as "2027-01-31T00:00:00Z"'),
    "named client without redirects": ("public_clients:\n  - {client_id: mobile, name: A}", "2 public_clients[0]: a named client needs at least one redirect URI"),
    "trusted command line": ("public_clients:\n  - {client_id: agw, name: A, trusted: true}", "2 public_clients[0]: agw is built in: it can be disabled, but not trusted or given redirect URIs"),
    "client id": ("public_clients:\n  - {client_id: 'https://a.example/', name: A}", "2 public_clients[0].client_id: must be a plain name, or an origin such as https://app.example without a trailing slash"),
    "origin that no browser sends": ("public_clients:\n  - {client_id: 'https://a.example:443', name: A}", "2 public_clients[0].client_id: must be a plain name, or an origin such as https://app.example without a trailing slash"),
    "redirect to another origin": ("public_clients:\n  - {client_id: 'https://a.example', name: A, redirect_uris: ['https://b.example/cb']}", "2 public_clients[0]: the redirect URIs of an origin must be on that origin"),
    # secrets
    "variable that is not set": (upstream("api_key: {env: NOT_THERE}"), "5 upstreams[0].api_key: the environment variable NOT_THERE is not set"),
    "variable that is empty": (upstream("api_key: {env: EMPTY}"), "5 upstreams[0].api_key: a secret is 1 to 4096 printable ASCII characters without spaces"),
    "secret of another shape": (upstream("api_key: {ENV: A, sk-live-1: b}"), "5 upstreams[0].api_key: must be text or {env: NAME}"),
    "secret with a newline": (upstream('api_key: "sk-live-2\\n"'), "5 upstreams[0].api_key: a secret is 1 to 4096 printable ASCII characters without spaces"),
    "secret as a number": (upstream("api_key: 12345"), "5 upstreams[0].api_key: must be text or {env: NAME}"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "problem"), PROBLEMS.values(), ids=PROBLEMS)
def test_a_problem_is_named_with_its_line_and_path(tmp_path: Path, text: str, problem: str) -> None:
    applied = apply_text(tmp_path, text)

    assert applied.problems == [f"gateway.yaml:{problem}"]
    assert_nothing_changed(applied)
    assert "sk-live" not in applied.err


BASE_URLS = ["http://up.example", "ftp://up.example", "https://user@up.example", "https://up.example?k=v", "https://up.example#f", "https://", "up.example", r"https://up.example\@evil.example", "https://up example", "https://up.example:99999", "https://up.example:", "//up.example", "http://169.254.169.254/latest", "http://localhost.evil.example"]  # fmt: skip


@pytest.mark.parametrize("base_url", BASE_URLS)
def test_an_upstream_is_at_a_plain_https_or_loopback_address(tmp_path: Path, base_url: str) -> None:
    applied = apply_text(tmp_path, f"upstreams: [{{name: u, adapter: openai, base_url: '{base_url}'}}]")
    assert applied.problems == [f"gateway.yaml:1 upstreams[0].base_url: {WEB_WORDS}"]
    assert_nothing_changed(applied)


@pytest.mark.parametrize(
    "base_url", ["https://up.example/v1", "http://127.0.0.1:9000/v1", "http://localhost:1", "http://[::1]:8080"]
)
def test_these_addresses_are_taken(tmp_path: Path, base_url: str) -> None:
    assert apply_text(tmp_path, f"upstreams: [{{name: u, adapter: openai, base_url: '{base_url}'}}]").code == 0
    assert Upstream.objects.get().base_url == base_url


@pytest.mark.parametrize(
    "uri",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "//a.example/cb",
        "/cb",
        "https://a.example/cb#f",
        "https://u@a.example/cb",
        "http://a.example/cb",
        "com.example.app:",
        "https:a",
    ],
)
def test_a_redirect_uri_is_absolute_and_harmless(tmp_path: Path, uri: str) -> None:
    applied = apply_text(tmp_path, f"public_clients: [{{client_id: mobile, name: A, redirect_uris: ['{uri}']}}]")
    assert [problem.split(": ")[0] for problem in applied.problems] == [
        "gateway.yaml:1 public_clients[0].redirect_uris[0]"
    ]
    assert_nothing_changed(applied)


def test_every_problem_is_named_at_once(tmp_path: Path) -> None:
    text = (
        "products:\n  - {slug: studio, name: Studio, seats: 3}\n"
        "upstreams:\n  - {name: up, adapter: nobody}\n"
        "aliases:\n  - name: fast\n    price: {input_token: 0.15, output: '1'}\n"
        "    deployments: [{upstream: up, model: m}, {upstream: gone, model: m}]\n"
        "stuff: 1\n"
    )
    applied = apply_text(tmp_path, text)

    assert [problem.split(": ")[0] for problem in applied.problems] == [
        "gateway.yaml:2 products[0].seats",
        "gateway.yaml:4 upstreams[0].adapter",
        "gateway.yaml:7 aliases[0].price.input_token",
        "gateway.yaml:7 aliases[0].price.output",
        "gateway.yaml:8 aliases[0].deployments[1].upstream",
        "gateway.yaml:9 stuff",
    ]
    assert applied.err.splitlines()[-1] == "gateway.yaml: 6 problems; nothing was changed."
    assert_nothing_changed(applied)


def test_one_problem_undoes_everything(tmp_path: Path) -> None:
    apply_text(tmp_path, WHOLE)
    text = WHOLE.replace("name: Studio", "name: Atelier").replace(
        "amount_microusd: 5000000", "amount_microusd: 5000001"
    )

    applied = apply_text(tmp_path, text)

    assert applied.code == 1
    assert applied.problems == [
        "gateway.yaml:64 credits[0].key: this key was already used for a different credit; choose a new key"
    ]
    assert Product.objects.get().name == "Studio"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("amount_microusd: 500000\n", "amount_microusd: 500001\n"),
        ('account: "did:web:studio.example:bob"', 'account: "did:web:studio.example:eve"'),
        ("    product: studio\n    expires", "    expires"),
        ("2027-01-31T00:00:00Z", "2027-02-01T00:00:00Z"),
    ],
)
def test_a_key_grants_one_credit_only(tmp_path: Path, old: str, new: str) -> None:
    apply_text(tmp_path, WHOLE)

    applied = apply_text(tmp_path, WHOLE.replace(old, new))

    assert len(applied.problems) == 1
    assert "key: this key was already used for a different credit" in applied.problems[0]
    assert sorted(CreditLot.objects.values_list("granted_microusd", flat=True)) == [500000, 5000000]
    assert not Account.objects.filter(did__endswith="eve").exists()


def test_the_same_expiry_in_another_zone_is_the_same_credit(tmp_path: Path) -> None:
    apply_text(tmp_path, WHOLE)
    assert apply_text(tmp_path, WHOLE.replace("2027-01-31T00:00:00Z", "2027-01-31t01:00:00+01:00")).code == 0


def test_a_check_names_problems_too(tmp_path: Path) -> None:
    applied = apply_text(tmp_path, "products: [{slug: a}]", "--check")
    assert (applied.code, applied.problems) == (1, ["gateway.yaml:1 products[0].name: is required"])


@override_settings(DEMO_ADAPTER=False)
def test_the_demo_adapter_never_enters_production(tmp_path: Path) -> None:
    applied = apply_text(tmp_path, UPSTREAM)
    assert applied.problems == [
        "gateway.yaml:1 upstreams[0].adapter: the demo adapter is not available in production; configure a real upstream"
    ]
    assert_nothing_changed(applied)


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    assert (
        apply_file(tmp_path / "missing.yaml").err
        == f"Cannot read {tmp_path}/missing.yaml: No such file or directory.\n"
    )
    assert apply_file(tmp_path).code == 1


def test_a_row_that_only_the_database_refuses_is_named(tmp_path: Path) -> None:
    """Nothing known gets that far; a future column's rule might."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE accounts_product ADD CONSTRAINT no_zebra CHECK (slug <> 'zebra')")
    applied = apply_text(tmp_path, PRODUCT.rstrip("]\n") + ", {slug: zebra, name: Z}]")
    assert applied.problems == ["gateway.yaml:1 products[1]: the database refuses this row (no_zebra)"]
    assert_nothing_changed(applied)


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["demo", "studio", "up", "did:a:b", "0.15"]),
)
KEYS = st.sampled_from(["slug", "name", "issuer", "product", "jwks", "keys", "adapter", "base_url", "api_key", "env", "deployments", "upstream", "model", "price", "image", "input_token", "account", "key", "amount_microusd", "expires_at", "capabilities", "redirect_uris", "client_id", "fallbacks", "from", "to", "text_backend", "products"])  # fmt: skip
SECTIONS = st.sampled_from(["products", "appearance", "integrations", "public_clients", "upstreams", "aliases", "raw_models", "judgement", "credits"])  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=5), inner, max_size=5),
    max_leaves=12,
)


@given(st.dictionaries(SECTIONS, VALUES | st.lists(st.dictionaries(KEYS, VALUES, max_size=6), max_size=3), max_size=4))
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_garbage_is_refused_in_words(tmp_path: Path, value: object) -> None:
    import yaml

    applied = apply_text(
        tmp_path, yaml.safe_dump(value, allow_unicode=True).encode("utf-8", "surrogatepass"), "--check"
    )
    assert applied.code in (0, 1)
    assert all(problem.startswith("gateway.yaml:") for problem in applied.problems)


@given(st.binary(max_size=120))
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_any_bytes_are_answered_in_words(tmp_path: Path, content: bytes) -> None:
    applied = apply_text(tmp_path, content, "--check")
    assert applied.code in (0, 1)


def assert_nothing_changed(applied: Applied) -> None:
    assert applied.code == 1
    assert applied.out == ""
    for model in (Product, Integration, Upstream, Alias, RawModel, PriceVersion, Account, Wallet, CreditLot):
        assert not model._default_manager.exists()
