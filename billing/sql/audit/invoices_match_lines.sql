-- An invoice is the sum of its lines, each of them price times seat-days by the days of its month, rounded half up once;
-- the amount due is its whole cents, or nothing below the minimum charge. A draft is not owed.
SELECT i.id, f.faults
  FROM billing_invoice i
 CROSS JOIN LATERAL (SELECT extract(day FROM (i.period_end - interval '1 day') AT TIME ZONE 'UTC')::numeric AS days) d
  LEFT JOIN LATERAL (
    SELECT sum(l.amount_microusd) AS total, count(*) AS lines,
           string_agg(l.product, ', ') FILTER (WHERE l.amount_microusd
             <> floor((2 * l.price_microusd::numeric * l.seat_days + d.days) / (2 * d.days))) AS wrong
      FROM billing_invoice_line l WHERE l.invoice_id = i.id) l ON true
 CROSS JOIN LATERAL (
   SELECT concat_ws('; ',
     CASE WHEN i.total_microusd <> coalesce(l.total, 0)
          THEN format('total %s, lines %s', i.total_microusd, coalesce(l.total, 0)) END,
     CASE WHEN l.wrong IS NOT NULL THEN format('not price times seat-days: %s', l.wrong) END,
     CASE WHEN i.due_microusd <> CASE WHEN i.total_microusd >= 500000 THEN i.total_microusd - i.total_microusd % 10000
                                      ELSE 0 END
          THEN format('total %s, due %s', i.total_microusd, i.due_microusd) END,
     CASE WHEN i.period_start <> date_trunc('month', i.period_start, 'UTC')
               OR i.period_end AT TIME ZONE 'UTC' <> i.period_start AT TIME ZONE 'UTC' + interval '1 month'
          THEN format('from %s to %s', i.period_start, i.period_end) END
   ) AS faults) f
 WHERE f.faults <> ''
