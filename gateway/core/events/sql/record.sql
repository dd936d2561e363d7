-- events_record(p_owner_kind text, p_owner_key text, p_type text, p_data jsonb, p_product text, p_now timestamptz) RETURNS bigint
--
-- Writes an event in the transaction of what happened, with the owner's next number, and returns its id. The owner's counter
-- stays locked until the transaction ends, so numbers have no gaps and are committed in their order. It is the last lock of
-- a transaction: wallet, reservation, lots and budgets come before it. `p_now` is when it happened, by default the time of
-- this call.
CREATE OR REPLACE FUNCTION events_record(
  p_owner_kind text, p_owner_key text, p_type text, p_data jsonb, p_product text DEFAULT NULL, p_now timestamptz DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz;
  v_random text := replace(gen_random_uuid()::text, '-', '');
  v_sequence bigint;
  v_id bigint;
BEGIN
  INSERT INTO events_owner AS o (owner_kind, owner_key, sequence) VALUES (p_owner_kind, p_owner_key, 1)
  ON CONFLICT (owner_kind, owner_key) DO UPDATE SET sequence = o.sequence + 1
  RETURNING o.sequence INTO v_sequence;
  v_now := coalesce(p_now, clock_timestamp());
  INSERT INTO events_event (public_id, owner_kind, owner_key, sequence, type, product, data, created_at)
  VALUES ('evt_' || lpad(to_hex(floor(extract(epoch FROM v_now) * 1000)::bigint), 12, '0') || left(v_random, 10)
            || right(v_random, 10),
          p_owner_kind, p_owner_key, v_sequence, p_type, p_product, p_data, v_now)
  RETURNING id INTO v_id;
  RETURN v_id;
END $$;
