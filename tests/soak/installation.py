"""The installation of a soak: nodes with worker and scheduler, a stand-in of the payment provider, an upstream of vectors."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from bench.processes import LOOPBACK
from bench.servers import GATEWAY_BASE_URL
from tests.nodes.installation import Nodes
from tests.support.stripe.server import FakeStripe
from tests.support.vector_upstreams import RepresentationUpstream

HOST = urlsplit(GATEWAY_BASE_URL).hostname or ""


class SoakInstallation(Nodes):
    """All processes, as a context manager."""

    def __init__(self, nodes: int, furnish: Callable[[Path], None]) -> None:
        super().__init__(nodes, furnish)
        self.bank = FakeStripe()
        self.vectors = RepresentationUpstream()

    def __enter__(self) -> Self:
        super().__enter__()
        self._stack.enter_context(self.bank)
        self._stack.enter_context(self.vectors)
        self.bank.webhooks.send_to(f"{next(iter(self.gateways.values()))}/webhooks/stripe")
        return self

    def processes(self) -> Mapping[str, int]:
        """Return the process id of each service."""
        return self._supervisor.pids()

    def _settings(self, config: Path) -> dict[str, str]:
        return {
            **super()._settings(config),
            "ALLOWED_HOSTS": f"{LOOPBACK},{HOST}",
            "TRUSTED_PROXIES": LOOPBACK,
            "STRIPE_API_BASE": self.bank.origin,
            "STRIPE_SECRET_KEY": self.bank.secret_key,
            "STRIPE_WEBHOOK_SECRET": self.bank.webhooks.secret,
        }
