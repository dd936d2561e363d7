"""The console's pages of the integrations. What an owner's programs get and write is its owner's: no page shows it."""

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
