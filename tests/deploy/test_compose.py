"""deploy/compose.yaml: its form, and what its services are."""

import json
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from gateway.run.options import CUT_SECONDS, PROJECT_DIR

FILE = PROJECT_DIR / "deploy" / "compose.yaml"
COMPOSE: dict[str, Any] = yaml.safe_load(FILE.read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
PARTS = ("server", "worker", "beat")
SCHEMA = json.loads((Path(__file__).parent / "schemas" / "compose-spec.json").read_text())


def mounts(service: str) -> dict[str, str]:
    """Return what a service mounts, by its path there."""
    return dict(reversed(volume.split(":")[:2]) for volume in SERVICES[service]["volumes"])


def test_it_is_a_compose_file() -> None:
    form = jsonschema.Draft201909Validator(SCHEMA)
    form.validate(COMPOSE)
    with pytest.raises(jsonschema.ValidationError, match="comand"):
        form.validate({"services": {"server": {"image": "x", "comand": "y"}}})


def test_nothing_is_named_that_is_not_there() -> None:
    for service in SERVICES.values():
        assert set(service["networks"]) <= COMPOSE["networks"].keys()
        assert service.get("depends_on", {}).keys() <= SERVICES.keys()
        sources = {volume.partition(":")[0] for volume in service.get("volumes", [])}
        assert {source for source in sources if source[0] not in "./"} <= COMPOSE["volumes"].keys()
        assert all((FILE.parent / source).exists() for source in sources if source[0] == ".")


def test_each_process_waits_for_the_database_and_has_a_data_directory_of_its_own() -> None:
    for part in PARTS:
        assert SERVICES[part]["command"] == ["python", "-m", "gateway.run", "--only", part]
        assert SERVICES[part]["depends_on"] == {"prepare": {"condition": "service_completed_successfully"}}
    data = COMPOSE["x-settings"]["DATA_DIR"]
    assert len({mounts(service)[data] for service in (*PARTS, "prepare")}) == 4


def test_the_server_and_its_worker_share_the_journal() -> None:
    folder = COMPOSE["x-settings"]["CALL_JOURNAL_DIR"]
    assert mounts("server")[folder] == mounts("worker")[folder] == "journal"


def test_only_the_server_is_asked_whether_it_serves() -> None:
    ours = {name for name, service in SERVICES.items() if service["image"] == "account-gateway"}
    assert {name for name in ours if SERVICES[name].get("healthcheck") != {"disable": True}} == {"server"}


def test_the_server_keeps_the_address_that_nginx_found() -> None:
    [subnet] = COMPOSE["networks"]["gateway"]["ipam"]["config"]
    address = ip_address(SERVICES["server"]["networks"]["gateway"]["ipv4_address"])
    assert address in ip_network(subnet["subnet"])


def test_a_database_that_is_only_being_made_is_not_healthy() -> None:
    """The server of the first start listens on its socket alone."""
    command = SERVICES["database"]["healthcheck"]["test"]
    assert command[command.index("--host") + 1] == "127.0.0.1"


def test_what_is_trusted_is_the_network_of_nginx() -> None:
    [subnet] = COMPOSE["networks"]["gateway"]["ipam"]["config"]
    assert COMPOSE["x-settings"]["TRUSTED_PROXIES"] == subnet["subnet"]
    assert {name: service["ports"] for name, service in SERVICES.items() if "ports" in service} == {
        "nginx": ["443:443"]
    }
    sed = SERVICES["nginx"]["command"][-1]
    assert "s/127.0.0.1:8000/server:8000/" in sed
    assert (FILE.parent / "proxies" / "nginx.conf").read_text().count("127.0.0.1:8000") == 1


def test_a_server_has_time_to_drain() -> None:
    assert float(SERVICES["server"]["stop_grace_period"].removesuffix("s")) > 2 + 10 + CUT_SECONDS
