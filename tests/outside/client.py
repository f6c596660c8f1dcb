"""Lapidary as a user of the official Python client gets it: the replies and the bytes on disk.

    python client.py BINARY [PART_OF_A_CHECK'S_NAME]

Every check has its own vault and server. Most run four times: over stdio and over HTTP, each with a client of
the legacy era (`initialize`) and of the modern one (2026-07-28, `server/discover`).
"""

import asyncio
import base64
import contextlib
import hashlib
import io
import json
import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from pathlib import Path

import mcp_types as types
from jsonschema import Draft202012Validator
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from PIL import Image, ImageChops, ImageStat

BINARY = str(Path(sys.argv[1]).resolve())
ONLY = sys.argv[2] if len(sys.argv) > 2 else ""
CHECK_SECONDS = 20

CONNECTIONS = [(transport, era) for transport in ("stdio", "http") for era in ("legacy", "modern")]

# --- Faults of the server that are known ----------------------------------------------------------------------------

KNOWN_FAULTS: dict[str, list[tuple[str, str]]] = {}


def known_fault(why: str, shows: str, *names: str):
    """These checks (on one connection: "name [http modern]") fail, and `shows` is in what they say.

    Once one of them passes, its name has to go.
    """
    for name in names:
        KNOWN_FAULTS.setdefault(name, []).append((why, shows))


# --- A server to talk to ------------------------------------------------------------------------------------------


class World:
    """A vault in its own folder, and the connection to the server that serves it."""

    def __init__(self, folder: Path, transport: str, era: str):
        self.folder, self.transport, self.era = folder, transport, era
        self.vault = folder / "vault"
        self.vault.mkdir()
        self.log = folder / "server.log"
        self.log.touch()

    def put(self, path: str, content: bytes) -> str:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        return hash_of(content)

    def bytes(self, path: str) -> bytes:
        return (self.vault / path).read_bytes()

    def files(self) -> list[str]:
        """Everything in the vault, hidden files too: nothing may be left lying there."""
        return sorted(str(file.relative_to(self.vault)) for file in self.vault.rglob("*") if file.is_file())

    def environment(self, settings: dict[str, str]) -> dict[str, str]:
        # Nothing of the person who runs the tests: neither their configuration nor their state folder.
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "LAPIDARY_STATE_DIR": str(self.folder / "state"),
            **settings,
        }

    @contextlib.contextmanager
    def http_server(self, options: list[str], settings: dict[str, str]):
        """The address of a server that runs as long as the block does."""
        with self.log.open("ab") as log:
            server = subprocess.Popen(
                [BINARY, "--vault", str(self.vault), "--http", "127.0.0.1:0", *options],
                env=self.environment(settings), cwd=self.folder,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )
        try:
            yield self.address_in_log(server)
            assert server.poll() is None, f"the server ended by itself with {server.returncode}"
        finally:
            server.terminate()
            try:
                code = server.wait(5)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
                raise AssertionError("the server did not end on SIGTERM") from None
        assert code == 0, f"the server ended with {code} on SIGTERM"

    def address_in_log(self, server: subprocess.Popen) -> str:
        until = time.monotonic() + 10
        while time.monotonic() < until and server.poll() is None:
            if found := re.search(r"serving MCP at (http://\S+)", self.log.read_text()):
                return found[1]
            time.sleep(0.01)
        raise AssertionError(f"no server came up: {self.log.read_text()}")

    @contextlib.asynccontextmanager
    async def connect(self, *options: str, person=None, listener=None, era: str = "", url: str = "", patience: float = 10,
                      **settings: str):
        """A client. `person` answers the server's questions; without one the client cannot ask. `listener` hears news."""
        async with contextlib.AsyncExitStack() as stack:
            if self.transport == "stdio":
                log = stack.enter_context(self.log.open("a"))
                server = StdioServerParameters(
                    command=BINARY, args=["--vault", str(self.vault), *options],
                    env=self.environment(settings), cwd=self.folder,
                )
                target = stdio_client(server, errlog=log)
            else:
                target = url or stack.enter_context(self.http_server(list(options), settings))
            mode = {"legacy": "legacy", "modern": "auto"}.get(era or self.era, era)
            client = Client(
                target, mode=mode, elicitation_callback=person, message_handler=listener, read_timeout_seconds=patience,
            )
            yield await stack.enter_async_context(client)


def hash_of(content: bytes) -> str:
    return "sha256:" + hashlib.sha256(content).hexdigest()


class Person:
    """A user who answers every question in the same way and remembers the questions."""

    def __init__(self, action: str, says: bool | None = None, meanwhile=lambda: None):
        self.action, self.says, self.meanwhile = action, says, meanwhile
        self.questions: list[str] = []

    async def __call__(self, _context, question) -> types.ElicitResult:
        self.questions.append(question.message)
        self.meanwhile()
        return self.answer(question)

    def answer(self, question) -> types.ElicitResult:
        if self.says is None:
            return types.ElicitResult(action=self.action)
        fields = question.requested_schema["properties"]
        assert [field["type"] for field in fields.values()] == ["boolean"], f"more than a yes or no: {fields}"
        return types.ElicitResult(action=self.action, content={name: self.says for name in fields})


async def call(client: Client, tool: str, /, progress=None, **arguments):
    """Calls a tool and checks what holds for every reply, refused or not."""
    result = await client.call_tool(tool, arguments, progress_callback=progress)
    told = result.structured_content
    assert isinstance(told, dict), f"{tool} gave no structured content: {result}"
    assert any(block.type == "text" and block.text for block in result.content), f"{tool} gave no text: {result}"
    # The client itself validates successes only.
    for listed in (await client.list_tools()).tools:
        if listed.name == tool:
            Draft202012Validator(listed.output_schema).validate(told)
    return result


async def done(client: Client, tool: str, /, progress=None, **arguments) -> dict:
    result = await call(client, tool, progress=progress, **arguments)
    assert not result.is_error, f"{tool} refused: {result.structured_content}"
    return result.structured_content


async def refused(client: Client, tool: str, /, **arguments) -> dict:
    """The error of a refused call, in the form of the tool's family."""
    result = await call(client, tool, **arguments)
    assert result.is_error, f"{tool} should have refused: {result.structured_content}"
    return result.structured_content


def note(path: str) -> dict:
    return {"type": "path", "path": path}


# --- The checks ---------------------------------------------------------------------------------------------------

CHECKS: list[tuple] = []


def check(transports=("stdio", "http"), eras=("legacy", "modern")):
    """Registers a check for the connections on which it says something."""
    def register(function):
        CHECKS.append((function, [(t, e) for t, e in CONNECTIONS if t in transports and e in eras]))
        return function
    return register


@check()
async def the_server_introduces_itself_in_the_era_of_the_client(world):
    async with world.connect() as client:
        expected = {"legacy": "2025-11-25", "modern": "2026-07-28"}[world.era]
        assert client.protocol_version == expected, client.protocol_version
        assert client.server_info.name == "lapidary"
        assert client.server_capabilities.tools is not None
        assert "vault" in client.instructions
        # Codex shows only this much; it has to be self-contained.
        assert client.instructions[:512].count("\n\n") <= 1


@check(eras=("modern",))
async def a_modern_client_needs_no_discovery(world):
    world.put("A.md", b"alpha\n")
    async with world.connect(era="2026-07-28") as client:
        assert (await done(client, "file_read", file="A.md"))["content"] == "alpha\n"


@check()
async def listed_tools_are_complete_and_portable(world):
    async with world.connect() as client:
        tools = (await client.list_tools()).tools
        names = [tool.name for tool in tools]
        assert len(set(names)) == len(names)
        expected = {
            "obsidian_get_note", "obsidian_list_notes", "obsidian_list_tags", "obsidian_write_note", "str_replace",
            "find_tool", "call_tool",
        }
        assert expected <= set(names), names
        assert "file_read" not in names, "file_read is deferred"
        for tool in tools:
            assert re.fullmatch(r"[a-z][a-z0-9_]{0,39}", tool.name), tool.name
            assert tool.description and tool.title
            hints = tool.annotations
            assert hints is not None and None not in (
                hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint,
            ), f"{tool.name}: {hints}"
            Draft202012Validator.check_schema(tool.input_schema)
            Draft202012Validator.check_schema(tool.output_schema)
            # Some model APIs refuse the whole list because of one of these.
            combinators = {"anyOf", "oneOf", "allOf", "not", "if", "$ref", "enum"} & set(tool.input_schema)
            assert not combinators, f"{tool.name}: {combinators}"
            assert tool.input_schema["type"] == "object"
            assert tool.input_schema.get("additionalProperties", False) is False
            assert tool.output_schema["type"] == "object"
        again = (await client.list_tools(cache_mode="bypass")).tools
        assert again == tools, "the list changed by itself"


@check()
async def reading_gives_the_text_and_the_hash_of_the_bytes(world):
    digest = world.put("Ordner/Grüße 🌿.md", b"# Gr\xc3\xbc\xc3\x9fe\r\n\r\nhello\r\n")
    async with world.connect() as client:
        told = (await done(client, "obsidian_get_note", format="content", target=note("Ordner/Grüße 🌿.md")))["result"]
        assert told["content"] == "# Grüße\n\nhello\n"
        assert told["eol"] == "crlf"
        assert told["contentHash"] == digest
        full = (await done(client, "obsidian_get_note", format="full", target=note("Ordner/Grüße 🌿.md")))["result"]
        assert full["contentHash"] == digest and full["stat"]["size"] == len(world.bytes("Ordner/Grüße 🌿.md"))


@check()
async def a_missing_note_and_a_path_outside_are_refusals_not_protocol_errors(world):
    world.put("A.md", b"alpha\n")
    (world.folder / "secret.md").write_bytes(b"secret\n")
    async with world.connect() as client:
        missing = await refused(client, "obsidian_get_note", format="content", target=note("B.md"))
        assert missing["error"]["data"]["reason"] == "note_missing"
        outside = await refused(client, "obsidian_get_note", format="content", target=note("../secret.md"))
        assert outside["error"]["data"]["reason"] == "path_traversal"
        assert "secret\n" not in json.dumps(outside)
        outside = await refused(client, "str_replace", file="../secret.md", find="secret", replace="known")
        assert outside["ok"] is False and outside["code"] and outside["message"] and outside["error"]
        assert (world.folder / "secret.md").read_bytes() == b"secret\n"


@check()
async def writing_makes_exactly_the_note_that_was_asked_for(world):
    text = "---\ntags: [a]\n---\nGrüße 🌿\nlast line without end"
    async with world.connect() as client:
        told = await done(client, "obsidian_write_note", target=note("New folder/Note.md"), content=text)
        assert world.bytes("New folder/Note.md") == text.encode()
        assert told["created"] is True
        assert told["contentHash"] == hash_of(text.encode())
        assert told["currentSizeInBytes"] == len(text.encode())
        assert world.files() == ["New folder/Note.md"]


@check()
async def a_note_is_replaced_only_on_request_and_with_the_right_hash(world):
    digest = world.put("A.md", b"alpha\n")
    async with world.connect() as client:
        exists = await refused(client, "obsidian_write_note", target=note("A.md"), content="beta\n")
        assert exists["error"]["data"]["reason"] == "file_exists"
        stale = await refused(
            client, "obsidian_write_note", target=note("A.md"), content="beta\n", overwrite=True,
            expectedHash=hash_of(b"something else"),
        )
        assert stale["error"]["data"]["reason"] == "stale_precondition"
        assert digest not in json.dumps(stale), "what changed is to be read, not waved through"
        assert world.bytes("A.md") == b"alpha\n"
        arguments = {"target": note("A.md"), "content": "beta\n", "overwrite": True, "expectedHash": digest}
        told = await done(client, "obsidian_write_note", **arguments)
        assert world.bytes("A.md") == b"beta\n" and told["contentHash"] == hash_of(b"beta\n")
        assert told["created"] is False
        assert world.files() == ["A.md"]


@check()
async def an_edit_with_the_expected_hash_changes_its_span_only(world):
    world.put("A.md", b"\xef\xbb\xbf# A\r\n\r\none two  \r\nno end")
    async with world.connect() as client:
        digest = (await done(client, "file_read", file="A.md"))["contentHash"]
        told = await done(
            client, "str_replace", file="A.md", find="one two", replace="uno\ndue",
            expected_content_hash=digest,
        )
        # Byte order mark, line ends, trailing spaces and the missing end of line stay as they were.
        assert world.bytes("A.md") == b"\xef\xbb\xbf# A\r\n\r\nuno\r\ndue  \r\nno end"
        assert told["contentHash"] == hash_of(world.bytes("A.md"))
        assert told["replacedCount"] == 1 and told["changed"] is True
        assert world.files() == ["A.md"]


@check()
async def a_stale_hash_is_refused_with_the_current_one(world):
    world.put("A.md", b"one\n")
    async with world.connect() as client:
        seen = (await done(client, "file_read", file="A.md"))["contentHash"]
        digest = world.put("A.md", b"one, changed in Obsidian\n")
        edit = {"file": "A.md", "find": "one", "replace": "uno"}
        stale = await refused(client, "str_replace", **edit, expected_content_hash=seen)
        assert stale["code"] == stale["error"]["code"] == "STALE_PRECONDITION"
        assert stale["error"]["current_content_hash"] == digest
        assert world.bytes("A.md") == b"one, changed in Obsidian\n"
        await done(client, "str_replace", **edit, expected_content_hash=stale["error"]["current_content_hash"])
        assert world.bytes("A.md") == b"uno, changed in Obsidian\n"


@check()
async def a_dry_run_shows_the_change_and_makes_none(world):
    world.put("A.md", b"one\n")
    async with world.connect() as client:
        told = await done(client, "str_replace", file="A.md", find="one", replace="uno", dry_run=True)
        assert "-one\n+uno\n" in told["diff"] and told["dry_run"] is True
        told = await done(client, "obsidian_write_note", target=note("B.md"), content="b\n", dryRun=True)
        assert "+b\n" in told["diff"] and told["dryRun"] is True
        assert world.files() == ["A.md"] and world.bytes("A.md") == b"one\n"


@check()
async def an_unknown_argument_is_refused_with_the_nearest_name(world):
    world.put("A.md", b"one\n")
    async with world.connect() as client:
        told = await refused(client, "str_replace", file="A.md", find="one", replace="uno", expected_hash="x")
        assert told["code"] == "INVALID_ARGS"
        assert told["details"]["problems"][0]["nearest"] == "expected_content_hash"
        assert "expected_content_hash" in told["hint"]
        told = await refused(client, "obsidian_write_note", target=note("B.md"), content="b", overwrit=True)
        assert told["error"]["data"]["reason"] == "invalid_arguments"
        assert told["error"]["data"]["problems"][0]["nearest"] == "overwrite"
        assert world.files() == ["A.md"] and world.bytes("A.md") == b"one\n"


@check()
async def an_unknown_tool_is_a_protocol_error_that_names_the_nearest(world):
    async with world.connect() as client:
        try:
            told = await client.call_tool("strreplace", {})
        except MCPError as error:
            assert error.code == types.INVALID_PARAMS, error
            assert "str_replace" in str(error)
        else:
            raise AssertionError(f"answered {told}")
        # The connection survives it.
        assert (await client.list_tools(cache_mode="bypass")).tools


@check()
async def a_deferred_tool_runs_directly_and_through_call_tool(world):
    digest = world.put("A.md", b"alpha\n")
    async with world.connect(LAPIDARY_REPETITION="off") as client:
        direct = await done(client, "file_read", file="A.md")
        assert direct["content"] == "alpha\n" and direct["contentHash"] == digest
        for name in ("file_read", "file.read"):
            assert await done(client, "call_tool", name=name, arguments={"file": "A.md"}) == direct
        assert await done(client, "file.read", file="A.md") == direct
        told = await refused(client, "call_tool", name="file_reed", arguments={})
        assert "file_read" in json.dumps(told)


@check()
async def a_ranked_hit_leads_to_its_section_and_the_next_search_sees_an_edit(world):
    text = "💎\n# Roof\n\n## Gutter\n\nThe slates leak.\n\n## Ridge\n\nDry.\n"
    world.put("Plan.md", text.encode())
    world.put("Map.canvas", json.dumps({"nodes": [{"type": "text", "text": "slates to order"}]}).encode())
    async with world.connect(LAPIDARY_REPETITION="off") as client:
        async def search(query):
            return (await done(client, "obsidian_search_notes", mode="omnisearch", query=query))["result"]["hits"]

        assert [hit["filename"] for hit in await search("order slates")] == ["Map.canvas"]
        [hit] = await search("slaets leak")
        assert (hit["filename"], hit["section"]) == ("Plan.md", "Roof::Gutter"), hit
        found = hit["matches"][0]
        units = text.encode("utf-16-le")[2 * found["offset"]:]
        assert units.startswith(found["match"].encode("utf-16-le")), found
        section = {"type": "heading", "target": hit["section"]}
        part = await done(client, "obsidian_get_note", target=note("Plan.md"), format="section", section=section)
        assert "The slates leak." in json.dumps(part) and "Ridge" not in json.dumps(part), part
        world.put("Plan.md", b"Feldspar.\n")
        assert [hit["filename"] for hit in await search("feldspar")] == ["Plan.md"]
        assert [hit["filename"] for hit in await search("slates")] == ["Map.canvas"]


@check()
async def a_read_that_is_repeated_in_vain_is_stopped_but_not_after_a_change(world):
    world.put("A.md", b"alpha\n")
    async with world.connect() as client:
        for _ in range(3):
            assert (await done(client, "file_read", file="A.md"))["content"] == "alpha\n"
        if (world.transport, world.era) != ("http", "modern"):
            # There, the server cannot tell whether the same client asks again.
            assert (await refused(client, "file_read", file="A.md"))["error"]["reason"] == "repeated_call"
        # Otherwise the model would go on with a text that is no longer there.
        world.put("A.md", b"changed in Obsidian\n")
        assert (await done(client, "file_read", file="A.md"))["content"] == "changed in Obsidian\n"
        await done(client, "str_replace", file="A.md", find="Obsidian", replace="Lapidary")
        assert (await done(client, "file_read", file="A.md"))["content"] == "changed in Lapidary\n"


@check()
async def call_tool_edits_like_the_tool_itself(world):
    world.put("A.md", b"one\n")
    async with world.connect() as client:
        arguments = {"file": "A.md", "find": "one", "replace": "uno"}
        told = await done(client, "call_tool", name="str_replace", arguments=arguments)
        assert world.bytes("A.md") == b"uno\n" and told["contentHash"] == hash_of(b"uno\n")
        told = await refused(client, "call_tool", name="str_replace", arguments=arguments)
        assert told["ok"] is False and world.bytes("A.md") == b"uno\n"


@check()
async def find_tool_gives_what_a_call_needs(world):
    world.put("Plan.md", b"alpha\n")
    async with world.connect() as client:
        told = await done(client, "find_tool", query="read a whole file")
        found = {match["name"]: match for match in told["matches"]}
        assert "file_read" in found and "listed" not in found["file_read"]
        best = told["matches"][0]
        assert best["name"] == "file_read" and best["arguments"].startswith("file: string"), best
        arguments = best["example"] | {"file": "Plan.md"}
        assert (await done(client, "call_tool", name="file_read", arguments=arguments))["content"] == "alpha\n"


@check(transports=("stdio",))
async def twenty_everyday_tasks_are_right_at_the_first_call(world):
    """As a model would call it, from the list and the names that a person uses, and what is on disk afterwards."""
    world.put("Projects/Roof.md", b"---\nstatus: open\n---\n# Roof\n\nSee [[Ruth]].\n\n## Tasks\n\n- [ ] Slates\n- [ ] Lead\n\n## Log\n\nDry.\n")
    world.put("People/Ruth.md", b"---\naliases: [Ruth Okafor]\n---\n# Ruth\n\nKnows slates.\n")
    world.put("Garden.md", b"# Garden\n\nBeans and slates. #green\n")
    world.put("Index.md", b"- [[Roof]]\n- [[Roof#Log]]\n")
    world.put(".obsidian/app.json", b'{"trashOption": "local"}')
    roof = lambda: world.bytes("Projects/Roof.md").decode()
    async with world.connect() as client:
        read = await done(client, "obsidian_get_note", format="content", target="Ruth Okafor")
        assert "Knows slates." in json.dumps(read), read
        tasks = await done(client, "obsidian_get_note", format="section", target="[[Roof]]", section="## Tasks")
        assert "Lead" in json.dumps(tasks) and "Dry" not in json.dumps(tasks), tasks
        outline = await done(client, "outline", file="Roof")
        assert json.dumps(outline).count("Tasks") >= 1, outline
        both = await done(client, "notes_read", notes=["Roof#Tasks", "Ruth"])
        assert "Lead" in json.dumps(both) and "Knows" in json.dumps(both), both
        found = await done(client, "obsidian_search_notes", query="slates")
        assert "Garden.md" in json.dumps(found), found
        links = await done(client, "links_get", file="Ruth", direction="backlinks")
        assert "Projects/Roof.md" in json.dumps(links), links
        await done(client, "obsidian_append_to_note", target="Roof", section="Tasks", content="- [ ] Nails")
        assert "- [ ] Lead\n- [ ] Nails\n\n## Log" in roof(), roof()
        await done(client, "str_replace", file="Roof", find="- [ ] Slates", replace="- [x] Slates")
        assert "- [x] Slates\n" in roof(), roof()
        await done(client, "obsidian_patch_note", target="Roof", section="Log", operation="append", content="Rain.")
        assert roof().endswith("## Log\n\nDry.\nRain.\n"), roof()
        await done(client, "obsidian_manage_frontmatter", target="Roof", operation="set", key="status", value="done")
        assert roof().startswith("---\nstatus: done\n---\n"), roof()
        await done(client, "obsidian_manage_tags", target="Roof", operation="add", tags=["urgent"])
        assert "urgent" in roof(), roof()
        await done(client, "obsidian_write_note", target="Inbox/Idea.md", content="# Idea\n")
        assert world.bytes("Inbox/Idea.md") == b"# Idea\n"
        made = await done(client, "obsidian_append_to_note", target={"period": "daily"}, content="Rain.")
        assert made["created"], made
        await done(client, "file_move", **{"from": "Projects/Roof.md", "to": "Projects/House.md"})
        assert world.bytes("Index.md") == b"- [[House]]\n- [[House#Log]]\n", world.bytes("Index.md")
        await done(client, "heading_rename", file="House", heading="Log", newText="Diary")
        assert world.bytes("Index.md") == b"- [[House]]\n- [[House#Diary]]\n", world.bytes("Index.md")
        await done(client, "section_move", file="House", section="Diary", to="Diary.md", leave="link")
        assert world.bytes("Diary.md") == b"## Diary\n\nDry.\nRain.\n", world.bytes("Diary.md")
        assert world.bytes("Index.md") == b"- [[House]]\n- [[Diary#Diary]]\n", world.bytes("Index.md")
        await done(client, "undo")
        assert "Diary.md" not in world.files() and b"House#Diary" in world.bytes("Index.md")
        changed = await done(client, "changes", since="1h")
        assert "Projects/House.md" in json.dumps(changed), changed
        await done(client, "obsidian_delete_note", target="Inbox/Idea.md")
        assert ".trash/Idea.md" in world.files(), world.files()
        tool = await done(client, "find_tool", query="rename a tag everywhere")
        assert tool["matches"][0]["name"] == "tag_rename", tool
        renamed = await done(client, "call_tool", name="tag_rename", arguments={"from": "green", "to": "garden"})
        assert b"#garden" in world.bytes("Garden.md"), renamed


@check(transports=("stdio",))
async def twenty_more_everyday_tasks_are_right_at_the_first_call(world):
    """Other tasks than those above: lists, tables, dates, typing errors, several notes at once, going back."""
    world.put("Trips/Lisbon.md", b"---\ntags: [trip]\nrating: 4\ndate: 2026-03-02\n---\n# Lisbon\n\n## Packing\n\n1. Shoes\n2. Camera\n\n## Costs\n\n| what | euro |\n|---|---|\n| train | 40 |\n")
    world.put("Trips/Oslo.md", b"---\ntags: [trip]\nrating: 2\ndate: 2026-05-09\n---\n# Oslo\n\n- [ ] Book the ferry \xf0\x9f\x93\x85 2026-04-01\n- [x] Passport\n\nFerries leave at noon. ^noon\n")
    world.put("Recipes/Bread.md", b"# Bread\r\n\r\nFlour, water, salt.\r\n")
    world.put("Log.md", b"Went with Jon.\nJon was late.\n")
    world.put("Ideas.md", b"# Ideas\n\n## Boat\n\nPaint it.\n\n## Shed\n\nNew door.\n")
    world.put(".obsidian/app.json", b'{"trashOption": "local"}')
    text = lambda path: world.bytes(path).decode()
    async with world.connect() as client:
        said = lambda answer: json.dumps(answer, ensure_ascii=False)
        await done(client, "obsidian_append_to_note", target="Lisbon", section="Packing", content="3. Charger")
        assert "2. Camera\n3. Charger\n\n## Costs" in text("Trips/Lisbon.md"), text("Trips/Lisbon.md")
        await done(client, "str_replace", file="Lisbon", find="| train | 40 |", replace="| train | 40 |\n| hotel | 210 |")
        assert text("Trips/Lisbon.md").endswith("| train | 40 |\n| hotel | 210 |\n"), text("Trips/Lisbon.md")
        best = await done(client, "query", query="TABLE rating FROM #trip WHERE rating > 3")
        assert "Lisbon" in said(best) and "Oslo" not in said(best), best
        tasks = await done(client, "query", query="TASK WHERE !completed")
        assert "ferry" in said(tasks) and "Passport" not in said(tasks), tasks
        found = await done(client, "obsidian_search_notes", query="feries")
        assert "Trips/Oslo.md" in said(found), found
        await done(client, "obsidian_replace_in_note", target="Bread", replacements=[{"search": "water", "replace": "milk"}])
        assert world.bytes("Recipes/Bread.md") == b"# Bread\r\n\r\nFlour, milk, salt.\r\n", world.bytes("Recipes/Bread.md")
        near = await refused(client, "links_get", file="Lisbn")
        assert "Trips/Lisbon.md" in said(near), near
        await done(client, "str_replace", file="Log", find="Jon", replace="John", occurrence="all")
        assert text("Log.md") == "Went with John.\nJohn was late.\n", text("Log.md")
        listed = await done(client, "obsidian_list_notes", path="Trips")
        assert "Lisbon.md" in said(listed) and "Oslo.md" in said(listed), listed
        tags = await done(client, "obsidian_list_tags")
        assert "trip" in said(tags), tags
        await done(client, "obsidian_manage_frontmatter", target="Oslo", operation="delete", key="rating")
        assert "rating" not in text("Trips/Oslo.md") and "date: 2026-05-09" in text("Trips/Oslo.md"), text("Trips/Oslo.md")
        block = await done(client, "obsidian_get_note", format="section", target="Oslo", section={"type": "block", "target": "noon"})
        assert "Ferries leave" in said(block) and "Passport" not in said(block), block
        await done(client, "section_move", file="Ideas", section="Shed", to="Shed.md")
        assert text("Shed.md") == "## Shed\n\nNew door.\n" and "Shed" not in text("Ideas.md"), text("Ideas.md")
        await done(client, "obsidian_patch_note", target="Ideas", section="Boat", operation="replace", content="Sell it.")
        assert text("Ideas.md") == "# Ideas\n\n## Boat\n\nSell it.\n", text("Ideas.md")
        await done(client, "undo", count=2)
        assert "Paint it." in text("Ideas.md") and "New door." in text("Ideas.md") and "Shed.md" not in world.files()
        await done(client, "bulk_apply", ops=[
            {"tool": "obsidian_manage_frontmatter", "args": {"target": name, "operation": "set", "key": "year", "value": 2026}}
            for name in ("Lisbon", "Oslo")
        ])
        assert "year: 2026" in text("Trips/Lisbon.md") and "year: 2026" in text("Trips/Oslo.md")
        await done(client, "file_move", **{"from": "Trips", "to": "Archive/Trips"})
        assert "Archive/Trips/Oslo.md" in world.files() and "Trips/Oslo.md" not in world.files(), world.files()
        tool = await done(client, "find_tool", query="just lines 1 to 2 of a file")
        assert tool["matches"][0]["name"] == "file_read_range", tool
        proposed = await done(client, "regex_replace", glob="Archive/**/*.md", pattern="(\\d{4})-(\\d{2})-(\\d{2})", replacement="$3.$2.$1", flags="g")
        assert proposed["replaced_preview_count"] == 3 and "2026-03-02" in text("Archive/Trips/Lisbon.md"), proposed
        await done(client, "apply_edits", file="Log", edits=[{"find": "Went", "replace": "Walked"}, {"find": "late", "replace": "early"}])
        assert text("Log.md") == "Walked with John.\nJohn was early.\n", text("Log.md")


@check()
async def all_tools_can_be_listed_and_keep_to_their_schemas(world):
    world.put("A.md", b"alpha\n")
    async with world.connect("--tools", "all") as client:
        assert "file_read" in [tool.name for tool in (await client.list_tools()).tools]
        # Listed now, so `call` validates both kinds of reply.
        await done(client, "file_read", file="A.md")
        await refused(client, "file_read", file="B.md")


@check()
async def a_read_only_server_offers_no_edit_and_makes_none(world):
    world.put("A.md", b"one\n")
    async with world.connect("--read-only") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "obsidian_get_note" in names and "str_replace" not in names and "obsidian_write_note" not in names
        edit = {"file": "A.md", "find": "one", "replace": "uno"}
        assert (await refused(client, "str_replace", **edit))["error"]["reason"] == "tool_disabled"
        assert (await refused(client, "call_tool", name="str_replace", arguments=edit))["ok"] is False
        assert world.bytes("A.md") == b"one\n"


# --- Questions to the person: live in the legacy era, by a second request in the modern one --------------------------

ASK = {"LAPIDARY_APPROVAL": "write=ask"}


@check()
async def a_change_waits_for_the_person_and_is_made_on_yes(world):
    world.put("A.md", b"one\n")
    before = []
    person = Person("accept", True, meanwhile=lambda: before.append((world.files(), world.bytes("A.md"))))
    async with world.connect(person=person, **ASK) as client:
        told = await done(client, "str_replace", file="A.md", find="one", replace="uno")
        assert world.bytes("A.md") == b"uno\n" and told["contentHash"] == hash_of(b"uno\n")
        await done(client, "obsidian_write_note", target=note("B.md"), content="b\n")
        assert world.bytes("B.md") == b"b\n"
        await done(client, "call_tool", name="str_replace", arguments={"file": "A.md", "find": "uno", "replace": "1"})
        assert world.bytes("A.md") == b"1\n"
    assert before == [(["A.md"], b"one\n"), (["A.md"], b"uno\n"), (["A.md", "B.md"], b"uno\n")]
    assert len(person.questions) == 3
    assert "A.md" in person.questions[0] and "-one\n+uno\n" in person.questions[0], person.questions[0]
    assert "B.md" in person.questions[1] and "+b\n" in person.questions[1], person.questions[1]
    assert "str_replace" in person.questions[2], "the tool that runs is named, not call_tool"


async def nothing_changes(world, person, reason):
    world.put("A.md", b"one\n")
    async with world.connect(person=person, **ASK) as client:
        told = await refused(client, "str_replace", file="A.md", find="one", replace="uno")
        assert told["code"] == "PERMISSION_DENIED" and told["error"]["reason"] == reason, told
        told = await refused(client, "obsidian_write_note", target=note("B.md"), content="b\n")
        assert told["error"]["data"]["reason"] == reason
        told = await refused(
            client, "call_tool", name="str_replace", arguments={"file": "A.md", "find": "one", "replace": "1"}
        )
        assert told["error"]["reason"] == reason
        # Reading needs no consent.
        assert (await done(client, "file_read", file="A.md"))["content"] == "one\n"
        assert world.files() == ["A.md"] and world.bytes("A.md") == b"one\n"


@check()
async def a_declined_change_is_not_made(world):
    await nothing_changes(world, Person("decline"), "cancelled")


@check()
async def a_dismissed_question_is_a_no(world):
    await nothing_changes(world, Person("cancel"), "cancelled")


@check()
async def a_submitted_form_that_says_no_is_a_no(world):
    await nothing_changes(world, Person("accept", False), "cancelled")


@check()
async def without_anybody_to_ask_the_answer_is_no(world):
    await nothing_changes(world, None, "approval_pending")


@check()
async def a_note_changed_while_the_person_thinks_is_not_overwritten(world):
    world.put("A.md", b"one\n")
    changed = b"one, changed in Obsidian\n"
    person = Person("accept", True, meanwhile=lambda: world.put("A.md", changed))
    async with world.connect(person=person, **ASK) as client:
        await call(client, "obsidian_write_note", target=note("A.md"), content="new\n", overwrite=True)
        # What the person saw and agreed to was the change of another text.
        assert world.bytes("A.md") == changed


@check(eras=("modern",))
async def consent_counts_for_the_change_that_was_shown_only(world):
    world.put("A.md", b"one\n")
    person = Person("accept", True)
    async with world.connect(person=person, **ASK) as client:
        shown = {"file": "A.md", "find": "one", "replace": "uno"}

        async def send(arguments, **answer):
            return await client.session.call_tool("str_replace", arguments, allow_input_required=True, **answer)

        asked = await send(shown)
        assert isinstance(asked, types.InputRequiredResult)
        yes = {key: person.answer(question.params) for key, question in asked.input_requests.items()}
        other = {**shown, "replace": "something else"}
        state = asked.request_state
        forged = state[:-1] + ("0" if state[-1] != "0" else "1")
        for arguments, claimed in ((other, state), (shown, forged), (shown, "x"), (shown, None)):
            told = await send(arguments, input_responses=yes, request_state=claimed)
            assert isinstance(told, types.InputRequiredResult) or told.is_error, told
            assert world.bytes("A.md") == b"one\n", f"changed by {arguments} with {claimed}"
        told = await send(shown, input_responses=yes, request_state=state)
        assert not told.is_error and world.bytes("A.md") == b"uno\n", told
        world.put("A.md", b"one\n")
        # Consent is for once; the same note with the same text does not bring it back.
        told = await send(shown, input_responses=yes, request_state=state)
        assert isinstance(told, types.InputRequiredResult) or told.is_error, told
        assert world.bytes("A.md") == b"one\n"


# --- Progress, many calls at once, the end ---------------------------------------------------------------------------


class Progress:
    def __init__(self):
        self.seen: list[tuple] = []

    async def __call__(self, progress, total, message):
        self.seen.append((progress, total, message))

    def is_increasing(self) -> bool:
        values = [progress for progress, _, _ in self.seen]
        return all(earlier < later for earlier, later in zip(values, values[1:]))


@check()
async def progress_is_reported_to_those_who_want_it(world):
    async with world.connect() as client:
        progress = Progress()
        await done(client, "obsidian_write_note", progress=progress, target=note("A.md"), content="a\n")
        assert progress.seen and progress.is_increasing(), progress.seen
        last, total, _ = progress.seen[-1]
        assert last == total, progress.seen


@check()
async def progress_goes_on_after_a_question(world):
    async with world.connect(person=Person("accept", True), **ASK) as client:
        progress = Progress()
        await done(client, "obsidian_write_note", progress=progress, target=note("A.md"), content="a\n")
        assert progress.seen
        if world.era == "legacy":
            # One request, one token: "the progress value MUST increase with each notification".
            assert progress.is_increasing(), progress.seen


@check()
async def calls_at_once_get_their_own_answers(world):
    numbers = range(20)
    for number in numbers:
        world.put(f"{number}.md", f"note {number}\n".encode())
    async with world.connect() as client:
        await client.list_tools()
        reads = [done(client, "file_read", file=f"{number}.md") for number in numbers]
        write = "obsidian_write_note"
        writes = [done(client, write, target=note(f"new/{number}.md"), content=f"new {number}\n") for number in numbers]
        told = await asyncio.gather(*reads, *writes)
        for number in numbers:
            assert told[number]["content"] == f"note {number}\n"
            assert told[len(numbers) + number]["path"] == f"new/{number}.md"
            assert world.bytes(f"new/{number}.md") == f"new {number}\n".encode()
        assert len(world.files()) == 2 * len(numbers)


@check()
async def of_edits_at_once_that_expect_the_same_text_one_is_made(world):
    digest = world.put("A.md", b"one\n")
    async with world.connect() as client:
        await client.list_tools()
        edit = {"file": "A.md", "find": "one", "expected_content_hash": digest}
        results = await asyncio.gather(
            *(call(client, "str_replace", **edit, replace=f"edit {number}") for number in range(10))
        )
        made = [number for number, result in enumerate(results) if not result.is_error]
        assert len(made) == 1, f"made: {made}: {results}"
        assert world.bytes("A.md") == f"edit {made[0]}\n".encode()
        for result in results:
            assert not result.is_error or result.structured_content["code"] == "STALE_PRECONDITION", result
        assert world.files() == ["A.md"]


def picture_of(mode: str, size: tuple[int, int]) -> Image.Image:
    """Colours that run across, so that a picture that is turned or cut is another one."""
    across = Image.linear_gradient("L").rotate(90).resize(size)
    down = Image.linear_gradient("L").resize(size)
    picture = Image.merge("RGB", (across, down, ImageChops.invert(across)))
    if mode == "RGBA":
        picture.putalpha(Image.new("L", size, 255))
    return picture.convert(mode)


@check(eras=("modern",))
async def pictures_are_those_that_another_decoder_sees(world):
    cases = [
        ("photo.jpg", "JPEG", "RGB", (2400, 1600)),
        ("screen.png", "PNG", "RGB", (1800, 900)),
        ("clear.png", "PNG", "RGBA", (300, 200)),
        ("web.webp", "WEBP", "RGB", (1600, 1600)),
        ("old.gif", "GIF", "P", (640, 480)),
        ("plain.bmp", "BMP", "RGB", (500, 400)),
    ]
    for name, form, mode, size in cases:
        written = io.BytesIO()
        picture_of(mode, size).save(written, form)
        world.put(name, written.getvalue())
    async with world.connect("--tools", "all") as client:
        for name, _, _, size in cases:
            reply = await call(client, "attachment_read", path=name)
            assert not reply.is_error, (name, reply)
            shown = next(block for block in reply.content if block.type == "image")
            with Image.open(io.BytesIO(base64.b64decode(shown.data))) as decoded:
                assert Image.MIME[decoded.format] == shown.mime_type, (name, decoded.format, shown.mime_type)
                facts = reply.structured_content
                assert (facts["width"], facts["height"]) == size, (name, facts)
                sent = facts.get("shown", facts)
                assert (sent["width"], sent["height"]) == decoded.size, (name, facts, decoded.size)
                # The same picture, as far as a smaller and lossy one can be.
                with Image.open(world.vault / name) as original:
                    expected = original.convert("RGB").resize((64, 64))
                difference = ImageStat.Stat(ImageChops.difference(expected, decoded.convert("RGB").resize((64, 64))))
                assert max(difference.mean) < 6, (name, difference.mean)


@check()
async def a_large_note_goes_through_whole(world):
    # Two copies (text and structure) stay below the mebibyte at which the Python client gives up on an event.
    text = "Zeile mit Grüßen 🌿 und mehr Text\n" * 10_000
    async with world.connect() as client:
        await done(client, "obsidian_write_note", target=note("Large.md"), content=text)
        assert world.bytes("Large.md") == text.encode()
        assert (await done(client, "file_read", file="Large.md"))["content"] == text


@check(transports=("http",), eras=("modern",))
async def one_server_serves_both_eras_at_once(world):
    world.put("A.md", b"one\n")
    with world.http_server([], {}) as url:
        async with world.connect(url=url, era="legacy") as old, world.connect(url=url, era="modern") as new:
            told = await done(old, "str_replace", file="A.md", find="one", replace="two")
            edit = {"file": "A.md", "find": "two", "replace": "three"}
            await done(new, "str_replace", **edit, expected_content_hash=told["contentHash"])
            assert (await done(old, "file_read", file="A.md"))["content"] == "three\n"


INITIALIZE = {"method": "initialize", "params": {
    "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "t", "version": "1"},
}}
DISCOVER = {"method": "server/discover", "params": {"_meta": {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
}}}


class Pipe:
    """A server on bare pipes: the client of the SDK hides how a server ends."""

    def __init__(self, world, **settings):
        self.log = world.log.open("ab")
        self.server = subprocess.Popen(
            [BINARY, "--vault", str(world.vault)], env=world.environment(settings), cwd=world.folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.kill()
        self.server.wait()
        for pipe in (self.server.stdin, self.server.stdout, self.log):
            pipe.close()

    def send(self, message: dict):
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.server.stdin.flush()

    async def receive(self) -> dict:
        return json.loads(await asyncio.to_thread(self.server.stdout.readline))

    async def ends_after_input_closes(self):
        self.server.stdin.close()
        code = await asyncio.to_thread(self.server.wait, 2)
        assert code == 0, f"the server ended with {code}"
        assert self.server.stdout.read() == b"", "output after the end of input"


@check(transports=("stdio",))
async def the_server_ends_when_its_input_does(world):
    with Pipe(world) as pipe:
        pipe.send({"id": 1, **(INITIALIZE if world.era == "legacy" else DISCOVER)})
        assert "result" in await pipe.receive()
        await pipe.ends_after_input_closes()


@check(transports=("stdio",), eras=("legacy",))
async def the_server_ends_when_its_input_does_before_a_word(world):
    with Pipe(world) as pipe:
        await pipe.ends_after_input_closes()


async def ask_on(pipe: Pipe) -> dict:
    """Makes a call (2) that asks, and gives the question."""
    pipe.send({"id": 1, **INITIALIZE})
    await pipe.receive()
    pipe.send({"method": "notifications/initialized"})
    edit = {"file": "A.md", "find": "one", "replace": "uno"}
    pipe.send({"id": 2, "method": "tools/call", "params": {"name": "str_replace", "arguments": edit}})
    question = await pipe.receive()
    assert question["method"] == "elicitation/create", question
    return question


@check(transports=("stdio",), eras=("legacy",))
async def the_server_ends_when_its_input_does_with_a_question_open(world):
    world.put("A.md", b"one\n")
    with Pipe(world, **ASK) as pipe:
        await ask_on(pipe)
        await pipe.ends_after_input_closes()
        assert world.files() == ["A.md"] and world.bytes("A.md") == b"one\n"


@check(transports=("stdio",), eras=("legacy",))
async def the_server_ends_when_its_input_does_after_a_cancelled_call(world):
    world.put("A.md", b"one\n")
    with Pipe(world, **ASK) as pipe:
        await ask_on(pipe)
        pipe.send({"method": "notifications/cancelled", "params": {"requestId": 2}})
        await pipe.ends_after_input_closes()


@check(transports=("stdio",), eras=("legacy",))
async def consent_to_a_cancelled_call_comes_too_late(world):
    world.put("A.md", b"one\n")
    with Pipe(world, **ASK) as pipe:
        question = await ask_on(pipe)
        pipe.send({"method": "notifications/cancelled", "params": {"requestId": 2}})
        pipe.send({"id": question["id"], "result": {"action": "accept", "content": {"confirm": True}}})
        # An answer shows that the messages before it have been handled.
        pipe.send({"id": 3, "method": "tools/call", "params": {"name": "file_read", "arguments": {"file": "A.md"}}})
        while (await pipe.receive()).get("id") != 3:
            pass
        pipe.server.terminate()
        await asyncio.to_thread(pipe.server.wait, 5)
        assert world.files() == ["A.md"] and world.bytes("A.md") == b"one\n"


@check(transports=("stdio",), eras=("legacy",))
async def a_note_that_another_program_saves_is_always_found(world):
    """Obsidian, editors and sync clients put the new file in the place of the old one."""
    world.put("A.md", b"one\n")
    done_reading = threading.Event()

    def save_again_and_again():
        while not done_reading.is_set():
            (world.folder / "saved").write_bytes(b"one\n")
            (world.folder / "saved").replace(world.vault / "A.md")

    saving = threading.Thread(target=save_again_and_again)
    # Bare pipes, because the client of the SDK is too slow to meet the moment.
    with Pipe(world, LAPIDARY_REPETITION="off") as pipe:
        pipe.send({"id": 1, **INITIALIZE})
        await pipe.receive()
        pipe.send({"method": "notifications/initialized"})
        saving.start()
        try:
            missed = 0
            for number in range(2, 1002):
                read = {"name": "file_read", "arguments": {"file": "A.md"}}
                pipe.send({"id": number, "method": "tools/call", "params": read})
                missed += (await pipe.receive())["result"]["structuredContent"].get("content") != "one\n"
        finally:
            done_reading.set()
            saving.join()
        assert missed == 0, f"missed {missed} of 1000 times"


# --- Resources ----------------------------------------------------------------------------------------------------


@check()
async def resources_are_listed_read_and_completed(world):
    world.put("My notes/Grüße.md", b"---\nstatus: open\n---\nhello #gem\n")
    world.put("pic.png", b"\x89PNG\r\n\x1a\n")
    world.put(".obsidian/app.json", b"{}")
    async with world.connect() as client:
        listed = (await client.list_resources()).resources
        assert [str(one.uri) for one in listed] == ["obsidian://tags", "obsidian://guide", "obsidian://status"], listed
        template = (await client.list_resource_templates()).resource_templates[0]
        assert template.uri_template == "obsidian://vault/{+path}"
        for uri in ("obsidian://vault/My%20notes/Gr%C3%BC%C3%9Fe.md", "obsidian://vault/My notes/Grüße.md"):
            [content] = (await client.read_resource(uri)).contents
            told = json.loads(content.text)
            assert told["path"] == "My notes/Grüße.md" and told["frontmatter"] == {"status": "open"}, told
            assert told["contentHash"] == hash_of(world.bytes("My notes/Grüße.md"))
        [picture] = (await client.read_resource("obsidian://vault/pic.png")).contents
        assert picture.mime_type == "image/png"
        assert base64.b64decode(picture.blob) == world.bytes("pic.png")
        [tags] = (await client.read_resource("obsidian://tags")).contents
        assert json.loads(tags.text) == {"tags": [{"name": "gem", "count": 1}]}
        reference = types.ResourceTemplateReference(uri=template.uri_template)
        completed = (await client.complete(reference, {"name": "path", "value": "my"})).completion
        assert completed.values == ["My notes/Grüße.md"] and completed.total == 1 and completed.has_more is False
        everything = (await client.complete(reference, {"name": "path", "value": ""})).completion
        assert everything.values == ["My notes/Grüße.md", "pic.png"], everything


@check()
async def a_resource_that_is_refused_is_a_protocol_error_with_the_reason(world):
    async with world.connect() as client:
        missing = {"legacy": -32001, "modern": -32602}[world.era]
        for uri, code, reason in (
            ("obsidian://vault/None.md", missing, "note_missing"),
            ("obsidian://vault/.obsidian/app.json", -32005, "path_forbidden"),
            ("obsidian://nothing", -32602, "resource_unknown"),
        ):
            try:
                await client.read_resource(uri)
            except MCPError as error:
                assert (error.error.code, error.error.data["reason"]) == (code, reason), error.error
                assert error.error.data["recovery"]["hint"], error.error
            else:
                raise AssertionError(f"{uri} should have been refused")


@check(eras=("modern",))
async def a_modern_client_listens_for_changes_of_a_note(world):
    world.put("A.md", b"one\n")
    uri = "obsidian://vault/A.md"
    async with world.connect() as client, client.listen(resource_subscriptions=[uri]) as news:
        await asyncio.sleep(0.5)
        world.put("A.md", b"two\n")
        async with asyncio.timeout(5):
            async for event in news:
                assert event.uri == uri, event
                break


@check(eras=("legacy",))
async def an_older_client_subscribes_to_a_note(world):
    world.put("A.md", b"one\n")
    uri = "obsidian://vault/A.md"
    heard = asyncio.Queue()

    async def listen(message):
        if isinstance(message, types.ResourceUpdatedNotification):
            heard.put_nowait(message.params.uri)

    async with world.connect(listener=listen) as client:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            await client.subscribe_resource(uri)
        world.put("A.md", b"two\n")
        async with asyncio.timeout(5):
            assert str(await heard.get()) == uri
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            await client.unsubscribe_resource(uri)


# --- The runner ---------------------------------------------------------------------------------------------------


async def run_one(function, transport: str, era: str, folder: Path):
    world = World(folder, transport, era)
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            await function(world)
        assert "panicked" not in world.log.read_text(), "the server panicked"
    except BaseException as error:
        error.add_note(f"what the server said:\n{world.log.read_text()}")
        raise


def failure_of(function, transport: str, era: str) -> str:
    """What went wrong, or nothing."""
    with tempfile.TemporaryDirectory(prefix="lapidary-outside-") as folder:
        try:
            asyncio.run(run_one(function, transport, era, Path(folder)))
        except Exception as error:
            # The SDK's task groups wrap what went wrong; the wrapping is not useful.
            while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
                error = error.exceptions[0]
            return "".join(traceback.format_exception(error))
    return ""


def main() -> int:
    logging.disable(logging.CRITICAL)
    # Servers and folders go away also when ./run has waited long enough.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    passed = failed = known = 0
    for function, connections in CHECKS:
        for transport, era in connections:
            name = f"{function.__name__} [{transport} {era}]"
            if ONLY not in name:
                continue
            faults = KNOWN_FAULTS.get(name, []) + KNOWN_FAULTS.get(function.__name__, [])
            failure = failure_of(function, transport, era)
            why = next((why for why, shows in faults if shows in failure), None)
            if failure and why:
                known += 1
                print(f"known fault: {name}: {why}")
            elif failure:
                failed += 1
                print(f"FAILED: {name}\n{failure}")
            elif faults:
                failed += 1
                print(f"FAILED: {name} passes now: take it out of the known faults")
            else:
                passed += 1
    print(f"{passed} passed, {failed} failed, {known} known faults")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
