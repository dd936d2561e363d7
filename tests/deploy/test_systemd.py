"""The units in `deploy/systemd`: what each may do, and that together they are a gateway."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from gateway.run.options import CUT_SECONDS, PROJECT_DIR
from gateway.run.ports import free_port
from tests.deploy.operator import HOST, Database, documented
from tests.deploy.units import FOLDER, NAMES, PYTHON, Unit, unit
from tests.support import plain_http
from tests.support.concurrency import PATIENCE_SECONDS, eventually
from tests.support.forked import Forked, run
from tests.support.gateways import OURS

EXPOSURE_MAX = 3.0
DONE = "SELECT count(*) FROM jobs_run WHERE outcome = 'done'"


def analyze(*arguments: str | Path) -> str:
    """Run systemd's own tool, which needs no systemd that runs."""
    program = shutil.which("systemd-analyze")
    assert program, "systemd-analyze is not installed: apt-get install systemd; .ci/run installs it"
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the folder as an operator does, with programs that are on this machine."""
    folder = tmp_path_factory.mktemp("systemd")
    shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
    for path in folder.rglob("*.*"):
        if path.is_file():
            path.write_text(path.read_text().replace(PYTHON, sys.executable))
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_a_unit_is_exposed_little(installed: Path, name: str) -> None:
    report = analyze("security", "--offline=true", "--no-pager", installed / unit(name).name)
    [exposure] = re.findall(r"Overall exposure level for .*: (\d+\.\d)", report)
    assert float(exposure) <= EXPOSURE_MAX


@pytest.mark.parametrize("name", NAMES)
def test_a_unit_belongs_to_the_target(name: str) -> None:
    settings = unit(name).settings
    assert settings["PartOf"] == settings["WantedBy"] == ["account-gateway.target"]
    assert (FOLDER / "account-gateway.target").exists()


def test_the_server_has_time_to_drain() -> None:
    assert float(unit("server").only("TimeoutStopSec")) > 2 + 10 + CUT_SECONDS, "DRAIN_NOTICE_SECONDS, DRAIN_SECONDS"


def test_each_folder_between_is_the_services() -> None:
    """systemd makes what lies between as root, where a process could not write."""
    folders = unit("beat").only("StateDirectory").split()
    assert {str(Path(folder).parent) for folder in folders} - {"."} <= set(folders)
    schedule = unit("beat").command("ExecStart", {"DATA_DIR": "/var/lib/account-gateway"})[-2]
    assert str(Path(schedule).parent.relative_to("/var/lib")) in folders


@pytest.mark.parametrize("name", NAMES)
def test_a_database_on_the_machine_stops_after_the_unit(name: str) -> None:
    assert "postgresql.service" in " ".join(unit(name).settings["After"]).split()


def test_programs_of_the_sandbox_get_no_signal_of_their_own() -> None:
    assert unit("sandbox").only("KillMode") == "mixed"


def test_systemd_knows_every_setting(installed: Path) -> None:
    said = analyze("verify", *(installed / unit(name).name for name in NAMES), installed / "account-gateway.target")
    unknown = [line for line in said.splitlines() if str(installed) in line or "account-gateway" in line]
    assert all("DelegateSubgroup" in line for line in unknown), said  # of systemd 254


def test_only_the_sandbox_makes_namespaces() -> None:
    may = {name: unit(name).only("RestrictNamespaces") for name in NAMES}
    assert may == {**dict.fromkeys(NAMES, "yes"), "sandbox": "no"}


@contextmanager
def started(one: Unit, given: dict[str, str], folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a unit's command with its environment, as systemd does after ExecStartPre."""
    environment = {**inherited(), **one.environment(given)}
    command = [sys.executable, *one.command("ExecStart", environment)]
    with (folder / one.name).open("wb") as log:
        process = Forked(command, cwd=PROJECT_DIR, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        sys.stdout.write((folder / one.name).read_text())


def inherited() -> dict[str, str]:
    """Return this machine's environment, with settings in which some jobs are due soon."""
    ours = {name: value for name, value in os.environ.items() if name not in OURS}
    return {**ours, "DJANGO_SETTINGS_MODULE": "tests.support.whole_settings"}


def test_together_they_are_a_gateway_that_drains(database: Database, tmp_path: Path) -> None:
    """Without Redis: the scheduler's messages go to the worker through the state directory."""
    port, metrics_port = free_port(), free_port()
    given = {
        **documented(tmp_path),
        "DATABASE_URL": database.url("gateway_app", "made"),
        "WEB_CONCURRENCY": "1",
        "PORT": str(port),
        "METRICS_ADDRESS": f"127.0.0.1:{metrics_port}",
    }
    state = Path(given["DATA_DIR"]).parent
    for name in unit("server").only("StateDirectory").split():
        (state / name.replace("account-gateway", "data", 1)).mkdir(parents=True)
    environment = {**inherited(), **unit("server").environment(given)}
    prepared = run(
        [sys.executable, *unit("server").command("ExecStartPre", environment)], cwd=PROJECT_DIR, env=environment
    )
    assert prepared.returncode == 0, prepared.stderr
    before = database.read(DONE)
    with ExitStack() as stack:
        processes = {name: stack.enter_context(started(unit(name), given, tmp_path)) for name in NAMES}
        eventually(lambda: status(port, "/readyz") == 200 or ended(processes))
        eventually(lambda: database.read(DONE) > before or ended(processes))
        eventually(lambda: status(metrics_port, "/metrics") == 200 or ended(processes))
        assert ended(processes) == []
        processes["server"].send_signal(signal.SIGTERM)
        eventually(lambda: status(port, "/readyz") == 503)
        for process in processes.values():
            process.send_signal(signal.SIGTERM)
        codes = {name: process.wait(PATIENCE_SECONDS) for name, process in processes.items()}
        assert set(codes.values()) <= {0, -signal.SIGTERM}, codes  # both are a clean end to systemd


def ended(processes: dict[str, "subprocess.Popen[bytes]"]) -> list[str]:
    return [name for name, process in processes.items() if process.poll() is not None]


def status(port: int, path: str) -> int:
    try:
        return plain_http.request("GET", f"http://127.0.0.1:{port}{path}", headers={"Host": HOST}).status_code
    except httpx.TransportError:
        return 0
