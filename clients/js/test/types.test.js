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

test("nothing is declared that is not there", () => {
  const values = [...declared.matchAll(/export (?:class|function) (\w+)/g)].map(([, name]) => name);
  assert.deepEqual(values.filter((name) => !(name in client)), ["Organizations"], "which accounts carry");
});

test("every method of organizations is declared, and nothing else", async () => {
  const { Organizations } = await import("../src/organizations.js");
  const block = /export class Organizations {([^]*?)\n}/.exec(declared)[1];
  const methods = [...block.matchAll(/^ {2}(\w+)\(/gm)].map(([, name]) => name);
  const real = Object.getOwnPropertyNames(Organizations.prototype).filter((name) => name !== "constructor");
  assert.deepEqual(methods.sort(), real.sort());
});
