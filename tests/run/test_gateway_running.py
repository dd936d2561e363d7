"""One gateway with two server processes, started as a newcomer starts it, in the order in which its life goes.

The processes of another one are forked. Some of them are killed, and started again with the same command lines.
"""

import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import requests

from gateway.run.environment import load
from gateway.run.options import PROJECT_DIR
from gateway.run.ports import free_port, has_ipv6_loopback
from tests.run.machine import processes_of, session_of, workers_of
from tests.support.concurrency import PATIENCE_SECONDS, eventually
from tests.support.gateways import ForkedGateway, GatewayProcess
from tests.support.pages import Page

NEW_HISTORY = "the database begins a new history"
"""Each process says so once it finds the database restored, which may be at any later moment."""


def settings() -> dict[str, str]:
    host = "[::1]" if has_ipv6_loopback() else "127.0.0.1"
    return {"WEB_CONCURRENCY": "2", "METRICS_ADDRESS": f"{host}:{free_port()}"}


@pytest.fixture(scope="module")
def gateway() -> Iterator[GatewayProcess]:
    running = GatewayProcess(settings=settings()).start()
    try:
        yield running.wait_until_ready()
    finally:
        if not running.has_ended():
            running.stop()
        assert left_of(running) == []


@pytest.fixture(scope="module")
def another() -> Iterator[GatewayProcess]:
    with ForkedGateway(settings=settings()) as running:
        yield running
    assert left_of(running) == []


def left_of(gateway: GatewayProcess) -> list[int]:
    """Return its processes: those that were executed have its environment, those that were forked are in its session."""
    assert gateway.process is not None
    return [*processes_of(gateway.data_dir), *session_of(gateway.process.pid)]


def said(gateway: GatewayProcess) -> list[str]:
    """Return what it said so far, without what it says while it waits longer on a busy machine."""
    return [line for line in gateway.stdout.splitlines() if not line.startswith("  still ")]


def test_says_ready_once_and_nothing_else_than_news(gateway: GatewayProcess) -> None:
    database, preparing, applied, operator, serving, ready, *places = said(gateway)
    assert database == "starting the database ..."
    assert preparing == "preparing the database (migrations, configuration) ..."
    assert applied.startswith("demo.yaml applied: ")
    assert operator.startswith("operator: operator@localhost (did:web:localhost:operator), password: ")
    assert serving == "starting the server ..."
    assert ready == f"ready: {gateway.base_url}"
    assert places == [
        f"  portal     {gateway.base_url}/",
        f"  console    {gateway.base_url}/admin/, as operator@localhost; the password is in {gateway.data_dir}/operator.txt",
        f"  reference  {gateway.base_url}/docs",
        "next:",
        "  1. `make demo` makes a paid call and shows its receipt; `make demo-app` serves an app at http://127.0.0.1:8900",
        f"  2. sign up at {gateway.base_url}/, or sign in to the console as the operator",
        f"  3. connect your tools by `agw login --gateway {gateway.base_url}`, and a real model: see README.md",
    ]
    assert gateway.complaints == ""
    eventually(lambda: gateway.health() == 200)


@pytest.mark.parametrize("page", ["/account/login/", "/admin/login/", "/docs"])
def test_serves_static_files_compressed_and_for_ever(gateway: GatewayProcess, page: str) -> None:
    html = requests.get(f"{gateway.base_url}{page}", timeout=30).text
    scripts_and_styles = set(re.findall(r'"(/static/[^"]+\.(?:js|css))"', html))
    assert scripts_and_styles
    for path in scripts_and_styles:
        answer = requests.get(f"{gateway.base_url}{path}", headers={"Accept-Encoding": "gzip"}, timeout=30)
        assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "max-age=315360000, public, immutable")
        assert re.search(r"\.[0-9a-f]{12}\.(js|css)$", path)
        assert answer.headers.get("Content-Encoding") == "gzip" or len(answer.content) < 1024, path
        assert requests.head(f"{gateway.base_url}{path}", timeout=30).status_code == 200
    assert gateway.complaints == "", "nothing is said about how a file is served"


def test_serves_the_metrics_of_all_of_its_processes(gateway: GatewayProcess) -> None:
    def metrics() -> str:
        address = gateway.settings["METRICS_ADDRESS"]
        return requests.get(f"http://{address}/metrics", timeout=PATIENCE_SECONDS).text

    eventually(lambda: "\ngateway_streams_open 0.0\n" in metrics())
    assert "\ngateway_database_up 1.0\n" in metrics()


def test_is_found_by_a_command_in_another_shell(gateway: GatewayProcess) -> None:
    code = "from django.conf import settings; from accounts.models import Account; print(settings.GATEWAY_BASE_URL, Account.objects.filter(is_staff=True).count())"
    outcome = gateway.manage("shell", "--no-imports", "-c", code)
    assert outcome.stdout == f"{gateway.base_url} 1\n", outcome.stderr


def test_keeps_its_secrets_to_its_owner(gateway: GatewayProcess) -> None:
    secret = {"secrets.json", "run.json", "postgres.password", "operator.txt", "prepare.log", "postgres.log"}
    for name in secret:
        assert stat.S_IMODE((gateway.data_dir / name).stat().st_mode) & 0o077 == 0, name
    assert set(load(gateway.data_dir)) == {"DATABASE_URL", "GATEWAY_BASE_URL", "SECRET_KEY", "FIELD_ENCRYPTION_KEYS"}


def test_shows_no_secret_in_a_command_line(gateway: GatewayProcess) -> None:
    password = (gateway.data_dir / "postgres.password").read_text()
    for pid in processes_of(gateway.data_dir):
        assert password.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()


def test_has_its_worker_take_tasks_from_the_queue(gateway: GatewayProcess) -> None:
    code = "from gateway.celery import app; app.send_task('celery.backend_cleanup'); app.send_task('celery.backend_cleanup')"
    outcome = gateway.manage("shell", "--no-imports", "-c", code)
    assert outcome.returncode == 0, outcome.stderr
    eventually(lambda: not list((gateway.data_dir / "celery" / "messages").iterdir()))


def test_refuses_a_second_one_on_its_data(gateway: GatewayProcess) -> None:
    second = GatewayProcess(data_dir=gateway.data_dir.parent / "link")
    second.data_dir.symlink_to(gateway.data_dir)
    assert second.start().wait() == 1
    assert second.stdout == ""
    owner = gateway.process and gateway.process.pid
    assert second.stderr == (
        f"gateway: A gateway is already running on {second.data_dir} (process {owner}); set another DATA_DIR.\n"
    )
    eventually(lambda: gateway.health() == 200)


def test_refuses_a_second_one_on_its_port(gateway: GatewayProcess) -> None:
    second = GatewayProcess(port=gateway.port)
    assert second.start().wait() == 1
    assert second.stdout == ""
    assert second.stderr == (
        f"gateway: Cannot listen on 127.0.0.1:{gateway.port}: Address already in use; set another PORT or HOST.\n"
    )
    assert not second.data_dir.exists()


def price_of_fast(gateway: GatewayProcess) -> str:
    """Return the components of the price in force."""
    query = "PriceVersion.objects.filter(alias='fast').latest('effective_at').components"
    outcome = gateway.manage("shell", "--no-imports", "-c", f"from billing.models import PriceVersion; print({query})")
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout.strip()


def apply_price(gateway: GatewayProcess, folder: Path, input_token: int) -> None:
    """Set the price of `fast` as an operator does, by a file."""
    file = folder / "gateway.yaml"
    file.write_text(f'aliases: [{{name: fast, price: {{input_token: "{input_token}", output_token: "9"}}}}]')
    outcome = gateway.manage("apply", str(file))
    assert (outcome.returncode, outcome.stdout.splitlines()[-1]) == (0, "gateway.yaml applied: 1 created, 1 unchanged.")


def test_applies_a_file_of_its_operator(gateway: GatewayProcess, tmp_path: Path) -> None:
    apply_price(gateway, tmp_path, 7)
    assert price_of_fast(gateway) == "{'input_token': '7', 'output_token': '9'}"


def test_leaves_nothing_behind_when_it_is_killed_with_its_server(gateway: GatewayProcess) -> None:
    assert gateway.process is not None
    gateway.process.send_signal(signal.SIGSTOP)  # so that it cannot clean up after its server
    os.kill(gateway.children()["server"], signal.SIGKILL)
    gateway.stop(signal.SIGKILL)
    eventually(lambda: left_of(gateway) == [])


def test_finds_its_data_again(gateway: GatewayProcess) -> None:
    known = load(gateway.data_dir)
    gateway.start().wait_until_ready()
    database, preparing, serving, ready, *_ = said(gateway)
    assert database == "starting the database ..."
    assert preparing == "preparing the database (migrations, configuration) ..."
    assert serving == "starting the server ..."
    assert ready == f"ready: {gateway.base_url}"
    assert load(gateway.data_dir) == known


def test_does_not_undo_what_a_file_has_set(gateway: GatewayProcess) -> None:
    assert price_of_fast(gateway) == "{'input_token': '7', 'output_token': '9'}"


def test_is_backed_up_and_restored_as_the_guide_says(gateway: GatewayProcess, tmp_path: Path) -> None:
    assert gateway.complaints == ""
    backup, restore = [block.code for block in Page("docs/guides/backup.md").blocks("sh", after="## The database of")]
    run_script(gateway, backup, tmp_path)
    apply_price(gateway, tmp_path, 8)
    addresses = "".join(line for line in backup.splitlines(keepends=True) if "pg_dump" not in line)
    run_script(gateway, addresses + restore, tmp_path)
    assert price_of_fast(gateway) == "{'input_token': '7', 'output_token': '9'}"
    eventually(lambda: gateway.health() == 200)


def run_script(gateway: GatewayProcess, script: str, folder: Path) -> None:
    """Run commands of the page in a shell, with the paths of this gateway."""
    script = script.replace(".venv/bin/python", sys.executable).replace('".data"', f'"{gateway.data_dir}"')
    command = ["bash", "-euc", script.replace("gateway.dump", str(folder / "gateway.dump"))]
    outcome = subprocess.run(
        command, cwd=PROJECT_DIR, env=gateway.environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_stops_cleanly_and_frees_its_port(gateway: GatewayProcess) -> None:
    before = len(gateway.complaints)  # a worker may have missed its database while that was restored
    assert gateway.stop(signal.SIGINT) == 0
    assert left_of(gateway) == []
    assert gateway.health() == 0
    assert gateway.children() == {}
    assert gateway.stdout.splitlines()[-1] == "stopping ..."
    lines = gateway.complaints[before:].splitlines()
    assert [line for line in lines if NEW_HISTORY not in line] == []
    assert not (gateway.data_dir / "postgres" / "postmaster.pid").exists()


@pytest.mark.parametrize("name", ["server", "worker", "sandbox", "beat", "metrics"])
def test_starts_a_killed_process_again(another: GatewayProcess, name: str) -> None:
    before = another.children()
    os.kill(before[name], signal.SIGKILL)
    eventually(lambda: another.children().get(name, before[name]) != before[name])
    # A request meanwhile waits for the new server; it is not refused, though its database may be late on a busy machine.
    assert another.health() in (200, 503)
    eventually(lambda: another.health() == 200)
    assert {**another.children(), name: 0} == {**before, name: 0}


def test_starts_a_killed_worker_of_its_server_again(another: GatewayProcess) -> None:
    before = another.children()
    eventually(lambda: len(workers_of(before["server"])) == 2)
    [victim, other] = workers_of(before["server"])
    os.kill(victim, signal.SIGKILL)
    eventually(lambda: len({*workers_of(before["server"])} - {victim, other}) == 1)
    assert other in workers_of(before["server"])
    eventually(lambda: another.health() == 200)
    assert another.children() == before


def test_survives_the_death_of_its_database(another: GatewayProcess) -> None:
    lock = (another.data_dir / "postgres").resolve() / "postmaster.pid"
    before = owner_of(lock)
    os.kill(int(before), signal.SIGKILL)
    eventually(lambda: owner_of(lock) not in ("", before) and another.health() == 200)


def owner_of(lock: Path) -> str:
    """Return the process in a lock file, none while the file is not there or not yet written."""
    with suppress(FileNotFoundError):
        return lock.read_text().partition("\n")[0]
    return ""
