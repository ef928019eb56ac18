#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The site that ./dev.sh docs built, in headless Chromium: no link, picture or script fails, nothing is asked of
other machines, every page fits a phone, and the search finds.

Without Chromium, or where build-docs/site is not there or older than the pages, the test is skipped: exit code
77. SITE_PICTURES names a folder for a picture of each page at both widths.
"""
import functools
import html.parser
import http.server
import os
import pathlib
import sys
import threading
import unittest
import urllib.parse

import chromium

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE = ROOT / "build-docs" / "site"
sys.path.insert(0, str(ROOT / "tools" / "site"))
import build_site  # noqa: E402

SKIPPED = 77
WIDE, PHONE = 1280, 390


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class References(html.parser.HTMLParser):
    """What a page links to, loads, and can be linked to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.ids = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.update(filter(None, (attributes.get("id"), attributes.get("name"))))
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        elif tag == "link" and attributes.get("rel") in ("stylesheet", "icon"):
            self.loads.append(attributes["href"])
        elif tag in ("img", "script") and attributes.get("src"):
            self.loads.append(attributes["src"])


@functools.lru_cache(maxsize=None)
def references(path):
    return References(path.read_text(encoding="utf-8"))


def pages():
    return sorted(path for path in SITE.rglob("*.html") if path.is_file())


def target_of(page, link):
    """(file, anchor) of a link inside the site."""
    path, _, anchor = link.partition("#")
    path = urllib.parse.unquote(path)
    if not path:
        return page, anchor
    target = SITE / path.lstrip("/") if path.startswith("/") else page.parent / path
    target = pathlib.Path(os.path.normpath(target))
    return (target / "index.html" if target.is_dir() else target), anchor


def is_elsewhere(link):
    return urllib.parse.urlsplit(link).scheme in ("http", "https", "mailto")


class SiteTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        handler = functools.partial(QuietHandler, directory=str(SITE))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        cls.address = f"http://127.0.0.1:{server.server_port}/"

    def open(self, browser, path, **how):
        return browser.open(self.address + path.relative_to(SITE).as_posix(), **how)

    def test_has_every_page(self):
        self.assertGreater(len(pages()), 25)
        for page in (ROOT / "docs").rglob("*.md"):
            name = page.relative_to(ROOT).with_suffix("").as_posix()
            name = name[: -len("/README")] if name.endswith("README") else name
            self.assertTrue((SITE / name / "index.html").exists(), name)

    def test_links_lead_somewhere(self):
        dead = []
        for page in pages():
            for link in references(page).links + references(page).loads:
                if is_elsewhere(link):
                    continue
                target, anchor = target_of(page, link)
                if not target.exists():
                    dead.append(f"{page.relative_to(SITE)}: {link}")
                elif anchor and target.suffix == ".html" and anchor not in references(target).ids:
                    dead.append(f"{page.relative_to(SITE)}: {link}: no such anchor")
        self.assertEqual(dead, [])

    def test_loads_nothing_from_elsewhere(self):
        self.assertEqual([load for page in pages() for load in references(page).loads if is_elsewhere(load)], [])

    def test_pages_in_a_browser(self):
        pictures = os.environ.get("SITE_PICTURES")
        browser = chromium.Chromium().__enter__()
        self.addCleanup(browser.__exit__)
        for path in pages():
            with self.subTest(path.relative_to(SITE).as_posix()):
                page = self.open(browser, path, width=WIDE)
                broken = page.run("""(async () => {
                    const images = [...document.images];
                    images.forEach((image) => { image.loading = "eager"; });
                    await Promise.allSettled(images.map((image) => image.decode()));
                    return images.filter((image) => !image.naturalWidth).map((image) => image.src);
                })()""")
                self.assertEqual(broken, [])
                for width in (WIDE, PHONE):
                    page.resize(width, 844)
                    page.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
                    self.assertLessEqual(page.run("document.documentElement.scrollWidth"), width)
                    if pictures:
                        name = path.relative_to(SITE).parent.as_posix().replace("/", "_")
                        page.picture(os.path.join(pictures, f"{name}-{width}.png"))
                self.assertEqual(page.complaints, [])
                self.assertEqual([url for url in page.requests if not url.startswith((self.address, "data:", "blob:"))],
                                 [])
                page.close()

    def test_search_finds(self):
        with chromium.Chromium() as browser:
            page = self.open(browser, SITE / "index.html")
            found = page.run("""(async () => {
                const input = document.querySelector(".md-search__input");
                input.focus();
                input.value = "exactness";
                input.dispatchEvent(new Event("input", {bubbles: true}));
                input.dispatchEvent(new KeyboardEvent("keyup", {bubbles: true}));
                for (let i = 0; i < 200; ++i) {
                    const links = [...document.querySelectorAll(".md-search-result__link")].map((link) => link.href);
                    if (links.length) return links;
                    await new Promise((done) => setTimeout(done, 100));
                }
                return [];
            })()""")
            self.assertTrue(any("docs/search/" in link for link in found), found)
            self.assertEqual(page.complaints, [])


def why_not():
    if not (SITE / "index.html").exists():
        return "no site in build-docs/site: ./dev.sh docs builds it"
    stamp = SITE / "made-from.txt"
    if not stamp.exists() or stamp.read_text(encoding="utf-8").strip() != build_site.stamp_of(ROOT):
        return "build-docs/site is older than the pages: ./dev.sh docs builds it again"
    return None if chromium.find_chromium() else chromium.MISSING


if __name__ == "__main__":
    reason = why_not()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    unittest.main()
