"""Migrations that can be run again after they were killed."""

from typing import Any

from django.db import migrations


class RestartableMigration(migrations.Migration):
    """A migration that is recorded in its own transaction.

    Django leaves indexes and foreign keys of new tables to the end of the transaction. It then records the migration after it,
    one that replaces others in a statement for each. A process that is killed in between leaves a database that no further
    `migrate` accepts.
    """

    def apply(self, project_state: Any, schema_editor: Any, collect_sql: bool = False) -> Any:
        """Do now what Django would leave to the end of the transaction."""
        state = super().apply(project_state, schema_editor, collect_sql)
        while schema_editor.deferred_sql:
            schema_editor.execute(schema_editor.deferred_sql.pop(0), None)
        return state
