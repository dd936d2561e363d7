"""Three PostgreSQL servers under Patroni, and etcd: with the shipped file, at ports and in directories of their own.

Needs Debian's packages `patroni` and `etcd-server`.
"""

import os
import signal
import subprocess
import urllib.error
import urllib.request
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import psycopg
import yaml
from django.db import connection

from gateway.run.children import spawn
from gateway.run.identity import database_identity
from gateway.run.options import PROJECT_DIR
from gateway.run.ports import free_port
from tests.support.concurrency import eventually
from tests.support.database import database_url, make_home
from tests.support.replicated import FORGET_HISTORY

FILE = PROJECT_DIR / "deploy" / "patroni.yml"
NAMES = ("one", "two", "three")
HOST = "127.0.0.1"
PASSWORD = "change-me"
URL = f"postgresql://postgres:{PASSWORD}"
ANSWER_SECONDS = 2.0


@dataclass
class Member:
    """One Patroni and its server."""

    name: str
    home: Path
    port: int
    api_port: int
    patroni: "subprocess.Popen[bytes] | None" = None

    @property
    def file(self) -> Path:
        """Return its configuration file."""
        return self.home / "patroni.yml"

    @property
    def postmaster(self) -> int | None:
        """Return the process id of its PostgreSQL."""
        with suppress(FileNotFoundError, ValueError, IndexError):
            return int((self.home / "data" / "postmaster.pid").read_text().split("\n")[0])
        return None

    def status(self, path: str) -> int:
        """Return the status of one of Patroni's health checks, 0 without an answer."""
        try:
            with urllib.request.urlopen(f"http://{HOST}:{self.api_port}/{path}", timeout=ANSWER_SECONDS) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0


class Patroni:
    """The servers, as a context manager. `standby` is the port of whichever is the primary, as after a failover of `Replicated`."""

    def __init__(self) -> None:
        self._identity = database_identity()
        self._etcd: subprocess.Popen[bytes] | None = None
        self._etcd_home, self._etcd_ports = self._new_home(), (free_port(), free_port())
        self.members = [Member(name, self._new_home(), free_port(), free_port()) for name in NAMES]

    def __enter__(self) -> Self:
        try:
            self.start_etcd()
            for member in self.members:
                member.file.write_text(yaml.safe_dump(self._configuration(member)))
                member.file.chmod(0o644)
            self.start(self.members[0])
            eventually(lambda: self.members[0].status("primary") == 200, seconds=120)
            for member in self.members[1:]:
                self.start(member)
            self.wait_until_whole()
            self._fill()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        for member in self.members:
            self.kill_patroni(member)
            if postmaster := member.postmaster:
                with suppress(ProcessLookupError):
                    os.kill(postmaster, signal.SIGQUIT)
        if self._etcd is not None:
            self.stop_etcd()

    @property
    def url(self) -> str:
        """Return the address of whichever server is the primary."""
        hosts = ",".join(f"{HOST}:{member.port}" for member in self.members)
        return f"{URL}@{hosts}/gateway?target_session_attrs=read-write"

    @property
    def leader(self) -> Member:
        """Return the member whose Patroni says that its server is the primary. Waits for one."""
        return eventually(
            lambda: next((one for one in self.members if one.status("primary") == 200), None), seconds=300
        )  # type: ignore[return-value]

    @property
    def standby(self) -> int:
        """Return the port of the primary."""
        return self.leader.port

    def execute(self, port: int, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Run one statement on one server."""
        with psycopg.connect(f"{URL}@{HOST}:{port}/gateway", autocommit=True) as database:
            cursor = database.execute(statement.encode(), parameters or None)
            return cursor.fetchall() if cursor.description else []

    def has_moved_from(self, leader: Member) -> bool:
        """Return whether another member is the primary, and has been promoted."""
        others = (one for one in self.members if one is not leader and one.status("primary") == 200)
        return any(self.execute(one.port, "SELECT pg_is_in_recovery()") == [(False,)] for one in others)

    def wait_until_whole(self) -> None:
        """Wait until both standbys stream, one of them synchronously."""

        def is_whole() -> bool:
            leaders = [one for one in self.members if one.status("primary") == 200]
            others = [one for one in self.members if one not in leaders]
            return (
                len(leaders) == 1
                and all(one.status("replica") == 200 for one in others)
                and any(one.status("synchronous") == 200 for one in others)
            )

        eventually(is_whole, seconds=300)

    def start(self, member: Member) -> None:
        """Start a member's Patroni."""
        with (member.home / "log").open("ab") as log:
            command = ["/usr/bin/patroni", str(member.file)]
            member.patroni = spawn(command, environment=self._environment(member), output=log, identity=self._identity)

    def kill_patroni(self, member: Member) -> None:
        """Kill a member's Patroni; its PostgreSQL runs on."""
        if member.patroni is not None:
            member.patroni.send_signal(signal.SIGKILL)
            member.patroni.wait(60)
            member.patroni = None

    def signal_patroni(self, member: Member, how: signal.Signals) -> None:
        """Send a signal to a member's Patroni."""
        assert member.patroni is not None
        member.patroni.send_signal(how)

    def switch_over(self) -> None:
        """Make another one the primary, as an operator does."""
        leader = self.leader
        candidate = next(one for one in self.members if one.status("synchronous") == 200)
        self._control("switchover", "--leader", leader.name, "--candidate", candidate.name, "--force")

    def start_etcd(self) -> None:
        """Start etcd, with what it had."""
        client, peer = (f"http://{HOST}:{port}" for port in self._etcd_ports)
        urls = ("--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer)
        names = ("--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}", "--log-level", "error")
        command = ["/usr/bin/etcd", "--data-dir", str(self._etcd_home / "data"), *urls, *names]
        with (self._etcd_home / "log").open("ab") as log:
            self._etcd = spawn(command, environment={"PATH": os.defpath}, output=log, identity=self._identity)

    def stop_etcd(self) -> None:
        """Kill etcd."""
        assert self._etcd is not None
        self._etcd.kill()
        self._etcd.wait(60)
        self._etcd = None

    def change(self, setting: str) -> None:
        """Change the cluster's configuration, as an operator does."""
        self._control("edit-config", "--set", setting, "--force")

    def _control(self, *arguments: str) -> None:
        command = ["/usr/bin/patronictl", "-c", str(self.members[0].file), *arguments, "gateway"]
        environment = self._environment(self.members[0])
        subprocess.run(command, check=True, timeout=300, capture_output=True, env=environment)

    def _configuration(self, member: Member) -> dict[str, Any]:
        """Return the shipped file for one member, on this machine."""
        shipped: dict[str, Any] = yaml.safe_load(FILE.read_text())
        address, api = f"{HOST}:{member.port}", f"{HOST}:{member.api_port}"
        shipped["restapi"] |= {"listen": api, "connect_address": api}
        shipped["postgresql"] |= {
            "listen": address,
            "connect_address": address,
            "data_dir": str(member.home / "data"),
            "pgpass": str(member.home / "pgpass"),
            "parameters": {"unix_socket_directories": "", "fsync": "off", "shared_buffers": "64MB"},
            "pg_hba": [line.replace("10.0.0.0/24", "127.0.0.1/32") for line in shipped["postgresql"]["pg_hba"]],
        }
        etcd = {"hosts": [f"{HOST}:{self._etcd_ports[0]}"]}
        return {**shipped, "name": member.name, "etcd3": etcd, "watchdog": {"mode": "off"}}

    def _environment(self, member: Member) -> dict[str, str]:
        return {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": str(member.home)}

    def _new_home(self) -> Path:
        home = make_home()
        if self._identity is not None:
            self._identity.own(home)
        return home

    def _fill(self) -> None:
        leader = self.leader
        at = f"{URL}@{HOST}:{leader.port}"
        with psycopg.connect(f"{at}/postgres", autocommit=True) as server:
            server.execute("CREATE DATABASE gateway")
        source = database_url(connection.settings_dict["PORT"])
        dumped = subprocess.run(["pg_dump", "--no-owner", source], check=True, capture_output=True).stdout
        subprocess.run(
            ["psql", "-q", "-v", "ON_ERROR_STOP=1", f"{at}/gateway"], input=dumped, check=True, capture_output=True
        )
        with psycopg.connect(f"{at}/gateway") as database:
            database.execute(FORGET_HISTORY)
