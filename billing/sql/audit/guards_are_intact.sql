-- Every guard of the ledger exists, is enabled and is unchanged since its installation: triggers, functions, unique
-- indexes, checks. Nothing was put in their place or added, and no session or function is set to bypass them.
WITH installed AS MATERIALIZED (
  SELECT * FROM unnest(%(functions)s::text[], %(function_bodies)s::text[], %(function_languages)s::text[],
                       %(function_settings)s::text[]) AS f (name, body, language, settings)
), guard AS MATERIALIZED (
  SELECT * FROM unnest(%(triggers)s::text[], %(trigger_tables)s::text[], %(trigger_functions)s::text[],
                       %(trigger_types)s::int[], %(trigger_columns)s::text[]) AS g (name, on_table, function, type, columns)
), found AS MATERIALIZED (
  SELECT p.oid, p.proname AS name,
         bool_or(f.body = p.prosrc AND f.language = l.lanname AND NOT p.prosecdef
                 AND f.settings = coalesce(array_to_string(p.proconfig, '; '), '')) AS is_installed
    FROM installed f JOIN pg_proc p ON p.proname = f.name JOIN pg_language l ON l.oid = p.prolang
   WHERE p.pronamespace = current_schema()::regnamespace
   GROUP BY p.oid, p.proname
), ours AS MATERIALIZED (
  SELECT c.oid, c.relname, c.relrowsecurity FROM pg_class c
   WHERE c.relkind IN ('r', 'p') AND c.relname LIKE 'billing\_%' AND c.relnamespace = current_schema()::regnamespace
)
SELECT g.name, format('trigger of %s is missing, disabled or another', g.on_table)
  FROM guard g
 WHERE NOT EXISTS (SELECT FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
                    WHERE t.tgname = g.name AND t.tgrelid = to_regclass(g.on_table) AND t.tgenabled IN ('O', 'A')
                      AND NOT t.tgisinternal AND t.tgtype = g.type AND t.tgqual IS NULL AND p.proname = g.function
                      AND coalesce((SELECT string_agg(a.attname, ',' ORDER BY a.attname COLLATE "C") FROM pg_attribute a
                                     WHERE a.attrelid = t.tgrelid AND a.attnum = ANY (t.tgattr)), '') = g.columns)
UNION ALL
SELECT t.tgname, format('trigger of %s was not installed', t.tgrelid::regclass)
  FROM pg_trigger t JOIN ours o ON o.oid = t.tgrelid
 WHERE NOT t.tgisinternal
   AND NOT EXISTS (SELECT FROM guard g WHERE g.name = t.tgname AND g.on_table = o.relname)
   AND o.relname NOT IN (SELECT name FROM billing_month_tables())  -- whose triggers months_are_intact checks
UNION ALL
SELECT f.name, 'function is missing' FROM installed f WHERE f.name NOT IN (SELECT name FROM found)
UNION ALL
SELECT f.name, 'function is another than was installed' FROM found f WHERE NOT f.is_installed
UNION ALL
SELECT i.name, 'unique index is missing, not valid or another'
  FROM unnest(%(unique_indexes)s::text[], %(unique_tables)s::text[], %(unique_columns)s::text[],
              %(unique_conditions)s::text[], %(unique_with_nulls)s::bool[]) AS i (name, on_table, columns, condition, with_nulls)
 WHERE NOT EXISTS (SELECT FROM pg_index x WHERE x.indexrelid = to_regclass(i.name) AND x.indrelid = to_regclass(i.on_table)
                      AND x.indrelid IN (SELECT oid FROM ours)
                      AND x.indisunique AND x.indisvalid AND x.indisready AND x.indnullsnotdistinct = i.with_nulls
                      AND coalesce(regexp_replace(pg_get_expr(x.indpred, x.indrelid), '::text|[() "]', '', 'g'), '') = i.condition
                      AND (SELECT string_agg(coalesce(a.attname, '?'), ',' ORDER BY k.place)
                             FROM unnest(x.indkey::int2[]) WITH ORDINALITY AS k (number, place)
                             LEFT JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.number) = i.columns)
UNION ALL
SELECT c.name, 'check is missing or not valid' FROM unnest(%(checks)s::text[]) AS c (name)
 WHERE NOT EXISTS (SELECT FROM pg_constraint k JOIN ours o ON o.oid = k.conrelid
                    WHERE k.conname = c.name AND k.contype = 'c' AND k.convalidated)
UNION ALL
SELECT o.relname, 'rows are hidden by row security' FROM ours o WHERE o.relrowsecurity
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
