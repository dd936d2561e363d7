-- A closed account can do nothing, and nothing of it names its person; its credits were given up, and those of no other account.
SELECT a.did, format('closed at %s, but active %s, suspended at %s, email %s, name "%s"', c.closed_at, a.is_active,
                     a.suspended_at, a.email IS NOT NULL, a.display_name)
  FROM accounts_closing c JOIN accounts_account a ON a.id = c.account_id
 WHERE a.is_active OR a.suspended_at IS NULL OR a.email IS NOT NULL OR a.display_name <> '' OR a.is_staff OR a.is_superuser
UNION ALL
SELECT a.did, format('closed at %s, and not erased yet', c.closed_at)
  FROM accounts_closing c JOIN accounts_account a ON a.id = c.account_id
 WHERE c.erased_at IS NULL AND c.closed_at < now() - interval '2 hours'
UNION ALL
SELECT a.did, format('erased at %s, but has %s', c.erased_at, s.kind)
  FROM accounts_closing c JOIN accounts_account a ON a.id = c.account_id
 CROSS JOIN LATERAL (
   SELECT 'a device session' AS kind WHERE EXISTS (SELECT FROM accounts_device_session d WHERE d.account_id = a.id)
   UNION ALL SELECT 'a consent' WHERE EXISTS (SELECT FROM accounts_consent d WHERE d.account_id = a.id)
   UNION ALL SELECT 'an email address' WHERE EXISTS (SELECT FROM account_emailaddress d WHERE d.user_id = a.id)
   UNION ALL SELECT 'a second factor' WHERE EXISTS (SELECT FROM mfa_authenticator d WHERE d.user_id = a.id)
   UNION ALL SELECT 'an identity' WHERE EXISTS (SELECT FROM socialaccount_socialaccount d WHERE d.user_id = a.id)
   UNION ALL SELECT 'a browser' WHERE EXISTS (SELECT FROM usersessions_usersession d WHERE d.user_id = a.id)) s
 WHERE c.erased_at IS NOT NULL
UNION ALL
SELECT a.did, format('closed at %s, but credit %s granted at %s has %s left', c.closed_at, l.id, l.created_at, l.remaining_microusd)
  FROM accounts_closing c JOIN accounts_account a ON a.id = c.account_id
  JOIN billing_wallet w ON (w.owner_kind, w.owner_key) = ('account', a.did)
  JOIN billing_credit_lot l ON l.wallet_id = w.id
 WHERE l.closed_at IS NULL AND l.source_kind <> 'payment' AND l.created_at < c.closed_at
UNION ALL
SELECT 'transfer ' || t.id, format('%s of credit %s, but %s is not closed', t.kind, t.source, w.owner_key)
  FROM billing_transfer t JOIN billing_wallet w ON w.id = t.wallet_id
 WHERE t.kind = 'forfeit' AND t.created_at >= %(since)s
   AND NOT EXISTS (SELECT FROM accounts_closing c JOIN accounts_account a ON a.id = c.account_id
                    WHERE ('account', a.did) = (w.owner_kind, w.owner_key))
