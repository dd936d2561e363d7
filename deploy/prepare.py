"""`python deploy/prepare.py`: prepares the database as its owner, where there is no psql, as in a container.

At OWNER_DATABASE_URL it runs `manage.py prepare` and then `database_role.sql`. The role of DATABASE_URL gets the password that is there.
It may be repeated, and while a gateway serves.
"""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import psycopg
from psycopg import sql

DEPLOY = Path(__file__).resolve().parent


def main() -> None:
    """Prepare; a step that fails ends this with its exit code or its error."""
    owner, gateway = os.environ["OWNER_DATABASE_URL"], urlsplit(os.environ["DATABASE_URL"])
    environment = {**os.environ, "DATABASE_URL": owner}
    prepared = subprocess.run([sys.executable, "manage.py", "prepare"], cwd=DEPLOY.parent, env=environment, check=False)
    if prepared.returncode:
        sys.exit(prepared.returncode)
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute((DEPLOY / "database_role.sql").read_bytes())
        if gateway.password:
            _set_password(connection, unquote(gateway.username or ""), unquote(gateway.password))


def _set_password(connection: psycopg.Connection, role: str, password: str) -> None:
    """Send it in the form in which it is stored, as psql's \\password does, so that no log has it."""
    stored = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256")
    statement = sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(role), sql.Literal(stored.decode()))
    try:
        connection.execute(statement)
    except psycopg.errors.InsufficientPrivilege:
        sys.stdout.write(f"{role} keeps its password: it was made by a superuser, who alone may change it.\n")


if __name__ == "__main__":
    main()
