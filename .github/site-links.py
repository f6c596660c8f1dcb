"""Every link between the pages of a site leads to a file and an anchor: .github/site-links.py FOLDER."""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path: pathlib.Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            if name in ("href", "src") and value:
                self.links.append(value)


def main() -> None:
    root = pathlib.Path(sys.argv[1]).resolve()
    # The page for printing repeats all others, and the one for errors has links for any place.
    pages = {path: Page(path) for path in root.rglob("*.html") if path.name not in ("print.html", "404.html", "toc.html")}
    dead = []
    for path, page in pages.items():
        for link in page.links:
            target = urllib.parse.urlsplit(link)
            if target.scheme or target.netloc:
                continue
            place = (path.parent / urllib.parse.unquote(target.path)).resolve() if target.path else path
            anchor = urllib.parse.unquote(target.fragment)
            if not place.exists():
                dead.append(f"{path.name}: {link} does not exist")
            elif anchor and place in pages and anchor not in pages[place].anchors:
                dead.append(f"{path.name}: {link} has no such heading")
    if dead or len(pages) < 20:
        sys.exit("\n".join(sorted(set(dead))) or f"only {len(pages)} pages")
    print(f"{len(pages)} pages, no dead link")


main()
