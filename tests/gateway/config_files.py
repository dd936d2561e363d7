"""Configuration files for tests, and what applying them did."""

from dataclasses import dataclass
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

from django.core.management import CommandError, call_command

NOW = datetime(2026, 11, 21, tzinfo=UTC)

WHOLE = """\
products:
  - {slug: studio, name: Studio, seat_price_microusd: 20000000}
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
appearance: {products: [service, studio, courier]}
public_clients:
  - {client_id: mobile, name: Phone app, redirect_uris: ["com.example.app:/callback"]}
upstreams:
  - name: primary
    adapter: openai
    base_url: https://models.example/v1
    api_key: {env: PRIMARY_API_KEY}
    timeout_seconds: 60
  - {name: judge, adapter: judgement, base_url: "http://127.0.0.1:9", api_key: sk-literal-secret}
aliases:
  - name: fast
    enabled: true
    max_output_tokens: 4096
    context_tokens: 128000
    deployments:
      - {upstream: primary, model: small-1, priority: 0, weight: 1}
      - {upstream: primary, model: small-2, priority: 1, weight: 3}
    price: {input_token: "0.15", cached_input_token: "0.075", output_token: "0.60"}
  - name: image
    deployments: [{upstream: primary, model: pictures-1}]
    price: {image: {1024x1024/high: "40000", 1024x1024/low: 10000}}
  - name: judgement-backend-b
    deployments: [{upstream: judge, model: judge-1}]
    price: {input_token: "0.05"}
  - name: judgement-backend-c
    deployments: [{upstream: judge, model: judge-2}]
    price: {input_token: 1}
raw_models:
  - model: vendor/large-2
    upstream: primary
    integrations: [https://studio.example]
    max_output_tokens: 1000
    price: {input_token: 2, output_token: 8}
judgement:
  text_backend: judgement-backend-b
  vision_backend: judgement-backend-c
  fallbacks: [{from: judgement-backend-b, to: judgement-backend-c}]
projects:
  - {key: docs, owner: "did:web:studio.example:alice", product: studio, name: Docs}
sandbox: {runner: http, base_url: "http://127.0.0.1:9", secret: sk-literal-secret}
ci:
  providers:
    - {name: forge, format: workflow_run, secret: sk-literal-secret, repositories: {"acme/docs": docs}}
evolution:
  programs: [{name: refine, command: [cat, evidence.json]}]
account_key_sync: {enabled: true}
credits:
  - {account: "did:web:studio.example:alice", amount_microusd: 5000000, key: welcome-alice}
  - account: "did:web:studio.example:bob"
    amount_microusd: 500000
    key: trial-bob
    product: studio
    expires_at: "2027-01-31T00:00:00Z"
"""


@dataclass(frozen=True, slots=True)
class Applied:
    """What a run of the command wrote and how it ended; `lines` are without the summary."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()[:-1]

    @property
    def summary(self) -> str:
        return self.out.splitlines()[-1]

    @property
    def problems(self) -> list[str]:
        return self.err.splitlines()[:-1]


def apply_text(folder: Path, text: str | bytes, *arguments: str) -> Applied:
    """Write `gateway.yaml` into the folder and apply it by the command."""
    file = folder / "gateway.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return apply_file(file, *arguments)


def apply_file(file: Path, *arguments: str) -> Applied:
    """Run the command on a file."""
    out, err = StringIO(), StringIO()
    try:
        call_command("apply", str(file), *arguments, stdout=out, stderr=err)
    except CommandError as error:
        err.write(f"{error}\n")
        return Applied(error.returncode, out.getvalue(), err.getvalue())
    return Applied(0, out.getvalue(), err.getvalue())
