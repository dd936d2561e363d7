-- Hashes of the final columns of the ledger's closed rows, so that deleted, changed or inserted rows are detected.

-- billing_sealable (noun text, at timestamptz, key text, digest bytea)
--
-- One row for each closed row of money: its noun, when it became final, its key, and the SHA-256 of the columns that
-- never change again. A call is sealed together with its usage record; the columns that were added later do not change the
-- digest of calls and records without them. Columns that may still change are not included:
-- a balance, what remains of a credit, whether an idempotency key is taken, refunds of a checkout.
CREATE OR REPLACE VIEW billing_sealable AS
SELECT 'call' AS noun, r.closed_at AS at, r.id AS key,
       sha256(record_send(ROW(
         r.id, r.wallet_id, r.actor_did, r.org_id, r.membership_id, r.product, r.client_id, r.route, r.model, r.deployment,
         r.request_id, r.idempotency_key, r.request_digest, r.state, r.max_cost_microusd, r.hold_microusd,
         r.cash_held_microusd, r.lot_ids, r.lot_amounts_microusd, r.charge_microusd, r.overrun_microusd,
         r.price_version_id, r.created_at, r.dispatched_at, r.deadline_at, r.closed_at, r.review_reason, r.resolution,
         r.evidence, u.input_tokens, u.cached_input_tokens, u.output_tokens, u.input_audio_tokens, u.output_audio_tokens,
         u.images, u.input_characters, u.seconds, u.input_bytes, u.items, u.charge_microusd, u.basis,
         u.settled_at))
         || CASE WHEN num_nonnulls(u.cache_write_tokens, u.cache_write_1h_tokens, u.service_tier, u.price_band) > 0
                 THEN record_send(ROW(u.cache_write_tokens, u.cache_write_1h_tokens, u.service_tier, u.price_band))
                 ELSE '' END
         || coalesce(r.body_sha256, ''::bytea)
         || CASE WHEN u.cost_version_id IS NULL THEN ''
                 ELSE record_send(ROW(u.cost_microusd, u.cost_version_id)) END) AS digest
  FROM billing_reservation r LEFT JOIN billing_usage_record u ON u.reservation_id = r.id
 WHERE r.closed_at IS NOT NULL
UNION ALL
SELECT 'transfer', t.created_at, t.id::text,
       sha256(record_send(ROW(t.id, t.kind, t.source, t.seq, t.debit_account, t.credit_account, t.amount_microusd,
                              t.wallet_id, t.created_at)))
  FROM billing_transfer t
UNION ALL
SELECT 'loss', l.created_at, l.id::text,
       sha256(record_send(ROW(l.id, l.reservation_id, l.kind, l.amount_microusd, l.created_at)))
  FROM billing_loss l
UNION ALL
SELECT 'takeover', o.created_at, o.reservation_id,
       sha256(record_send(ROW(o.reservation_id, o.model, o.price_version_id, o.created_at)))
  FROM billing_takeover o
UNION ALL
SELECT 'credit', c.created_at, c.id,
       sha256(record_send(ROW(c.id, c.wallet_id, c.product, c.granted_microusd, c.expires_at, c.source_kind,
                              c.source_key, c.created_at)))
  FROM billing_credit_lot c
UNION ALL
SELECT 'price', p.effective_at, p.id::text, sha256(record_send(ROW(p.id, p.alias, p.components, p.effective_at)))
  FROM billing_price_version p
UNION ALL
SELECT 'wallet', w.created_at, w.id, sha256(record_send(ROW(w.id, w.owner_kind, w.owner_key, w.created_at)))
  FROM billing_wallet w
UNION ALL
SELECT 'checkout', k.paid_at, k.id,
       sha256(record_send(ROW(k.id, k.owner_kind, k.owner_key, k.product, k.amount_microusd, k.requested_by, k.provider,
                              k.is_live, k.session_ref, k.payment_ref, k.created_at, k.paid_at)))
  FROM billing_checkout k WHERE k.paid_at IS NOT NULL;


-- billing_later_nouns() RETURNS text[]
--
-- The nouns that were not sealed from the beginning. A seal names each of them, even with no rows, and covers its rows since
-- the last seal that names it. So seals of an earlier version stay unchanged, and the next one covers what they lack.
CREATE OR REPLACE FUNCTION billing_later_nouns() RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ARRAY['invoice', 'invoice outcome', 'invoice payment', 'credit note', 'provider movement', 'matched day',
               'payment difference', 'difference closing']
$$;


-- billing_noun_sealed_until(p_noun text, p_before bigint DEFAULT NULL) RETURNS timestamptz
--
-- The time until which a later noun is sealed, by the seals before p_before if given; '-infinity' if none names it. The
-- newest seal names it, unless an earlier version made that seal.
CREATE OR REPLACE FUNCTION billing_noun_sealed_until(p_noun text, p_before bigint DEFAULT NULL) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce((SELECT s.ends_at FROM billing_seal s
                    WHERE s.contents ? p_noun AND (p_before IS NULL OR s.id < p_before) ORDER BY s.id DESC LIMIT 1), '-infinity')
$$;


-- billing_sealable_invoices (noun text, at timestamptz, key text, digest bytea)
--
-- Invoices, as in billing_sealable above. An invoice is sealed with its lines when it is issued, and again when it is
-- paid or void; a payment when its outcome is known. The flag of refunds was added later, and does not change the
-- digest of other credit notes. Rows are dated by the database's clock at that moment. Rows that were final before the
-- database recorded it have no such date, and are all covered by the first seal that names them.
CREATE OR REPLACE VIEW billing_sealable_invoices AS
SELECT 'invoice' AS noun, coalesce(i.issue_recorded_at, i.issued_at) AS at, i.id AS key,
       sha256(record_send(ROW(
         i.id, i.org_id, i.serial, i.period_start, i.period_end, i.total_microusd, i.due_microusd, i.created_at, i.issued_at,
         (SELECT string_agg(record_send(ROW(l.id, l.product, l.price_microusd, l.seat_days, l.amount_microusd)), ''::bytea
                            ORDER BY l.id)
            FROM billing_invoice_line l WHERE l.invoice_id = i.id)))) AS digest
  FROM billing_invoice i WHERE i.serial IS NOT NULL
UNION ALL
SELECT 'invoice outcome', coalesce(i.end_recorded_at, i.paid_at, i.voided_at), i.id,
       sha256(record_send(ROW(i.id, i.status, i.paid_at, i.voided_at, i.void_reason)))
  FROM billing_invoice i WHERE i.serial IS NOT NULL AND i.status IN ('paid', 'void')
UNION ALL
SELECT 'invoice payment', coalesce(p.end_recorded_at, p.checked_at, p.created_at), p.id,
       sha256(record_send(ROW(p.id, p.invoice_id, p.amount_microusd, p.provider, p.is_live, p.customer_ref, p.method_ref,
                              p.requested_by, p.payment_ref, p.status, p.failure_code, p.failure_reason, p.created_at)))
  FROM billing_invoice_payment p WHERE p.status IN ('succeeded', 'failed')
UNION ALL
SELECT 'credit note', n.created_at, n.id,
       sha256(record_send(ROW(n.id, n.invoice_id, n.serial, n.amount_microusd, n.reason, n.created_by, n.created_at))
              || CASE WHEN n.is_refund THEN 'refund'::bytea ELSE '' END)
  FROM billing_credit_note n;


-- billing_sealable_matches (noun text, at timestamptz, key text, digest bytea)
--
-- What the match with the provider's balance read, found and closed, likewise: dated by the database's clock, and older
-- rows by their own dates.
CREATE OR REPLACE VIEW billing_sealable_matches AS
SELECT 'provider movement' AS noun, coalesce(m.recorded_at, m.moved_at) AS at, m.id::text AS key,
       sha256(record_send(ROW(m.id, m.provider, m.is_live, m.ref, m.transaction_id, m.payment_ref, m.is_payment,
                              m.amount_microusd, m.currency, m.moved_at))) AS digest
  FROM billing_provider_movement m
UNION ALL
SELECT 'matched day', coalesce(d.recorded_at, d.matched_at), d.id::text,
       sha256(record_send(ROW(d.id, d.provider, d.is_live, d.day, d.reading, d.movements, d.read_at, d.matched_at)))
  FROM billing_matched_day d WHERE d.matched_at IS NOT NULL
UNION ALL
SELECT 'payment difference', coalesce(f.recorded_at, f.found_at), f.id::text,
       sha256(record_send(ROW(f.id, f.provider, f.is_live, f.transaction_id, f.payment_ref, f.kind, f.their_paid_microusd,
                              f.their_kept_microusd, f.our_paid_microusd, f.our_kept_microusd, f.found_at)))
  FROM billing_payment_difference f
UNION ALL
SELECT 'difference closing', coalesce(c.recorded_at, c.closed_at), c.id::text,
       sha256(record_send(ROW(c.id, c.difference_id, c.reason, c.closed_by, c.closed_at)))
  FROM billing_difference_closing c;


-- billing_sealable_later (noun text, at timestamptz, key text, digest bytea): the rows of all later nouns.
CREATE OR REPLACE VIEW billing_sealable_later AS
SELECT * FROM billing_sealable_invoices UNION ALL SELECT * FROM billing_sealable_matches;


-- billing_seal_chain(p_before bytea, p_id bigint, p_begins_at timestamptz, p_ends_at timestamptz, p_contents jsonb)
--   RETURNS bytea
--
-- A seal's link in the chain: SHA-256 over the previous link (empty for the first) and the seal's content.
CREATE OR REPLACE FUNCTION billing_seal_chain(
  p_before bytea, p_id bigint, p_begins_at timestamptz, p_ends_at timestamptz, p_contents jsonb)
RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT sha256(p_before || record_send(ROW(p_id, p_begins_at, p_ends_at, p_contents)))
$$;


-- billing_seal_until(p_ends_at timestamptz) RETURNS bytea
--
-- Seals what became final since the last seal and before p_ends_at; null if nothing did, or if a concurrent run sealed
-- it. The caller ensures that no row dated before p_ends_at can still commit. Returns the new seal's link in the chain.
CREATE OR REPLACE FUNCTION billing_seal_until(p_ends_at timestamptz) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
  v_last billing_seal;
  v_since timestamptz;
  v_contents jsonb;
  v_chain bytea;
BEGIN
  SELECT s.* INTO v_last FROM billing_seal s ORDER BY s.id DESC LIMIT 1;
  v_last.ends_at := coalesce(v_last.ends_at, '2000-01-01 00:00:00+00');  -- before any call
  SELECT min(billing_noun_sealed_until(noun)) INTO v_since FROM unnest(billing_later_nouns()) AS noun;
  SELECT jsonb_object_agg(n.noun, n.said) INTO v_contents
    FROM (SELECT x.noun, jsonb_build_object('rows', count(*), 'digest', encode(
                           sha256(string_agg(x.digest, ''::bytea ORDER BY x.key COLLATE "C")), 'hex')) AS said
            FROM (SELECT * FROM billing_sealable s WHERE s.at >= v_last.ends_at AND s.at < p_ends_at
                  UNION ALL
                  SELECT s.* FROM billing_sealable_later s
                   WHERE s.at >= v_since AND s.at < p_ends_at AND s.at >= billing_noun_sealed_until(s.noun)) x
           GROUP BY x.noun) n;
  IF v_contents IS NULL THEN
    RETURN NULL;
  END IF;
  SELECT jsonb_object_agg(noun, jsonb_build_object('rows', 0)) || v_contents INTO v_contents
    FROM unnest(billing_later_nouns()) AS noun;
  INSERT INTO billing_seal (id, begins_at, ends_at, contents, chain)
  SELECT next.id, v_last.ends_at, p_ends_at, v_contents,
         billing_seal_chain(coalesce(v_last.chain, ''), next.id, v_last.ends_at, p_ends_at, v_contents)
    FROM (SELECT coalesce(v_last.id, 0) + 1 AS id) next
  ON CONFLICT (id) DO NOTHING
  RETURNING chain INTO v_chain;
  RETURN v_chain;
END $$;
