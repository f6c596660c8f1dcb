// Programs that were written for the plugin Local REST API, with Lapidary in its place: MCP servers from npm and PyPI list,
// read, search, patch, write and delete notes, and the files are what they should be.
//
//     rest.mjs BINARY      with MODULES set to the folder of the MCP client, and PROGRAMS to the folder of the programs
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

const sdk = join(process.env.MODULES, "@modelcontextprotocol/sdk/dist/esm/client");
const { Client } = await import(join(sdk, "index.js"));
const { StdioClientTransport } = await import(join(sdk, "stdio.js"));

const KEY = "a-key-of-the-plugin-0123456789";
const NOTE = "---\nstatus: open\n---\n\n# Plan\n\nlantern\n\n## Tasks\n\n- one\n\n# Log\n\nrain\n";
let passed = 0;
let failed = 0;

function check(what, holds, found) {
  if (holds) return passed++;
  failed++;
  console.log(`failed: ${what}: ${JSON.stringify(found)}`);
}

/// A vault with the plugin's settings, and Lapidary's REST API on it.
async function serve(environment) {
  const folder = mkdtempSync(join(tmpdir(), "lapidary-rest-"));
  const vault = join(folder, "vault");
  const write = (path, text) => {
    mkdirSync(dirname(join(vault, path)), { recursive: true });
    writeFileSync(join(vault, path), text);
  };
  write(".obsidian/plugins/obsidian-local-rest-api/data.json", JSON.stringify({ apiKey: KEY }));
  write(".obsidian/app.json", JSON.stringify({ trashOption: "local" }));
  write("Projects/Plan.md", NOTE);
  write("other.md", "#tagged lamp\n");
  const server = spawn(process.argv[2], ["serve", "--vault", vault, "--rest", "0"], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: process.env.PATH, HOME: folder, LAPIDARY_STATE_DIR: join(folder, "state"), ...environment },
  });
  const port = await new Promise((found, lost) => {
    createInterface({ input: server.stderr }).on("line", (line) => {
      const told = /serving the REST API at http:\/\/127\.0\.0\.1:(\d+)/.exec(line);
      if (told) found(told[1]);
    });
    server.on("exit", (code) => lost(new Error(`the server ended with ${code}`)));
  });
  const read = (path) => (existsSync(join(vault, path)) ? readFileSync(join(vault, path), "utf8") : null);
  const end = () => {
    server.removeAllListeners("exit");
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  return { port, read, end };
}

async function client(command, args, env) {
  const transport = new StdioClientTransport({ command, args, env: { PATH: process.env.PATH, ...env }, stderr: "ignore" });
  const client = new Client({ name: "outside", version: "1" });
  await client.connect(transport);
  const call = async (name, given) => {
    const answer = await client.callTool({ name, arguments: given });
    return { ...answer, words: (answer.content ?? []).map((part) => part.text ?? "").join("\n") };
  };
  return { call, close: () => client.close() };
}

async function obsidianMcpServer(version) {
  // These versions were written for version 4 of the plugin; 3.2.10 and later say which format they send.
  const { port, read, end } = await serve({ LAPIDARY_REST_PATCH_FORMAT: "1" });
  const program = join(process.env.PROGRAMS, `obsidian-mcp-server-${version}`, "node_modules/obsidian-mcp-server/dist/index.js");
  const env = { OBSIDIAN_API_KEY: KEY, OBSIDIAN_BASE_URL: `http://127.0.0.1:${port}`, OBSIDIAN_VERIFY_SSL: "false" };
  const { call, close } = await client("node", [program], { ...env, MCP_TRANSPORT_TYPE: "stdio", MCP_LOG_LEVEL: "error" });
  const target = { type: "path", path: "Projects/Plan.md" };
  const heading = (target) => ({ type: "heading", target });
  const name = `obsidian-mcp-server ${version}`;
  try {
    let answer = await call("obsidian_list_notes", { path: "" });
    check(`${name} lists`, /Plan\.md/.test(answer.words), answer);
    answer = await call("obsidian_get_note", { format: "full", target });
    check(`${name} reads`, answer.words.includes("lantern") && answer.words.includes("status"), answer);
    answer = await call("obsidian_get_note", { format: "document-map", target });
    check(`${name} maps`, answer.words.includes("Plan::Tasks"), answer);
    answer = await call("obsidian_search_notes", { mode: "text", query: "lantern" });
    check(`${name} searches words`, answer.words.includes("Projects/Plan.md"), answer);
    answer = await call("obsidian_search_notes", { mode: "jsonlogic", logic: { "==": [{ var: "frontmatter.status" }, "open"] } });
    check(`${name} searches by rule`, answer.words.includes("Projects/Plan.md"), answer);
    answer = await call("obsidian_list_tags", {});
    check(`${name} lists tags`, answer.words.includes("tagged"), answer);
    answer = await call("obsidian_patch_note", { target, section: heading("Plan::Tasks"), operation: "append", content: "- two\n" });
    check(`${name} patches`, /- one\n\n?- two\n/.test(read("Projects/Plan.md")), [answer, read("Projects/Plan.md")]);
    answer = await call("obsidian_manage_frontmatter", { operation: "set", target, key: "status", value: "done" });
    check(`${name} sets a property`, read("Projects/Plan.md").includes("status: done"), answer);
    answer = await call("obsidian_append_to_note", { target, content: "end\n" });
    check(`${name} appends`, read("Projects/Plan.md").endsWith("rain\nend\n"), answer);
    answer = await call("obsidian_write_note", { target: { type: "path", path: "new/note.md" }, content: "new\n" });
    check(`${name} writes`, read("new/note.md") === "new\n", answer);
    answer = await call("obsidian_delete_note", { target: { type: "path", path: "new/note.md" } });
    check(`${name} deletes`, read("new/note.md") === null && read(".trash/note.md") === "new\n", answer);
  } finally {
    await close();
    end();
  }
}

async function mcpObsidian() {
  // It sends the headers of format 1 without saying so.
  const { port, read, end } = await serve({ LAPIDARY_REST_PATCH_FORMAT: "1" });
  const env = { OBSIDIAN_API_KEY: KEY, OBSIDIAN_PROTOCOL: "http", OBSIDIAN_HOST: "127.0.0.1", OBSIDIAN_PORT: port };
  const { call, close } = await client(join(process.env.PROGRAMS, "venv/bin/mcp-obsidian"), [], env);
  const file = "Projects/Plan.md";
  const name = "mcp-obsidian";
  try {
    let answer = await call("obsidian_list_files_in_vault", {});
    check(`${name} lists`, answer.words.includes("Projects/"), answer);
    answer = await call("obsidian_list_files_in_dir", { dirpath: "Projects" });
    check(`${name} lists a folder`, answer.words.includes("Plan.md"), answer);
    answer = await call("obsidian_get_file_contents", { filepath: file });
    check(`${name} reads`, answer.words.includes("lantern"), answer);
    answer = await call("obsidian_simple_search", { query: "lantern" });
    check(`${name} searches words`, answer.words.includes(file), answer);
    answer = await call("obsidian_complex_search", { query: { glob: ["Proj*", { var: "path" }] } });
    check(`${name} searches by rule`, answer.words.includes(file), answer);
    answer = await call("obsidian_patch_content", { filepath: file, operation: "append", target_type: "heading", target: "Plan::Tasks", content: "- two\n" });
    check(`${name} patches`, /- one\n\n?- two\n/.test(read(file)), [answer, read(file)]);
    answer = await call("obsidian_append_content", { filepath: file, content: "end\n" });
    check(`${name} appends`, read(file).endsWith("rain\nend\n"), answer);
    answer = await call("obsidian_put_content", { filepath: "new/note.md", content: "new\n" });
    check(`${name} writes`, read("new/note.md") === "new\n", answer);
    answer = await call("obsidian_delete_file", { filepath: "new/note.md", confirm: true });
    check(`${name} deletes`, read("new/note.md") === null && read(".trash/note.md") === "new\n", answer);
  } finally {
    await close();
    end();
  }
}

for (const part of [() => obsidianMcpServer("3.1.5"), () => obsidianMcpServer("3.2.9"), mcpObsidian]) {
  try {
    await part();
  } catch (error) {
    failed++;
    console.log(`failed: ${error.stack ?? error}`);
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
