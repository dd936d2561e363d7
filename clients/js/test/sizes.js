/** Prints how large the client is in an app that was bundled, and fails where it has grown beyond its bounds. */

import { gzipSync } from "node:zlib";
import { build } from "esbuild";

// Bytes, compressed, of an app that uses no more than these names.
const BOUNDS = {
  "{ Gateway }": 14_000,
  "{ Gateway, ProductKey, ProductServer }": 15_000,
  "{ ProofKey, dpopProof }": 2_000,
  "{ fetchReceiptKeys, verifyReceipt }": 2_200,
  "{ verifyEvent }": 1_600,
};
const options = { bundle: true, minify: true, format: "esm", platform: "browser", write: false };

for (const [names, bound] of Object.entries(BOUNDS)) {
  const contents = `import ${names} from "../src/index.js"; console.log(${names});`;
  const { outputFiles } = await build({ ...options, stdin: { contents, resolveDir: import.meta.dirname } });
  const [{ contents: bytes }] = outputFiles;
  const compressed = gzipSync(bytes).length;
  console.log(`${names}: ${bytes.length} bytes, ${compressed} compressed`);
  if (compressed > bound) {
    console.error(`${names} may have ${bound} bytes, compressed.`);
    process.exitCode = 1;
  }
}
