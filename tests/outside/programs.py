"""Codex and Claude Code as people install them, without a model: they register or show their document, sign in by OAuth or
with a token, and connect. What they are asked in a browser is answered by sign_in.py.

    python programs.py BINARY      (`codex` and `claude` are looked for in PATH)
"""

import json
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.request
from pathlib import Path

from sign_in import BINARY, Browser, server

PATIENCE = 60


class Program:
    """A program with its own home, so that nothing of the person who runs the tests is used."""

    def __init__(self, folder, **more):
        home = Path(folder, "home")
        (home / ".codex").mkdir(parents=True)
        quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "NO_COLOR": "1"}
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(home), "CODEX_HOME": str(home / ".codex"),
                            "TERM": "dumb", "COLUMNS": "1000", **quiet, **more}
        self.folder = home

    def run(self, *command):
        done = subprocess.run(command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    def sign_in(self, *command, paste=False, **choices):
        """Runs a command that prints where to sign in, goes there, and takes the answer back to it; what it said."""
        terminal, other = pty.openpty()
        process = subprocess.Popen(command, cwd=self.folder, env=self.environment, stdin=other, stdout=other,
                                   stderr=other, start_new_session=True)
        os.close(other)
        said, address, end = "", None, time.monotonic() + PATIENCE
        try:
            while time.monotonic() < end:
                if not select.select([terminal], [], [], 0.1)[0]:
                    if process.poll() is not None:
                        break
                    continue
                try:
                    piece = os.read(terminal, 65536).decode(errors="replace")
                except OSError:  # The program has closed its end.
                    break
                said += piece
                plain = re.sub(r"\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b\[[0-9;?]*[a-zA-Z]", "", said)
                # Whole only when something follows it.
                found = re.search(r"(http://127\.0\.0\.1:\d+/authorize\?\S+)\s", plain)
                if found and not address:
                    address = found[1]
                    answer = Browser().consent(address, **choices)
                    if paste:
                        os.write(terminal, answer.encode() + b"\r")
                    else:
                        urllib.request.urlopen(answer, timeout=PATIENCE).read()
            assert process.wait(max(1, end - time.monotonic())) == 0, said
        finally:
            process.kill()
            process.wait()
            os.close(terminal)
        assert address, said
        return address, said


def token(*words):
    """A token of the owner, made beside the running server."""
    done = subprocess.run([BINARY, "token", "create", *words], env=server.environment, capture_output=True, text=True,
                          check=True)
    return done.stdout.strip()


def codex_tools(program):
    """The tools that Codex finds at each server, asked for as its own interfaces do."""
    process = subprocess.Popen(["codex", "app-server"], cwd=program.folder, env=program.environment,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        def ask(number, method, params):
            process.stdin.write(json.dumps({"id": number, "method": method, "params": params}) + "\n")
            process.stdin.flush()
            for line in process.stdout:
                message = json.loads(line)
                if message.get("id") == number:
                    assert "result" in message, message
                    return message["result"]
            raise AssertionError("codex app-server ended")

        ask(1, "initialize", {"clientInfo": {"name": "test", "title": "test", "version": "1"}})
        found = ask(2, "mcpServerStatus/list", {})
        return {server["name"]: set(server["tools"]) for server in found["data"]}
    finally:
        process.kill()
        process.wait()


def codex_signs_in(url, folder, way):
    program = Program(folder)
    Path(program.environment["CODEX_HOME"], "config.toml").write_text(f'[mcp_servers.notes]\nurl = "{url}"\n')
    address, _ = program.sign_in("codex", "mcp", "login", "notes", "--oauth-client-registration", way)
    assert ("chatgpt.com" in address) == (way == "cimd"), address
    assert "code_challenge_method=S256" in address and "resource=" in address, address
    listed = json.loads(program.run("codex", "mcp", "list", "--json"))
    assert listed[0]["auth_status"] in ("o_auth", "oauth"), listed
    tools = codex_tools(program)["notes"]
    # The owner chose `reader`.
    assert "obsidian_get_note" in tools and "obsidian_write_note" not in tools, tools


def codex_signs_in_with_its_document(url, folder):
    codex_signs_in(url, folder, "cimd")


def codex_signs_in_after_registering(url, folder):
    codex_signs_in(url, folder, "dcr")


def codex_connects_with_a_token(url, folder):
    program = Program(folder, NOTES_TOKEN=token("codex", "--profile", "reader"))
    program.run("codex", "mcp", "add", "notes", "--url", url, "--bearer-token-env-var", "NOTES_TOKEN")
    tools = codex_tools(program)["notes"]
    assert "obsidian_get_note" in tools and "obsidian_write_note" not in tools, tools


def claude_code_signs_in(url, folder):
    program = Program(folder)
    program.run("claude", "mcp", "add", "--transport", "http", "notes", url)
    assert "Needs authentication" in program.run("claude", "mcp", "list")
    address, _ = program.sign_in("claude", "mcp", "login", "notes", "--no-browser", paste=True)
    assert "code_challenge_method=S256" in address and "resource=" in address, address
    assert "Connected" in program.run("claude", "mcp", "list")


def claude_code_connects_with_a_token(url, folder):
    program = Program(folder)
    header = f"Authorization: Bearer {token('claude')}"
    program.run("claude", "mcp", "add", "--transport", "http", "notes", url, "--header", header)
    assert "Connected" in program.run("claude", "mcp", "list")
    program.run("claude", "mcp", "add", "--transport", "http", "other", url, "--header", header + "x")
    other = next(line for line in program.run("claude", "mcp", "list").splitlines() if line.startswith("other"))
    assert "Connected" not in other, other


CHECKS = [codex_signs_in_with_its_document, codex_signs_in_after_registering, codex_connects_with_a_token,
          claude_code_signs_in, claude_code_connects_with_a_token]


def main():
    passed = failed = 0
    for check in CHECKS:
        try:
            with server() as url, tempfile.TemporaryDirectory() as folder:
                check(url, folder)
            passed += 1
        except Exception:
            failed += 1
            print(f"{check.__name__} failed:\n{traceback.format_exc()}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(bool(failed))


main()
