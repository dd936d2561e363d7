import assert from "node:assert/strict";
import { test } from "node:test";
import { cleaned, isCallback, readCode } from "../src/callback.js";

const ISSUER = "https://gateway.example";
const PAGE = "https://app.example/welcome";
const ATTEMPT = { state: "s1", redirectUri: PAGE };
const ANSWER = { code: "c1", state: "s1", iss: ISSUER };

function url(parameters, page = PAGE) {
  return new URL(`${page}?${new URLSearchParams(parameters)}`);
}

function refusing(code, message) {
  return (error) => error.name === "SignInError" && error.code === code && (!message || error.message === message);
}

test("an answer that was asked for gives its code", () => {
  assert.equal(readCode(url(ANSWER), ATTEMPT, ISSUER), "c1");
  assert.equal(readCode(url({ keep: "1", ...ANSWER }), ATTEMPT, ISSUER), "c1");
});

test("only an answer is taken for one", () => {
  for (const visit of [{}, { code: "promo" }, { state: "s1" }, { error: "x" }]) assert.equal(isCallback(url(visit)), false);
  for (const answer of [ANSWER, { error: "access_denied", state: "s1" }]) assert.equal(isCallback(url(answer)), true);
});

for (const [title, parameters, attempt, code, page] of [
  ["nobody asked", ANSWER, undefined, "unexpected_callback"],
  ["it came to another page", ANSWER, ATTEMPT, "unexpected_callback", "https://app.example/other"],
  ["it came to another origin", ANSWER, ATTEMPT, "unexpected_callback", "https://app2.example/welcome"],
  ["the state differs", { ...ANSWER, state: "s2" }, ATTEMPT, "state_mismatch"],
  ["the state differs in case", { ...ANSWER, state: "S1" }, ATTEMPT, "state_mismatch"],
  ["the issuer differs", { ...ANSWER, iss: "https://evil.example" }, ATTEMPT, "issuer_mismatch"],
  ["the issuer has a slash more", { ...ANSWER, iss: `${ISSUER}/` }, ATTEMPT, "issuer_mismatch"],
  ["there is no issuer", { code: "c1", state: "s1" }, ATTEMPT, "issuer_mismatch"],
  ["the code is empty", { ...ANSWER, code: "" }, ATTEMPT, "invalid_callback"],
]) {
  test(`it is refused where ${title}`, () => {
    assert.throws(() => readCode(url(parameters, page), attempt, ISSUER), refusing(code));
  });
}

test("a parameter that stands twice is refused", () => {
  const twice = new URL(`${url(ANSWER)}&state=s1`);
  assert.throws(() => readCode(twice, ATTEMPT, ISSUER), refusing("invalid_callback"));
});

test("the portal's refusal is told with its words, and only when state and issuer hold", () => {
  const answer = { error: "access_denied", error_description: "No.", state: "s1", iss: ISSUER };
  assert.throws(() => readCode(url(answer), ATTEMPT, ISSUER), refusing("access_denied", "No."));
  assert.throws(() => readCode(url({ ...answer, state: "s2" }), ATTEMPT, ISSUER), refusing("state_mismatch"));
});

test("the address keeps what is the app's own", () => {
  const answer = new URL(`${url({ tab: "2", ...ANSWER, error_description: "x" })}#part`);
  assert.equal(cleaned(answer), `${PAGE}?tab=2#part`);
});
