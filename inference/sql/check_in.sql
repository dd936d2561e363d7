-- inference_check_in(p_usage_id text, p_evidence jsonb, p_deadline timestamptz, p_did text, p_session_id text,
--                    p_org_id text, p_product text) RETURNS text
--
-- Notes what an open stream has delivered so far (billing_note_delivery) and that its process lives: without another
-- check-in until p_deadline, it does no more. Tells whether the stream may go on: 'ok'; 'closed'
-- (somebody else has decided on the call); 'suspended' or 'session_revoked' (accounts_liveness); or, for an organization's
-- token, the reason of organizations_access why its access has ended.
CREATE OR REPLACE FUNCTION inference_check_in(
  p_usage_id text, p_evidence jsonb, p_deadline timestamptz, p_did text, p_session_id text, p_org_id text,
  p_product text)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_answer text;
BEGIN
  IF NOT billing_note_delivery(p_usage_id, p_evidence, p_deadline) THEN
    RETURN 'closed';
  END IF;
  v_answer := accounts_liveness(p_did, p_session_id);
  IF v_answer = 'ok' AND p_org_id IS NOT NULL THEN
    SELECT nullif(a.reason, 'allowed') INTO v_answer FROM organizations_access(p_org_id, p_did, p_product) a;
  END IF;
  RETURN coalesce(v_answer, 'ok');
END $$;
