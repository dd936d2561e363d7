"""deploy/patroni.yml: what keeps money. `python -m tests.failover --only patroni` starts it."""

import yaml

from gateway.run.options import PROJECT_DIR
from tests.support.pages import Page

FILE = yaml.safe_load((PROJECT_DIR / "deploy" / "patroni.yml").read_text())


def test_commits_wait_for_a_standby_and_a_machine_that_hangs_is_fenced() -> None:
    cluster = FILE["bootstrap"]["dcs"]
    assert (cluster["synchronous_mode"], cluster["synchronous_mode_strict"]) == (True, True)
    assert FILE["watchdog"] == {"mode": "required"}
    assert cluster["loop_wait"] + 2 * cluster["retry_timeout"] <= cluster["ttl"]  # or a primary is demoted without need


def test_a_stranger_can_neither_switch_over_nor_connect() -> None:
    assert FILE["restapi"]["authentication"].keys() == {"username", "password"}
    assert all(line.endswith(" 10.0.0.0/24 scram-sha-256") for line in FILE["postgresql"]["pg_hba"])


def test_the_page_names_the_machines_of_the_file() -> None:
    hosts = ",".join(host.replace(":2379", ":5432") for host in FILE["etcd3"]["hosts"])
    url = f"postgresql://gateway_app:password@{hosts}/gateway?target_session_attrs=read-write"
    assert url in Page("docs/replication.md").text
