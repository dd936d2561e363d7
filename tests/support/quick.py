"""A plugin of pytest: `make quick` leaves out what takes long. New tests are in, unless they start a server or are named here."""

from pathlib import Path

import pytest

SLOW_PACKAGES = (
    "bench",
    "browser",
    "chaos",
    "clients",
    "contract",
    "deploy",
    "faults",
    "interop",
    "journeys",
    "run",
    "server",
    "upgrade",
)
"""They start processes, and a gateway as a whole."""
SLOW_FILES = (
    "accounts/test_devices.py",
    "architecture/test_command_lines.py",
    "architecture/test_library_internals.py",
    "architecture/test_requirements.py",
    "billing/audit/test_corruptions.py",
    "billing/audit/test_guards.py",
    "billing/test_ledger_model.py",
    "billing/test_races.py",
    "billing/test_review_backlog.py",
    "gateway/jobs/test_twice_at_once.py",
    "gateway/test_admin.py",
    "gateway/test_admin_credits.py",
    "gateway/test_admin_parties.py",
    "gateway/test_admin_rights.py",
    "gateway/test_admin_walk.py",
    "gateway/test_apply_refusals.py",
    "gateway/test_commands_without_database.py",
    "gateway/test_database_waits.py",
    "gateway/test_hostile_characters.py",
    "gateway/test_json.py",
    "gateway/test_ledger_batches.py",
    "gateway/test_upgrade.py",
    "inference/misbehaviour",
    "inference/translation/test_fuzz.py",
    "inference/translation/test_round_trips.py",
    "inference/vendors/demo/test_local_model.py",
    "integrations/test_admin.py",
    "integrations/test_ci_deliveries.py",
    "integrations/test_every_route.py",
    "integrations/test_remote_runs.py",
    "integrations/test_sandbox_confinement.py",
    "integrations/test_sandbox_lifecycle.py",
    "integrations/test_sandbox_processes.py",
    "integrations/test_sandbox_runs.py",
    "organizations/test_foreign_ids.py",
    "organizations/test_seat_year.py",
    "organizations/test_two_processes.py",
    "portal/test_fuzz.py",
    "portal/test_guesses.py",
    "portal/test_identity_provider.py",
    "portal/test_odd_passkeys.py",
    "portal/test_organization_pages.py",
    "portal/test_passkeys.py",
    "portal/test_production.py",
    "portal/test_production_walk.py",
    "portal/test_second_factor_races.py",
    "portal/test_shut_out.py",
)
"""Large matrices, models that are followed over many steps, and tests in which processes start or time passes."""
SERVERS = {"bench", "demo_gateway", "gateway", "provider", "running_provider", "stage", "upstream", "world"}
"""Fixtures that serve."""

TESTS = Path(__file__).resolve().parents[1]
SLOW = {TESTS / name for name in (*SLOW_PACKAGES, *SLOW_FILES)}


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out packages and files."""
    return True if collection_path in SLOW else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests that a server answers."""
    served = [item for item in items if not SERVERS.isdisjoint(getattr(item, "fixturenames", ()))]
    config.hook.pytest_deselected(items=served)
    chosen = set(items).difference(served)
    items[:] = [item for item in items if item in chosen]
