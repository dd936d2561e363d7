"""The quickstarts that use `agw` do what they say, for a person who is signed in and has money."""

import json
from pathlib import Path

import pytest

from tests.clients.agw.command_line import NO_KEYRING, CommandLine
from tests.support.demo_gateway import DemoGateway
from tests.support.pages import Page, Reader

DEMO = "This is the gateway's demo backend"
AGW = '#!/bin/sh\nexec python -m account_gateway_client.cli "$@"\n'
CLAUDE = """#!/bin/sh
test "$1 $2 $3" = "--model fast -p" && curl --silent --show-error --fail "$ANTHROPIC_BASE_URL/v1/messages" \
  --header "Authorization: Bearer $ANTHROPIC_AUTH_TOKEN" --header "anthropic-version: 2023-06-01" \
  --json '{"model": "fast", "max_tokens": 100, "messages": [{"role": "user", "content": "Say hello"}]}'
"""
"""Sends the least that Claude Code sends. With what Claude Code itself was tried is in docs/tools/claude-code.md."""


@pytest.fixture
def shell(person: CommandLine, tmp_path: Path) -> dict[str, str]:
    """Install `agw` and a stand-in of Claude Code where the reader's shell finds them, and return its environment."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in {"agw": AGW, "claude": CLAUDE}.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    signed_in = {"AGW_CONFIG_DIR": str(person.folder), "PYTHON_KEYRING_BACKEND": NO_KEYRING}
    return {"PROGRAMS": str(programs), "AGW_GATEWAY": person.gateway, **signed_in}


def reader_of(name: str, folder: Path, gateway: DemoGateway, shell: dict[str, str]) -> Reader:
    reader = Reader(Page(f"docs/quickstarts/{name}.md"), folder, gateway)
    path = f"{shell['PROGRAMS']}:{reader.environment['PATH']}"
    reader.settings = {**shell, "PATH": path}
    return reader


def commands(reader: Reader) -> list[str]:
    """Return the shell's blocks that a reader runs once `agw` is installed and signed in."""
    codes = [block.code for block in reader.page.blocks("sh") if not block.title]
    installing, signing_in, *others = [code for code in codes if "make run" not in code]
    assert "pip install './clients/python[cli]'" in installing
    assert signing_in == "agw login --gateway http://localhost:8000\n"  # which the fixture has run
    return others


def test_curl(demo_gateway: DemoGateway, tmp_path: Path, shell: dict[str, str]) -> None:
    reader = reader_of("curl", tmp_path, demo_gateway, shell)
    reader.save_files()
    wallet, request, run, by_hand = commands(reader)
    assert json.loads(reader.run(wallet))["availableMicrousd"] > 0
    assert DEMO in json.loads(reader.run(request))["choices"][0]["message"]["content"]
    assert "data: [DONE]" in reader.run(run)
    assert DEMO in reader.run(by_hand)


def test_claude_code(demo_gateway: DemoGateway, tmp_path: Path, shell: dict[str, str]) -> None:
    reader = reader_of("claude-code", tmp_path, demo_gateway, shell)
    [command] = commands(reader)
    assert DEMO in reader.run(command)
