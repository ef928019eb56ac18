# SPDX-License-Identifier: MIT
"""Headless Chromium for tests of pages, by its own protocol over two pipes: nothing but it is installed.

    with Chromium() as browser:
        page = browser.open("file:///…", width=390, height=844, dark=True)
        page.run("document.title")
"""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = f"no Chromium ({', '.join(NAMES)}): ./dev.sh test --browser installs it"
# Of one answer; a machine that builds beside the test is slow.
PATIENCE_S = 60


def find_chromium():
    """Its path; None where it is not installed. CHROMIUM names another."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


class Chromium:
    def __enter__(self):
        self._folder = tempfile.mkdtemp()
        self._number = 0
        self._unread = b""
        self.pages = {}
        command = [find_chromium(), "--headless=new", "--remote-debugging-pipe", "--disable-gpu",
                   "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
                   f"--user-data-dir={self._folder}"]
        if os.geteuid() == 0:
            command.append("--no-sandbox")
        # It reads commands from file 3 and writes answers to file 4.
        read_end, self._to = os.pipe()
        self._from, write_end = os.pipe()
        # Above those two, so that neither overwrites the other.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (read_end, write_end)]

        def place():
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self._process = subprocess.Popen(command, preexec_fn=place, pass_fds=(3, 4), stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in (read_end, write_end, *ends):
            os.close(end)
        return self

    def __exit__(self, *_):
        try:
            self.ask("Browser.close")
            self._process.wait(PATIENCE_S)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)
        # Its processes may still write there.
        shutil.rmtree(self._folder, ignore_errors=True)

    def ask(self, method, session=None, **parameters):
        """The answer to a command; what happens meanwhile is noted by the pages."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE_S
        while True:
            told = self._next(end)
            if told.get("id") == self._number:
                if "error" in told:
                    raise RuntimeError(f"{method}: {told['error']['message']}")
                return told["result"]
            page = self.pages.get(told.get("sessionId"))
            if page is not None and "method" in told:
                page.note(told["method"], told["params"])

    def _next(self, end):
        while b"\0" not in self._unread:
            if not select.select([self._from], [], [], max(0, end - time.monotonic()))[0]:
                raise RuntimeError(f"Chromium does not answer within {PATIENCE_S} s")
            read = os.read(self._from, 1 << 16)
            if not read:
                raise RuntimeError("Chromium has ended")
            self._unread += read
        told, _, self._unread = self._unread.partition(b"\0")
        return json.loads(told)

    def open(self, url, width=1280, height=800, dark=False):
        """A page that has loaded."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        self.pages[session] = page
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.ask(f"{domain}.enable")
        page.resize(width, height)
        page.prefer(dark)
        page.ask("Page.navigate", url=url)
        end = time.monotonic() + PATIENCE_S
        while not page.loaded:
            if time.monotonic() > end:
                raise RuntimeError(f"{url} does not load within {PATIENCE_S} s")
            page.run("0")
            time.sleep(0.01)
        return page


class Page:
    def __init__(self, browser, session):
        self._browser, self._session = browser, session
        self.loaded = False
        #: What the console was told, and what was not caught.
        self.complaints = []
        #: Addresses that were asked for.
        self.requests = []

    def ask(self, method, **parameters):
        return self._browser.ask(method, self._session, **parameters)

    def close(self):
        self._browser.pages.pop(self._session)
        self.ask("Page.close")

    def note(self, method, told):
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            details = told["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(" ".join(str(each.get("value")) for each in told["args"]))
        elif method == "Log.entryAdded":
            self.complaints.append(told["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])

    def resize(self, width, height):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                 mobile=width < 600)

    def prefer(self, dark, media=""):
        """Dark or light; media is "print" for what a printer would get."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def run(self, expression):
        """The value of an expression of JavaScript."""
        told = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in told:
            raise RuntimeError(told["exceptionDetails"].get("exception", {}).get("description", expression))
        return told["result"].get("value")

    def middle_of(self, selector):
        """Where an element is on the screen, once it is scrolled there."""
        return self.run(f"""(() => {{
            const found = document.querySelector({json.dumps(selector)});
            found.scrollIntoView({{block: "center"}});
            const box = found.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")

    def point_at(self, selector):
        x, y = self.middle_of(selector)
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector):
        x, y = self.middle_of(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key)

    def picture(self, path, whole=True):
        """A PNG of the page, or of what the screen shows."""
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def pdf(self):
        """What a printer would get."""
        return base64.b64decode(self.ask("Page.printToPDF")["data"])
