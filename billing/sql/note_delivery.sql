-- billing_note_delivery(p_usage_id text, p_evidence jsonb, p_deadline timestamptz DEFAULT NULL) RETURNS boolean
--
-- Checkpoints what a call in flight has delivered so far, in case its process dies: quantities by their column names in
-- billing_usage_record, and `charge_microusd`, all cumulative. p_deadline only ever extends the deadline. False if the
-- call is no longer dispatched: its delivery should stop, because its outcome is decided elsewhere now. Raises
-- check_violation if a number of the evidence is negative.
CREATE OR REPLACE FUNCTION billing_note_delivery(p_usage_id text, p_evidence jsonb, p_deadline timestamptz DEFAULT NULL)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF p_evidence @? '$.* ? (@ < 0)' THEN
    RAISE EXCEPTION 'call % cannot have delivered %', p_usage_id, p_evidence USING ERRCODE = 'check_violation';
  END IF;
  UPDATE ONLY billing_reservation r
     SET evidence = p_evidence, deadline_at = greatest(r.deadline_at, p_deadline)
   WHERE r.id = p_usage_id AND r.state = 'dispatched';
  RETURN FOUND;
END $$;
