"""Prepares a database for the gateway's start; used by `make run` and by deployments."""

import os
import secrets
from io import StringIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.utils import timezone

from accounts.operations import receipt_keys, signing_keys
from gateway.config.known import is_configured
from gateway.core.database.server import ServerAway, server_version
from gateway.management.schema import bring_up_to_date
from gateway.run.files import write_private
from gateway.static_files import collect_static_files
from integrations.operations import sandbox_worker

POSTGRESQL_OLDEST = 150000
# Serializes gateways that start on the same database; "gateway" in ASCII, cut to a bigint.
LOCK_KEY = 0x67617465776179
OPERATOR_DID = "did:web:localhost:operator"
OPERATOR_EMAIL = "operator@localhost"


class Command(BaseCommand):
    """Collects static files, migrates, creates the first keys that sign, applies GATEWAY_CONFIG and, outside production,
    creates an operator."""

    help = "Collect static files, migrate if the role may, apply GATEWAY_CONFIG and create a development operator. Safe to repeat."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Define the flag of `make run`."""
        parser.add_argument("--steps", action="store_true", help="say what is done next")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run all steps, in one process at a time."""
        begin = self._say_step if options["steps"] else _say_nothing
        check_database()
        begin("collecting static files")
        collect_static_files()
        begin("waiting for another gateway that prepares this database")
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK_KEY])
            try:
                begin("migrating the database")
                bring_up_to_date()
                begin("applying the configuration")
                signing_keys.ensure_active_key(now=timezone.now())
                receipt_keys.ensure_active_key(now=timezone.now())
                self._apply(self._config())
                sandbox_worker.mark_whether_wanted()
                if os.environ.get("GATEWAY_ENV") != "production":
                    self._make_operator()
            finally:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK_KEY])

    def _say_step(self, step: str) -> None:
        self.stdout.write(f"  {step}")

    def _config(self) -> Path | None:
        """Return the file to apply. The demo's is applied only once: later it would overwrite what people have set."""
        file = Path(settings.GATEWAY_CONFIG) if settings.GATEWAY_CONFIG else None
        return None if file == settings.DEMO_CONFIG and is_configured() else file

    def _apply(self, file: Path | None) -> None:
        """Apply the configuration, only the environment's if there is no file; print one line with the changes, if there
        is anything to set, or each problem on its own line."""
        report, problems = StringIO(), StringIO()
        try:
            call_command("apply", *filter(None, [file]), stdout=report, stderr=problems)
        except CommandError as error:
            lines = problems.getvalue().splitlines()
            if not lines:
                raise
            raise CommandError("\n".join(lines)) from error
        summary = report.getvalue().splitlines()[-1]
        if file or not summary.endswith("nothing to set."):
            self.stdout.write(summary)

    def _make_operator(self) -> None:
        """Create the operator once; the password is OPERATOR_PASSWORD or a random one that is shown only now."""
        accounts = get_user_model().objects
        if accounts.filter(did=OPERATOR_DID).exists():
            return
        email = os.environ.get("OPERATOR_EMAIL") or OPERATOR_EMAIL
        given = os.environ.get("OPERATOR_PASSWORD")
        password = given or secrets.token_urlsafe(12)
        accounts.create_superuser(OPERATOR_DID, email, password, display_name="Operator")
        self.stdout.write(
            f"operator: {email} ({OPERATOR_DID}), password: {'from OPERATOR_PASSWORD' if given else password}"
        )
        if not given:
            write_private(Path(settings.DATA_DIR) / "operator.txt", f"{OPERATOR_DID}\n{email}\n{password}\n")


def _say_nothing(step: str) -> None:
    """Stand for somebody who watches the steps."""


def check_database() -> None:
    """Refuse a database that is unreachable, too old or not in UTF-8, with its address but never the password."""
    try:
        version = server_version()
    except ServerAway as away:
        raise CommandError(str(away)) from away
    if version < POSTGRESQL_OLDEST:
        raise CommandError(f"The database is PostgreSQL {version // 10000}; 15 or later is needed.")
    connection.ensure_connection()
    encoding = connection.connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise CommandError(
            f"The database's encoding is {encoding}; UTF8 is needed. Make it with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0."
        )
