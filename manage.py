#!/usr/bin/env python
"""Runs a management command against the gateway of this DATA_DIR or DATABASE_URL."""

import logging
import sys


def main() -> None:
    """Run a management command from the command line."""
    from gateway.version import VERSION

    if sys.argv[1:] in (["version"], ["--version"]):  # Django would print its own; no setting is needed to know ours
        sys.stdout.write(f"{VERSION}\n")
        return

    from django.core.management import execute_from_command_line

    from gateway.core.runtime.startup import load_settings

    load_settings()

    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # what it warns of, the command fails with
    try:
        execute_from_command_line(sys.argv)
    except Exception as error:
        from gateway.core.database.server import failure_of
        from gateway.core.http.database_errors import DATABASE_AWAY

        if not isinstance(error, DATABASE_AWAY):
            raise
        sys.exit(failure_of(error))


if __name__ == "__main__":
    main()
