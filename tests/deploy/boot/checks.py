"""What is tried on the machine, in order. Each check leaves the gateway ready."""

import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import httpx

from gateway.run.options import CUT_SECONDS
from tests.deploy.boot.installation import ENVIRONMENT, install_the_single_unit, install_units, read, write
from tests.deploy.boot.machine import Machine
from tests.deploy.common import PATIENCE_SECONDS, a_call_is_charged_once, the_scheduler_and_the_worker_do_jobs
from tests.deploy.customer import LONG, SHORT, Customer, Paid, is_ready
from tests.support.concurrency import eventually

TARGET, SINGLE = "account-gateway.target", "account-gateway.service"
SERVER, SANDBOX = "account-gateway-server.service", "account-gateway-sandbox.service"
NAMES = ("server", "worker", "beat", "sandbox", "metrics")
UNITS = tuple(f"account-gateway-{name}.service" for name in NAMES)
DRAIN_SECONDS, NOTICE_SECONDS = 10.0, 2.0


@dataclass(frozen=True)
class Site:
    """The machine, its customer, and a client of its server."""

    machine: Machine
    customer: Customer
    http: httpx.Client
    say: Callable[[str], None]

    def await_ready(self) -> None:
        """Wait until `/readyz` is 200."""
        eventually(lambda: is_ready(self.http), PATIENCE_SECONDS)

    def states(self) -> dict[str, str]:
        """Return which unit is in which state."""
        return {unit: self.machine.show(unit, "ActiveState") for unit in UNITS}

    def query(self, statement: str) -> int:
        """Ask the database for a number."""
        psql = f'psql --tuples-only --no-align --command "{statement}" gateway'
        return int(self.machine.run(f"runuser -u postgres -- {psql}"))


def the_target_starts_every_unit(site: Site) -> None:
    install_units(site.machine)
    site.await_ready()
    assert site.states() == dict.fromkeys(UNITS, "active")
    assert site.machine.show(SERVER, "NRestarts") == "0"
    taken = {unit: round(int(site.machine.show(unit, "CPUUsageNSec")) / 1e9, 1) for unit in UNITS}
    site.say(f"seconds of processor time: {json.dumps(taken)}")


def a_stream_is_charged_once(site: Site) -> None:
    before = site.customer.available()
    paid = site.customer.stream(SHORT)
    assert paid.is_whole
    assert site.customer.available() == before - paid.charge_microusd


def a_program_runs_in_the_sandbox(site: Site) -> None:
    program = "import os; print(sorted(os.listdir('/')), os.getuid())"
    run = site.customer.ended_run(site.customer.begin_run("python3", "-c", program))
    assert (run["status"], run["exitCode"], run["stderr"]) == ("succeeded", 0, ""), run
    site.say(f"it saw {run['stdout'].strip()}")


def a_restart_of_the_sandbox_lets_a_program_end(site: Site) -> None:
    program = "import time; print('begun', flush=True); time.sleep(3); print('ended')"
    path = site.customer.begin_run("python3", "-c", program)
    eventually(lambda: site.customer.has_begun(path), 60)
    site.machine.run(f"systemctl restart {SANDBOX}")
    run = site.customer.ended_run(path)
    assert (run["status"], run["stdout"]) == ("succeeded", "begun\nended\n"), run


def metrics_are_served(site: Site) -> None:
    text = httpx.get("http://127.0.0.1:9100/metrics", trust_env=False).text
    assert "\ngateway_" in text, text[:500]


def the_journal_has_what_each_unit_says(site: Site) -> None:
    found = re.findall(r"(?m)^.*(Sandbox: bubblewrap.*)$", site.machine.journal("account-gateway-sandbox"))
    assert found
    site.say(found[-1])
    asked = site.machine.run(
        "set -o noglob; journalctl --quiet --no-pager --output cat --unit account-gateway*", check=False
    )
    assert "Sandbox: bubblewrap" in asked, "the pattern of the guide's cron file names all units"


def a_killed_server_is_restarted_and_its_calls_are_closed(site: Site) -> None:
    before = site.customer.available()
    failed: list[object] = []

    def call() -> None:
        try:
            failed.append(site.customer.stream(LONG, begun.set))
        except Exception as error:  # noqa: BLE001 - the connection's, or that of a stream without a receipt
            failed.append(error)

    begun = threading.Event()
    caller = threading.Thread(target=call)
    caller.start()
    assert begun.wait(60)
    site.machine.run(f"systemctl kill --kill-whom=main --signal=SIGKILL {SERVER}")
    caller.join(60)
    assert isinstance(failed[0], Exception), failed
    eventually(lambda: site.machine.show(SERVER, "NRestarts") == "1", PATIENCE_SECONDS)
    site.await_ready()
    open_calls = "SELECT count(*) FROM billing_reservation WHERE state = 'dispatched'"
    eventually(lambda: site.query(open_calls) == 0, 60)
    assert site.customer.available() <= before
    a_call_is_charged_once(site)


def drained(site: Site, model: str) -> tuple[Paid, float]:
    """Restart the server's unit under a stream; return the stream's end and the seconds that the stop took."""
    ended: list[Paid] = []
    begun = threading.Event()
    caller = threading.Thread(target=lambda: ended.append(site.customer.stream(model, begun.set)))
    caller.start()
    assert begun.wait(60)
    began = time.monotonic()
    site.machine.run(f"systemctl --no-block restart {SERVER}")
    eventually(lambda: not is_ready(site.http), 30)
    caller.join(60)
    eventually(lambda: site.machine.show(SERVER, "SubState") != "stop-sigterm", 60)
    seconds = time.monotonic() - began
    site.await_ready()
    [paid] = ended
    return paid, seconds


def a_restart_lets_a_short_stream_end(site: Site) -> None:
    before = site.customer.available()
    paid, seconds = drained(site, SHORT)
    assert paid.is_whole
    assert site.customer.available() == before - paid.charge_microusd
    site.say(f"the server stopped in {seconds:.1f} s")


def a_restart_cuts_a_long_stream_and_charges_what_was_delivered(site: Site) -> None:
    before = site.customer.available()
    paid, seconds = drained(site, LONG)
    assert not paid.is_whole
    assert '"code":"not_ready"' in paid.text.replace(" ", ""), paid.text[-500:]
    assert paid.charge_microusd > 0
    assert site.customer.available() == before - paid.charge_microusd
    assert seconds < NOTICE_SECONDS + DRAIN_SECONDS + CUT_SECONDS
    assert site.machine.show(SERVER, "Result") == "success"
    site.say(f"the server stopped in {seconds:.1f} s")


def the_target_restarts_every_unit(site: Site) -> None:
    before = {unit: site.machine.show(unit, "MainPID") for unit in UNITS}
    site.machine.run(f"systemctl restart {TARGET}")
    site.await_ready()
    eventually(lambda: set(site.states().values()) == {"active"}, PATIENCE_SECONDS)
    after = {unit: site.machine.show(unit, "MainPID") for unit in UNITS}
    assert not set(before.values()) & set(after.values())


def the_target_stops_every_unit_within_its_time(site: Site) -> None:
    began = time.monotonic()
    site.machine.run(f"systemctl stop {TARGET}")
    eventually(lambda: "deactivating" not in site.states().values(), 60)
    seconds = time.monotonic() - began
    assert site.states() == dict.fromkeys(UNITS, "inactive")
    assert {site.machine.show(unit, "Result") for unit in UNITS} == {"success"}
    assert site.machine.run("pgrep -u gateway", check=False) == "", "no process is left"
    assert seconds < 30
    site.say(f"in {seconds:.1f} s")
    site.machine.run(f"systemctl start {TARGET}")
    site.await_ready()


def a_wrong_setting_is_named_and_the_right_one_is_found(site: Site) -> None:
    right = read(site.machine, ENVIRONMENT)
    wrong = re.sub(r"(?m)^SECRET_KEY=.*\n", "", right).replace("KEEP_ALIVE_SECONDS=75", "KEEP_ALIVE_SECONDS=soon")
    write(site.machine, ENVIRONMENT, wrong)
    since = site.machine.run("date '+%Y-%m-%d %H:%M:%S'")
    site.machine.run(f"systemctl restart {SERVER}", check=False)
    said = eventually(
        lambda: re.findall(r"(?m)^.*(?:SECRET_KEY|KEEP_ALIVE_SECONDS).*$", site.machine.journal(SERVER, since))
    )
    assert len(said) >= 2, said
    for line in dict.fromkeys(said):
        site.say(line)
    write(site.machine, ENVIRONMENT, right)
    site.await_ready()


def a_reboot_brings_everything_back(site: Site) -> None:
    before = site.customer.available()
    off = site.machine.power_off()
    on = site.machine.boot()
    site.await_ready()
    eventually(lambda: set(site.states().values()) == {"active"}, PATIENCE_SECONDS)
    assert site.customer.available() == before
    restarts = {unit: int(site.machine.show(unit, "NRestarts")) for unit in UNITS}
    site.say(f"off in {off:.1f} s, up in {on:.1f} s, restarts until ready: {json.dumps(restarts)}")
    assert set(restarts.values()) == {0}, "the database is started first"
    a_call_is_charged_once(site)


def a_shutdown_under_a_stream_drains_before_the_database_stops(site: Site) -> None:
    before = site.customer.available()
    ended: list[Paid] = []
    begun = threading.Event()
    caller = threading.Thread(target=lambda: ended.append(site.customer.stream(LONG, begun.set)))
    caller.start()
    assert begun.wait(60)
    site.machine.power_off()
    caller.join(60)
    site.machine.boot()
    site.await_ready()
    [paid] = ended
    assert site.customer.available() == before - paid.charge_microusd


def the_single_unit_does_all_of_it(site: Site) -> None:
    site.machine.run(f"systemctl disable --now {TARGET} {' '.join(UNITS)}")
    install_the_single_unit(site.machine)
    site.await_ready()
    a_call_is_charged_once(site)
    a_program_runs_in_the_sandbox(site)
    site.machine.run(f"systemctl kill --kill-whom=main --signal=SIGKILL {SINGLE}")
    eventually(lambda: site.machine.show(SINGLE, "NRestarts") == "1", PATIENCE_SECONDS)
    site.await_ready()
    a_call_is_charged_once(site)
    began = time.monotonic()
    site.machine.run(f"systemctl stop {SINGLE}")
    assert (site.machine.show(SINGLE, "Result"), site.machine.run("pgrep -u gateway", check=False)) == ("success", "")
    site.say(f"stopped in {time.monotonic() - began:.1f} s")


CHECKS: tuple[Callable[[Site], None], ...] = (
    the_target_starts_every_unit,
    a_call_is_charged_once,
    a_stream_is_charged_once,
    the_scheduler_and_the_worker_do_jobs,
    a_program_runs_in_the_sandbox,
    a_restart_of_the_sandbox_lets_a_program_end,
    metrics_are_served,
    the_journal_has_what_each_unit_says,
    a_killed_server_is_restarted_and_its_calls_are_closed,
    a_restart_lets_a_short_stream_end,
    a_restart_cuts_a_long_stream_and_charges_what_was_delivered,
    the_target_restarts_every_unit,
    the_target_stops_every_unit_within_its_time,
    a_wrong_setting_is_named_and_the_right_one_is_found,
    a_reboot_brings_everything_back,
    a_shutdown_under_a_stream_drains_before_the_database_stops,
    the_single_unit_does_all_of_it,
)
