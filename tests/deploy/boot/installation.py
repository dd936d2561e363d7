"""An operator who installs the gateway on a machine: the commands of docs/guides/production.md and deploy/README.md, as they stand."""

import json
from pathlib import Path
from typing import Any

from tests.deploy.boot.machine import Machine
from tests.deploy.debian import GUIDE
from tests.support.pages import Page

README = Page("deploy/README.md")
ENVIRONMENT = "/etc/account-gateway/environment"
APP_PASSWORD = "app-password"


def install(machine: Machine, configuration: dict[str, Any], settings: dict[str, str]) -> None:
    """Do steps 2 to 4 of the guide: roles and database, settings, tables and rights. Step 1 was done with the machine."""
    machine.run(GUIDE.code("sh", after="## 2. The database"))
    write(machine, "/etc/account-gateway/gateway.yaml", json.dumps(configuration))  # JSON is YAML
    given = {**documented(), **secrets(machine), **settings}
    write(machine, ENVIRONMENT, "".join(f"{name}={value}\n" for name, value in given.items()))
    machine.run(GUIDE.code("sh", after="`/etc/account-gateway/gateway.yaml` is the file of"))
    # psql asks for the password twice.
    machine.run(GUIDE.code("sh", after="## 4. Tables and rights"), given=f"{APP_PASSWORD}\n{APP_PASSWORD}\n")


def install_units(machine: Machine) -> None:
    """Install the units of deploy/systemd, with those that the page says are optional."""
    *first, start = README.code("sh", after="### systemd").splitlines()
    assert start == "systemctl enable --now account-gateway.target"
    machine.run("\n".join(first))
    machine.run("systemctl enable account-gateway-sandbox account-gateway-metrics")
    machine.run(start)


def install_the_single_unit(machine: Machine) -> None:
    """Do step 5 of the guide; its last command asks `/readyz` before it can answer."""
    *commands, last = GUIDE.code("sh", after="## 5. The service").splitlines()
    assert last == "curl http://127.0.0.1:8000/readyz"
    machine.run("\n".join(commands))


def documented() -> dict[str, str]:
    """Return the environment that the guide shows."""
    return dict(line.split("=", 1) for line in GUIDE.code("ini").splitlines())


def secrets(machine: Machine) -> dict[str, str]:
    """Make the two secrets as the guide says."""
    secret, fernet = machine.run(GUIDE.code("sh", after="Make the two secrets")).splitlines()
    return {"SECRET_KEY": secret, "FIELD_ENCRYPTION_KEYS": fernet}


def write(machine: Machine, name: str, text: str) -> None:
    """Write a file of the machine."""
    machine.path(name).write_text(text)


def read(machine: Machine, name: str) -> str:
    """Read a file of the machine."""
    return machine.path(name).read_text()


def journals(machine: Machine) -> list[str]:
    """Name the journals in the state directory."""
    folder: Path = machine.path("/var/lib/account-gateway/journal")
    return sorted(path.name for path in folder.iterdir())
