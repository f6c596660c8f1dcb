"""Other MCP servers, as people run them, behind Lapidary: the filesystem server of npm, one made with the official Python package
(garden.py, over standard input and output and over HTTP), and Lapidary itself with another vault. The client is the official one.

    python servers.py BINARY [PART_OF_A_CHECK'S_NAME]
"""

import asyncio
import base64
import contextlib
import json
import logging
import os
import pty
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from mcp import MCPError

from client import BINARY, ONLY, Person, World, call, done, refused

HERE = Path(__file__).parent
PATIENCE = 60
MARK = "Text of strangers"
PICTURE = HERE / "graph_small.png"

# The tools of the garden that only read, as its owner says; `remember` and `grow` are not among them.
READS = ["count", "beds", "picture", "trample", "orders", "obsidian_get_note", "about_us", "wish", "tell", "speak", "sleep",
         "flood", "babble", "die", "grown"]


class Town(World):
    """A vault whose owner has configured other servers."""

    def __init__(self, folder: Path, era: str = "legacy"):
        super().__init__(folder, "stdio", era)
        for name in ("disk", "garden", "other"):
            (folder / name).mkdir()
        self.put("Here.md", b"# Here\n\nOur own words.\n")
        (folder / "other" / "There.md").write_text("# There\n\nWords of the other vault.\n")
        (folder / "disk" / "a.txt").write_text("first\nsecond\n")
        (folder / "disk" / "plan.png").write_bytes(PICTURE.read_bytes())
        (folder / "secret.txt").write_text("not of the disk\n")

    def configure(self, *servers: str):
        settings = self.folder / ".config" / "lapidary"
        settings.mkdir(parents=True, exist_ok=True)
        (settings / "lapidary.toml").write_text("\n".join(servers))

    def files_server(self, more: str = "") -> str:
        return f"""
            [mcp.servers.files]
            about = "files of my projects"
            command = "mcp-server-filesystem"
            args = [{json.dumps(str(self.folder / "disk"))}]
            read_only = ["read_*", "list_*", "search_files", "get_file_info", "directory_tree"]
            {more}
        """

    def garden(self, more: str = "") -> str:
        return f"""
            [mcp.servers.garden]
            about = "beds and plants"
            command = {json.dumps(sys.executable)}
            args = [{json.dumps(str(HERE / "garden.py"))}, {json.dumps(str(self.folder / "garden"))}]
            env = {{ SPADE = "sekret-spade" }}
            pass_env = ["PASSED_ON"]
            read_only = {json.dumps(READS)}
            {more}
        """

    def far(self, url: str, more: str = "") -> str:
        return f"""
            [mcp.servers.far]
            about = "another garden"
            url = {json.dumps(url)}
            token_env = "FAR_TOKEN"
            read_only = {json.dumps(READS)}
            {more}
        """

    def own(self, more: str = "") -> str:
        return f"""
            [mcp.servers.own]
            about = "another vault"
            command = {json.dumps(BINARY)}
            args = ["--vault", {json.dumps(str(self.folder / "other"))}]
            env = {{ LAPIDARY_STATE_DIR = {json.dumps(str(self.folder / "other state"))} }}
            read_only = ["obsidian_get_note", "obsidian_search_notes", "call_tool"]
            {more}
        """

    def open(self, **settings):
        # The same call again is not what is tested here. A call may have to start several programs.
        return self.connect(patience=PATIENCE, LAPIDARY_REPETITION="off", PASSED_ON="passed on", NOT_PASSED_ON="sekret-own",
                            FAR_TOKEN="sekret-token", **settings)

    def sleeps(self) -> list[str]:
        file = self.folder / "garden" / "sleeps.txt"
        return file.read_text().split() if file.exists() else []

    def kept(self) -> str:
        file = self.folder / "garden" / "kept.txt"
        return file.read_text() if file.exists() else ""

    def command(self, *arguments: str) -> str:
        """What a command of the owner prints."""
        ran = subprocess.run([BINARY, "--vault", str(self.vault), *arguments], env=self.environment({}), cwd=self.folder,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        assert ran.returncode == 0, (arguments, ran.stdout, ran.stderr)
        return ran.stdout

    def accept(self, approval: str):
        """The owner accepts what is pending, which takes a terminal."""
        terminal, other = pty.openpty()
        process = subprocess.Popen([BINARY, "--vault", str(self.vault), "approvals", "accept", approval], stdin=other,
                                   stdout=other, stderr=other, env=self.environment({}), cwd=self.folder,
                                   start_new_session=True)
        os.close(other)
        said = b""
        try:
            with contextlib.suppress(OSError):  # Its end has been closed.
                while piece := os.read(terminal, 65536):
                    said += piece
                    if b"[y/N]" in piece:
                        os.write(terminal, b"y\n")
            assert process.wait(PATIENCE) == 0, said.decode()
        finally:
            process.kill()
            process.wait()
            os.close(terminal)

    @contextlib.contextmanager
    def far_away(self):
        """The address of a garden over HTTP."""
        server = subprocess.Popen([sys.executable, str(HERE / "garden.py"), str(self.folder / "garden"), "http"],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            yield server.stdout.readline().strip()
        finally:
            server.kill()
            server.wait()
            server.stdout.close()


def text_of(result) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


async def of(client, server: str, tool: str, /, **arguments):
    """The reply of a tool of another server."""
    return await call(client, "mcp_call", server=server, tool=tool, arguments=arguments)


async def answered(client, server: str, tool: str, /, **arguments) -> dict:
    reply = await of(client, server, tool, **arguments)
    assert not reply.is_error, f"{server}/{tool} refused: {reply.structured_content}"
    assert reply.structured_content["server"] == server and reply.structured_content["tool"] == tool
    return reply.structured_content


async def fault(client, server: str, tool: str, /, **arguments) -> dict:
    """Why a call of another server was refused."""
    reply = await of(client, server, tool, **arguments)
    assert reply.is_error, f"{server}/{tool} should have been refused: {reply.structured_content}"
    return reply.structured_content["error"]


def gone(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/status").read_text().count("State:\tZ") == 1
    except FileNotFoundError:
        return True


async def until(what, why: str):
    """Waits for something that another program does in its own time."""
    end = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < end, why
        await asyncio.sleep(0.02)


CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


@check
async def what_other_servers_offer_is_found_and_read(folder):
    town = Town(folder)
    with town.far_away() as url:
        town.configure(town.files_server(), town.garden(), town.far(url), town.own())
        async with town.open() as client:
            ours = (await client.list_tools()).tools
            assert not [tool.name for tool in ours if tool.name.startswith("mcp_")], "they are deferred"
            servers = (await done(client, "mcp_tools"))["servers"]
            assert [server["name"] for server in servers] == ["files", "garden", "far", "own"], servers
            assert not any("tools" in server for server in servers), "none was started to be listed"
            found = await done(client, "find_tool", query="how many plants are in the north bed")
            assert found["elsewhere"] == ["garden: `beds and plants`"], found
            # Each by its own list.
            shown = await call(client, "mcp_tools", server="garden")
            listed = {tool["name"]: tool for tool in shown.structured_content["tools"]}
            assert {"count", "remember", "obsidian_get_note"} <= set(listed), listed
            assert listed["count"]["onlyReads"] is True and "onlyReads" not in listed["remember"]
            assert MARK in text_of(shown) and shown.structured_content["leftOut"] == 1, text_of(shown)
            found = await done(client, "mcp_tools", query="read the text of a file")
            assert ("files", "read_text_file") in [(tool["server"], tool["name"]) for tool in found["tools"][:5]], found["tools"]
            assert "unavailable" not in found, found
            known = await done(client, "find_tool", query="how many plants are in the north bed")
            assert any(line.startswith("garden/count: `How many plants") for line in known["elsewhere"]), known
            whole = (await done(client, "mcp_tools", server="garden", tool="count"))["tool"]
            assert whole["inputSchema"]["required"] == ["bed"] and "needsApproval" not in whole, whole
            assert (await done(client, "mcp_tools", server="files", tool="write_file"))["tool"]["needsApproval"] is True

            # What they answer.
            for server in ("garden", "far"):
                told = await answered(client, server, "count", bed="north", times=2)
                assert told["text"] == "24" and "structured" not in told, told
                beds = await of(client, server, "beds")
                assert json.loads(beds.structured_content["text"].split("\n}\n")[1]) == {"name": "süd 🌱", "plants": 3}, beds
                assert "structured" not in beds.structured_content and MARK in text_of(beds), beds
                seen = await of(client, server, "picture")
                assert "The garden in May" in text_of(seen), seen
                picture = next(block for block in seen.content if block.type == "image")
                assert picture.mime_type == "image/png" and picture.data == base64_of(PICTURE)
                failed = await answered(client, server, "trample", bed="middle")
                assert failed["failed"] is True and "There is no bed middle." in failed["text"], failed
                assert (await answered(client, server, "tell"))["text"] == "dug"
            text = await answered(client, "files", "read_text_file", path=str(folder / "disk" / "a.txt"))
            assert text["text"] == "first\nsecond\n" and "structured" not in text, text
            media = await of(client, "files", "read_media_file", path=str(folder / "disk" / "plan.png"))
            [shown] = [block for block in media.content if block.type == "image"]
            assert shown.data == base64_of(PICTURE), media.structured_content
            outside = await answered(client, "files", "read_text_file", path=str(folder / "secret.txt"))
            assert outside["failed"] is True and "Access denied" in outside["text"], outside
            there = await answered(client, "own", "obsidian_get_note", target={"type": "path", "path": "There.md"})
            assert "Words of the other vault" in json.dumps(there), there
            # One that is started by a Lapidary reaches no further servers.
            nested = await answered(client, "own", "call_tool", name="mcp_tools", arguments={})
            assert nested["failed"] is True and "mcp_tools" in json.dumps(nested), nested

            # What is wrong is said before anything is sent.
            wrong = await fault(client, "garden", "count", beds="north")
            assert wrong["data"]["reason"] == "invalid_arguments", wrong
            assert "`arguments.bed` is required" in wrong["message"], wrong
            unknown = await fault(client, "garden", "cuont", bed="north")
            assert unknown["data"]["reason"] == "server_tool_unknown" and unknown["data"]["nearest"] == ["count"], unknown
            unknown = await fault(client, "gardn", "count", bed="north")
            assert unknown["data"]["reason"] == "server_unknown" and "garden" in unknown["data"]["known"], unknown
            assert (await client.list_tools(cache_mode="bypass")).tools == ours, "the list is what it was"


@check
async def a_person_decides_about_what_may_change_something(folder):
    town = Town(folder)
    town.configure(town.files_server(), town.garden(), town.own())
    a, b = folder / "disk" / "b.txt", folder / "disk" / "c.txt"
    person = Person("decline")
    async with town.open(person=person) as client:
        await answered(client, "garden", "count", bed="north")
        assert person.questions == [], "a tool that the owner says only reads"
        for server, tool, arguments in (
            ("garden", "remember", {"text": "lantern"}),
            ("files", "write_file", {"path": str(a), "content": "lantern"}),
            ("own", "obsidian_write_note", {"target": {"type": "path", "path": "New.md"}, "content": "lantern"}),
        ):
            declined = await fault(client, server, tool, **arguments)
            assert declined["data"]["reason"] == "cancelled", declined
            question = person.questions.pop()
            assert all(part in question for part in (server, tool, "lantern", "cannot be undone")), question
        assert town.kept() == "" and not a.exists() and not (folder / "other" / "New.md").exists()
        person.action, person.says = "accept", True
        assert (await answered(client, "garden", "remember", text="lantern"))["text"] == "kept"
        assert town.kept() == "lantern\n"
        assert "failed" not in await answered(client, "files", "write_file", path=str(a), content="lantern")
        assert a.read_text() == "lantern"
        edit = {"path": str(a), "edits": [{"oldText": "lan", "newText": "lectern, lan"}]}
        assert "+lectern, lantern" in json.dumps(await answered(client, "files", "edit_file", **edit))
        assert a.read_text() == "lectern, lantern"
        await answered(client, "own", "obsidian_write_note", target={"type": "path", "path": "New.md"}, content="lantern\n")
        assert (folder / "other" / "New.md").read_text() == "lantern\n"
        assert len(person.questions) == 4, person.questions

    # Rules come before that, and the owner decides where the client cannot ask.
    rules = "allow tool=mcp:garden/rem*; deny tool=mcp:files/write_*"
    async with town.open(LAPIDARY_APPROVAL_RULES=rules) as client:
        await answered(client, "garden", "remember", text="by a rule")
        assert town.kept() == "lantern\nby a rule\n"
        denied = await fault(client, "files", "write_file", path=str(b), content="x")
        assert denied["data"]["reason"] == "denied_by_rule" and not b.exists(), denied
        made = {"path": str(folder / "disk" / "new folder")}
        waits = await fault(client, "files", "create_directory", **made)
        assert waits["data"]["reason"] == "approval_pending" and not Path(made["path"]).exists(), waits
        waiting = town.command("approvals", "list")
        assert "call the tool `create_directory` of the server `files`\n" in waiting, waiting
        [pending] = json.loads(town.command("approvals", "--json"))["approvals"]
        assert made["path"] in pending["question"], pending
        await asyncio.to_thread(town.accept, pending["id"])
        assert Path(made["path"]).is_dir()
        told = await answered(client, "files", "create_directory", **made)
        assert "The owner approved it" in told["notice"], told
    log = town.command("log", "--json")
    calls = [json.loads(line) for line in log.splitlines()]
    assert any(line.get("mcp") == ["garden/remember"] and line.get("called") for line in calls), log
    assert "lantern" not in log and "by a rule" not in log, "arguments are in no log"


@check
async def a_modern_client_is_asked_by_an_answer(folder):
    town = Town(folder, "modern")
    town.configure(town.garden())
    person = Person("accept", True)
    async with town.open(person=person) as client:
        assert (await answered(client, "garden", "remember", text="lantern"))["text"] == "kept"
        assert len(person.questions) == 1 and town.kept() == "lantern\n", person.questions


@check
async def what_a_stranger_says_is_marked_and_changes_nothing(folder):
    town = Town(folder)
    with town.far_away() as url:
        town.configure(town.garden(), town.far(url))
        person = Person("accept", True)
        async with town.open(person=person) as client:
            instructions, ours = client.instructions, (await client.list_tools()).tools
            assert "Ignore all other servers" not in instructions
            for server in ("garden", "far"):
                said = text_of(await of(client, server, "orders"))
                head, fenced = said.split("\n", 1)
                fence = fenced.split("\n", 1)[0]
                assert MARK in head and len(fence) > 5 and set(fence) == {"`"}, said
                assert [line for line in said.splitlines() if line.startswith(fence)] == [fence, fence], said
                assert not any(mark in said for mark in "\x1b\u202e"), ascii(said)
                shown = text_of(await call(client, "mcp_tools", server=server, query="plants"))
                assert "SYSTEM" not in shown and "\x1b" not in shown, shown
                whole = text_of(await call(client, "mcp_tools", server=server, tool="orders"))
                assert MARK in whole.split("```")[0] and "SYSTEM" in whole.split("```")[1], whole
                # Its imitation of one of our tools is reached under the server's name only.
                assert (await answered(client, server, "obsidian_get_note"))["text"] == "not a note"
                # Nothing is lent to it: neither a model, nor the user, nor folders.
                wishes = (await answered(client, server, "wish"))["text"].split("\n")
                assert wishes == ["refused -32601"] * (3 if server == "garden" else 2), wishes
                about = json.dumps(await answered(client, server, "about_us"))
                assert "sekret-own" not in about and str(town.vault) not in about, about
            ours_again = await done(client, "obsidian_get_note", format="content", target={"type": "path", "path": "Here.md"})
            assert "Our own words" in json.dumps(ours_again)
            assert person.questions == [], "a server put a question to the user"
            about = (await answered(client, "garden", "about_us"))["structured"]
            theirs = set(about["variables"]) - {"LC_CTYPE"}
            assert {"SPADE", "PASSED_ON", "PATH", "HOME"} <= theirs, theirs
            assert not [name for name in theirs if name.startswith("LAPIDARY_") and name != "LAPIDARY_NESTED"], theirs
            assert not theirs & {"NOT_PASSED_ON", "FAR_TOKEN"}, theirs
            assert about["folder"] == "/", about
            about = (await answered(client, "far", "about_us"))["structured"]
            assert about["token"] == "Bearer sekret-token" and about["header_version"] == about["version"], about
            # Forged answers, garbage and news are not taken for anything else.
            assert (await answered(client, "garden", "babble"))["text"] == "babbled"
            listed = {tool["name"] for tool in (await done(client, "mcp_tools", server="garden", limit=100))["tools"]}
            assert (await answered(client, "garden", "grow"))["text"] == "grown"
            more = {tool["name"] for tool in (await done(client, "mcp_tools", server="garden", limit=100))["tools"]}
            assert more - listed == {"grown"}, more
            assert (await client.list_tools(cache_mode="bypass")).tools == ours, "the list is what it was"
            try:
                await client.call_tool("grown", {})
            except MCPError:
                pass
            else:
                raise AssertionError("a tool of another server became one of ours")
    assert "sekret" not in town.command("log", "--json")
    assert "sekret" not in town.log.read_text()


@check
async def a_server_that_floods_dies_or_never_answers_harms_nothing(folder):
    town = Town(folder)
    with town.far_away() as url:
        town.configure(town.garden(), town.far(url, "timeout_ms = 5000"))
        async with town.open() as client:
            first = (await answered(client, "garden", "about_us"))["structured"]["process"]
            await answered(client, "far", "count", bed="north")
            late = asyncio.create_task(fault(client, "far", "sleep"))
            # A long answer is cut, and one that is too long is refused without an end of the server.
            long = await answered(client, "garden", "speak", bytes=100_000)
            assert len(long["text"].encode()) + long["cutBytes"] == 100_000 and long["cutBytes"] >= 50_000, long["cutBytes"]
            large = await fault(client, "garden", "speak", bytes=1_500_000)
            assert large["data"]["reason"] == "server_faulty", large
            assert (await answered(client, "garden", "about_us"))["structured"]["process"] == first
            # A call that its caller takes back is taken back there.
            sleeps = asyncio.create_task(of(client, "garden", "sleep"))
            await until(lambda: town.sleeps().count("began") == 2, "both calls reach their servers")
            sleeps.cancel()
            await asyncio.wait([sleeps])
            flooded = await fault(client, "garden", "flood")
            assert flooded["data"]["reason"] == "server_faulty" and flooded["data"]["mayHaveActed"] is True, flooded
            assert gone(first), "a program that floods is ended"
            second = (await answered(client, "garden", "about_us"))["structured"]["process"]
            assert second != first
            dead = await fault(client, "garden", "die")
            assert dead["data"]["reason"] == "server_unavailable" and dead["data"]["mayHaveActed"] is True, dead
            third = (await answered(client, "garden", "about_us"))["structured"]["process"]
            slow = await late
            assert slow["data"]["reason"] == "server_timeout" and slow["data"]["mayHaveActed"] is True, slow
            await until(lambda: town.sleeps().count("cancelled") == 2, f"both are told: {town.sleeps()}")
            assert (await answered(client, "far", "count", bed="north"))["text"] == "12"
            note = await done(client, "file_read", file="Here.md")
            assert note["content"] == "# Here\n\nOur own words.\n"
        await until(lambda: gone(third), "the program ends with Lapidary")


def base64_of(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()


async def run_one(function, folder: Path):
    async with asyncio.timeout(PATIENCE):
        await function(folder)
    logs = [file.read_text() for file in folder.glob("server.log")]
    assert not any("panicked" in log for log in logs), logs


def failure_of(function) -> str:
    """What went wrong, or nothing."""
    with tempfile.TemporaryDirectory(prefix="lapidary-outside-") as folder:
        try:
            asyncio.run(run_one(function, Path(folder)))
        except Exception as error:
            while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
                error = error.exceptions[0]
            log = Path(folder, "server.log")
            return "".join(traceback.format_exception(error)) + (log.read_text() if log.exists() else "")
    return ""


def main() -> int:
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    passed = failed = 0
    for function in CHECKS:
        if ONLY not in function.__name__:
            continue
        if failure := failure_of(function):
            failed += 1
            print(f"FAILED: {function.__name__}\n{failure}")
        else:
            passed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
