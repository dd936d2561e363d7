"""CI runs, as their providers reported them."""

from account_gateway_client.integration_types import CIRun
from account_gateway_client.routes import Page, Routes, segment


class CI(Routes):
    """The routes of CI runs. They need `ci:read`."""

    def list(self, limit: int = 20, *, after: str | None = None) -> Page[CIRun]:
        """Return the latest runs, newest first, 1 to 100 of them; with `after`, those behind the one of that id."""
        return self._page("/v1/ci/runs", limit, after)

    def get(self, run_id: str) -> CIRun:
        """Return a run with its steps."""
        run: CIRun = self._send("GET", f"/v1/ci/runs/{segment(run_id)}")
        return run
