"""What is tried with the compose file, in order. Each check leaves the gateway ready."""

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import httpx

from tests.deploy.boot.machine import Machine
from tests.deploy.common import PATIENCE_SECONDS, a_call_is_charged_once, the_scheduler_and_the_worker_do_jobs
from tests.deploy.compose.beside import Beside
from tests.deploy.compose.engine import COMMAND, COMPOSE
from tests.deploy.compose.pods import Pods
from tests.deploy.customer import HOST, LONG, SETTINGS, SHORT, Customer, Paid, is_ready
from tests.deploy.operator import SECRETS
from tests.support import plain_http
from tests.support.concurrency import eventually

PARTS = ("server", "worker", "beat")
SERVING = (*PARTS, "nginx", "database", "redis")


@dataclass(frozen=True)
class Site:
    """The machine, its customer, and a client of the public name."""

    machine: Machine
    customer: Customer
    http: httpx.Client
    beside: Beside
    say: Callable[[str], None]

    def compose(self, arguments: str) -> str:
        """Run a command of the page's project."""
        return self.machine.run(f"{COMPOSE} {arguments}")

    def inspect(self, service: str) -> dict[str, Any]:
        """Return what Docker knows about a service's container."""
        label = f"label=com.docker.compose.service={service}"
        [found] = json.loads(self.machine.run(f"docker inspect $(docker ps --all --quiet --filter {label})"))
        return dict(found)

    def each(self, names: Sequence[str], *path: str) -> dict[str, Any]:
        """Return one value of what Docker knows about each service's container."""
        return {name: reduce(lambda found, key: found[key], path, self.inspect(name)) for name in names}

    def await_ready(self) -> None:
        """Wait until the proxy answers for a server that is ready."""
        eventually(lambda: is_ready(self.http), PATIENCE_SECONDS)
        self.beside.follow(self.inspect("server")["State"]["Pid"])

    def query(self, statement: str) -> int:
        """Ask the database for a number."""
        psql = f'psql --username gateway_owner --tuples-only --no-align --command "{statement}" gateway'
        return int(self.compose(f"exec -T database {psql}").splitlines()[-1])


def up_starts_every_service(site: Site) -> None:
    site.machine.run(COMMAND)
    site.await_ready()
    assert site.each(SERVING, "State", "Status") == dict.fromkeys(SERVING, "running")
    assert site.each((*SERVING, "prepare"), "RestartCount") == dict.fromkeys((*SERVING, "prepare"), 0)
    assert site.inspect("prepare")["State"]["ExitCode"] == 0


def the_processes_have_no_rights(site: Site) -> None:
    for name in PARTS:
        seen = site.compose(
            f"exec -T {name} sh -c 'id -u; id -g; touch /srv/gateway/app/x 2>&1; grep CapEff /proc/self/status'"
        )
        assert seen.split()[:2] == ["10001", "10001"], seen
        assert "Read-only file system" in seen
        assert "CapEff:\t0000000000000000" in seen


def a_restart_drains(site: Site) -> None:
    for model, is_whole in ((SHORT, True), (LONG, False)):
        before = site.customer.available()
        ended: list[Paid] = []
        begun = threading.Event()

        def call(model: str = model, begun: threading.Event = begun, ended: list[Paid] = ended) -> None:
            ended.append(site.customer.stream(model, begun.set))

        caller = threading.Thread(target=call)
        caller.start()
        assert begun.wait(60)
        began = time.monotonic()
        site.compose("restart server")
        site.say(f"restarted in {time.monotonic() - began:.1f} s under a stream of {model}")
        caller.join(60)
        site.await_ready()
        [paid] = ended
        assert paid.is_whole is is_whole
        assert site.customer.available() == before - paid.charge_microusd


def a_killed_server_is_restarted(site: Site) -> None:
    pid = site.inspect("server")["State"]["Pid"]
    site.machine.run(f"kill -KILL {pid}")
    eventually(lambda: site.inspect("server")["RestartCount"] == 1, PATIENCE_SECONDS)
    site.await_ready()
    a_call_is_charged_once(site)


def a_new_image_replaces_the_containers(site: Site) -> None:
    before = site.each(PARTS, "Id")
    site.machine.run("echo '# changed' >> manage.py")
    site.machine.run(COMMAND)
    after = site.each(PARTS, "Id")
    assert not set(before.values()) & set(after.values())
    site.await_ready()
    a_call_is_charged_once(site)


def a_reboot_brings_everything_back(site: Site) -> None:
    site.machine.power_off()
    site.machine.boot()
    site.await_ready()
    a_call_is_charged_once(site)
    the_scheduler_and_the_worker_do_jobs(site)


def stop_ends_every_service_in_its_time(site: Site) -> None:
    began = time.monotonic()
    site.compose("stop")
    seconds = time.monotonic() - began
    assert site.each(PARTS, "State", "ExitCode") == dict.fromkeys(PARTS, 0)
    site.say(f"in {seconds:.1f} s")
    site.compose("start")
    site.await_ready()


def down_keeps_the_data(site: Site) -> None:
    before = site.customer.available()
    site.compose("down")
    assert site.machine.run("docker ps --all --quiet") == ""
    site.machine.run(COMMAND)
    site.await_ready()
    assert site.customer.available() == before


def the_pods_of_the_manifests_start(site: Site) -> None:
    """With the database and Redis of the compose file, whose own processes are stopped meanwhile."""
    site.compose(f"stop nginx {' '.join(PARTS)}")
    pods = Pods(site.machine)
    pods.furnish({**SECRETS, **SETTINGS})
    pods.job("Job/migrate")
    names = {owner: pods.start(owner) for owner in ("StatefulSet/server", "Deployment/worker", "Deployment/beat")}
    for name in names.values():
        pods.await_status(name, 9100, "/metrics")
    for path in ("/livez", "/readyz"):
        pods.await_status("pod-server", 8000, path)
    site.beside.follow(pods.pid("pod-server"))
    the_scheduler_and_the_worker_do_jobs(site)
    headers = {"Host": HOST, "X-Forwarded-Proto": "https"}
    with plain_http.client(base_url=pods.origin("pod-server"), headers=headers, timeout=120) as http:
        a_call_is_charged_once(replace(site, customer=Customer(site.customer.product_key, http)))
    assert {owner: pods.stop(owner, name) for owner, name in names.items()} == dict.fromkeys(names, 0)
    site.compose("start")
    site.await_ready()


CHECKS: tuple[Callable[[Site], None], ...] = (
    up_starts_every_service,
    the_processes_have_no_rights,
    a_call_is_charged_once,
    the_scheduler_and_the_worker_do_jobs,
    a_restart_drains,
    a_killed_server_is_restarted,
    a_new_image_replaces_the_containers,
    stop_ends_every_service_in_its_time,
    a_reboot_brings_everything_back,
    down_keeps_the_data,
    the_pods_of_the_manifests_start,
)
