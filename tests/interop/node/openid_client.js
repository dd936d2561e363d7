import * as client from "openid-client";
import { ask, done } from "./say.js";

const [issuerUrl, assertion] = process.argv.slice(2);
const clientId = "http://localhost:45679";
const redirectUri = `${clientId}/callback`;
const config = await client.discovery(new URL(issuerUrl), clientId, undefined, client.None(), {
  algorithm: "oauth2",
  execute: [client.allowInsecureRequests],
});
const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair("ES256"));

const verifier = client.randomPKCECodeVerifier();
const state = client.randomState();
const address = client.buildAuthorizationUrl(config, {
  redirect_uri: redirectUri,
  scope: "wallet:read infer:fast",
  code_challenge: await client.calculatePKCECodeChallenge(verifier),
  code_challenge_method: "S256",
  dpop_jkt: await DPoP.calculateThumbprint(),
  state,
});
const callback = new URL(await ask({ approve: address.href }));
const checks = { pkceCodeVerifier: verifier, expectedState: state };
const tokens = await client.authorizationCodeGrant(config, callback, checks, { device_session: "true" }, { DPoP });

async function fetchJson(accessToken, path, method = "GET", body = undefined, headers = {}) {
  const url = new URL(path, issuerUrl);
  const sent = new Headers(headers);
  const response = await client.fetchProtectedResource(config, accessToken, url, method, body, sent, { DPoP });
  return { status: response.status, body: await response.json() };
}

const account = await fetchJson(tokens.access_token, "/v1/account");
const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token, { scope: "wallet:read" }, { DPoP });
const wallet = await fetchJson(refreshed.access_token, "/v1/wallet");
const grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const byAssertion = await client.genericGrantRequest(config, grant, { assertion }, { DPoP });
const paid = await fetchJson(
  byAssertion.access_token,
  "/v1/chat/completions",
  "POST",
  JSON.stringify({ model: "fast", messages: [{ role: "user", content: "Hello" }] }),
  {
    "Content-Type": "application/json",
    "Idempotency-Key": crypto.randomUUID(),
    "x-service-max-cost-microusd": "20000",
  },
);

let twice = null;
await client
  .authorizationCodeGrant(config, callback, checks, undefined, { DPoP })
  .catch((error) => (twice = { error: error.error, status: error.status }));
done({ tokens, account, refreshed, wallet, byAssertion, paid, twice });
