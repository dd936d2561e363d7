import * as DPoP from "dpop";
import { done } from "./say.js";

const [issuerUrl, algorithm, assertion] = process.argv.slice(2);
const keys = await DPoP.generateKeyPair(algorithm);
let nonce;

/** Send a request with a proof of this package's, once more with the nonce that a refusal brings. */
async function send(path, { method = "GET", accessToken, body, headers = {} } = {}) {
  const url = new URL(path, issuerUrl);
  const target = url.origin + url.pathname;
  for (let attempt = 1; ; attempt += 1) {
    const proof = await DPoP.generateProof(keys, target, method, nonce, accessToken);
    const authorization = accessToken && { authorization: `DPoP ${accessToken}` };
    const response = await fetch(url, { method, body, headers: { ...headers, ...authorization, dpop: proof } });
    const told = await response.json();
    const challenged = response.headers.get("dpop-nonce");
    const code = told.error?.code ?? told.error;
    if (code !== "use_dpop_nonce" || attempt > 1) return { status: response.status, told, proof, attempt };
    nonce = challenged;
  }
}

const grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const form = new URLSearchParams({ grant_type: grant, assertion });
const minted = await send("/v1/oauth/token", { method: "POST", body: form });
const accessToken = minted.told.access_token;
const account = await send("/v1/account", { accessToken });
const wallet = await send("/v1/wallet", { accessToken });

const replayed = await fetch(new URL("/v1/wallet", issuerUrl), {
  headers: { authorization: `DPoP ${accessToken}`, dpop: wallet.proof },
});
const elsewhere = await fetch(new URL("/v1/usage", issuerUrl), {
  headers: {
    authorization: `DPoP ${accessToken}`,
    dpop: await DPoP.generateProof(keys, `${issuerUrl}/v1/wallet`, "GET", nonce, accessToken),
  },
});
const refusals = [await replayed.json(), await elsewhere.json()].map((body) => body.error.code);
done({ minted, account, wallet, refusals });
