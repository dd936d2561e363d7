"""A gateway that cannot start says so in one line and leaves nothing running."""

from pathlib import Path

import pytest

from gateway.run.ports import free_port
from tests.run.machine import processes_of
from tests.support.gateways import GatewayProcess


def refusal(gateway: GatewayProcess) -> str:
    """Return the one line with which a gateway refused to start."""
    assert gateway.start().wait() == 1
    assert "ready" not in gateway.stdout
    assert processes_of(gateway.data_dir) == []
    (line,) = gateway.stderr.splitlines()
    return line.removeprefix("gateway: ")


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1", "8_0"])
def test_a_port_that_is_none(port: str) -> None:
    gateway = GatewayProcess(settings={"PORT": port})
    assert refusal(gateway) == f"PORT must be a whole number from 1 to 65535, not {port!r}."


def test_a_host_of_another_machine() -> None:
    gateway = GatewayProcess(settings={"HOST": "192.0.2.1"})
    assert refusal(gateway) == (
        f"Cannot listen on 192.0.2.1:{gateway.port}: Cannot assign requested address; set another PORT or HOST."
    )


def test_a_data_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    gateway = GatewayProcess(settings={"DATA_DIR": str(tmp_path / "file" / "data")})
    assert refusal(gateway) == (
        f"Cannot write to the data directory {tmp_path}/file/data: Not a directory; set DATA_DIR."
    )


def test_a_data_directory_on_a_read_only_system() -> None:
    gateway = GatewayProcess(settings={"DATA_DIR": "/proc/data"})
    assert refusal(gateway).startswith("Cannot write to the data directory /proc/data: ")


def test_a_configuration_that_is_not_there(tmp_path: Path) -> None:
    gateway = GatewayProcess(settings={"GATEWAY_CONFIG": str(tmp_path / "none.yaml")})
    assert refusal(gateway) == f"Cannot read GATEWAY_CONFIG {tmp_path}/none.yaml: No such file or directory."
    assert not gateway.data_dir.exists()


def test_a_configuration_that_is_broken(tmp_path: Path) -> None:
    config = tmp_path / "broken.yaml"
    config.write_text("products:\n  - {slug: studio, name: Studio, colour: red}\n")
    gateway = GatewayProcess(settings={"GATEWAY_CONFIG": str(config)})
    line = refusal(gateway)
    assert line.startswith("broken.yaml")
    assert "colour" in line


def test_every_problem_of_a_configuration_is_named_at_once(tmp_path: Path) -> None:
    config = tmp_path / "broken.yaml"
    config.write_text("products:\n  - {slug: studio, name: Studio, colour: red}\n  - {slug: courier}\n")
    gateway = GatewayProcess(settings={"GATEWAY_CONFIG": str(config)})
    assert gateway.start().wait() == 1
    first, second = gateway.stderr.splitlines()
    assert first.startswith("gateway: broken.yaml:2 products[0].colour: ")
    assert second.startswith("broken.yaml:3 products[1].name: ")


def test_a_database_that_is_away() -> None:
    port = free_port()
    gateway = GatewayProcess(settings={"DATABASE_URL": f"postgresql://me:secret-word@127.0.0.1:{port}/gateway"})
    line = refusal(gateway)
    assert line.startswith(f"The database at 127.0.0.1:{port} does not answer: ")
    assert "secret-word" not in line
    assert not (gateway.data_dir / "postgres").exists()


def test_a_pg_bin_without_postgresql(tmp_path: Path) -> None:
    gateway = GatewayProcess(settings={"PG_BIN": str(tmp_path)})
    assert refusal(gateway) == f"PG_BIN={tmp_path} has no PostgreSQL: it must contain the programs initdb and postgres."


def test_data_of_a_version_that_is_not_installed() -> None:
    gateway = GatewayProcess()
    cluster = gateway.data_dir / "postgres"
    cluster.mkdir(parents=True)
    (cluster / "PG_VERSION").write_text("9\n")
    assert refusal(gateway).startswith("PostgreSQL 9, which made the data, was not found (found: ")
