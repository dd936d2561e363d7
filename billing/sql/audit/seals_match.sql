-- Sealed rows are unchanged, with none missing and none inserted later; and the seals form one chain. Nouns that were
-- not sealed from the beginning are covered by the next seal that names them.
WITH chained AS (
  SELECT s.*, lag(s.chain, 1, ''::bytea) OVER w AS before, lag(s.id, 1, 0::bigint) OVER w AS id_before,
         lag(s.ends_at, 1, '2000-01-01 00:00:00+00') OVER w AS ended_at
    FROM billing_seal s WINDOW w AS (ORDER BY s.id)
), bounds AS MATERIALIZED (
  SELECT array_agg(s.ends_at ORDER BY s.id) AS ends, min(s.begins_at) AS begins_at, max(s.ends_at) AS ends_at,
         min(s.id) AS first_id
    FROM billing_seal s WHERE s.ends_at > %(since)s
), later AS MATERIALIZED (
  SELECT n.noun, array_agg(s.id ORDER BY s.id) AS ids, array_agg(s.ends_at ORDER BY s.id) AS ends,
         billing_noun_sealed_until(n.noun, (SELECT first_id FROM bounds)) AS begins_at
    FROM unnest(billing_later_nouns()) AS n (noun) JOIN billing_seal s ON s.contents ? n.noun GROUP BY n.noun
), sealed AS (
  SELECT x.noun, x.key, x.digest,
         (SELECT first_id FROM bounds) + width_bucket(x.at, (SELECT ends FROM bounds)) AS seal_id
    FROM billing_sealable x
   WHERE x.at >= (SELECT begins_at FROM bounds) AND x.at < (SELECT ends_at FROM bounds)
  UNION ALL
  SELECT x.noun, x.key, x.digest, l.ids[1 + width_bucket(x.at, l.ends)]
    FROM billing_sealable_later x JOIN later l ON l.noun = x.noun AND x.at >= l.begins_at
   WHERE x.at >= (SELECT min(begins_at) FROM later) AND x.at < (SELECT ends_at FROM bounds)
), found AS (
  SELECT x.noun, x.seal_id, count(*) AS rows,
         encode(sha256(string_agg(x.digest, ''::bytea ORDER BY x.key COLLATE "C")), 'hex') AS digest
    FROM sealed x WHERE x.seal_id IS NOT NULL GROUP BY x.noun, x.seal_id
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
