"""Each row of docs/upstreams.md serves every kind of conversation at a server that accepts what the provider documents."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.gateway.config_files import apply_text
from tests.support.documented_server import DocumentedServer, Provider
from tests.support.stage import CHAT, RESPONSES, Stage, ask, chat

MESSAGES = "/v1/messages"
PAGE = Path(__file__).resolve().parents[3] / "docs" / "upstreams.md"
[ROWS] = [yaml.safe_load(block.split("```")[0])["upstreams"] for block in PAGE.read_text().split("```yaml\n")[1:]]
KEY = "key-of-the-provider"

BOTH = frozenset({"/chat/completions", "/responses"})
STRICT = frozenset({"service_tier", "store", "max_completion_tokens"})
PROVIDERS = {
    "openai": Provider(paths=BOTH),
    "anthropic": Provider(paths=frozenset({"/messages"}), key_header="x-api-key", key_scheme=""),
    "azure": Provider("/openai/v1", BOTH, "api-key", ""),
    "azure-preview": Provider("/openai/v1", BOTH, "api-key", "", {"api-version": "preview"}),
    "gemini": Provider("/v1beta/openai", refuses=frozenset({"service_tier", "store"})),
    "mistral": Provider(refuses=STRICT),
    "vllm": Provider(refuses=frozenset({"service_tier"})),
    "ollama": Provider(key_header=None, refuses=STRICT),
    "lm-studio": Provider(paths=BOTH, key_header=None, refuses=STRICT - {"store"}),
    "litellm": Provider(paths=BOTH),
    "litellm-messages": Provider(paths=frozenset({"/messages"})),
}


def message(alias: str, **more: Any) -> dict[str, Any]:
    return {"model": alias, "max_tokens": 20, "messages": [{"role": "user", "content": "hello"}], **more}


BODIES: dict[str, Any] = {CHAT: chat, RESPONSES: ask, MESSAGES: message}


def test_every_row_has_a_provider() -> None:
    assert [row["name"] for row in ROWS] == list(PROVIDERS)


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_a_row_serves_every_dialect(stage: Stage, row: dict[str, Any], tmp_path: Path, monkeypatch: Any) -> None:
    from inference.models import Upstream

    with DocumentedServer(PROVIDERS[row["name"]], KEY) as server:
        if isinstance(row["api_key"], dict):
            monkeypatch.setenv(row["api_key"]["env"], KEY)
        here = {**row, "base_url": server.base_url}
        applied = apply_text(tmp_path, yaml.safe_dump({"upstreams": [here]}))
        assert applied.code == 0, applied
        stored = Upstream.objects.get(name=row["name"])
        values = {name: getattr(stored, name) for name in ("adapter", "api_key", "base_url", "options")}
        stored.delete()
        alias, caller = stage.model(upstream=stage.upstream_row(**values), max_output_tokens=30), stage.caller()
        for path, body in BODIES.items():
            for streams in (False, True):
                answer = caller.post(body(alias, stream=streams), path=path)
                assert answer.status_code == 200, (path, streams, answer.text)
        assert len(server.ledger.entries) == 6
        assert {call.state for call in caller.calls} == {"settled"}
