/** An example app: signs in through the portal, asks a model as a stream, and shows what it cost. */

import { Gateway, GatewayError, SignedOut, SignInError } from "../src/index.js";

const SCOPES = ["wallet:read", "usage:read", "infer:fast"];
const MAX_COST_MICROUSD = 20_000;
const ANSWER_TOKENS_MAX = 400;

const $ = (id) => document.getElementById(id);
const settings = await (await fetch("settings.json")).json();
const gateway = new Gateway({ url: settings.gatewayUrl, portalUrl: settings.portalUrl });

async function start() {
  $("gateway").textContent = settings.gatewayUrl;
  $("limit").textContent = dollars(MAX_COST_MICROUSD);
  try {
    await gateway.completeSignIn();
  } catch (error) {
    explain(error);
  }
  await show();
}

async function show() {
  const isSignedIn = await gateway.isSignedIn();
  if (isSignedIn) await showAccount().catch(explain);
  document.body.dataset.state = (await gateway.isSignedIn()) ? "in" : "out";
}

async function showAccount() {
  const [{ did, displayName }, device] = await Promise.all([gateway.account(), gateway.device()]);
  $("account").textContent = displayName ?? "Signed in";
  $("account").title = did;
  $("device").textContent = device
    ? `Stays signed in as “${device.name}” until ${device.expiresAt.toLocaleDateString("en", { dateStyle: "long" })}.`
    : "";
  const wallet = await showWallet();
  if (wallet.availableMicrousd === 0 && settings.welcomeCredit) await welcome(did);
}

async function showWallet() {
  const wallet = await gateway.wallet();
  $("wallet").textContent = dollars(wallet.availableMicrousd);
  return wallet;
}

/** A gateway in development gives each newcomer a little to spend; elsewhere people pay, or are given credit. */
async function welcome(did) {
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ did }) };
  const response = await fetch("welcome-credit", options);
  if (!response.ok) return;
  const { amountMicrousd } = await response.json();
  await showWallet();
  tell(`This development gateway gave you a welcome credit of ${dollars(amountMicrousd)}.`);
}

async function ask(question) {
  const before = await showWallet();
  const stopping = new AbortController();
  $("stop").onclick = () => stopping.abort();
  const body = { model: "fast", messages: [{ role: "user", content: question }], max_tokens: ANSWER_TOKENS_MAX };
  const options = { maxCostMicrousd: MAX_COST_MICROUSD, signal: stopping.signal };
  const stream = await gateway.chatStream(body, options);
  try {
    for await (const text of stream.text()) $("answer").append(text);
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
  const after = await showWallet();
  showReceipt(before, stream.receipt, after);
}

function showReceipt(before, receipt, after) {
  $("usage-id").textContent = receipt.usageId;
  $("before").textContent = dollars(before.availableMicrousd);
  $("hold").textContent = dollars(receipt.holdMicrousd);
  $("charge").textContent = receipt.chargeMicrousd === null ? "being settled" : dollars(receipt.chargeMicrousd);
  $("after").textContent = dollars(after.availableMicrousd);
  $("receipt").hidden = false;
}

/** Run what a button does, once at a time, and say what goes wrong. */
async function busy(button, act) {
  button.disabled = true;
  $("notice").hidden = true;
  try {
    await act();
  } catch (error) {
    explain(error);
  } finally {
    button.disabled = false;
  }
}

function explain(error) {
  if (error instanceof SignInError && error.code === "access_denied") return tell("You did not allow Quill in. Nothing happened.");
  if (error instanceof SignInError) return tell(`Signing in did not work: ${error.message}`, "bad");
  if (error instanceof SignedOut) return tell("You were signed out. Sign in again to go on.", "bad");
  if (error instanceof GatewayError && error.code === "insufficient_funds") return tell("Your wallet does not cover this.", "bad");
  return tell(error.message, "bad");
}

function tell(text, kind = "") {
  $("notice").textContent = text;
  $("notice").className = kind;
  $("notice").hidden = false;
}

/** Write micro-USD as dollars: 5000000 is $5.000000. */
function dollars(microusd) {
  return `$${(microusd / 1_000_000).toFixed(6)}`;
}

function deviceName() {
  const system = /Android|iPhone|iPad|Windows|Mac OS|Linux/.exec(navigator.userAgent)?.[0] ?? "a browser";
  return `Quill on ${system}`;
}

$("sign-in").onclick = () => busy($("sign-in"), () => gateway.signIn({ scopes: SCOPES, deviceName: deviceName() }));
$("sign-out").onclick = () => busy($("sign-out"), () => gateway.signOut());
$("ask").onsubmit = (event) => {
  event.preventDefault();
  $("answer").replaceChildren();
  $("answer").hidden = $("stop").hidden = false;
  $("answer").ariaBusy = "true";
  void busy(event.submitter, () => ask($("question").value)).finally(() => {
    $("stop").hidden = true;
    $("answer").ariaBusy = "false";
  });
};
gateway.onSignedOut(() => {
  document.body.dataset.state = "out";
  $("receipt").hidden = $("answer").hidden = true;
});
gateway.onSignedIn(() => void show());

await start();
