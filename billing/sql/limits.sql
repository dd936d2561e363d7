-- Rate limits of metered calls (docs/limits.md). The process knows which limits apply to a call and passes them as an array of the
-- type billing_rate_limit (scope, subject, requests, tokens, concurrent), in the order of the checks; null if there are none, and
-- then no table of this file is read.
--
-- A statement reads each limit once, weighs and counts its calls in its variables, and writes each meter once, at its end.
--
-- A limit of a minute is a bucket (billing_limit_meter): its level is 60,000,000 for each request or token, and it drains by its
-- quota in a microsecond. A call is admitted while the level leaves room for one more. Its request counts when its hold is placed,
-- its tokens when it is settled, so they can take the level beyond the quota. Calls at once are counted in billing_reservation:
-- those that began under such a limit and are neither closed nor in review.
--
-- The meters of accounts, organizations and members change under their wallet's lock. Wallets share those of clients and aliases:
-- their rows are locked after every wallet of the statement, in the order of scope and subject, and nobody who holds one waits for
-- anything but the next one. A settlement locks none of them: it adds its tokens to billing_limit_use.
--
-- The clock is read after the locks. If it was set back, a bucket drains from the earlier time on: nothing is lost, and nobody
-- waits longer than before.

-- billing_drained(p_level bigint, p_at timestamptz, p_quota bigint, p_now timestamptz) RETURNS bigint
--
-- The level that a bucket of a time has drained to. The time that counts is bounded by what empties it, so that the product fits.
CREATE OR REPLACE FUNCTION billing_drained(p_level bigint, p_at timestamptz, p_quota bigint, p_now timestamptz)
RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT greatest(0, p_level - p_quota * least(
    p_level / p_quota + 1, greatest((extract(epoch FROM p_now - p_at) * 1000000)::bigint, 0)))
$$;


-- billing_lock_limits(p_limits billing_rate_limit[]) RETURNS void
--
-- Locks the shared meters among these limits until the transaction ends, and moves the tokens that settled calls have used to
-- them. Rows of a settlement that took longer than a minute to commit are not found any more, which keeps this from reading what
-- earlier calls deleted. A meter whose time is to come was changed before the clock was set back.
CREATE OR REPLACE FUNCTION billing_lock_limits(p_limits billing_rate_limit[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_limit record;
  v_meter record;
  v_use record;
  v_level bigint;
BEGIN
  FOR v_limit IN
    SELECT DISTINCT l.scope, l.subject FROM unnest(p_limits) l WHERE l.scope IN ('client', 'alias') ORDER BY 1, 2
  LOOP
    LOOP
      SELECT m.id, m.tokens_level, m.tokens_at, m.tokens_quota,
             CASE WHEN m.tokens_at <= clock_timestamp() THEN m.tokens_at - interval '1 minute' ELSE '-infinity' END AS uncounted_since
        INTO v_meter
        FROM billing_limit_meter m WHERE m.scope = v_limit.scope AND m.subject = v_limit.subject FOR NO KEY UPDATE;
      EXIT WHEN FOUND;
      INSERT INTO billing_limit_meter (scope, subject, requests_at, tokens_at)
      VALUES (v_limit.scope, v_limit.subject, clock_timestamp(), clock_timestamp()) ON CONFLICT DO NOTHING;
    END LOOP;
    CONTINUE WHEN v_meter.tokens_quota IS NULL;
    v_level := NULL;
    FOR v_use IN
      WITH used AS (
        DELETE FROM billing_limit_use u
         WHERE u.scope = v_limit.scope AND u.subject = v_limit.subject
           AND u.used_at > v_meter.uncounted_since
        RETURNING u.tokens, u.used_at)
      SELECT * FROM used ORDER BY used_at
    LOOP
      v_level := billing_filled(v_meter.tokens_level, v_meter.tokens_at, v_meter.tokens_quota, v_use.tokens, v_use.used_at);
      v_meter.tokens_level := v_level;
      v_meter.tokens_at := greatest(v_meter.tokens_at, v_use.used_at);
    END LOOP;
    IF v_level IS NOT NULL THEN
      UPDATE billing_limit_meter m SET tokens_level = v_level, tokens_at = v_meter.tokens_at WHERE m.id = v_meter.id;
    END IF;
  END LOOP;
END $$;


-- The level of a bucket after it drained and so many tokens were added. It is bounded, to fit its type.
CREATE OR REPLACE FUNCTION billing_filled(
  p_level bigint, p_at timestamptz, p_quota bigint, p_tokens bigint, p_now timestamptz)
RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT least(billing_drained(p_level, p_at, p_quota, p_now) + least(p_tokens, 40000000000) * 60000000, 6000000000000000000)
$$;


-- billing_read_limit(p_limit billing_rate_limit, p_owner_kind text, p_owner_key text, p_is_locked boolean, p_now timestamptz)
--   RETURNS (id bigint, requests bigint, tokens bigint, under_way bigint, room bigint)
--
-- What is used of one limit: the meter's id, null if there is none yet; the level of its requests, that of its tokens, and its calls
-- under way, of which no more are counted than the limit allows, each null without that limit. `room` is how many more calls it
-- admits at that time. Without p_is_locked nothing is written: the numbers are those of an answer that is no call, with the tokens that
-- billing_lock_limits would move.
CREATE OR REPLACE FUNCTION billing_read_limit(
  p_limit billing_rate_limit, p_owner_kind text, p_owner_key text, p_is_locked boolean, p_now timestamptz,
  OUT id bigint, OUT requests bigint, OUT tokens bigint, OUT under_way bigint, OUT room bigint)
LANGUAGE plpgsql AS $$
DECLARE
  v_meter billing_limit_meter;
  v_use record;
BEGIN
  room := 9000000000000000000;
  IF p_limit.requests IS NOT NULL OR p_limit.tokens IS NOT NULL THEN
    SELECT m.* INTO v_meter FROM billing_limit_meter m WHERE m.scope = p_limit.scope AND m.subject = p_limit.subject;
    id := v_meter.id;
  END IF;
  IF p_limit.requests IS NOT NULL THEN
    requests := CASE WHEN v_meter.requests_at IS NULL THEN 0 ELSE billing_drained(
      least(v_meter.requests_level, p_limit.requests * 60000000), v_meter.requests_at, p_limit.requests, p_now) END;
    room := (p_limit.requests * 60000000 - requests) / 60000000;
  END IF;
  IF p_limit.tokens IS NOT NULL THEN
    IF NOT p_is_locked AND p_limit.scope IN ('client', 'alias') THEN
      FOR v_use IN
        SELECT u.tokens, u.used_at FROM billing_limit_use u
         WHERE u.scope = p_limit.scope AND u.subject = p_limit.subject AND v_meter.tokens_quota IS NOT NULL
           AND u.used_at > CASE WHEN v_meter.tokens_at <= p_now THEN v_meter.tokens_at - interval '1 minute' ELSE '-infinity' END
         ORDER BY u.used_at
      LOOP
        v_meter.tokens_level := billing_filled(
          v_meter.tokens_level, v_meter.tokens_at, v_meter.tokens_quota, v_use.tokens, v_use.used_at);
        v_meter.tokens_at := greatest(v_meter.tokens_at, v_use.used_at);
      END LOOP;
    END IF;
    tokens := billing_tokens_level(
      v_meter.tokens_level, v_meter.tokens_at, v_meter.tokens_quota, p_limit.tokens, p_now);
    IF tokens > (p_limit.tokens - 1) * 60000000 THEN
      room := 0;
    END IF;
  END IF;
  IF p_limit.concurrent IS NOT NULL THEN
    under_way := billing_count_under_way(p_limit.scope, p_limit.subject, p_owner_kind, p_owner_key, p_limit.concurrent);
    room := least(room, p_limit.concurrent - under_way);
  END IF;
  IF p_is_locked AND greatest(v_meter.requests_at, v_meter.tokens_at) > p_now THEN
    UPDATE billing_limit_meter m
       SET requests_at = least(m.requests_at, p_now), tokens_at = least(m.tokens_at, p_now)
     WHERE m.id = v_meter.id;
  END IF;
END $$;


-- billing_weigh_call(p_limits billing_rate_limit[], p_owner_kind text, p_owner_key text, p_membership_id text, p_now timestamptz)
--   RETURNS (is_exceeded boolean, levels bigint[])
--
-- What is used of the limits that an answer states that is no call, and whether one of them would leave no room for a call. Locks and
-- writes nothing. `levels` has the first four numbers of billing_read_limit for each limit. The member is p_membership_id where it is
-- not null, the time is now where p_now is null.
CREATE OR REPLACE FUNCTION billing_weigh_call(
  p_limits billing_rate_limit[], p_owner_kind text, p_owner_key text, p_membership_id text, p_now timestamptz,
  OUT is_exceeded boolean, OUT levels bigint[])
LANGUAGE plpgsql AS $$
DECLARE
  v_limit billing_rate_limit;
  v_read record;
BEGIN
  is_exceeded := false;
  FOREACH v_limit IN ARRAY p_limits LOOP
    IF v_limit.scope = 'member' AND p_membership_id IS NOT NULL THEN
      v_limit.subject := p_membership_id;
    END IF;
    v_read := billing_read_limit(v_limit, p_owner_kind, p_owner_key, false, coalesce(p_now, clock_timestamp()));
    is_exceeded := is_exceeded OR v_read.room < 1;
    levels := levels || ARRAY[v_read.id, v_read.requests, v_read.tokens, v_read.under_way];
  END LOOP;
END $$;


-- billing_read_limits(p_limits billing_rate_limit[], p_owner_kind text, p_owner_key text, p_membership_id text, p_now timestamptz,
--                     subjects text[], counted bigint[])
--   RETURNS (subjects text[], counted bigint[], places integer[], token_scopes text[], is_concurrency_limited boolean)
--
-- Reads those of a call's limits that no call of the transaction has read before. The caller has locked them, and reads all of its calls at
-- one time. `counted` has nine numbers for each of `subjects`: those of billing_read_limit, as of before the transaction's calls; how
-- many of them were admitted since, which the caller counts and no function here changes; and the limit's three quotas. `places` are the
-- positions before the limits' numbers, in the order of the limits. Nothing else changes a meter before billing_write_meters does.
-- `token_scopes` and `is_concurrency_limited` are what a call keeps of its limits, null without such limits.
--
-- Processes read a changed limit at different times. Where the quotas are others than those before, what was counted is written and
-- all is read again.
CREATE OR REPLACE FUNCTION billing_read_limits(
  p_limits billing_rate_limit[], p_owner_kind text, p_owner_key text, p_membership_id text, p_now timestamptz,
  INOUT subjects text[], INOUT counted bigint[], OUT places integer[], OUT token_scopes text[],
  OUT is_concurrency_limited boolean)
LANGUAGE plpgsql AS $$
DECLARE
  v_limit billing_rate_limit;
  v_subject text;
  v_place integer;
  v_read record;
BEGIN
  places := '{}';
  FOREACH v_limit IN ARRAY p_limits LOOP
    v_subject := v_limit.scope || ' ' || CASE
      WHEN v_limit.scope = 'member' AND p_membership_id IS NOT NULL THEN p_membership_id ELSE v_limit.subject END;
    v_place := 9 * (array_position(subjects, v_subject) - 1);
    IF v_place IS NULL THEN
      v_limit.subject := substr(v_subject, strpos(v_subject, ' ') + 1);
      v_read := billing_read_limit(v_limit, p_owner_kind, p_owner_key, true, p_now);
      v_place := cardinality(counted);
      subjects := subjects || v_subject;
      counted := counted || ARRAY[
        v_read.id, v_read.requests, v_read.tokens, v_read.under_way, v_read.room, 0,
        v_limit.requests, v_limit.tokens, v_limit.concurrent];
    ELSIF counted[v_place + 7] IS DISTINCT FROM v_limit.requests OR counted[v_place + 8] IS DISTINCT FROM v_limit.tokens
       OR counted[v_place + 9] IS DISTINCT FROM v_limit.concurrent
    THEN
      PERFORM billing_write_meters(subjects, counted, p_now);
      v_read := billing_read_limits(p_limits, p_owner_kind, p_owner_key, p_membership_id, p_now, '{}', '{}');
      subjects := v_read.subjects;
      counted := v_read.counted;
      places := v_read.places;
      token_scopes := v_read.token_scopes;
      is_concurrency_limited := v_read.is_concurrency_limited;
      RETURN;
    END IF;
    places := places || v_place;
    IF v_limit.tokens IS NOT NULL THEN
      token_scopes := token_scopes || v_limit.scope;
    END IF;
    IF v_limit.concurrent IS NOT NULL THEN
      is_concurrency_limited := true;
    END IF;
  END LOOP;
END $$;


-- The level of a bucket of tokens now. If its quota was changed, what is left to pay back takes as long as before.
CREATE OR REPLACE FUNCTION billing_tokens_level(
  p_level bigint, p_at timestamptz, p_former bigint, p_quota bigint, p_now timestamptz)
RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN p_level = 0 OR p_level IS NULL OR p_former IS NULL THEN 0
    WHEN p_former = p_quota THEN billing_drained(p_level, p_at, p_quota, p_now)
    ELSE least(billing_drained(p_level, p_at, p_former, p_now)::numeric * p_quota / p_former, 6000000000000000000)::bigint
  END
$$;


-- The calls of a subject that are under way and began under a limit of calls at once, at most p_most.
CREATE OR REPLACE FUNCTION billing_count_under_way(
  p_scope text, p_subject text, p_owner_kind text, p_owner_key text, p_most bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_count bigint;
BEGIN
  IF p_scope = 'alias' THEN
    SELECT count(*) INTO v_count FROM (
      SELECT FROM ONLY billing_reservation r
       WHERE r.model = p_subject AND r.is_concurrency_limited AND r.closed_at IS NULL AND r.review_reason IS NULL LIMIT p_most) o;
  ELSIF p_scope = 'client' THEN
    SELECT count(*) INTO v_count FROM (
      SELECT FROM ONLY billing_reservation r
       WHERE r.client_id = p_subject AND r.is_concurrency_limited AND r.closed_at IS NULL AND r.review_reason IS NULL LIMIT p_most) o;
  ELSE
    SELECT count(*) INTO v_count FROM (
      SELECT FROM ONLY billing_reservation r
       WHERE r.wallet_id = (SELECT w.id FROM billing_wallet w
                             WHERE w.owner_kind = p_owner_kind AND w.owner_key = p_owner_key)
         AND (p_scope <> 'member' OR r.membership_id = p_subject)
         AND r.is_concurrency_limited AND r.closed_at IS NULL AND r.review_reason IS NULL LIMIT p_most) o;
  END IF;
  RETURN v_count;
END $$;


-- billing_write_meters(p_subjects text[], p_counted bigint[], p_now timestamptz) RETURNS void
--
-- Writes the meters of the calls that a transaction has admitted (billing_read_limits), as of the time at which they were weighed.
CREATE OR REPLACE FUNCTION billing_write_meters(p_subjects text[], p_counted bigint[], p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_at integer := 0;
  v_subject text;
  v_requests bigint;
  v_tokens bigint;
BEGIN
  FOREACH v_subject IN ARRAY p_subjects LOOP
    v_requests := p_counted[v_at + 2] + p_counted[v_at + 6] * 60000000;
    v_tokens := p_counted[v_at + 3];
    v_at := v_at + 9;
    CONTINUE WHEN p_counted[v_at - 3] = 0 OR v_requests IS NULL AND v_tokens IS NULL;
    UPDATE billing_limit_meter m
       SET requests_level = coalesce(v_requests, 0), requests_at = p_now, tokens_level = coalesce(v_tokens, 0),
           tokens_at = p_now, tokens_quota = p_counted[v_at - 1]
     WHERE m.id = p_counted[v_at - 8];
    CONTINUE WHEN FOUND;
    INSERT INTO billing_limit_meter (
      scope, subject, requests_level, requests_at, tokens_level, tokens_at, tokens_quota)
    VALUES (
      split_part(v_subject, ' ', 1), substr(v_subject, strpos(v_subject, ' ') + 1),
      coalesce(v_requests, 0), p_now, coalesce(v_tokens, 0), p_now, p_counted[v_at - 1]);
  END LOOP;
END $$;


-- billing_use_tokens(p_subjects text[], p_tokens bigint[], p_now timestamptz) RETURNS void
--
-- Counts the tokens of the calls that a transaction has settled: p_tokens[n] under the limit p_subjects[n], its scope and subject with a
-- space between. No subject is listed twice, so that each meter is written once, whatever the number of calls. The caller holds the
-- locks of their wallets.
CREATE OR REPLACE FUNCTION billing_use_tokens(p_subjects text[], p_tokens bigint[], p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_scope text;
  v_subject text;
BEGIN
  FOR v_at IN 1 .. cardinality(p_subjects) LOOP
    v_scope := split_part(p_subjects[v_at], ' ', 1);
    v_subject := substr(p_subjects[v_at], length(v_scope) + 2);
    IF v_scope IN ('client', 'alias') THEN
      INSERT INTO billing_limit_use (scope, subject, tokens, used_at) VALUES (v_scope, v_subject, p_tokens[v_at], p_now);
    ELSE
      UPDATE billing_limit_meter m
         SET tokens_level = billing_filled(m.tokens_level, m.tokens_at, m.tokens_quota, p_tokens[v_at], p_now), tokens_at = p_now
       WHERE m.scope = v_scope AND m.subject = v_subject AND m.tokens_quota IS NOT NULL;
    END IF;
  END LOOP;
END $$;


-- What only functions of an earlier revision called.
DROP FUNCTION IF EXISTS billing_weigh_call(billing_rate_limit[], text, text, text, boolean, timestamptz);
DROP FUNCTION IF EXISTS billing_count_call(billing_rate_limit[], bigint[], text, timestamptz);
DROP FUNCTION IF EXISTS billing_use_tokens(record, jsonb, timestamptz);
DROP FUNCTION IF EXISTS billing_weigh_call(billing_rate_limit[], text, text, text, boolean, timestamptz, text[], bigint[]);
DROP FUNCTION IF EXISTS billing_add_call(billing_rate_limit[], bigint[], text, text[], bigint[]);
DROP FUNCTION IF EXISTS billing_token_subjects(record);
