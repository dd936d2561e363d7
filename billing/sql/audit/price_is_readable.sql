-- Every price and every cost is a map of components to decimal strings of micro-USD, and so are its bands, above ascending
-- numbers of input tokens, and its service tiers.
WITH whole AS (
  SELECT p.price,
         CASE jsonb_typeof(p.components) WHEN 'object' THEN p.components
              ELSE jsonb_build_object('components', p.components) END AS components
    FROM (SELECT v.alias || ' ' || v.id AS price, v.components FROM billing_price_version v
           UNION ALL
          SELECT 'cost of ' || v.deployment || ' ' || v.id, v.components FROM billing_cost_version v) p
), surrounding AS (
  SELECT w.price, '' AS name, w.components - 'service_tiers' AS components FROM whole w
   UNION ALL
  SELECT w.price, tier.key || ' ', CASE jsonb_typeof(tier.value) WHEN 'object' THEN tier.value
                                        ELSE jsonb_build_object('prices', tier.value) END
    FROM whole w
   CROSS JOIN LATERAL jsonb_each(CASE jsonb_typeof(w.components->'service_tiers')
                                   WHEN 'object' THEN w.components->'service_tiers' ELSE '{}' END) tier
), band AS (
  SELECT s.price, s.name || 'band ' || b.number AS name, b.number, b.value,
         CASE jsonb_typeof(b.value->'above_input_tokens') WHEN 'number' THEN (b.value->'above_input_tokens')::numeric END
           AS above
    FROM surrounding s
   CROSS JOIN LATERAL jsonb_array_elements(CASE jsonb_typeof(s.components->'bands')
                                             WHEN 'array' THEN s.components->'bands' ELSE '[]' END)
         WITH ORDINALITY b (value, number)
), priced AS (
  SELECT s.price, s.name, CASE jsonb_typeof(s.components->'bands') WHEN 'array' THEN s.components - 'bands'
                               ELSE s.components END AS components
    FROM surrounding s
   UNION ALL
  SELECT w.price, '', jsonb_build_object('service_tiers', w.components->'service_tiers') FROM whole w
   WHERE jsonb_typeof(w.components->'service_tiers') <> 'object'
   UNION ALL
  SELECT b.price, b.name || ' ', CASE jsonb_typeof(b.value) WHEN 'object' THEN b.value - 'above_input_tokens'
                                      ELSE jsonb_build_object('prices', b.value) END
    FROM band b
)
SELECT p.price, format('%s%s: %s', p.name, c.key, c.value)
  FROM priced p
 CROSS JOIN LATERAL (
   SELECT e.key, e.value FROM jsonb_each(p.components) e WHERE e.key <> 'image' OR jsonb_typeof(e.value) <> 'object'
   UNION ALL
   SELECT 'image ' || i.key, i.value
     FROM jsonb_each(CASE jsonb_typeof(p.components->'image') WHEN 'object' THEN p.components->'image' ELSE '{}' END) i) c
 WHERE c.key IN ('bands', 'service_tiers') OR jsonb_typeof(c.value) <> 'string'
    OR c.value #>> '{}' !~ '^(0|[1-9][0-9]{0,9})(\.[0-9]{1,6})?$'
 UNION ALL
SELECT b.price, format('%s above %s input tokens, the one before above %s', b.name, b.above, b.before)
  FROM (SELECT b.*, lag(b.above) OVER (PARTITION BY b.price, left(b.name, -length(b.number::text)) ORDER BY b.number) AS before
          FROM band b) b
 WHERE b.above IS NULL OR b.above < 1 OR b.above <> trunc(b.above) OR b.above <= b.before
