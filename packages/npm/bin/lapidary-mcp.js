#!/usr/bin/env node
// Starts the program of this platform, which npm has installed as an optional dependency.
"use strict";

const { spawn } = require("node:child_process");
const path = require("node:path");

const slot = `${process.platform}-${process.arch}`;
const name = `lapidary-mcp-${slot}`;
const file = process.platform === "win32" ? "lapidary.exe" : "lapidary";

let program;
try {
  program = path.join(path.dirname(require.resolve(`${name}/package.json`)), "bin", file);
} catch {
  console.error(
    `lapidary-mcp: there is no program for ${slot} (package ${name}). If npm was told to leave out optional dependencies, ` +
      "install without that; otherwise build from source: https://github.com/@repository@",
  );
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit", windowsHide: true });
// The program ends by itself when its input does; a signal to us is meant for it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`lapidary-mcp: ${program} cannot be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code ?? 1);
  }
});
