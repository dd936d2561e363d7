import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as client from "../src/index.js";

const declared = readFileSync(new URL("../src/index.d.ts", import.meta.url), "utf8");
// What the classes use among themselves.
const INTERNAL = { Account: ["caller"], Gateway: ["session", "transport", "notices"], GatewayError: ["of", "from"] };

for (const [name, value] of Object.entries(client)) {
  test(`${name} is declared, with every method`, () => {
    const declaration = new RegExp(`export (class|function) ${name}\\b[^]*?\\n(}|\\n)`).exec(declared)?.[0] ?? "";
    assert.ok(declaration, "not declared");
    const own = value.prototype ? Object.getOwnPropertyNames(value.prototype) : [];
    for (const method of own.filter((own) => own !== "constructor" && !INTERNAL[name]?.includes(own))) {
      assert.match(declaration, new RegExp(`\\b${method}[(<]`));
    }
  });
}

// The groups of routes that accounts carry.
const GROUPS = {
  Organizations: "organizations",
  Responses: "responses",
  Projects: "projects",
  Sandbox: "sandbox",
  CI: "ci",
  Evolution: "evolution",
};

test("nothing is declared that is not there", () => {
  const values = [...declared.matchAll(/export (?:class|function) (\w+)/g)].map(([, name]) => name);
  assert.deepEqual(values.filter((name) => !(name in client)).sort(), Object.keys(GROUPS).sort());
});

for (const [name, member] of Object.entries(GROUPS)) {
  test(`every method of ${member} is declared, and nothing else`, () => {
    const group = new client.Account({})[member];
    const block = new RegExp(`export class ${name} {([^]*?)\n}`).exec(declared)[1];
    const methods = [...block.matchAll(/^ {2}(\w+)\(/gm)].map(([, method]) => method);
    const real = Object.getOwnPropertyNames(Object.getPrototypeOf(group)).filter((method) => method !== "constructor");
    assert.equal(group.constructor.name, name);
    assert.deepEqual(methods.sort(), real.sort());
  });
}
