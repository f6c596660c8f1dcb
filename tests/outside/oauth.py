"""The built-in authorization server, driven by the official Python client and by a stub that behaves as hosted clients do.

    python oauth.py BINARY

There is no browser: sign_in.py opens the pages, fills in the forms and follows the redirects, as a person would.
"""

import asyncio
import re
import sys
import traceback
import urllib.parse

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

from sign_in import Browser, server

CALLBACK = "http://127.0.0.1:1/callback"


class Memory:
    """What a client keeps."""

    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def provider(url, memory, consents, **choices):
    browser, answered = Browser(), []

    async def redirect(address):
        consents.append(address)
        answered.append(await asyncio.to_thread(browser.consent, address, **choices))

    async def callback():
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(answered[-1]).query)
        return AuthorizationCodeResult(code=query["code"][0], state=query.get("state", [None])[0],
                                       iss=query.get("iss", [None])[0])

    metadata = OAuthClientMetadata(client_name="Python client", redirect_uris=[CALLBACK])
    return OAuthClientProvider(url, metadata, memory, redirect, callback)


async def read(client, file):
    result = await client.call_tool("file_read", {"file": file})
    return result.content[0].text if not result.is_error else None


async def the_python_client_signs_in_reads_and_renews(url):
    memory, consents = Memory(), []
    async with httpx2.AsyncClient(auth=provider(url, memory, consents, folders="projects"), timeout=30) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert "obsidian_get_note" in names and "obsidian_write_note" not in names, names
            assert "lantern" in await read(client, "projects/plan.md")
            assert await read(client, "diary.md") is None
    assert len(consents) == 1 and memory.client.client_id.startswith("lap_ci_"), consents
    assert "code_challenge_method=S256" in consents[0] and "resource=" in consents[0], consents
    # It comes back with an access token that does not count, renews it, and asks no person.
    before = memory.tokens
    memory.tokens = before.model_copy(update={"access_token": "lap_at_expired", "expires_in": -1})
    own = provider(url, memory, consents)
    async with httpx2.AsyncClient(auth=own, timeout=30) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            assert "lantern" in await read(client, "projects/plan.md")
    assert memory.tokens.refresh_token != before.refresh_token or len(consents) == 2


async def a_stub_of_the_hosted_claude_gets_through(url):
    """Two registrations with a secret, its own scope, a refresh after a second, and two at once."""
    origin = url.removesuffix("/mcp")
    async with httpx2.AsyncClient(timeout=30) as http:
        refused = await http.get(url)
        document = re.search(r'resource_metadata="([^"]+)"', refused.headers["www-authenticate"])[1]
        resource = (await http.get(document)).json()
        issuer = resource["authorization_servers"][0]
        metadata = (await http.get(f"{issuer}/.well-known/oauth-authorization-server")).json()
        assert metadata["issuer"] == issuer == origin
        registration = {"client_name": "Claude", "redirect_uris": ["https://claude.ai/api/mcp/auth_callback"],
                        "token_endpoint_auth_method": "client_secret_post", "scope": "claudeai"}
        for _ in range(2):
            client = (await http.post(metadata["registration_endpoint"], json=registration)).json()
        query = {"response_type": "code", "client_id": client["client_id"], "scope": "claudeai", "state": "x y&z",
                 "redirect_uri": registration["redirect_uris"][0], "resource": resource["resource"],
                 "code_challenge": "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU", "code_challenge_method": "S256"}
        address = metadata["authorization_endpoint"] + "?" + urllib.parse.urlencode(query)
        location = await asyncio.to_thread(Browser().consent, address, profile="editor")
        answer = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(location).query))
        assert location.startswith("https://claude.ai/") and answer["state"] == "x y&z" and answer["iss"] == issuer
        own = {"client_id": client["client_id"], "client_secret": client["client_secret"]}
        wrong = await http.post(metadata["token_endpoint"], data={
            "grant_type": "authorization_code", "code": answer["code"], "code_verifier": "x" * 43,
            "redirect_uri": query["redirect_uri"], **own})
        assert wrong.status_code == 400 and wrong.json()["error"] == "invalid_grant", wrong.text


CHECKS = [the_python_client_signs_in_reads_and_renews, a_stub_of_the_hosted_claude_gets_through]


def main():
    passed = failed = 0
    for check in CHECKS:
        try:
            with server() as url:
                asyncio.run(asyncio.wait_for(check(url), 60))
            passed += 1
        except Exception:
            failed += 1
            print(f"{check.__name__} failed:\n{traceback.format_exc()}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(bool(failed))


main()
