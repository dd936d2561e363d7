"""The containers of deploy/kubernetes, with their command lines, users and mounts, started by Docker in the compose file's network."""

import shlex
from dataclasses import dataclass
from typing import Any

import httpx

from tests.deploy.boot.machine import Machine
from tests.deploy.compose.engine import CONFIGURATION
from tests.deploy.manifests import pods
from tests.support import plain_http
from tests.support.concurrency import eventually

NETWORK = "account-gateway_gateway"
VOLUMES = "/var/lib/pods"
SECRET = {
    "DATABASE_URL": "postgresql://gateway_app:app1@database:5432/gateway",
    "REDIS_URL": "redis://redis:6379/0",
    "TRUSTED_PROXIES": "172.30.83.0/24",
}
OWNER = "postgresql://gateway_owner:owner1@database:5432/gateway"


@dataclass(frozen=True)
class Pods:
    """Starts containers of pods by the names of their owners, such as Deployment/worker."""

    machine: Machine

    def furnish(self, secrets: dict[str, str]) -> None:
        """Write the Secret `account-gateway` and the ConfigMap of the configuration."""
        self.machine.run(f"mkdir -p {VOLUMES}/configuration")
        lines = "".join(f"{name}={value}\n" for name, value in {**secrets, **SECRET}.items())
        self.machine.path(f"{VOLUMES}/secret").write_text(lines)
        configuration = self.machine.path(f"{CONFIGURATION}/gateway.yaml").read_text()
        self.machine.path(f"{VOLUMES}/configuration/configuration.yaml").write_text(configuration)

    def job(self, owner: str) -> str:
        """Run a pod that ends."""
        [container] = dict(pods())[owner]["containers"]
        return self.machine.run(f"docker run --rm {self._arguments(owner, container)}")

    def start(self, owner: str) -> str:
        """Run what a pod begins with, then start its container in the background; return its name."""
        pod = dict(pods())[owner]
        [first], [container] = pod["initContainers"], pod["containers"]
        self.machine.run(f"docker run --rm {self._arguments(owner, first)}")
        name = f"pod-{container['name']}"
        self.machine.run(f"docker run --detach --name {name} {self._arguments(owner, container)}")
        return name

    def pid(self, name: str) -> int:
        """Return the process id of a container's first process, as the machine knows it."""
        return int(self.machine.run(f"docker inspect --format '{{{{.State.Pid}}}}' {name}"))

    def origin(self, name: str, port: int = 8000) -> str:
        """Return where a container serves."""
        template = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}"
        return f"http://{self.machine.run(f'docker inspect --format {shlex.quote(template)} {name}')}:{port}"

    def status(self, name: str, port: int, path: str) -> int:
        """Ask a container as the kubelet does, by its address; 0 without an answer."""
        try:
            return plain_http.request("GET", f"{self.origin(name, port)}{path}").status_code
        except httpx.TransportError:
            return 0

    def await_status(self, name: str, port: int, path: str) -> None:
        """Wait for 200."""
        eventually(lambda: self.status(name, port, path) == 200 or self._has_ended(name))
        assert not self._has_ended(name), self.machine.run(f"docker logs --tail 50 {name}")

    def stop(self, owner: str, name: str) -> int:
        """Stop a container as the kubelet does, and return its exit code."""
        seconds = dict(pods())[owner]["terminationGracePeriodSeconds"]
        self.machine.run(f"docker stop --time {seconds} {name}")
        return int(self.machine.run(f"docker inspect --format '{{{{.State.ExitCode}}}}' {name}"))

    def _has_ended(self, name: str) -> bool:
        return self.machine.run(f"docker inspect --format '{{{{.State.Running}}}}' {name}") != "true"

    def _arguments(self, owner: str, container: dict[str, Any]) -> str:
        pod = dict(pods())[owner]
        security = pod["securityContext"]
        words = [
            *("--network", NETWORK, "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
            *("--user", f"{security['runAsUser']}:{security['runAsGroup']}", "--group-add", str(security["fsGroup"])),
            *("--env-file", "deploy/kubernetes/settings.env", "--env-file", f"{VOLUMES}/secret"),
            *(
                word
                for each in container.get("env", [])
                for word in ("--env", f"{each['name']}={each.get('value', OWNER)}")
            ),
            *(word for mount in container["volumeMounts"] for word in self._mounted(owner, mount)),
        ]
        return shlex.join([*words, container["image"], *container["command"]])

    def _mounted(self, owner: str, mount: dict[str, Any]) -> tuple[str, str]:
        """Return the option for a mount; an empty folder of the pod's group, as with fsGroup, unless it is the configuration's."""
        folder = f"{VOLUMES}/configuration"
        if mount["name"] != "configuration":
            folder = f"{VOLUMES}/{owner.replace('/', '-').lower()}-{mount['name']}"
            self.machine.run(f"mkdir -p {folder}; chown root:10001 {folder}; chmod 2777 {folder}")
        return "--volume", f"{folder}:{mount['mountPath']}{':ro' if mount.get('readOnly') else ''}"
