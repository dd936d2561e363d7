"""The unit and the image's command run as the restricted role, on a database that its owner prepared."""

import json
import re
import shlex
import subprocess
from collections.abc import Mapping
from configparser import ConfigParser
from pathlib import Path

import psycopg
import pytest
import requests

from gateway.run.__main__ import main
from gateway.run.options import PROJECT_DIR
from tests.deploy.operator import HOST, PASSWORD, Database, documented
from tests.support.concurrency import eventually
from tests.support.gateways import ForkedGateway, GatewayProcess

DEPLOY = PROJECT_DIR / "deploy"


class ShippedGateway(ForkedGateway):
    """A gateway with the settings of production, whose public address is not its own."""

    @property
    def environment(self) -> dict[str, str]:
        return super().environment | {"DJANGO_SETTINGS_MODULE": "gateway.settings"}

    def is_ready(self) -> bool:
        return f"ready: https://{HOST}\n" in self.stdout


def manage(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command in production."""
    settings = {**documented(folder), **environment}
    return GatewayProcess(data_dir=folder / "data", settings=settings).manage(*arguments)


def service_of_the_unit() -> Mapping[str, str]:
    """Return the unit's section [Service]."""
    parser = ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(DEPLOY / "account-gateway.service")
    return parser["Service"]


def unit() -> tuple[list[str], Mapping[str, str]]:
    """Return the command and the environment of the unit."""
    service = service_of_the_unit()
    return shlex.split(service["ExecStart"]), dict([service["Environment"].split("=", 1)])


def image() -> tuple[list[str], Mapping[str, str]]:
    """Return the command and the environment of the image."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    environment = dict(
        word.split("=", 1) for line in re.findall(r"^ENV (.+)", text, re.MULTILINE) for word in line.split()
    )
    return json.loads(re.findall(r"^CMD (.+)", text, re.MULTILINE)[-1]), environment


@pytest.mark.parametrize("shipped", [unit, image])
def test_starts_and_answers_under_the_role_that_owns_nothing(
    database: Database, tmp_path: Path, shipped: object
) -> None:
    assert callable(shipped)
    [(python, *arguments), environment] = shipped()
    assert (Path(python).name, arguments) == ("python", ["-m", "gateway.run"])
    settings = {**documented(tmp_path), **environment, "DATABASE_URL": database.url("gateway_app", "made")}
    gateway = ShippedGateway(data_dir=tmp_path / "data")
    gateway.settings = {
        **settings,
        "WEB_CONCURRENCY": "2",
        "DATA_DIR": str(gateway.data_dir),
        "PORT": str(gateway.port),
        "HOST": "127.0.0.1",
    }
    with gateway:
        assert gateway.complaints == ""
        assert "gateway.yaml applied" in gateway.stdout
        eventually(lambda: gateway.health() == 200)
        headers = {"Host": HOST, "X-Forwarded-Proto": "https"}
        keys = requests.get(f"{gateway.base_url}/.well-known/jwks.json", headers=headers, timeout=60)
        assert keys.status_code == 200
        assert keys.json()["keys"]
        token = requests.post(f"{gateway.base_url}/v1/oauth/token", headers=headers, timeout=60)
        assert (token.status_code, token.json()["error"]) == (400, "invalid_request")
    assert gateway.wait() == 0


def test_a_database_that_nobody_prepared_is_refused_with_what_to_run(database: Database, tmp_path: Path) -> None:
    refused = manage(tmp_path, "prepare", DATABASE_URL=database.url("gateway_app", "empty"))
    assert refused.returncode == 1
    assert re.fullmatch(
        r"CommandError: The database is not of this version \(migrations to apply: \d+\), and the role gateway_app may not"
        r" change it: run `manage.py prepare` with DATABASE_URL of the owner of its tables, then deploy/database_role.sql.\n",
        refused.stderr,
    )


def test_the_script_says_who_may_create_the_role(database: Database) -> None:
    database.run(f"CREATE ROLE plain LOGIN PASSWORD '{PASSWORD}'")
    script = (DEPLOY / "database_role.sql").read_text().replace("gateway_app", "gateway_other")
    with pytest.raises(psycopg.errors.RaiseException, match="the role gateway_other does not exist, and plain may not"):
        database.run(script, database.url("plain", "made"))


def test_only_some_parts_are_started(database: Database, tmp_path: Path) -> None:
    gateway = ShippedGateway(data_dir=tmp_path / "data")
    gateway.command = [*gateway.command, "--only", "worker,sandbox"]
    gateway.settings = {**documented(tmp_path), "DATABASE_URL": database.url("gateway_app", "made")}
    gateway.start()
    try:
        eventually(lambda: "ready: worker, sandbox\n" in gateway.stdout or gateway.has_ended())
        assert gateway.children().keys() == {"worker"}, "the configuration needs no sandbox"
        assert gateway.health() == 0
    finally:
        gateway.stop()


def test_an_unknown_part_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "server,web"])
    assert "argument --only: web: choose from server,worker,sandbox,beat" in capsys.readouterr().err


def test_the_data_directory_is_where_the_unit_and_the_image_provide_one() -> None:
    assert unit()[1]["DATA_DIR"] == "/var/lib/account-gateway"
    assert "StateDirectory=account-gateway\n" in (DEPLOY / "account-gateway.service").read_text(encoding="utf-8")
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    folder = image()[1]["DATA_DIR"]
    assert f"VOLUME {folder}\n" in text
    [user] = re.findall(r"^USER (\d+):\d+$", text, re.MULTILINE)
    assert re.search(
        rf"install --directory --owner={user} --group={user} --mode=0700 {folder} /srv/gateway/journal$",
        text,
        re.MULTILINE,
    )


def test_no_file_of_secrets_gets_into_the_image_or_the_repository() -> None:
    assert "# `deploy/.env` has OWNER_PASSWORD and APP_PASSWORD" in (DEPLOY / "compose.yaml").read_text()
    assert "**/.env*" in (PROJECT_DIR / ".dockerignore").read_text().splitlines()
    assert ".env" in (PROJECT_DIR / ".gitignore").read_text().splitlines()


def test_the_unit_has_the_restrictions_that_the_sandbox_bears() -> None:
    """systemd-analyze rates them at 3.1; without them the unit has 8.5."""
    service = service_of_the_unit()
    on = """DevicePolicy LockPersonality NoNewPrivileges PrivateDevices PrivateMounts PrivateTmp ProtectClock ProtectHome
        ProtectKernelModules ProtectSystem RemoveIPC RestrictRealtime RestrictSUIDSGID"""
    values = {name: service[name] for name in on.split()}
    assert values == dict.fromkeys(values, "true") | {"DevicePolicy": "closed", "ProtectSystem": "strict"}
    assert service["CapabilityBoundingSet"] == ""
    assert (service["SystemCallArchitectures"], service["UMask"]) == ("native", "0077")
    assert service["SystemCallFilter"].split() == ["@system-service", "@mount", "sethostname", "seccomp"]
    assert service["RestrictAddressFamilies"].split() == ["AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK"]


def test_the_images_base_can_be_named_by_its_digest() -> None:
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert re.search(r"^ARG BASE=(\S+)\nFROM \$\{BASE\}$", text, re.MULTILINE)
    assert re.findall(r"^FROM (.+)", text, re.MULTILINE) == ["${BASE}"]
