"""For the parts that sign in: a server with the built-in authorization server, and the owner at its pages."""

import contextlib
import html
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

BINARY = str(Path(sys.argv[1]).resolve())
PASSPHRASE = "a passphrase of the owner"


@contextlib.contextmanager
def server():
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder, "Notes")
        (vault / "projects").mkdir(parents=True)
        (vault / "projects" / "plan.md").write_text("# Plan\n\nlantern\n")
        (vault / "diary.md").write_text("secret thoughts\n")
        own = {"HOME": folder, "LAPIDARY_STATE_DIR": str(Path(folder, "state")), "MCP_AUTH_MODE": "builtin"}
        server.environment = environment = {"PATH": os.environ["PATH"], **own}
        subprocess.run([BINARY, "owner", "set-passphrase"], input=PASSPHRASE.encode(), env=environment, check=True,
                       capture_output=True)
        log = Path(folder, "log")
        with log.open("w") as out:
            process = subprocess.Popen([BINARY, "--vault", str(vault), "--http", "127.0.0.1:0"], env=environment,
                                       stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        try:
            end = time.monotonic() + 30
            while not (found := re.search(r"serving MCP at (http://\S+)", log.read_text())):
                if process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(log.read_text())
                time.sleep(0.05)
            yield found[1]
        finally:
            process.terminate()
            process.wait(60)


class Browser:
    """Keeps cookies, follows redirects on the server, and stops at the address of the client."""

    class Stop(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    def __init__(self):
        self.cookie = ""
        self.opener = urllib.request.build_opener(self.Stop)

    def send(self, url, form=None):
        origin = "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(url))
        headers = {"Cookie": self.cookie}
        data = None
        if form is not None:
            headers["Origin"] = origin
            data = urllib.parse.urlencode(form).encode()
        try:
            answer = self.opener.open(urllib.request.Request(url, data, headers))
        except urllib.error.HTTPError as error:
            answer = error
        if cookie := answer.headers.get("Set-Cookie"):
            self.cookie = cookie.split(";")[0]
        location = answer.headers.get("Location")
        if location and location.startswith("/"):
            return self.send(origin + location)
        return location, answer.read().decode()

    def consent(self, url, **choices):
        """Signs in if asked to, and allows the request; the address that the browser is sent to."""
        location, page = self.send(url)
        action = "{0.scheme}://{0.netloc}/authorize".format(urllib.parse.urlsplit(url))
        if 'type="password"' in page:
            location, page = self.send(action, {"action": "sign-in", "query": field(page, "query"),
                                                "passphrase": PASSPHRASE})
        if location:
            return location
        form = {"action": "consent", "ticket": field(page, "ticket"), "profile": "reader", "vault.Notes": "on",
                "lifetime": "1d", "decision": "allow", **choices}
        location, page = self.send(action, form)
        assert location, page
        return location


def field(page, name):
    found = re.search(f'name="{name}" value="([^"]*)"', page)
    assert found, page
    return html.unescape(found[1])
