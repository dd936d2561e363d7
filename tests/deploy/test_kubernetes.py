"""The manifests in `deploy/kubernetes`: their form, what their pods may do, and that their commands run."""

import os
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest

from gateway.run.options import CUT_SECONDS, PROJECT_DIR
from tests.deploy.manifests import FOLDER, KUSTOMIZATION, OBJECTS, SETTINGS, container, containers, name_of, pods
from tests.deploy.operator import Database, documented
from tests.support.concurrency import eventually
from tests.support.forked import run
from tests.support.gateways import OURS, ForkedGateway

VERSIONS = ("1.27", "1.34")
PARTS = {"server": "StatefulSet/server", "worker": "Deployment/worker", "beat": "Deployment/beat"}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("item", OBJECTS, ids=name_of)
def test_an_object_is_valid(item: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(item, version, strict=True)


def test_a_misspelled_field_is_not_valid() -> None:
    policy = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "a"}, "spec": {"max": 1}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(policy, VERSIONS[-1], strict=True)


def test_all_files_are_used_and_all_names_exist() -> None:
    generated = KUSTOMIZATION["configMapGenerator"]
    used = {
        *KUSTOMIZATION["resources"],
        *(name for each in generated for name in (*each.get("envs", []), *each.get("files", []))),
    }
    assert used | {"kustomization.yaml"} == {path.name for path in FOLDER.iterdir()}
    maps = {each["name"] for each in generated}
    labels = {
        item["spec"]["template"]["metadata"]["labels"]["app"] for item in OBJECTS if "template" in item.get("spec", {})
    }
    for _, pod in pods():
        assert {v["configMap"]["name"] for v in pod["volumes"] if "configMap" in v} <= maps
        for each in containers(pod):
            assert each["image"] in {image["name"] for image in KUSTOMIZATION["images"]}
            assert {"configMapRef": {"name": "settings"}} in each["envFrom"]
    for item in OBJECTS:
        selector = item["spec"].get("selector") or item["spec"].get("podSelector") or {}
        chosen = selector.get("matchLabels", selector if item["kind"] == "Service" else {})
        assert set(chosen.values()) <= labels, name_of(item)


def test_no_pod_has_rights() -> None:
    for owner, pod in pods():
        context = pod["securityContext"]
        assert (context["runAsNonRoot"], context["runAsUser"], context["fsGroup"]) == (True, 10001, 10001), owner
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        mounts = {volume["name"] for volume in pod["volumes"]}
        for each in containers(pod):
            assert each["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert {mount["name"] for mount in each["volumeMounts"]} <= mounts | {"data"}


def test_a_server_has_time_to_drain_and_says_so_first() -> None:
    pod = dict(pods())[PARTS["server"]]
    [server] = pod["containers"]
    drain = float(SETTINGS["DRAIN_NOTICE_SECONDS"]) + float(SETTINGS["DRAIN_SECONDS"]) + CUT_SECONDS
    assert pod["terminationGracePeriodSeconds"] > drain
    probes = {name: server[name]["httpGet"]["path"] for name in ("readinessProbe", "livenessProbe", "startupProbe")}
    assert probes == {"readinessProbe": "/readyz", "livenessProbe": "/livez", "startupProbe": "/livez"}
    ready = server["readinessProbe"]
    assert ready["periodSeconds"] * ready["failureThreshold"] < float(SETTINGS["DRAIN_NOTICE_SECONDS"])


def test_a_servers_journal_outlives_its_pod() -> None:
    [server] = [item for item in OBJECTS if name_of(item) == PARTS["server"]]
    assert [claim["metadata"]["name"] for claim in server["spec"]["volumeClaimTemplates"]] == ["data"]
    paths = {mount["name"]: mount["mountPath"] for mount in container(PARTS["server"])["volumeMounts"]}
    assert (
        f"ENV HOST=0.0.0.0 PORT=8000 DATA_DIR={paths['data']} " in (PROJECT_DIR / "deploy" / "Dockerfile").read_text()
    )


def test_the_pods_wait_until_the_job_has_prepared_the_database_and_their_commands_run(
    database: Database, tmp_path: Path
) -> None:
    given = {**documented(tmp_path), "DATABASE_URL": database.url("gateway_app", "shipped")}
    inherited = {name: value for name, value in os.environ.items() if name not in OURS}
    environment = {**inherited, **given, "DJANGO_SETTINGS_MODULE": "gateway.settings"}
    waiting = {tuple(pod["initContainers"][0]["command"]) for owner, pod in pods() if owner in PARTS.values()}
    assert waiting == {("sh", "-c", "until python manage.py prepare; do sleep 5; done")}

    def is_prepared() -> bool:
        return run([sys.executable, "manage.py", "prepare"], cwd=PROJECT_DIR, env=environment).returncode == 0

    database.run("CREATE DATABASE shipped OWNER owner")
    assert not is_prepared()
    python, script = container("Job/migrate")["command"]
    assert python == "python"
    owner = {**environment, "OWNER_DATABASE_URL": database.url("owner", "shipped")}
    for configuration in (given["GATEWAY_CONFIG"], str(FOLDER / "configuration.yaml")):
        migrated = run([sys.executable, script], cwd=PROJECT_DIR, env={**owner, "GATEWAY_CONFIG": configuration})
        assert migrated.returncode == 0, migrated.stderr
    assert is_prepared()
    with ExitStack() as stack:
        for part, owner_name in PARTS.items():
            gateway = ForkedGateway(data_dir=tmp_path / part / "data")
            gateway.data_dir.mkdir(parents=True)
            gateway.command = [*ForkedGateway.command, *container(owner_name)["command"][3:]]
            gateway.settings = {**given, "DATA_DIR": str(gateway.data_dir), "WEB_CONCURRENCY": "1", "HOST": "127.0.0.1"}
            gateway.settings |= {"GATEWAY_CONFIG": "", "PORT": str(gateway.port)}
            gateway.start()
            stack.callback(gateway.stop)
            eventually(partial(_has_begun, gateway))
            assert gateway.children().keys() == {part}, gateway.log


def _has_begun(gateway: ForkedGateway) -> bool:
    return "ready: " in gateway.stdout or gateway.has_ended()
