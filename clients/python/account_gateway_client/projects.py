"""Projects, and how their sandbox runs are executed."""

from account_gateway_client.integration_types import ExecutionConfig, ExecutionConfigRequest, Project
from account_gateway_client.routes import Page, Routes, segment


class Projects(Routes):
    """The routes of projects. Reading needs `projects:read`, changing `projects:configure`."""

    def list(self, limit: int = 20, *, after: str | None = None) -> Page[Project]:
        """Return projects, newest first, 1 to 100 of them; with `after`, those behind the one of that id."""
        return self._page("/v1/projects", limit, after)

    def execution_config(self, project_id: str) -> ExecutionConfig:
        """Return how the project's runs are executed; before the first change, the defaults at version 0."""
        config: ExecutionConfig = self._send("GET", f"/v1/projects/{segment(project_id)}/execution-config")
        return config

    def configure(
        self, project_id: str, config: ExecutionConfigRequest, *, version: int | None = None
    ) -> ExecutionConfig:
        """Replace the whole configuration; what is left out gets its default.

        With `version` only that version is replaced: a GatewayError with the code `revision_conflict` says that somebody
        was faster.
        """
        headers = {} if version is None else {"If-Match": str(version)}
        path = f"/v1/projects/{segment(project_id)}/execution-config"
        replaced: ExecutionConfig = self._send("PUT", path, json=config, headers=headers)
        return replaced
