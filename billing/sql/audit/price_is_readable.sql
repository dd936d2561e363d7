-- Every price is a map of components to decimal strings of micro-USD.
SELECT p.alias || ' ' || p.id, format('%s: %s', c.key, c.value)
  FROM billing_price_version p
 CROSS JOIN LATERAL (SELECT CASE jsonb_typeof(p.components) WHEN 'object' THEN p.components
                                 ELSE jsonb_build_object('components', p.components) END AS components) m
 CROSS JOIN LATERAL (
   SELECT e.key, e.value FROM jsonb_each(m.components) e WHERE e.key <> 'image' OR jsonb_typeof(e.value) <> 'object'
   UNION ALL
   SELECT 'image ' || i.key, i.value
     FROM jsonb_each(CASE jsonb_typeof(m.components->'image') WHEN 'object' THEN m.components->'image' ELSE '{}' END) i) c
 WHERE jsonb_typeof(c.value) <> 'string' OR c.value #>> '{}' !~ '^(0|[1-9][0-9]{0,9})(\.[0-9]{1,6})?$'
