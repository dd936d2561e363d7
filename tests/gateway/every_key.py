"""A configuration that states every key of every section, in the form in which it is exported."""

import base64

SECRETS = {
    "PRIMARY_API_KEY": "sk-primary-secret",
    "PRIMARY_NEXT_API_KEY": "sk-primary-next",
    "PRIMARY_PREVIOUS_API_KEY": "sk-primary-previous",
    "VENDOR_1_1746C174_API_KEY": "sk-other-secret",
    "SANDBOX_SECRET": "sandbox-secret-of-32-characters-",
    "SANDBOX_SECRET_PREVIOUS": "sandbox-secret-of-the-other-week",
    "CI_FORGE_SECRET": "forge-secret-of-32-characters---",
    "CI_FORGE_SECRET_PREVIOUS": "forge-secret-of-the-other-week--",
    "EVENTS_LEDGER_SECRET": "whsec_" + base64.b64encode(b"e" * 32).decode(),
}

EVERY_KEY = """\
products:
  - {slug: studio, name: Studio, seat_price_microusd: 20000000}
appearance: {products: [courier, service, studio]}
integrations:
  - product: studio
    issuer: https://studio.example
    audience: https://gateway.example
    did_prefix: "did:web:studio.example:"
    capabilities: [wallet:read, usage:read, "infer:*", orgs:read, orgs:manage]
    jwks:
      keys:
        - kty: EC
          crv: P-256
          x: axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY
          y: T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU
          kid: k1
    enabled: false
public_clients:
  - {client_id: "https://app.example", name: "no", redirect_uris: [], trusted: true, enabled: false}
  - {client_id: mobile, name: "Phone: \\"app\\" # 1", redirect_uris: ["com.example.app:/cb"], trusted: false, enabled: true}
upstreams:
  - {name: judge, adapter: judgement, base_url: "http://127.0.0.1:9", timeout_seconds: 120.0, bills_errors: false,
     fetches_images: false, enabled: true}
  - name: primary
    adapter: openai
    base_url: https://models.example/v1
    api_key: {env: PRIMARY_API_KEY}
    next_api_key: {env: PRIMARY_NEXT_API_KEY}
    previous_api_key: {env: PRIMARY_PREVIOUS_API_KEY}
    timeout_seconds: 60.5
    bills_errors: true
    fetches_images: true
    routes: [chat.completions, responses, embeddings, images.generations]
    looks_up: generations
    service_tiers: false
    output_limit_field: max_tokens
    auth: api-key
    query: {api-version: "2026-10-01"}
    enabled: true
  - name: vendor.1
    adapter: representation
    base_url: https://other.example
    api_key: {env: VENDOR_1_1746C174_API_KEY}
    timeout_seconds: 120.0
    bills_errors: false
    fetches_images: false
    enabled: true
aliases:
  - name: "1e3"
    deployments: []
    enabled: false
  - name: embedding
    enabled: true
    context_tokens: 8192
    routes: [embeddings]
    dimensions: 512
    quantization: int8
    normalized: false
    revision: "2026-10-01"
    provider: "null"
    deployments: [{upstream: vendor.1, model: "~", priority: 0, weight: 1, enabled: true}]
    price: {input_token: "0.02"}
  - name: fast
    enabled: true
    max_output_tokens: 4096
    context_tokens: 128000
    routes: [chat.completions]
    deployments:
      - upstream: primary
        model: small-1
        priority: 0
        weight: 1
        enabled: true
        cost: {input_token: "0.1", output_token: "0.4"}
      - {upstream: primary, model: small-2, priority: 1, weight: 3, enabled: false}
    price:
      input_token: "0.15"
      cached_input_token: "0.075"
      cache_write_token: "0.2"
      cache_write_1h_token: "0.3"
      output_token: "0.60"
      input_audio_token: "10"
      output_audio_token: "20"
      image: {1024x1024/high: "40000", 1024x1024/low: "10000"}
      input_character: "1"
      audio_second: "100"
      input_kilobyte: "2"
      input_item: "3"
      request: "0.000001"
      bands:
        - above_input_tokens: 200000
          input_token: "5"
          cached_input_token: "1"
          cache_write_token: "6"
          cache_write_1h_token: "7"
          output_token: "22.5"
          input_audio_token: "30"
          output_audio_token: "40"
        - {above_input_tokens: 400000, input_token: "7"}
      service_tiers:
        flex: {input_token: "0.07"}
        priority:
          input_token: "5"
          cached_input_token: "1"
          cache_write_token: "6"
          cache_write_1h_token: "7"
          output_token: "30"
          input_audio_token: "30"
          output_audio_token: "40"
          bands: [{above_input_tokens: 200000, input_token: "10"}]
  - name: judgement-backend-b
    enabled: true
    deployments: [{upstream: judge, model: judge-1, priority: 0, weight: 1, enabled: true}]
    price: {input_token: "0.05"}
  - name: judgement-backend-c
    enabled: true
    deployments: [{upstream: judge, model: judge-2, priority: 0, weight: 1, enabled: true}]
    price: {input_token: "1"}
raw_models:
  - model: vendor/large-2
    upstream: primary
    integrations: [https://studio.example]
    enabled: true
    max_output_tokens: 1000
    context_tokens: 2000
    routes: [chat.completions, embeddings]
    dimensions: 8
    quantization: float
    normalized: true
    revision: r1
    provider: primary
    price: {input_token: "2", output_token: "8"}
    cost: {input_token: "1"}
judgement:
  text_backend: judgement-backend-b
  vision_backend: judgement-backend-c
  fallbacks: [{from: judgement-backend-b, to: judgement-backend-c}]
limits:
  - {scope: account, requests_per_minute: 60, tokens_per_minute: 100000, concurrent: 4}
  - {scope: account, subject: "did:web:studio.example:alice"}
  - {scope: alias, subject: fast, concurrent: 100}
projects:
  - {key: docs, owner: "did:web:studio.example:alice", product: studio, name: Docs}
sandbox:
  runner: http
  base_url: http://127.0.0.1:9
  secret: {env: SANDBOX_SECRET}
  previous_secret: {env: SANDBOX_SECRET_PREVIOUS}
  runtimes: [default, "312"]
  max_timeout_seconds: 30
  max_memory_mb: 256
  network: egress
ci:
  providers:
    - name: forge
      format: workflow_run
      secret: {env: CI_FORGE_SECRET}
      previous_secret: {env: CI_FORGE_SECRET_PREVIOUS}
      repositories: {acme/docs: docs, "true": docs}
evolution:
  enabled: true
  programs:
    - {name: refine, command: [cat, evidence.json, " \\t\\u2028é", ""], timeout_seconds: 10, memory_mb: 64, result_kind: text}
event_endpoints:
  - name: ledger
    product: studio
    url: https://studio.example/events
    secret: {env: EVENTS_LEDGER_SECRET}
    types: [budget.*, invoice.paid]
    enabled: false
account_key_sync: {enabled: false}
credits:
  - account: "did:web:studio.example:bob"
    amount_microusd: 500000
    key: trial-bob
    product: studio
    expires_at: "2027-01-31T00:00:00.000001Z"
  - {account: "did:web:studio.example:alice", amount_microusd: 5000000, key: welcome-alice}
"""
