-- Constrains the values of the hot tables' rows, whoever writes them, and prevents a call, a credit, a budget or a
-- wallet's mark from returning to an earlier state, and a budget from counting something else. Each refusal has a constraint's
-- SQLSTATE and name, or restrict_violation for an earlier state.
--
-- Triggers, because PostgreSQL parses every CHECK again for every statement on its table: on tables that see several
-- small statements per call, checks cost a tenth of the whole call. A compiled trigger costs almost nothing.

-- billing_refuse_unsound(p_table text) RETURNS void: raises check_violation, constraint '<noun>_is_sound'.
CREATE OR REPLACE FUNCTION billing_refuse_unsound(p_noun text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'new row of billing_% violates check constraint "%_is_sound"', p_noun, p_noun
    USING ERRCODE = 'check_violation', TABLE = 'billing_' || p_noun, CONSTRAINT = p_noun || '_is_sound';
END $$;

-- billing_refuse_going_back(p_noun text, p_id text) RETURNS void: raises restrict_violation.
CREATE OR REPLACE FUNCTION billing_refuse_going_back(p_noun text, p_id text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'billing_% % never goes back, and what is closed or counted is never changed', p_noun, p_id
    USING ERRCODE = 'restrict_violation', TABLE = 'billing_' || p_noun;
END $$;

CREATE OR REPLACE FUNCTION billing_wallet_is_sound() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.owner_kind IN ('account', 'organization') AND NEW.debt_microusd >= 0 AND NEW.low_balance_microusd >= 0
      AND NEW.held_microusd BETWEEN 0 AND NEW.balance_microusd) IS NOT TRUE
  THEN
    PERFORM billing_refuse_unsound('wallet');
  END IF;
  IF TG_OP = 'UPDATE' AND OLD.has_budgets AND NOT NEW.has_budgets THEN
    PERFORM billing_refuse_going_back('wallet', OLD.id);
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION billing_budget_is_sound() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.limit_microusd >= 0 AND NEW.spent_microusd >= 0 AND NEW.held_microusd >= 0
      AND NEW.period IN ('day', 'week', 'month') AND NEW.period_start = date_trunc(NEW.period, NEW.period_start::timestamp)
      AND (NEW.override_until IS NULL) = (NEW.override_limit_microusd IS NULL)
      AND coalesce(NEW.override_limit_microusd, 0) >= 0 AND NEW.alerted_percent IN (0, 80, 100)
      AND CASE NEW.scope
        WHEN 'org' THEN num_nonnulls(NEW.product, NEW.membership_id, NEW.client_id) = 0
        WHEN 'product' THEN NEW.product IS NOT NULL AND num_nonnulls(NEW.membership_id, NEW.client_id) = 0
        WHEN 'member' THEN NEW.membership_id IS NOT NULL AND num_nonnulls(NEW.product, NEW.client_id) = 0
        WHEN 'member_product' THEN num_nonnulls(NEW.product, NEW.membership_id) = 2 AND NEW.client_id IS NULL
        WHEN 'account' THEN num_nonnulls(NEW.product, NEW.membership_id, NEW.client_id) = 0
        WHEN 'client' THEN NEW.client_id IS NOT NULL AND num_nonnulls(NEW.product, NEW.membership_id) = 0
      END) IS NOT TRUE
  THEN
    PERFORM billing_refuse_unsound('budget');
  END IF;
  IF TG_OP = 'UPDATE'
     AND (NEW.period_start < OLD.period_start
          OR (NEW.wallet_id, NEW.scope, NEW.period) <> (OLD.wallet_id, OLD.scope, OLD.period)
          OR (NEW.product, NEW.membership_id, NEW.client_id)
             IS DISTINCT FROM (OLD.product, OLD.membership_id, OLD.client_id))
  THEN
    PERFORM billing_refuse_going_back('budget', OLD.id);
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION billing_credit_lot_is_sound() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.granted_microusd > 0 AND NEW.remaining_microusd BETWEEN 0 AND NEW.granted_microusd
      AND NEW.held_microusd BETWEEN 0 AND NEW.remaining_microusd
      AND (NEW.closed_at IS NULL) = (NEW.remaining_microusd > 0)) IS NOT TRUE
  THEN
    PERFORM billing_refuse_unsound('credit_lot');
  END IF;
  IF OLD.closed_at IS NOT NULL AND NEW IS DISTINCT FROM OLD THEN
    PERFORM billing_refuse_going_back('credit_lot', OLD.id);
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION billing_reservation_is_sound() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_kept billing_reservation;
BEGIN
  IF (NEW.hold_microusd BETWEEN 0 AND NEW.max_cost_microusd AND NEW.cash_held_microusd BETWEEN 0 AND NEW.hold_microusd
      AND (NEW.cash_held_microusd = NEW.hold_microusd) = (NEW.lot_ids IS NULL)
      AND cardinality(NEW.lot_ids) IS NOT DISTINCT FROM cardinality(NEW.lot_amounts_microusd)
      AND (NOT NEW.replayable
           OR (NEW.idempotency_key IS NOT NULL AND NEW.request_digest IS NOT NULL AND NEW.state <> 'released'))
      AND CASE NEW.state
        WHEN 'settled' THEN NEW.closed_at IS NOT NULL AND NEW.charge_microusd BETWEEN 0 AND NEW.hold_microusd
          AND NEW.overrun_microusd >= 0 AND (NEW.overrun_microusd = 0 OR NEW.charge_microusd = NEW.hold_microusd)
        WHEN 'released' THEN NEW.closed_at IS NOT NULL AND NEW.charge_microusd IS NULL AND NEW.overrun_microusd = 0
        ELSE NEW.closed_at IS NULL AND NEW.charge_microusd IS NULL AND NEW.overrun_microusd = 0
          AND NEW.state IN ('dispatched', 'review') AND NEW.dispatched_at IS NOT NULL AND NEW.deadline_at IS NOT NULL
      END) IS NOT TRUE
  THEN
    PERFORM billing_refuse_unsound('reservation');
  END IF;
  IF TG_OP = 'INSERT' THEN
    RETURN NEW;
  END IF;
  IF OLD.closed_at IS NOT NULL THEN
    v_kept := OLD;
    v_kept.replayable := OLD.replayable AND NEW.replayable;  -- its idempotency key becomes free after a day
    IF NEW IS DISTINCT FROM v_kept THEN
      PERFORM billing_refuse_going_back('reservation', OLD.id);
    END IF;
  ELSIF OLD.state = 'review' AND NEW.state = 'dispatched' THEN
    PERFORM billing_refuse_going_back('reservation', OLD.id);
  END IF;
  RETURN NEW;
END $$;

-- Calls look for budgets only on wallets that are marked. The wallet's lock, which its first budget is made under, orders the
-- two.
CREATE OR REPLACE FUNCTION billing_mark_wallet() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE billing_wallet w SET has_budgets = true WHERE w.id = NEW.wallet_id AND NOT w.has_budgets;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION billing_transfer_is_sound() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.amount_microusd > 0 AND NEW.debit_account <> NEW.credit_account) IS NOT TRUE THEN
    PERFORM billing_refuse_unsound('transfer');
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION billing_usage_record_is_sound() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.charge_microusd >= 0 AND NEW.basis IN ('upstream', 'delivered', 'operator')
      AND least(NEW.input_tokens, NEW.cached_input_tokens, NEW.cache_write_tokens, NEW.cache_write_1h_tokens,
                NEW.output_tokens, NEW.input_audio_tokens, NEW.output_audio_tokens, NEW.images, NEW.input_characters,
                NEW.seconds, NEW.input_bytes, NEW.items, NEW.price_band, NEW.cost_microusd, 0) = 0
      AND (NEW.cost_microusd IS NULL) = (NEW.cost_version_id IS NULL)) IS NOT TRUE
  THEN
    PERFORM billing_refuse_unsound('usage_record');
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER wallet_is_sound BEFORE INSERT OR UPDATE ON billing_wallet
  FOR EACH ROW EXECUTE FUNCTION billing_wallet_is_sound();
CREATE OR REPLACE TRIGGER budget_is_sound BEFORE INSERT OR UPDATE ON billing_budget
  FOR EACH ROW EXECUTE FUNCTION billing_budget_is_sound();
CREATE OR REPLACE TRIGGER budget_marks_wallet AFTER INSERT ON billing_budget
  FOR EACH ROW EXECUTE FUNCTION billing_mark_wallet();
CREATE OR REPLACE TRIGGER credit_lot_is_sound BEFORE INSERT OR UPDATE ON billing_credit_lot
  FOR EACH ROW EXECUTE FUNCTION billing_credit_lot_is_sound();
CREATE OR REPLACE TRIGGER reservation_is_sound BEFORE INSERT OR UPDATE ON billing_reservation
  FOR EACH ROW EXECUTE FUNCTION billing_reservation_is_sound();
CREATE OR REPLACE TRIGGER transfer_is_sound BEFORE INSERT ON billing_transfer
  FOR EACH ROW EXECUTE FUNCTION billing_transfer_is_sound();
CREATE OR REPLACE TRIGGER usage_record_is_sound BEFORE INSERT ON billing_usage_record
  FOR EACH ROW EXECUTE FUNCTION billing_usage_record_is_sound();
