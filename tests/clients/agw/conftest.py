"""A person with money who has signed in with `agw`, and shells of people who have not."""

import json
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as FailKeyring
from keyring.errors import PasswordDeleteError

from tests.clients.agw.command_line import CommandLine
from tests.support.demo_gateway import DemoGateway

CREDIT_MICROUSD = 5_000_000


@pytest.fixture
def agw(demo_gateway: DemoGateway, tmp_path: Path) -> CommandLine:
    return CommandLine(demo_gateway.base_url, tmp_path / "agw")


@pytest.fixture(scope="session")
def person(demo_gateway: DemoGateway, tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Sign in once for all tests that only call."""
    person = CommandLine(demo_gateway.base_url, tmp_path_factory.mktemp("person") / "agw")
    completed = person.log_in()
    assert completed.status == 0, completed.err
    did = person.run("status", "--json").json["account"]["did"]
    credit = {"account": did, "amount_microusd": CREDIT_MICROUSD, "key": "agw"}
    file = tmp_path_factory.mktemp("credit") / "credit.yaml"
    file.write_text(json.dumps({"credits": [credit]}))
    applied = demo_gateway.manage("apply", str(file))
    assert applied.returncode == 0, applied.stderr
    return person


class MemoryKeyring(KeyringBackend):
    """A keyring that forgets with the test."""

    priority = 5.0

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError


@pytest.fixture(scope="session", autouse=True)
def no_keyring() -> None:
    """Leave this process without a keyring. By itself, the library would choose among all classes, those of tests too."""
    keyring.set_keyring(FailKeyring())


@pytest.fixture
def memory() -> Iterator[MemoryKeyring]:
    """Set a keyring in memory for this process."""
    memory = MemoryKeyring()
    keyring.set_keyring(memory)
    yield memory
    keyring.set_keyring(FailKeyring())
