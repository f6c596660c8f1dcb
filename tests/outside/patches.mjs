// Sections of generated notes, changed by Lapidary and by markdown-patch, the engine behind the tools it replaces: line by
// line they say the same. Blank lines are left out of the comparison: the version on npm drops some that newer ones keep.
//
//     patches.mjs BINARY      with MODULES set to the folder that holds markdown-patch
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const { applyPatch } = createRequire(join(process.env.MODULES, "x"))("markdown-patch");
const CASES = 400;

let seed = 1;
const below = (n) => ((seed = (seed * 1103515245 + 12345) % 2147483648), Math.floor((seed / 2147483648) * n));
const one = (list) => list[below(list.length)];

// Every heading has a name of its own, and every section some text: what is ambiguous or empty is for other tests.
function note() {
  let text = below(2) ? "---\nstatus: open\nlist:\n  - a\n---\n" : "";
  const path = [];
  const paths = [];
  for (let n = 0; n < 2 + below(5); n++) {
    const level = 1 + below(Math.min(3, path.length + 1));
    path.length = Math.min(level - 1, path.length);
    path.push(`H${n}`);
    paths.push([...path]);
    text += `${"#".repeat(path.length)} H${n}\n${below(2) ? "\n" : ""}`;
    text += one(["plain text\n", "- item\n- item\n", "```\n# no heading\n```\n", "> quote\n", "1. one\n2. two\n"]);
    text += below(2) ? "\n" : "";
  }
  return { text, paths };
}

const lines = (text) => text.split("\n").filter((line) => line.trim() !== "");

const folder = mkdtempSync(join(tmpdir(), "lapidary-patches-"));
mkdirSync(join(folder, "vault"));
const server = spawn(process.argv[2], ["--vault", join(folder, "vault"), "--tools", "obsidian"], {
  stdio: ["pipe", "pipe", "inherit"],
  env: { PATH: process.env.PATH, HOME: folder, LAPIDARY_STATE_DIR: join(folder, "state"), LAPIDARY_REPETITION: "off" },
});
const replies = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
async function request(id, method, params) {
  server.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
  for (;;) {
    const reply = JSON.parse((await replies.next()).value);
    if (reply.id === id) return reply.result;
  }
}

let passed = 0;
let failed = 0;
try {
  await request(0, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "patches", version: "1" } });
  server.stdin.write(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }) + "\n");
  for (let n = 1; n <= CASES; n++) {
    const { text, paths } = note();
    const operation = one(["append", "prepend", "replace"]);
    const target = one(paths);
    const content = one([`new ${n}\n`, `- new ${n}\n`, `new ${n}\n\nmore\n`, "##### Deeper\n\nnew\n", "> new\n"]);
    const path = join(folder, "vault", `${n}.md`);
    writeFileSync(path, text);
    const expected = applyPatch(text, {
      operation, targetType: "heading", target, content, contentType: "text/markdown", applyIfContentPreexists: true,
    });
    const result = await request(n, "tools/call", {
      name: "obsidian_patch_note",
      arguments: {
        target: { type: "path", path: `${n}.md` }, section: { type: "heading", target: target.join("::") }, operation, content,
        patchOptions: { applyIfContentPreexists: true },
      },
    });
    const found = readFileSync(path, "utf8");
    if (!result.isError && JSON.stringify(lines(found)) === JSON.stringify(lines(expected))) {
      passed++;
    } else {
      failed++;
      console.log(JSON.stringify({ text, operation, target, content, expected, found, error: result.isError && result.content[0].text }));
    }
  }
} finally {
  const ended = new Promise((done) => server.once("exit", done));
  server.stdin.end();
  await ended;
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
