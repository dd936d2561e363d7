-- Every guard of the ledger exists, is enabled and is unchanged since its installation: triggers, functions, unique
-- indexes. Nothing was put in their place, and no session is set to bypass them.
SELECT g.name, format('trigger of %s is missing, disabled or another', g.on_table)
  FROM unnest(%(triggers)s::text[], %(trigger_tables)s::text[], %(trigger_functions)s::text[], %(trigger_types)s::int[],
              %(trigger_columns)s::int[]) AS g (name, on_table, function, type, columns)
 WHERE NOT EXISTS (SELECT FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
                    WHERE t.tgname = g.name AND t.tgrelid = to_regclass(g.on_table) AND t.tgenabled IN ('O', 'A')
                      AND t.tgtype = g.type AND t.tgqual IS NULL AND p.proname = g.function
                      AND cardinality(t.tgattr::int2[]) = g.columns)
UNION ALL
SELECT f.name, CASE WHEN p.oid IS NULL THEN 'function is missing' ELSE 'function is another than was installed' END
  FROM unnest(%(functions)s::text[]) AS f (name)
  LEFT JOIN pg_proc p ON p.proname = f.name AND p.pronamespace = current_schema()::regnamespace
 WHERE p.oid IS NULL OR position(p.prosrc IN %(sources)s) = 0
UNION ALL
SELECT i.name, 'unique index is missing or not valid' FROM unnest(%(unique_indexes)s::text[]) AS i (name)
 WHERE NOT EXISTS (SELECT FROM pg_index x WHERE x.indexrelid = to_regclass(i.name) AND x.indisunique AND x.indisvalid
                      AND x.indisready)
UNION ALL
SELECT c.relname, format('rule %s rewrites statements', r.rulename)
  FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
 WHERE c.relkind IN ('r', 'p') AND c.relname LIKE 'billing\_%'
UNION ALL
SELECT coalesce(s.setrole::regrole::text, 'every role'), format('%s is set for it', c.setting)
  FROM pg_db_role_setting s, unnest(s.setconfig) AS c (setting)
 WHERE c.setting LIKE 'session_replication_role=%' AND c.setting <> 'session_replication_role=origin'
   AND s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
UNION ALL
SELECT 'this session', 'session_replication_role is ' || current_setting('session_replication_role')
 WHERE current_setting('session_replication_role') <> 'origin'
