"""Checks runs and configurations against the operator's limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.core.contract.errors import InvalidRequest

TIMEOUT_DEFAULT_SECONDS, MEMORY_DEFAULT_MB = 30, 256


@dataclass(frozen=True, slots=True)
class Limits:
    """The operator's limits. Times are in seconds, memory in MB (2**20 bytes)."""

    timeout_seconds: int = 60
    memory_mb: int = 512
    allows_egress: bool = False
    runtimes: frozenset[str] = field(default=frozenset({"default"}))

    @property
    def default_timeout_seconds(self) -> int:
        """Return the timeout of a configuration that does not state one."""
        return min(TIMEOUT_DEFAULT_SECONDS, self.timeout_seconds)

    @property
    def default_memory_mb(self) -> int:
        """Return the memory of a configuration that does not state it."""
        return min(MEMORY_DEFAULT_MB, self.memory_mb)


def check_config(config: Mapping[str, Any], limits: Limits) -> None:
    """Refuse values beyond the operator's limits, naming the member."""
    if config["runtime"] not in limits.runtimes:
        names = ", ".join(sorted(limits.runtimes))
        raise InvalidRequest(f"runtime must be one of {names}.", param="runtime")
    check_timeout(config["timeoutSeconds"], limits)
    if config["memoryMb"] > limits.memory_mb:
        raise InvalidRequest(f"memoryMb may be at most {limits.memory_mb}.", param="memoryMb")
    if config["network"] == "egress" and not limits.allows_egress:
        raise InvalidRequest("This gateway does not allow runs to use the network.", param="network")


def check_timeout(seconds: int, limits: Limits) -> None:
    """Refuse a timeout beyond the operator's limit."""
    if seconds > limits.timeout_seconds:
        raise InvalidRequest(f"timeoutSeconds may be at most {limits.timeout_seconds}.", param="timeoutSeconds")
