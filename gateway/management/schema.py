"""Brings the database's tables and functions to this version, or checks that they are."""

from django.core.management import call_command
from django.core.management.base import CommandError
from django.core.management.sql import emit_post_migrate_signal
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from gateway.core.checks import replaced_migrations_are_applied_together
from gateway.core.database import sql

OWNS_TABLES = """
SELECT CASE WHEN to_regclass('django_migrations') IS NULL THEN has_schema_privilege(current_schema(), 'CREATE')
            ELSE (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass('django_migrations')) END,
       current_user
"""
"""Whether the role may change the tables: it belongs to their owner, or may create the first ones."""


def bring_up_to_date() -> None:
    """Migrate, if the role of DATABASE_URL owns the tables. Otherwise check that there is nothing to migrate.

    Raises CommandError if there is, with what to run instead, or if the database is between two versions.
    """
    for problem in replaced_migrations_are_applied_together(databases=[DEFAULT_DB_ALIAS]):
        raise CommandError(problem.msg)
    with connection.cursor() as cursor:
        cursor.execute(OWNS_TABLES)
        [is_owner, role] = cursor.fetchone() or (False, "")
    if is_owner:
        _migrate()
    elif lacks := _lacks():
        raise CommandError(
            f"The database is not of this version ({lacks}), and the role {role} may not change it: run `manage.py prepare` with"
            " DATABASE_URL of the owner of its tables, then deploy/database_role.sql."
        )


def _migrate() -> None:
    """Apply what is missing, then do what follows every `migrate`, such as the installation of functions.

    Where nothing is missing, as at most starts, this takes half of the time of the command, which first computes from all
    migrations what the tables look like.
    """
    executor = MigrationExecutor(connection)
    executor.loader.check_consistent_history(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", verbosity=0, interactive=False)
        return
    executor.check_replacements()
    emit_post_migrate_signal(verbosity=0, interactive=False, db=connection.alias, plan=[])


def _lacks() -> str:
    """Return what a migration would do, or an empty text. A database of a newer version, as during an upgrade, lacks
    nothing: its functions serve this version too."""
    executor = MigrationExecutor(connection)
    if due := executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return f"migrations to apply: {len(due)}"
    if _is_newer(executor.loader):
        return ""
    differing = sql.differences(DEFAULT_DB_ALIAS)
    return f"functions, views or triggers that differ: {', '.join(differing[:3])}" if differing else ""


def _is_newer(loader: MigrationLoader) -> bool:
    """Return whether migrations were applied that this version does not have."""
    applied = {key for key in loader.applied_migrations if key[0] in loader.migrated_apps}
    replaced = {key for migration in loader.replacements.values() for key in migration.replaces}
    return not applied <= loader.disk_migrations.keys() | replaced
