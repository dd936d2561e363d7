-- billing_to_review(p_usage_id text, p_reason text, p_evidence jsonb DEFAULT NULL,
--                   p_replay_status integer DEFAULT NULL, p_replay_headers jsonb DEFAULT NULL,
--                   p_replay_body bytea DEFAULT NULL, p_deployment text DEFAULT NULL)
--   RETURNS boolean
--
-- Moves a call with an unknown outcome to review: dispatched → review. Its hold and its idempotency key stay taken.
-- p_evidence, if given, replaces the last checkpoint; a response that the client received can be stored now and is
-- replayed once the call is settled. A call that others gave up meanwhile (billing_is_given_up) gets its process's own
-- reason and evidence; evidence is taken even if the reason is only that the process died. False if the call is in no
-- such state. Raises check_violation without a reason, or if a number of the evidence is negative.
CREATE OR REPLACE FUNCTION billing_to_review(
  p_usage_id text, p_reason text, p_evidence jsonb DEFAULT NULL,
  p_replay_status integer DEFAULT NULL, p_replay_headers jsonb DEFAULT NULL, p_replay_body bytea DEFAULT NULL,
  p_deployment text DEFAULT NULL)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_call record;
BEGIN
  IF p_reason IS NULL OR p_evidence @? '$.* ? (@ < 0)' THEN
    RAISE EXCEPTION 'call % cannot go to review for %, with evidence %', p_usage_id, p_reason, p_evidence
      USING ERRCODE = 'check_violation';
  END IF;
  UPDATE ONLY billing_reservation r
     SET state = 'review', review_reason = p_reason, evidence = coalesce(p_evidence, r.evidence),
         deployment = coalesce(p_deployment, r.deployment)
    FROM (SELECT o.id, o.state FROM ONLY billing_reservation o WHERE o.id = p_usage_id FOR NO KEY UPDATE) before
   WHERE r.id = before.id
     AND (r.state = 'dispatched'
          OR billing_is_given_up(r.state, r.review_reason)
             AND (NOT billing_is_given_up('review', p_reason) OR p_evidence IS NOT NULL))
  RETURNING r.wallet_id, r.product, before.state = 'dispatched' AS is_new INTO v_call;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  IF p_replay_status IS NOT NULL THEN
    INSERT INTO billing_stored_replay (reservation_id, status, headers, body)
    VALUES (p_usage_id, p_replay_status, p_replay_headers, p_replay_body);
  END IF;
  IF v_call.is_new THEN
    PERFORM billing_record_usage('usage.reconciling', v_call.wallet_id, p_usage_id, v_call.product, clock_timestamp());
  END IF;
  RETURN true;
END $$;


-- billing_is_given_up(p_state text, p_review_reason text) RETURNS boolean
--
-- Whether a call is in review only because its time was over or its process had died. Whoever decided that did not know
-- what became of the call. If its process, or what it wrote to its journal, says so later, that is still good: such a
-- call can be released, and get a better reason and evidence, as if it were dispatched.
CREATE OR REPLACE FUNCTION billing_is_given_up(p_state text, p_review_reason text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT p_state = 'review' AND p_review_reason IN ('deadline_passed', 'process_died')
$$;


-- billing_reap(p_now timestamptz DEFAULT NULL, p_limit integer DEFAULT 100)
--   RETURNS TABLE (usage_id text, outcome text)
--
-- Moves calls past their deadline to review, because their process died; 'review' is the outcome of each. Locked rows
-- are left for the next run. They are looked for once, as an array: a join may repeat its inner side, which skips what
-- it has locked itself and finds the next rows. Calls whose event some endpoint gets are taken with their wallet's lock: who
-- settles holds it, too, before the call's row and the counter of the owner's events.
CREATE OR REPLACE FUNCTION billing_reap(p_now timestamptz DEFAULT NULL, p_limit integer DEFAULT 100)
RETURNS TABLE (usage_id text, outcome text) LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := coalesce(p_now, clock_timestamp());
  v_products text[] := ARRAY(SELECT s.product FROM events_subscription s WHERE s.type = 'usage.reconciling');
  v_wallets text[] := '{}';
  v_call record;
BEGIN
  IF cardinality(v_products) > 0 THEN
    v_wallets := billing_lock_wallets(ARRAY(
      SELECT DISTINCT o.wallet_id FROM ONLY billing_reservation o
       WHERE o.closed_at IS NULL AND o.state = 'dispatched' AND o.deadline_at <= v_now AND o.product = ANY (v_products)
       LIMIT p_limit));
  END IF;
  FOR v_call IN
    WITH reaped AS (
      UPDATE ONLY billing_reservation r SET state = 'review', review_reason = 'deadline_passed'
       WHERE r.id = ANY (ARRAY(SELECT o.id FROM ONLY billing_reservation o
                                WHERE o.closed_at IS NULL AND o.state = 'dispatched' AND o.deadline_at <= v_now
                                  AND ((o.product = ANY (v_products)) IS NOT TRUE OR o.wallet_id = ANY (v_wallets))
                                LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED))
      RETURNING r.id, r.wallet_id, r.product
    )
    SELECT r.id, r.wallet_id, r.product FROM reaped r JOIN billing_wallet w ON w.id = r.wallet_id
     ORDER BY w.owner_kind, w.owner_key, r.id
  LOOP
    PERFORM billing_record_usage('usage.reconciling', v_call.wallet_id, v_call.id, v_call.product, v_now);
    usage_id := v_call.id;
    outcome := 'review';
    RETURN NEXT;
  END LOOP;
END $$;


-- billing_note_look_up(p_usage_id text, p_next_at timestamptz) RETURNS void
--
-- Records that the upstream's own record of a call in review was requested, and when to request it again.
CREATE OR REPLACE FUNCTION billing_note_look_up(p_usage_id text, p_next_at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE ONLY billing_reservation r SET next_look_up_at = p_next_at WHERE r.id = p_usage_id AND r.state = 'review';
END $$;
