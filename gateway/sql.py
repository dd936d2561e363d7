"""Installs an app's SQL functions from its `sql/` folder by a migration."""

from importlib.resources import files

from django.db.migrations import RunSQL


def install(app: str, *names: str) -> RunSQL:
    """Make the operation that runs `<app>/sql/<name>.sql` for every name, in order (`CREATE OR REPLACE` statements)."""
    statements = [files(app).joinpath("sql", f"{name}.sql").read_text(encoding="utf-8") for name in names]
    return RunSQL("\n".join(statements), RunSQL.noop)
