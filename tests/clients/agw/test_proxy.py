"""`agw proxy`: an address and a key for tools, until Ctrl-C."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from account_gateway_client.cli.session import open_gateway
from account_gateway_client.cli.settings import Settings
from account_gateway_client.proxy.server import LocalProxy
from tests.clients.agw.command_line import NO_KEYRING, CommandLine
from tests.support.concurrency import PATIENCE_SECONDS, eventually

AGW = (sys.executable, "-c", "from account_gateway_client.cli.main import main; main()")
SET = re.compile(r"^export (\w+)=(\S+)$", re.MULTILINE)

# What Claude Code 2.1 sends beside texts of its own.
CLAUDE_CODE: dict[str, Any] = {
    "model": "fast",
    "max_tokens": 32000,
    "stream": True,
    "system": [
        {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1"},
        {"type": "text", "text": "You are a CLI.", "cache_control": {"type": "ephemeral"}},
    ],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "<system-reminder>Today</system-reminder>"},
                {"type": "text", "text": "hello", "cache_control": {"type": "ephemeral"}},
            ],
        },
        {"role": "system", "content": "Available agent types for the Agent tool: none."},
    ],
    "tools": [{"name": "Bash", "description": "Runs a command.", "input_schema": {"type": "object", "properties": {}}}],
    "metadata": {"user_id": '{"device_id":"0","session_id":"1"}'},
    "thinking": {"type": "adaptive"},
    "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
    "output_config": {"effort": "high"},
}
BETAS = (
    "claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,"
    "prompt-caching-scope-2026-01-05,mid-conversation-system-2026-04-07,effort-2025-11-24"
)


@contextmanager
def running(person: CommandLine, tmp_path: Path, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Start one whose outputs are files that anybody may read."""
    named = {"AGW_CONFIG_DIR": str(person.folder), "AGW_GATEWAY": person.gateway, "PYTHON_KEYRING_BACKEND": NO_KEYRING}
    python_path = os.pathsep.join(["clients/python", os.environ.get("PYTHONPATH", "")])
    with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
        os.fchmod(out.fileno(), 0o644)
        process = subprocess.Popen(
            [*AGW, "proxy", *arguments],
            env={**os.environ, **named, "PYTHONPATH": python_path},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_it_serves_until_it_is_interrupted(person: CommandLine, tmp_path: Path) -> None:
    out, err = tmp_path / "out", tmp_path / "err"
    with running(person, tmp_path, "--max-cost", "0.05", "--budget", "1") as process:
        eventually(lambda: len(SET.findall(out.read_text())) == 4 or process.poll() is not None)
        variables = dict(SET.findall(out.read_text()))
        assert out.stat().st_mode & 0o777 == 0o600  # it has a secret
        assert variables.keys() == {"OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"}
        secret = variables["ANTHROPIC_AUTH_TOKEN"]
        answer = httpx.post(
            f"{variables['ANTHROPIC_BASE_URL']}/v1/messages",
            json={"model": "fast", "max_tokens": 20, "messages": [{"role": "user", "content": "hi"}]},
            headers={"x-api-key": secret},
            timeout=PATIENCE_SECONDS,
        )
        assert answer.status_code == 200, answer.text
        assert int(answer.headers["x-service-hold-microusd"]) <= 50_000
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_SECONDS) == 0
    told = err.read_text()
    charge = int(answer.headers["x-service-charge-microusd"])
    assert f"/v1/messages 200 $0.{charge:06}".rstrip("0") in told
    assert "of $1.00 for 1 call.\n" in told
    assert secret not in told


def test_a_port_that_is_taken(person: CommandLine) -> None:
    with LocalProxy(open_gateway(Settings(person.gateway, person.folder)), max_cost_microusd=1) as other:
        completed = person.run("proxy", "--port", str(other.port))
    assert completed.status == 1
    assert "--port" in completed.complaint
    assert completed.out == ""


@pytest.mark.parametrize("port", ["-1", "65536", "x"])
def test_wrong_use(person: CommandLine, port: str) -> None:
    assert person.run("proxy", "--port", port).status == 2


def test_what_claude_code_sends_is_answered(person: CommandLine) -> None:
    gateway = open_gateway(Settings(person.gateway, person.folder))
    with LocalProxy(gateway, max_cost_microusd=100_000) as proxy:
        headers = {"anthropic-version": "2023-06-01", "anthropic-beta": BETAS, "x-stainless-retry-count": "0"}
        answer = httpx.post(
            f"{proxy.base_url}/v1/messages?beta=true",
            json=CLAUDE_CODE,
            headers={**headers, "Authorization": f"Bearer {proxy.secret}"},
            timeout=PATIENCE_SECONDS,
        )
        assert answer.status_code == 200, answer.text
        assert "event: message_stop" in answer.text
        assert proxy.spending.spent > 0
        assert proxy.spending.reserved == 0


def test_every_outcome_is_in_the_usage_records(person: CommandLine) -> None:
    gateway = open_gateway(Settings(person.gateway, person.folder))
    body = {"model": "fast", "max_tokens": 200, "stream": True, "messages": [{"role": "user", "content": "hello"}]}
    with LocalProxy(gateway, max_cost_microusd=100_000) as proxy:
        with httpx.Client(headers={"x-api-key": proxy.secret}, timeout=PATIENCE_SECONDS) as tool:
            with tool.stream("POST", f"{proxy.base_url}/v1/chat/completions", json=body) as answer:
                next(answer.iter_raw())
            usage_id = answer.headers["x-service-usage-id"]
        eventually(lambda: proxy.spending.reserved == 0)
    record = gateway.usage_record(usage_id)
    assert (record["status"], record["chargedMicrousd"]) == ("settled", proxy.spending.spent)
