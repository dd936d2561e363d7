"""What a database is made of, apart from its rows: functions, views, triggers, tables with their settings, indexes."""

from typing import Any, Protocol

PARTS = {
    "functions": """
        SELECT p.oid::regprocedure::text, pg_get_functiondef(p.oid) FROM pg_proc p
         WHERE p.pronamespace = 'public'::regnamespace""",
    "triggers": """
        SELECT t.tgrelid::regclass || ' ' || t.tgname, pg_get_triggerdef(t.oid) || ' ' || t.tgenabled::text
          FROM pg_trigger t WHERE NOT t.tgisinternal""",
    "views": """
        SELECT v.viewname, v.definition FROM pg_views v WHERE v.schemaname = 'public'""",
    "tables": """
        SELECT c.relname, concat_ws(' ', c.relpersistence, c.reloptions::text) FROM pg_class c
         WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'""",
    "columns": """
        SELECT c.relname || '.' || a.attname,
               concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attcollation::regcollation, a.attnotnull,
                         a.attstorage, a.attidentity, pg_get_expr(d.adbin, d.adrelid))
          FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
          LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
         WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped""",
    # Lists of words, here and in a CHECK, are not compared: PostgreSQL writes them in another way once they were dumped.
    "indexes": """
        SELECT x.indexname, split_part(x.indexdef, ' = ANY ', 1) FROM pg_indexes x WHERE x.schemaname = 'public'""",
    "constraints": """
        SELECT k.conrelid::regclass || ' ' || k.conname, CASE k.contype WHEN 'c' THEN '' ELSE pg_get_constraintdef(k.oid) END
          FROM pg_constraint k WHERE k.connamespace = 'public'::regnamespace AND k.contype <> 'n'""",
}

Schema = dict[str, dict[str, str]]


class Cursor(Protocol):
    """Django's cursors and psycopg's."""

    def execute(self, query: Any) -> Any:
        """Run a statement."""

    def fetchall(self) -> list[Any]:
        """Return its rows."""


def schema(cursor: Cursor, *parts: str) -> Schema:
    """Return the definitions of these parts, or of all, by part and name."""
    return {part: _read(cursor, PARTS[part]) for part in parts or PARTS}


def _read(cursor: Cursor, query: str) -> dict[str, str]:
    cursor.execute(query)
    return dict(cursor.fetchall())
