"""`sandbox`: the runner of sandbox runs, and their limits."""

from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from gateway.config.bounds import bounds
from gateway.config.exporting import Exported, Exporting, filled
from gateway.config.problems import Path
from gateway.config.row import SectionRow, Tables
from gateway.config.run import Run
from gateway.config.secret import Secret
from gateway.config.texts import Slug
from gateway.config.urls import BaseUrl
from integrations.models import SandboxSettings

RUNTIMES_MAX = 50
SECRETS = ("secret", "previous_secret")


class SandboxRow(SectionRow):
    """The one row of settings. A remote runner needs its address and a secret."""

    tables: ClassVar[Tables] = (SandboxSettings,)

    runner: Annotated[SandboxSettings.Runner, Field(strict=False)]
    base_url: BaseUrl | None = None
    secret: Secret = None
    previous_secret: Secret = None
    runtimes: Annotated[list[Slug], Field(min_length=1, max_length=RUNTIMES_MAX)] = ["default"]
    max_timeout_seconds: Annotated[int, bounds(SandboxSettings, "max_timeout_seconds")] = 60
    max_memory_mb: Annotated[int, bounds(SandboxSettings, "max_memory_mb")] = 512
    network: Annotated[SandboxSettings.Network, Field(strict=False)] = SandboxSettings.Network.NONE

    @model_validator(mode="after")
    def _remote_runner_is_complete(self) -> "SandboxRow":
        if self.runner == SandboxSettings.Runner.HTTP and (self.base_url is None or self.secret is None):
            raise ValueError("the runner http needs base_url and secret")
        return self

    def save(self, run: Run, path: Path) -> None:
        values = self.stated("runner", "runtimes", "max_timeout_seconds", "max_memory_mb", "network")
        values["base_url"] = self.base_url or ""
        for name in SECRETS:
            given: Secret = getattr(self, name)
            values[name] = given.get_secret_value() if given else ""
        run.upsert(
            SandboxSettings,
            "sandbox settings",
            lookup={"id": SandboxSettings.ONLY},
            values=values,
            concealed=frozenset(SECRETS),
        )

    @classmethod
    def export(cls, out: Exporting) -> Exported:
        row = SandboxSettings.objects.first()
        if row is None:
            return None
        return filled(
            runner=row.runner,
            base_url=row.base_url or None,
            secret=out.secret(row.secret, "SANDBOX_SECRET", "the sandbox's runner"),
            previous_secret=out.secret(row.previous_secret, "SANDBOX_SECRET_PREVIOUS", "the same, before its rotation"),
            runtimes=row.runtimes,
            max_timeout_seconds=row.max_timeout_seconds,
            max_memory_mb=row.max_memory_mb,
            network=row.network,
        )
