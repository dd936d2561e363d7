"""An operator's machine with Docker: the images, and the files that the compose file asks for."""

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.run.options import PROJECT_DIR
from tests.deploy.boot.machine import Machine
from tests.deploy.operator import GUIDE, HOST, SECRETS
from tests.inference.adapters.certificates import write_certificate
from tests.support.concurrency import eventually

FILE = PROJECT_DIR / "deploy" / "compose.yaml"
IMAGES = Path(__file__).parent / "images"
STANDS_FOR = {
    "python": "python:3.11-slim-bookworm",
    "postgres": "postgres:17",
    "redis": "redis:8",
    "nginx": "nginx:1.28",
}
CONFIGURATION = Path("/etc/account-gateway")
[COMMAND] = re.findall(r"(?m)^# .*: (docker compose .+)$", FILE.read_text())
[OWNED] = re.findall(r"(?m)^# .*: (chown .+)$", FILE.read_text())
COMPOSE = COMMAND.partition(" up ")[0]
IMPORT = "tar --create --directory /bare . | docker import --change 'ENV PATH=/usr/sbin:/usr/bin:/sbin:/bin' - bare"
PLUGIN = """#!/bin/sh
# `docker compose` where Debian has `docker-compose` alone.
if [ "$1" = docker-cli-plugin-metadata ]; then
    echo '{"SchemaVersion": "0.1.0", "Vendor": "Debian", "Version": "1"}'
    exit
fi
shift
exec docker-compose "$@"
"""


def settle(home: Path, wheels: Path) -> None:
    """Write what the machine has before it boots: Docker's settings, and what the images that stand for others are built from."""
    files = home / "upper"
    (files / "etc/docker").mkdir(parents=True)
    daemon = {"exec-opts": ["native.cgroupdriver=cgroupfs"], "storage-driver": "overlay2"}
    (files / "etc/docker/daemon.json").write_text(json.dumps(daemon))
    plugin = files / "usr/local/lib/docker/cli-plugins/docker-compose"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(PLUGIN)
    plugin.chmod(0o755)
    shutil.copytree(IMAGES, files / "images")
    shutil.copytree(wheels, files / "images/wheels")


def build(machine: Machine) -> None:
    """Build the images that stand for those of registries, then the gateway's as its page says.

    Docker's storage is kept between runs, and with it what a step has built before; containers and volumes are not. Containers of a run
    that was killed have been started again, and have made folders in place of the files that they mount.
    """
    eventually(lambda: "Server Version" in machine.run("docker info", check=False), 120)
    machine.run(
        "docker ps --all --quiet | xargs --no-run-if-empty docker rm --force; docker volume prune --force; docker network prune --force"
    )
    machine.run(f"rm -rf {CONFIGURATION}")
    machine.run(f"docker image inspect bare > /dev/null || {IMPORT}")
    for name, image in STANDS_FOR.items():
        machine.run(f"docker build --file /images/{name}.Dockerfile --tag {image} /images")
    machine.run("docker build -f deploy/Dockerfile -t account-gateway .")


def furnish(machine: Machine, configuration: dict[str, Any], settings: Mapping[str, str]) -> None:
    """Write the files that the compose file names, with the owners and rights of the guide."""
    machine.run("useradd --system --no-create-home gateway; install -d -m 755 /etc/account-gateway/tls")
    shown = dict(line.split("=", 1) for line in GUIDE.code("ini").splitlines())
    environment = {**shown, **SECRETS, **settings}
    write(machine, "environment", "".join(f"{name}={value}\n" for name, value in environment.items()))
    write(machine, "gateway.yaml", json.dumps(configuration))  # JSON is YAML
    machine.run(GUIDE.code("sh", after="`/etc/account-gateway/gateway.yaml` is the file of"))
    machine.run(OWNED)
    pem = write_certificate(machine.path(f"{CONFIGURATION}/tls/{HOST}.pem"), HOST)
    write(machine, f"tls/{HOST}.key", pem.read_text())
    machine.path("/srv/account-gateway/deploy/.env").write_text("OWNER_PASSWORD=owner1\nAPP_PASSWORD=app1\n")


def write(machine: Machine, name: str, text: str) -> None:
    """Write a file of /etc/account-gateway."""
    machine.path(f"{CONFIGURATION}/{name}").write_text(text)
