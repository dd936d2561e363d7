-- Remembers which proofs a store that has lost rows may have taken before.
--
-- A proof is kept until it expires. Whatever removes an unexpired one (a DELETE or a TRUNCATE by hand) moves the epoch
-- to the latest expiry among the lost, and proofs that expire no later are refused from then on. Purging what has
-- expired moves nothing. The triggers have a search_path of their own: a temporary table must not take the epoch's place.

-- Starts the epoch where there is none. With accounts about, even the epoch was lost: whatever can have been taken
-- until now is refused. The longest that a proof can live from now on is its age limit plus twice the clocks'
-- allowance, 90 seconds. Without any account nothing can have been taken.
CREATE OR REPLACE FUNCTION accounts_begin_epoch() RETURNS timestamptz
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_lost_until timestamptz;
BEGIN
    IF EXISTS (SELECT 1 FROM accounts_account) THEN
        v_lost_until := clock_timestamp() + interval '90 seconds';
    END IF;
    INSERT INTO accounts_replay_epoch (id, lost_until) VALUES (1, v_lost_until) ON CONFLICT DO NOTHING;
    RETURN coalesce(v_lost_until, '-infinity');
END
$$;

CREATE OR REPLACE FUNCTION accounts_proofs_deleted() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_latest timestamptz;
BEGIN
    SELECT max(expires_at) INTO v_latest FROM gone WHERE expires_at > clock_timestamp();
    UPDATE accounts_replay_epoch SET lost_until = greatest(lost_until, v_latest) WHERE v_latest IS NOT NULL;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION accounts_proofs_truncated() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_latest timestamptz;
BEGIN
    SELECT max(expires_at) INTO v_latest FROM accounts_proof_replay WHERE expires_at > clock_timestamp();
    UPDATE accounts_replay_epoch SET lost_until = greatest(lost_until, v_latest) WHERE v_latest IS NOT NULL;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER accounts_proofs_deleted
    AFTER DELETE ON accounts_proof_replay REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION accounts_proofs_deleted();

CREATE OR REPLACE TRIGGER accounts_proofs_truncated
    BEFORE TRUNCATE ON accounts_proof_replay
    FOR EACH STATEMENT EXECUTE FUNCTION accounts_proofs_truncated();

SELECT accounts_begin_epoch();
