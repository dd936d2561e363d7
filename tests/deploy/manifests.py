"""The manifests in `deploy/kubernetes`."""

from collections.abc import Iterator
from typing import Any

import yaml

from gateway.run.options import PROJECT_DIR

FOLDER = PROJECT_DIR / "deploy" / "kubernetes"
KUSTOMIZATION: dict[str, Any] = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
OBJECTS: list[dict[str, Any]] = [
    document for name in KUSTOMIZATION["resources"] for document in yaml.safe_load_all((FOLDER / name).read_text())
]
SETTINGS = dict(
    line.split("=", 1) for line in (FOLDER / "settings.env").read_text().splitlines() if not line.startswith("#")
)


def name_of(item: dict[str, Any]) -> str:
    return f"{item['kind']}/{item['metadata']['name']}"


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each pod's owner and specification."""
    for item in OBJECTS:
        if "template" in item.get("spec", {}):
            yield name_of(item), item["spec"]["template"]["spec"]


def containers(pod: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all containers of a pod, those that only begin included."""
    return [*pod.get("initContainers", []), *pod["containers"]]


def container(owner: str) -> dict[str, Any]:
    """Return the only container of a pod that serves."""
    [one] = dict(pods())[owner]["containers"]
    return dict(one)
