"""Runs of `manage.py propose_prices` in tests, and the configuration whose prices it compares."""

from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from django.core.management import CommandError, call_command

from billing.models import PriceVersion
from inference.models import PriceProposal
from tests.gateway.config_files import apply_text
from tests.inference.prices.excerpts import LITELLM

CONFIG = """\
upstreams:
  - {name: main, adapter: openai, base_url: "https://api.openai.com/v1", api_key: sk-1}
  - {name: azure, adapter: openai, base_url: "https://mine.example/v1", api_key: sk-1}
  - {name: claude, adapter: openai, base_url: "https://api.anthropic.com/v1", api_key: sk-1}
aliases:
  - name: fast
    routes: [chat.completions]
    deployments: [{upstream: main, model: gpt-5}, {upstream: azure, model: gpt-5, priority: 1}]
    price: {input_token: "1.00", output_token: "8", request: "5"}
  - name: careful
    routes: [chat.completions]
    deployments: [{upstream: claude, model: claude-sonnet-4-5}]
    price: {input_token: "0.5", output_token: "15"}
  - name: embedding
    deployments: [{upstream: main, model: text-embedding-3-small}]
    price: {input_token: "0.02"}
  - name: other
    routes: [chat.completions]
    deployments: [{upstream: main, model: small-1}]
    price: {input_token: "1", output_token: "1"}
raw_models:
  - {model: azure/gpt-5, upstream: azure, price: {input_token: "1.25", output_token: "10"}, routes: [chat.completions]}
"""


@dataclass(frozen=True, slots=True)
class Run:
    """What a run of the command wrote, and how it ended."""

    code: int
    out: str
    err: str


def propose(*arguments: object) -> Run:
    """Run the command."""
    out = StringIO()
    try:
        call_command("propose_prices", *map(str, arguments), stdout=out)
    except CommandError as error:
        return Run(error.returncode, out.getvalue(), str(error))
    return Run(0, out.getvalue(), "")


def prepare(folder: Path, catalogue: bytes = LITELLM) -> Path:
    """Apply the configuration, and return the file of a catalogue."""
    assert apply_text(folder, CONFIG).code == 0
    file = folder / "catalogue.json"
    file.write_bytes(catalogue)
    return file


def proposal(name: str) -> PriceProposal:
    """Return the latest proposal for a model."""
    return PriceProposal.objects.filter(alias=name).latest("pk")


def prices(name: str) -> list[object]:
    """Return the prices of a model, the oldest first."""
    return list(PriceVersion.objects.filter(alias=name).order_by("effective_at").values_list("components", flat=True))
