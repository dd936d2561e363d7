"""`agw run`: one command, paid from the wallet, with the exit status of the command."""

import json
import os
import re
import signal
import sys
import threading
from pathlib import Path

import pytest

from account_gateway_client.cli.child import run_child
from account_gateway_client.cli.tool_variables import TAKES_PRECEDENCE
from tests.clients.agw.command_line import CommandLine, Completed
from tests.support.concurrency import eventually

COST = re.compile(r"^Cost: \$([0-9.]+)(?: of \$[0-9.]+)? for ([0-9]+) calls?\.$", re.MULTILINE)
CHAT = '{"model":"fast","max_tokens":20,"messages":[{"role":"user","content":"hello"}]}'
CURL = (
    "curl --silent --show-error --fail-with-body $OPENAI_BASE_URL/chat/completions"
    f" -H \"Authorization: Bearer $OPENAI_API_KEY\" -H 'Content-Type: application/json' -d '{CHAT}'"
)


def cost_of(completed: Completed) -> tuple[int, int]:
    """Return what a command said that it cost, in micro-USD, and for how many calls."""
    found = COST.search(completed.err)
    assert found, completed.err
    return round(float(found[1]) * 10**6), int(found[2])


def available(person: CommandLine) -> int:
    left: int = person.run("wallet", "--json").json["availableMicrousd"]
    return left


def test_the_command_gets_the_variables_and_gives_the_exit_status(
    person: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in TAKES_PRECEDENCE:
        monkeypatch.setenv(name, "x")
    script = "import json, os; json.dump(dict(os.environ), open('environment', 'w')); raise SystemExit(7)"
    monkeypatch.chdir(tmp_path)
    completed = person.run("run", "--budget", "1", "--", sys.executable, "-c", script)
    assert completed.status == 7
    assert completed.err == "Cost: $0.00 of $1.00 for 0 calls.\n"
    given = json.loads((tmp_path / "environment").read_text())
    assert re.fullmatch(r"http://127\.0\.0\.1:[0-9]+", given["ANTHROPIC_BASE_URL"])
    assert given["OPENAI_BASE_URL"] == f"{given['ANTHROPIC_BASE_URL']}/v1"
    assert given["OPENAI_API_KEY"] == given["ANTHROPIC_AUTH_TOKEN"]
    assert len(given["OPENAI_API_KEY"]) >= 43
    assert not set(TAKES_PRECEDENCE) & set(given)
    assert "127.0.0.1" in given["NO_PROXY"].split(",")
    assert given["OPENAI_API_KEY"] not in completed.out + completed.err


def test_curl_is_paid_from_the_wallet(person: CommandLine, tmp_path: Path) -> None:
    answer, before = tmp_path / "answer", available(person)
    completed = person.run("run", "--", "sh", "-c", f"{CURL} > {answer}")
    assert completed.status == 0, answer.read_text()
    assert json.loads(answer.read_text())["model"] == "fast"
    cost, calls = cost_of(completed)
    assert (before - available(person), calls) == (cost, 1)
    assert cost > 0


def test_the_budget_stops_it(person: CommandLine, tmp_path: Path) -> None:
    answer = tmp_path / "answer"
    completed = person.run("run", "--max-cost", "0.01", "--budget", "0.009", "--", "sh", "-c", f"{CURL} > {answer}")
    assert completed.status == 22  # curl's word for an answer of 400 or more
    assert json.loads(answer.read_text())["error"]["code"] == "budget_exceeded"
    assert cost_of(completed) == (0, 0)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(("run",), 2), (("run", "--budget", "0", "--", "true"), 2), (("run", "--max-cost", "x", "--", "true"), 2)],
)
def test_wrong_use(person: CommandLine, arguments: tuple[str, ...], status: int) -> None:
    assert person.run(*arguments).status == status


def test_nobody_signed_in(agw: CommandLine, tmp_path: Path) -> None:
    completed = agw.run("--gateway", agw.gateway, "run", "--", "touch", str(tmp_path / "ran"))
    assert completed.status == 3
    assert "agw login" in completed.complaint
    assert not (tmp_path / "ran").exists()


def test_exit_statuses_are_those_of_a_shell(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("no shebang")
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    environment = {"PATH": os.defpath}
    assert run_child(["no-such-command"], environment) == 127
    assert run_child([str(tmp_path / "no" / "such")], environment) == 127
    assert run_child([str(script)], environment) == 126
    assert run_child([str(tmp_path)], environment) == 126
    assert run_child([str(broken)], environment) == 126
    assert run_child(["sh", "-c", "exit 3"], environment) == 3
    for name in ("TERM", "KILL", "INT", "PIPE"):
        assert run_child(["sh", "-c", f"kill -{name} $$"], environment) == 128 + signal.Signals[f"SIG{name}"]


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_signals_reach_the_command(tmp_path: Path, name: str) -> None:
    begun, handlers = tmp_path / "begun", signal.getsignal(signal.SIGTERM)
    number = signal.Signals[name]

    def send() -> None:
        eventually(begun.exists)
        os.kill(os.getpid(), number)

    sender = threading.Thread(target=send)
    sender.start()
    script = f"trap 'exit 9' {name.removeprefix('SIG')}; touch {begun}; while :; do sleep 0.01; done"
    assert run_child(["sh", "-c", script], dict(os.environ)) == 9
    sender.join()
    assert signal.getsignal(signal.SIGTERM) is handlers


def test_llm_is_paid_from_the_wallet(person: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "extra-openai-models.yaml").write_text("- model_id: fast\n  model_name: fast\n")
    command = f"LLM_USER_PATH={tmp_path} {Path(sys.executable).parent / 'llm'} -m fast hello > {tmp_path / 'answer'}"
    completed = person.run("run", "--", "sh", "-c", command)
    assert completed.status == 0
    assert "hello" in (tmp_path / "answer").read_text()
    assert cost_of(completed)[1] == 1
