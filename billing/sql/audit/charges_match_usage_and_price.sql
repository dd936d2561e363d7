-- A closed call was charged what its usage costs at its price, at most its hold; its row, its usage record and its
-- charge to the balance agree, with the same wallet and instant. An open call has no impossible values.
--
-- Costs are whole pico-USD (billing/rules/prices.py), summed exactly and rounded up once. An image's size and quality
-- are not stored, so any price of its kind is accepted. An operator's decision, or an upstream's record without
-- quantities, is within the hold and follows a review. A call that another model took over is priced at that model's
-- price.
--
-- A known cost at the upstream is what the usage costs at its version, that of the call's deployment, without a bound.
--
-- A version has prices for each service tier and band. What a tier or band does not name has the price that surrounds it.
WITH variant AS MATERIALIZED (
  SELECT p.kind, p.id, p.alias, p.effective_at, t.service_tier, b.price_band, t.prices || b.prices AS components,
         lead(b.price_band) OVER (PARTITION BY p.kind, p.id, t.service_tier ORDER BY b.price_band NULLS FIRST) AS next_band,
         ARRAY(SELECT jsonb_object_keys(CASE jsonb_typeof(p.components->'service_tiers')
                                          WHEN 'object' THEN p.components->'service_tiers' ELSE '{}' END)) AS tiers
    FROM (SELECT v.kind, v.id, v.alias, v.effective_at,
                 CASE jsonb_typeof(v.components) WHEN 'object' THEN v.components ELSE '{}' END AS components
            FROM (SELECT 'price' AS kind, id, alias, effective_at, components FROM billing_price_version
                   UNION ALL
                  SELECT 'cost', id, deployment, effective_at, components FROM billing_cost_version) v) p
   CROSS JOIN LATERAL (
     SELECT NULL AS service_tier, p.components AS prices, p.components->'bands' AS bands
      UNION ALL
     SELECT tier.key, p.components || tier.value, tier.value->'bands'
       FROM jsonb_each(CASE jsonb_typeof(p.components->'service_tiers')
                         WHEN 'object' THEN p.components->'service_tiers' ELSE '{}' END) tier
      WHERE jsonb_typeof(tier.value) = 'object') t
   CROSS JOIN LATERAL (
     SELECT NULL::bigint AS price_band, '{}'::jsonb AS prices
      UNION ALL
     SELECT (band->'above_input_tokens')::bigint, band
       FROM jsonb_array_elements(CASE jsonb_typeof(t.bands) WHEN 'array' THEN t.bands ELSE '[]' END) band
      WHERE jsonb_typeof(band) = 'object' AND jsonb_typeof(band->'above_input_tokens') = 'number') b
), price AS MATERIALIZED (
  SELECT p.kind, p.id, p.alias, p.effective_at, p.service_tier, p.tiers, p.price_band, p.next_band, n.request,
         coalesce(n.input_token, 0) AS input_token, coalesce(n.cached, n.input_token, 0) AS cached,
         coalesce(n.written, n.input_token, 0) AS written,
         coalesce(n.written_1h, n.written, n.input_token, 0) AS written_1h,
         coalesce(n.audio_in, n.input_token, 0) AS audio_in, coalesce(n.output_token, 0) AS output_token,
         coalesce(n.audio_out, n.output_token, 0) AS audio_out, n.input_character, n.audio_second, n.input_kilobyte,
         n.input_item,
         CASE jsonb_typeof(p.components->'image')
           WHEN 'object' THEN ARRAY(SELECT pico.amount FROM jsonb_each_text(p.components->'image') kind,
             LATERAL (SELECT CASE WHEN kind.value ~ '^[0-9]{1,10}(\.[0-9]{1,6})?$' THEN kind.value::numeric * 1000000 END
                        AS amount) pico)
           ELSE ARRAY[coalesce(n.image, 0)] END AS images
    FROM variant p
   CROSS JOIN LATERAL (
     SELECT max(c.amount) FILTER (WHERE c.key = 'input_token') AS input_token,
            max(c.amount) FILTER (WHERE c.key = 'cached_input_token') AS cached,
            max(c.amount) FILTER (WHERE c.key = 'cache_write_token') AS written,
            max(c.amount) FILTER (WHERE c.key = 'cache_write_1h_token') AS written_1h,
            max(c.amount) FILTER (WHERE c.key = 'output_token') AS output_token,
            max(c.amount) FILTER (WHERE c.key = 'input_audio_token') AS audio_in,
            max(c.amount) FILTER (WHERE c.key = 'output_audio_token') AS audio_out,
            max(c.amount) FILTER (WHERE c.key = 'image') AS image,
            coalesce(max(c.amount) FILTER (WHERE c.key = 'input_character'), 0) AS input_character,
            coalesce(max(c.amount) FILTER (WHERE c.key = 'audio_second'), 0) AS audio_second,
            coalesce(max(c.amount) FILTER (WHERE c.key = 'input_kilobyte'), 0) AS input_kilobyte,
            coalesce(max(c.amount) FILTER (WHERE c.key = 'input_item'), 0) AS input_item,
            coalesce(max(c.amount) FILTER (WHERE c.key = 'request'), 0) AS request
       FROM (SELECT e.key, CASE WHEN e.value ~ '^[0-9]{1,10}(\.[0-9]{1,6})?$' THEN e.value::numeric * 1000000 END AS amount
               FROM jsonb_each_text(p.components) e) c) n
), call AS (
  SELECT r.* FROM billing_reservation r
   WHERE (r.closed_at IS NULL OR r.closed_at >= %(since)s)
     AND r.id >= %(first)s AND (r.id < %(last)s OR %(last)s::text IS NULL)
), usage AS (
  SELECT u.*, coalesce(u.cached_input_tokens, 0) AS cached, coalesce(u.input_audio_tokens, 0) AS audio_in,
         coalesce(u.output_audio_tokens, 0) AS audio_out, coalesce(u.cache_write_tokens, 0) AS written,
         coalesce(u.cache_write_1h_tokens, 0) AS written_1h,
         num_nonnulls(u.input_tokens, u.output_tokens, u.images, u.input_characters, u.seconds, u.input_bytes, u.items) > 0
           AS is_metered
    FROM billing_usage_record u
   WHERE u.settled_at >= %(since)s AND u.reservation_id >= %(first)s AND (u.reservation_id < %(last)s OR %(last)s::text IS NULL)
), cash AS (
  SELECT t.source, t.amount_microusd, t.wallet_id, t.debit_account, t.credit_account, t.created_at
    FROM billing_transfer t
   WHERE t.kind = 'charge' AND t.seq = 0 AND t.created_at >= %(since)s
     AND t.source >= %(first)s AND (t.source < %(last)s OR %(last)s::text IS NULL)
)
SELECT coalesce(r.id, u.reservation_id, t.source), f.faults
  FROM call r
  FULL JOIN usage u ON u.reservation_id = r.id
  FULL JOIN cash t ON t.source = r.id
  LEFT JOIN billing_wallet w ON w.id = r.wallet_id
  LEFT JOIN billing_takeover o ON o.reservation_id = r.id
  LEFT JOIN price p ON p.kind = 'price' AND p.id = coalesce(o.price_version_id, r.price_version_id)
       AND p.service_tier IS NOT DISTINCT FROM u.service_tier AND p.price_band IS NOT DISTINCT FROM u.price_band
  LEFT JOIN price k ON k.kind = 'cost' AND k.id = u.cost_version_id
       AND (k.service_tier = u.service_tier
            OR k.service_tier IS NULL AND (u.service_tier IS NULL OR u.service_tier <> ALL (k.tiers)))
       AND (coalesce(u.input_tokens, 0) > k.price_band OR k.price_band IS NULL)
       AND (coalesce(u.input_tokens, 0) <= k.next_band OR k.next_band IS NULL)
 CROSS JOIN LATERAL (
   SELECT (coalesce(u.input_tokens, 0) - u.cached - u.written - u.audio_in) * p.input_token + u.cached * p.cached
          + (u.written - u.written_1h) * p.written + u.written_1h * p.written_1h
          + u.audio_in * p.audio_in + (coalesce(u.output_tokens, 0) - u.audio_out) * p.output_token
          + u.audio_out * p.audio_out + coalesce(u.input_characters, 0) * p.input_character
          + coalesce(u.seconds, 0) * p.audio_second + (coalesce(u.input_bytes, 0) + 999) / 1000 * p.input_kilobyte
          + coalesce(u.items, 0) * p.input_item + p.request AS pico,
          (coalesce(u.input_tokens, 0) - u.cached - u.written - u.audio_in) * k.input_token + u.cached * k.cached
          + (u.written - u.written_1h) * k.written + u.written_1h * k.written_1h
          + u.audio_in * k.audio_in + (coalesce(u.output_tokens, 0) - u.audio_out) * k.output_token
          + u.audio_out * k.audio_out + coalesce(u.input_characters, 0) * k.input_character
          + coalesce(u.seconds, 0) * k.audio_second + (coalesce(u.input_bytes, 0) + 999) / 1000 * k.input_kilobyte
          + coalesce(u.items, 0) * k.input_item + k.request AS upstream_pico,
          u.basis = 'operator' OR r.resolution = 'upstream' AND NOT u.is_metered AS is_decided,
          CASE WHEN r.lot_amounts_microusd IS NULL THEN 0
               ELSE (SELECT sum(part) FROM unnest(r.lot_amounts_microusd) part) END AS credits,
          CASE u.basis WHEN 'upstream' THEN 10::numeric ^ 18 ELSE r.hold_microusd END AS most) c
 CROSS JOIN LATERAL (
   SELECT concat_ws('; ',
     CASE WHEN r.id IS NULL THEN format('usage record %s, charge to the balance %s, without a call', u.charge_microusd,
                                        t.amount_microusd) END,
     CASE WHEN w.id IS NULL AND r.id IS NOT NULL THEN 'no such wallet' END,
     CASE WHEN p.id IS NULL AND r.id IS NOT NULL
          THEN concat('no such price', ' of tier ' || u.service_tier, ' above ' || u.price_band || ' tokens') END,
     CASE WHEN coalesce(u.input_tokens, 0) <= u.price_band OR u.input_tokens > p.next_band
          THEN format('%s input tokens at the price above %s', u.input_tokens, coalesce(u.price_band, 0)) END,
     CASE WHEN p.alias <> coalesce(o.model, r.model)
          THEN format('model %s at the price of %s', coalesce(o.model, r.model), p.alias) END,
     CASE WHEN r.org_id IS DISTINCT FROM CASE WHEN w.owner_kind = 'organization' THEN w.owner_key END AND w.id IS NOT NULL
          THEN format('of organization %s, wallet of %s', r.org_id, w.owner_key) END,
     CASE WHEN r.closed_at IS NULL AND (r.state = 'review') <> (r.review_reason IS NOT NULL)
          THEN format('state %s, review for %s', r.state, r.review_reason) END,
     CASE WHEN r.closed_at IS NULL AND NOT CASE jsonb_typeof(r.evidence->'charge_microusd')
            WHEN 'number' THEN (r.evidence->>'charge_microusd')::numeric BETWEEN 0 AND r.hold_microusd
            WHEN 'null' THEN true
            ELSE r.evidence->'charge_microusd' IS NULL END
          THEN format('evidence of a charge of %s, hold %s', r.evidence->>'charge_microusd', r.hold_microusd) END,
     CASE WHEN r.hold_microusd > r.max_cost_microusd
          THEN format('hold %s, maximum %s', r.hold_microusd, r.max_cost_microusd) END,
     CASE WHEN r.hold_microusd <> r.cash_held_microusd + c.credits OR r.cash_held_microusd < 0
          THEN format('hold %s, cash %s, credits %s', r.hold_microusd, r.cash_held_microusd, c.credits) END,
     CASE WHEN NOT (CASE WHEN r.state IN ('settled', 'released') THEN r.closed_at IS NOT NULL
                         ELSE r.state IN ('dispatched', 'review') AND r.closed_at IS NULL END)
          THEN format('state %s, closed at %s', r.state, r.closed_at) END,
     CASE WHEN (r.state = 'settled') <> (u.reservation_id IS NOT NULL) OR r.charge_microusd IS DISTINCT FROM u.charge_microusd
          THEN format('state %s, charge %s, usage record %s', r.state, r.charge_microusd, u.charge_microusd) END,
     CASE WHEN r.charge_microusd > r.hold_microusd OR r.charge_microusd < 0
          THEN format('charge %s, hold %s', r.charge_microusd, r.hold_microusd) END,
     CASE WHEN r.id IS NOT NULL AND t.amount_microusd IS DISTINCT FROM
               nullif(greatest(coalesce(r.charge_microusd, 0) - c.credits, 0), 0)
          THEN format('charge %s, credits held %s, from the balance %s', r.charge_microusd, c.credits,
                      coalesce(t.amount_microusd, 0)) END,
     CASE WHEN t.wallet_id <> r.wallet_id OR t.debit_account <> 'wallet:' || r.wallet_id
               OR t.credit_account <> 'platform:revenue'
          THEN format('wallet %s, charged from %s (%s) to %s', r.wallet_id, t.debit_account, t.wallet_id,
                      t.credit_account) END,
     CASE WHEN t.created_at <> r.closed_at OR u.settled_at <> r.closed_at
          THEN format('closed at %s, usage at %s, charge at %s', r.closed_at, u.settled_at, t.created_at) END,
     CASE WHEN u.cached + u.written + u.audio_in > coalesce(u.input_tokens, 0) OR u.written_1h > u.written
               OR u.audio_out > coalesce(u.output_tokens, 0)
               OR least(u.input_tokens, u.cached, u.written, u.written_1h, u.audio_in, u.output_tokens, u.audio_out, u.images,
                        u.input_characters, u.seconds, u.input_bytes, u.items) < 0
          THEN 'quantities that cannot be' END,
     CASE WHEN u.basis NOT IN ('upstream', 'delivered', 'operator') THEN format('basis %s', u.basis) END,
     CASE WHEN c.is_decided
          THEN CASE WHEN r.review_reason IS NULL OR r.resolution IS NULL OR u.basis = 'operator' AND u.is_metered
                    THEN format('charged %s by the %s without a review', r.charge_microusd, u.basis) END
          WHEN r.state <> 'settled' OR u.reservation_id IS NULL THEN NULL
          WHEN r.overrun_microusd > 0 AND r.charge_microusd <> r.hold_microusd
               OR CASE WHEN coalesce(u.images, 0) = 0
                       THEN least(ceil(c.pico / 1000000), c.most) <> r.charge_microusd + r.overrun_microusd
                       ELSE NOT EXISTS (
                         SELECT FROM unnest(p.images) image
                          WHERE least(ceil((c.pico + u.images * image) / 1000000), c.most)
                                = r.charge_microusd + r.overrun_microusd) END
          THEN format('charge %s and overrun %s of hold %s, cost by usage and price %s', r.charge_microusd,
                      r.overrun_microusd, r.hold_microusd,
                      ceil((c.pico + coalesce(u.images, 0) * p.images[1]) / 1000000)) END,
     CASE WHEN (u.cost_microusd IS NULL) <> (u.cost_version_id IS NULL) OR u.cost_version_id IS NOT NULL AND k.id IS NULL
          THEN format('cost %s at version %s, which is not there', u.cost_microusd, u.cost_version_id) END,
     CASE WHEN k.alias IS DISTINCT FROM r.deployment AND k.id IS NOT NULL
          THEN format('deployment %s at the cost of %s', r.deployment, k.alias) END,
     CASE WHEN k.effective_at > r.closed_at + interval '1 minute'
          THEN format('closed at %s, at a cost from %s on', r.closed_at, k.effective_at) END,
     CASE WHEN k.id IS NOT NULL AND NOT EXISTS (
            SELECT FROM unnest(CASE WHEN coalesce(u.images, 0) = 0 THEN ARRAY[0] ELSE k.images END) image
             WHERE least(ceil((c.upstream_pico + coalesce(u.images, 0) * image) / 1000000), 10::numeric ^ 18)
                   = u.cost_microusd)
          THEN format('cost %s, by usage and version %s', u.cost_microusd,
                      ceil((c.upstream_pico + coalesce(u.images, 0) * k.images[1]) / 1000000)) END,
     CASE WHEN r.state <> 'settled' AND r.overrun_microusd <> 0 THEN format('overrun %s', r.overrun_microusd) END,
     CASE WHEN r.replayable AND (r.idempotency_key IS NULL OR r.request_digest IS NULL OR r.state = 'released')
          THEN 'idempotency key taken by nobody' END) AS faults) f
 WHERE f.faults <> ''
