"""Console pages for the integrations. They show no input or output of programs, because those belong to the owners."""

from integrations.admin import (
    account_keys,
    artifacts,
    ci_providers,
    ci_runs,
    jobs,
    programs,
    projects,
    sandbox_runs,
    sandbox_settings,
    switches,
)

__all__ = [
    "account_keys",
    "artifacts",
    "ci_providers",
    "ci_runs",
    "jobs",
    "programs",
    "projects",
    "sandbox_runs",
    "sandbox_settings",
    "switches",
]
