-- inference_close_responses(p_closings json, p_bodies bytea[], p_wait boolean) RETURNS TABLE (answer json, body bytea)
--
-- Closes calls as billing_close_calls does, and stores in the same transaction the `kept` member of a closing:
--
--   id, status: of the response
--   response, input_items: both encrypted
--   days: how long it is stored
--
-- The owner is the owner of the wallet that pays for the call; no closing can name another. A call that was released or
-- is unknown stores nothing. Repeating it changes nothing: what its owner has deleted since is not restored.
CREATE OR REPLACE FUNCTION inference_close_responses(p_closings json, p_bodies bytea[], p_wait boolean)
RETURNS TABLE (answer json, body bytea) LANGUAGE plpgsql AS $$
DECLARE
  v_row record;
BEGIN
  FOR v_row IN
    SELECT c.* FROM ROWS FROM (json_array_elements(p_closings), billing_close_calls(p_closings, p_bodies, p_wait))
                 AS c (closing, answer, body)
  LOOP
    IF v_row.answer->>'outcome' IN ('settled', 'review') THEN
      PERFORM inference_store_response(v_row.closing->>'usage_id', v_row.closing->'kept');
    END IF;
    answer := v_row.answer;
    body := v_row.body;
    RETURN NEXT;
  END LOOP;
END $$;


-- Stores one response of a call, once; nothing if there is none.
CREATE OR REPLACE FUNCTION inference_store_response(p_usage_id text, p_kept json) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := clock_timestamp();
BEGIN
  INSERT INTO inference_stored_response (
    id, owner_kind, owner_key, usage_id, status, response, input_items, created_at, expires_at)
  SELECT k.id, w.owner_kind, w.owner_key, r.id, k.status, k.response, k.input_items, v_now,
         v_now + make_interval(days => k.days)
    FROM json_to_record(p_kept) AS k (id text, status text, response text, input_items text, days integer)
    JOIN ONLY billing_reservation r ON r.id = p_usage_id
    JOIN billing_wallet w ON w.id = r.wallet_id
   WHERE p_kept IS NOT NULL
  ON CONFLICT (id) DO NOTHING;
END $$;
