-- Records a proof, once, for a live account and a live session.
--
-- Returns 'ok', 'replayed', 'epoch', 'suspended', 'unknown_account' or 'session_revoked'. The proof is recorded
-- only if the result is 'ok'. p_did is null if no account is known yet (token requests), p_session_id if the token has no
-- device session. The insert decides between concurrent callers: the second one waits for the first and then finds its
-- row. A proof whose row may have been purged already, because this server's clock is ahead of the caller's, counts as
-- lost.
CREATE OR REPLACE FUNCTION accounts_admit(
    p_digest bytea,
    p_issued_at timestamptz,
    p_expires_at timestamptz,
    p_did text,
    p_session_id text
) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_account bigint;
    v_live boolean;
    v_lost_until timestamptz;
BEGIN
    IF p_did IS NULL THEN
        SELECT coalesce(e.lost_until, '-infinity') INTO v_lost_until FROM accounts_replay_epoch e;
    ELSE
        SELECT a.id, a.is_active AND a.suspended_at IS NULL,
               CASE WHEN e.id IS NOT NULL THEN coalesce(e.lost_until, '-infinity') END
          INTO v_account, v_live, v_lost_until
          FROM accounts_account a LEFT JOIN accounts_replay_epoch e ON true
         WHERE a.did = p_did;
        IF NOT FOUND THEN
            RETURN 'unknown_account';
        END IF;
        IF NOT v_live THEN
            RETURN 'suspended';
        END IF;
    END IF;

    IF p_session_id IS NOT NULL THEN
        PERFORM 1 FROM accounts_device_session
          WHERE id = p_session_id AND account_id = v_account
            AND revoked_at IS NULL AND expires_at > clock_timestamp();
        IF NOT FOUND THEN
            RETURN 'session_revoked';
        END IF;
    END IF;

    IF v_lost_until IS NULL THEN
        v_lost_until := accounts_begin_epoch();
    END IF;
    IF p_expires_at <= greatest(v_lost_until, clock_timestamp()) THEN
        RETURN 'epoch';
    END IF;

    INSERT INTO accounts_proof_replay (digest, expires_at) VALUES (p_digest, p_expires_at) ON CONFLICT DO NOTHING;
    RETURN CASE WHEN FOUND THEN 'ok' ELSE 'replayed' END;
END
$$;
