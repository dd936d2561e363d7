/** The browser client's own transport, in Node, for an account that signs in by an assertion. */

import { Account } from "../../../clients/js/src/account.js";
import { Caller } from "../../../clients/js/src/caller.js";
import { ProofKey } from "../../../clients/js/src/keys.js";
import { postJson } from "../../../clients/js/src/session.js";
import { Transport } from "../../../clients/js/src/transport.js";

/** Sign in: the account, and a list that tells of every request the path and status. `send` makes them. */
export async function signIn(baseUrl, assertion, send = fetch) {
  const key = await ProofKey.generate();
  const sent = [];
  const transport = new Transport({
    baseUrl,
    key: async () => key,
    fetch: async (url, init) => {
      const response = await send(url, init);
      sent.push([new URL(url).pathname, response.status]);
      return response;
    },
  });
  const grant = await transport.json("/v1/auth/token/exchange", postJson({ assertion, dpop_jwk: key.jwk }));
  const tokens = { token: async () => grant.access_token, renew: async () => grant.access_token };
  return { account: new Account(new Caller(transport, tokens)), sent };
}
