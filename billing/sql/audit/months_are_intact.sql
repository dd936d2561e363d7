-- Each month with its own tables has all of them, with the expected columns, bounds, indexes and triggers. A query of a
-- hot table reads its monthly tables and no others. No row is in two of them.
WITH expected AS MATERIALIZED (
  SELECT t.*, to_regclass(t.name)::oid AS id, to_regclass(t.hot)::oid AS hot_id FROM billing_month_tables() t
), shape AS (
  SELECT a.attrelid AS id, string_agg(format('%s %s %s %s', a.attname, a.atttypid, a.atttypmod, a.attcollation), ', '
                                      ORDER BY a.attnum) AS columns
    FROM pg_attribute a
   WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid IN (SELECT id FROM expected UNION SELECT hot_id FROM expected)
   GROUP BY a.attrelid
)
SELECT e.name, 'table is missing' FROM expected e WHERE e.id IS NULL
UNION ALL
SELECT e.name, format('table does not inherit from %s', e.hot) FROM expected e
 WHERE e.id IS NOT NULL AND NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = e.id AND i.inhparent = e.hot_id)
UNION ALL
SELECT i.inhrelid::regclass::text, format('table inherits from %s and is no month''s', i.inhparent::regclass)
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent AND c.relkind = 'r'
 WHERE c.relname LIKE 'billing\_%' AND NOT EXISTS (SELECT FROM expected e WHERE e.id = i.inhrelid AND e.hot_id = i.inhparent)
UNION ALL
SELECT e.name, 'columns are others than those of ' || e.hot
  FROM expected e JOIN shape s ON s.id = e.id JOIN shape h ON h.id = e.hot_id
 WHERE s.columns <> h.columns
UNION ALL
SELECT e.name, 'bounds are missing, not valid or others' FROM expected e
 WHERE e.id IS NOT NULL AND NOT EXISTS (
   SELECT FROM pg_constraint k
    WHERE k.conrelid = e.id AND k.conname = 'of_the_month' AND k.contype = 'c' AND k.convalidated
      AND regexp_replace(pg_get_constraintdef(k.oid), '^CHECK|::text|::timestamp with time zone|[() ]', '', 'g')
          = replace(e.bounds, ' ', ''))
UNION ALL
SELECT i.name, format('index %s is missing, not valid or another', i.index)
  FROM billing_month_indexes() i JOIN expected e ON e.name = i.name AND e.id IS NOT NULL
 WHERE NOT EXISTS (SELECT FROM pg_index x WHERE x.indrelid = e.id AND x.indisvalid AND x.indisready
                      AND pg_get_indexdef(x.indexrelid) = i.definition)
UNION ALL
SELECT e.name, format('trigger %s is missing, disabled or another', g.name)
  FROM expected e CROSS JOIN billing_month_triggers() g
 WHERE e.id IS NOT NULL
   AND NOT EXISTS (SELECT FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
                    WHERE t.tgrelid = e.id AND t.tgname = g.name AND t.tgenabled IN ('O', 'A') AND t.tgtype = g.type
                      AND t.tgqual IS NULL AND cardinality(t.tgattr::int2[]) = 0 AND p.proname = g.function)
UNION ALL
SELECT e.name, format('trigger %s of another', t.tgname)
  FROM expected e JOIN pg_trigger t ON t.tgrelid = e.id AND NOT t.tgisinternal
 WHERE t.tgname NOT IN (SELECT g.name FROM billing_month_triggers() g)
UNION ALL
SELECT d.subject, d.detail FROM billing_doubled_rows() d
