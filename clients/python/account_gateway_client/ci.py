"""CI runs, as their providers reported them."""

from account_gateway_client.integration_types import CIRun
from account_gateway_client.routes import Routes, segment


class CI(Routes):
    """The routes of CI runs. They need `ci:read`."""

    def list(self, limit: int = 20) -> list[CIRun]:
        """Return the latest runs, newest first, 1 to 100 of them."""
        return self._list("/v1/ci/runs", limit)

    def get(self, run_id: str) -> CIRun:
        """Return a run with its steps."""
        run: CIRun = self._send("GET", f"/v1/ci/runs/{segment(run_id)}")
        return run
