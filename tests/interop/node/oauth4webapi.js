import * as oauth from "oauth4webapi";
import { ask, done } from "./say.js";

const [issuerUrl, assertion] = process.argv.slice(2);
const http = { [oauth.allowInsecureRequests]: true };
const issuer = new URL(issuerUrl);
const discovery = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...http });
const as = await oauth.processDiscoveryResponse(issuer, discovery);

const client = { client_id: "http://127.0.0.1:45678" };
const redirectUri = "http://127.0.0.1:45678/callback";
const keys = await oauth.generateKeyPair("ES256");
const DPoP = oauth.DPoP(client, keys);
const nonceErrors = [];

/** Make a request again where it was refused for want of a nonce. */
async function withNonce(make) {
  try {
    return await make();
  } catch (error) {
    if (!oauth.isDPoPNonceError(error)) throw error;
    nonceErrors.push(error.error ?? "challenge");
    return make();
  }
}

const verifier = oauth.generateRandomCodeVerifier();
const state = oauth.generateRandomState();
const address = new URL(as.authorization_endpoint);
address.search = new URLSearchParams({
  client_id: client.client_id,
  redirect_uri: redirectUri,
  response_type: "code",
  scope: "wallet:read usage:read",
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: "S256",
  state,
  dpop_jkt: await DPoP.calculateThumbprint(),
}).toString();
const callback = new URL(await ask({ approve: address.href }));
const answer = oauth.validateAuthResponse(as, client, callback, state);

const tokens = await withNonce(async () => {
  const options = { DPoP, additionalParameters: { device_session: "true", device_name: "Stock client" }, ...http };
  const response = await oauth.authorizationCodeGrantRequest(as, client, oauth.None(), answer, redirectUri, verifier, options);
  return oauth.processAuthorizationCodeResponse(as, client, response);
});

async function wallet(accessToken) {
  const url = new URL("/v1/wallet?and=a-query", issuerUrl);
  const response = await withNonce(() =>
    oauth.protectedResourceRequest(accessToken, "GET", url, undefined, undefined, { DPoP, ...http }),
  );
  return { status: response.status, body: await response.json() };
}

async function refresh(refreshToken) {
  return withNonce(async () => {
    const response = await oauth.refreshTokenGrantRequest(as, client, oauth.None(), refreshToken, { DPoP, ...http });
    return oauth.processRefreshTokenResponse(as, client, response);
  });
}

const first = await wallet(tokens.access_token);
const refreshed = await refresh(tokens.refresh_token);
const second = await wallet(refreshed.access_token);

const byAssertion = await withNonce(async () => {
  const grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
  const parameters = { assertion, scope: "wallet:read" };
  const response = await oauth.genericTokenEndpointRequest(as, client, oauth.None(), grant, parameters, { DPoP, ...http });
  return oauth.processGenericTokenEndpointResponse(as, client, response);
});
const third = await wallet(byAssertion.access_token);

done({ as, tokens, refreshed, byAssertion, wallets: [first, second, third], nonceErrors });
