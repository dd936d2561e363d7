"""Projects, and how their sandbox runs are executed."""

from account_gateway_client.integration_types import ExecutionConfig, ExecutionConfigRequest, Project
from account_gateway_client.routes import Routes, segment


class Projects(Routes):
    """The routes of projects. Reading needs `projects:read`, changing `projects:configure`."""

    def list(self) -> list[Project]:
        """Return the projects, newest first."""
        projects: list[Project] = self._send("GET", "/v1/projects")["data"]
        return projects

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
