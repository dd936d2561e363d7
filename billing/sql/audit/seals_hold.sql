-- What was sealed still says what it said, row by row, with none missing and none slipped in; and the seals make one
-- chain. What was not sealed from the beginning is covered by the first seal that names it, from its own beginning on.
WITH chained AS (
  SELECT s.*, lag(s.chain, 1, ''::bytea) OVER w AS before, lag(s.id, 1, 0::bigint) OVER w AS id_before,
         lag(s.ends_at, 1, '2000-01-01 00:00:00+00') OVER w AS ended_at
    FROM billing_seal s WINDOW w AS (ORDER BY s.id)
), bounds AS MATERIALIZED (
  SELECT array_agg(s.ends_at ORDER BY s.id) AS ends, min(s.begins_at) AS begins_at, max(s.ends_at) AS ends_at,
         min(s.id) AS first_id
    FROM billing_seal s WHERE s.ends_at > %(since)s
), introduced AS MATERIALIZED (
  SELECT later.noun, (SELECT min(s.id) FROM billing_seal s WHERE s.contents ? later.noun) AS seal_id
    FROM unnest(billing_later_nouns()) AS later (noun)
), sealed AS (
  SELECT x.noun, x.key, x.digest,
         greatest((SELECT first_id FROM bounds) + width_bucket(x.at, (SELECT ends FROM bounds)), n.seal_id) AS seal_id
    FROM billing_sealable x LEFT JOIN introduced n ON n.noun = x.noun
   WHERE x.at >= (SELECT begins_at FROM bounds) AND x.at < (SELECT ends_at FROM bounds)
     AND (n.noun IS NULL OR n.seal_id IS NOT NULL)
  UNION ALL
  SELECT x.noun, x.key, x.digest, n.seal_id FROM billing_sealable_invoices x JOIN introduced n ON n.noun = x.noun
   WHERE x.at < (SELECT begins_at FROM bounds) AND n.seal_id >= (SELECT first_id FROM bounds)
), found AS (
  SELECT x.noun, x.seal_id, count(*) AS rows,
         encode(sha256(string_agg(x.digest, ''::bytea ORDER BY x.key COLLATE "C")), 'hex') AS digest
    FROM sealed x GROUP BY x.noun, x.seal_id
)
SELECT 'seal ' || c.id, 'the chain is broken' FROM chained c
 WHERE c.chain IS DISTINCT FROM billing_seal_chain(c.before, c.id, c.begins_at, c.ends_at, c.contents)
    OR c.id <> c.id_before + 1 OR c.begins_at <> c.ended_at OR c.ends_at <= c.begins_at
UNION ALL
SELECT 'seal ' || coalesce(s.id, f.seal_id),
       format('%s from %s to %s: %s rows were sealed, now there are %s%s', coalesce(s.noun, f.noun), s.begins_at, s.ends_at,
              coalesce((s.said->>'rows')::bigint, 0), coalesce(f.rows, 0),
              CASE WHEN (s.said->>'rows')::bigint = f.rows THEN ' and not the same' ELSE '' END)
  FROM (SELECT b.id, b.begins_at, b.ends_at, c.key AS noun, c.value AS said
          FROM billing_seal b, jsonb_each(b.contents) c WHERE b.ends_at > %(since)s) s
  FULL JOIN found f ON f.seal_id = s.id AND f.noun = s.noun
 WHERE coalesce((s.said->>'rows')::bigint, 0) <> coalesce(f.rows, 0) OR s.said->>'digest' IS DISTINCT FROM f.digest
