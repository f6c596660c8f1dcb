"""Skills as third-party programs see them: Codex and Claude Code list the one that `lapidary skill install` writes, without a model,
and the conformance suite looks at those that are served (SEP-2640), in a vault with skills of its user.

    python skills.py BINARY      (`codex`, `claude` and `conformance` are looked for in PATH)
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

from client import BINARY, World

PATIENCE = 60

# Warnings of the suite that are right as they are: no skill is in the list of resources, which is for notes; and reading folders is
# optional.
KNOWN = {"sep-2640-skillmd-metadata-name", "sep-2640-skillmd-metadata-description"}


class Home(World):
    """A vault, and the home of a user who has programs that know skills."""

    def __init__(self, folder: Path):
        super().__init__(folder, "http", "modern")
        self.put("A.md", b"# A\n")

    def environment(self, settings: dict[str, str]) -> dict[str, str]:
        (self.folder / ".codex").mkdir(exist_ok=True)
        quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "NO_COLOR": "1", "TERM": "dumb"}
        # Nothing answers there, and nothing is needed of it.
        model = {"ANTHROPIC_API_KEY": "x", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
        return super().environment({"CODEX_HOME": str(self.folder / ".codex"), **quiet, **model, **settings})

    def lapidary(self, *arguments: str) -> str:
        ran = subprocess.run([BINARY, *arguments], env=self.environment({}), cwd=self.folder, stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=PATIENCE)
        assert ran.returncode == 0, (arguments, ran.stdout, ran.stderr)
        return ran.stdout

    @contextlib.contextmanager
    def program(self, *command: str):
        process = subprocess.Popen(command, cwd=self.folder, env=self.environment({}), stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.wait()
            process.stdin.close()
            process.stdout.close()


def described_by(skill: Path) -> str:
    """What the skill says of itself, in its second property."""
    return json.loads(skill.read_text().split("\ndescription: ", 1)[1].split("\n", 1)[0])


def codex_skills(home: Home) -> dict[str, dict]:
    with home.program("codex", "app-server") as process:
        client = {"clientInfo": {"name": "test", "title": "test", "version": "1"}}
        for number, method, params in ((1, "initialize", client), (2, "skills/list", {"cwds": [str(home.folder)]})):
            process.stdin.write(json.dumps({"id": number, "method": method, "params": params}) + "\n")
            process.stdin.flush()
            for line in process.stdout:
                message = json.loads(line)
                if message.get("id") == number:
                    break
        [found] = message["result"]["data"]
        assert not found["errors"], found["errors"]
        return {skill["name"]: skill for skill in found["skills"]}


def claude_skills(home: Home) -> list[str]:
    command = ("claude", "-p", "hello", "--output-format", "stream-json", "--verbose")
    with home.program(*command) as process:
        process.stdin.close()
        # What it has is said before a model is asked.
        for line in process.stdout:
            message = json.loads(line)
            if message.get("subtype") == "init":
                return message["skills"]
    raise AssertionError("claude ended before it said what it has")


def codex_lists_the_skill_about_lapidary(home: Home):
    assert "lapidary" not in codex_skills(home)
    home.lapidary("skill", "install", "--vault", str(home.vault), "codex", "--yes")
    skill = codex_skills(home)["lapidary"]
    file = home.folder / ".agents" / "skills" / "lapidary" / "SKILL.md"
    assert skill["enabled"] is True and Path(skill["path"]).resolve() == file.resolve(), skill
    assert skill["description"] == described_by(file) and "`vault`" in skill["description"], skill
    home.lapidary("skill", "uninstall", "codex", "--yes")
    assert "lapidary" not in codex_skills(home)


def claude_code_lists_the_skill_about_lapidary(home: Home):
    assert "lapidary" not in claude_skills(home)
    home.lapidary("skill", "install", "--vault", str(home.vault), "claude-code", "--yes")
    assert "lapidary" in claude_skills(home)
    home.lapidary("skill", "uninstall", "claude-code", "--yes")
    assert "lapidary" not in claude_skills(home)


def skills_of_a_vault_are_served_as_the_extension_says(home: Home):
    home.put("Skills/pdf-forms/SKILL.md", b"---\nname: pdf-forms\ndescription: Fills forms.\n---\n# Forms\n")
    home.put("Skills/pdf-forms/references/FORMS.md", "Grüße\r\n".encode())
    home.put("Skills/Weekly review.md", b"# Weekly review\n\nLook back.\n")
    with home.http_server([], {"LAPIDARY_SKILLS_FOLDER": "Skills"}) as url:
        for scenario, fewest in (("enumeration", 30), ("manifest", 3), ("directory", 1)):
            results = home.folder / scenario
            subprocess.run(["conformance", "server", "--url", url, "--scenario", f"sep-2640-skills-{scenario}",
                            "--spec-version", "2026-07-28", "--force", "-o", str(results)],
                           env=home.environment({}), stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
            [file] = results.glob("*/checks.json")
            checks = json.loads(file.read_text())
            passed = [check for check in checks if check["status"] == "SUCCESS"]
            wrong = [check for check in checks if check["status"] in ("FAILURE", "WARNING") and check["id"] not in KNOWN]
            assert not wrong and len(passed) >= fewest, (scenario, len(passed), wrong)


CHECKS = [codex_lists_the_skill_about_lapidary, claude_code_lists_the_skill_about_lapidary,
          skills_of_a_vault_are_served_as_the_extension_says]


def main():
    passed = failed = 0
    for check in CHECKS:
        try:
            # A program that was killed may still have been writing there.
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                check(Home(Path(folder)))
            passed += 1
        except Exception:
            failed += 1
            print(f"{check.__name__} failed:\n{traceback.format_exc()}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(bool(failed))


main()
