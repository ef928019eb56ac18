#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The report of a benchmark in headless Chromium: drawn, sorted, filtered, pointed at, on a phone, in the dark and
on paper; and that it asks nothing of anybody.

The results are those of bench/results and, where POLAR_RECALL names polar-recall and POLARQUANT_LIBRARY the
library, ones that these programs write here. Without Chromium the test is skipped: exit code 77.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import chromium

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "bindings" / "python" / "src"
sys.path.insert(0, str(PACKAGE / "polarquant" / "command"))
import bench_page  # noqa: E402  the file alone: the package would want its library
sys.path.insert(0, str(ROOT / "bench" / "peers"))
import peer_report  # noqa: E402

SKIPPED = 77
RESULTS = [path for path in sorted((ROOT / "bench" / "results").glob("*.json"))
           if peer_report.is_for_page(json.loads(path.read_text(encoding="utf-8")))]
PHONE = {"width": 390, "height": 844}
# Of small text, and of what is drawn, beside the page: as WCAG 2 asks.
TEXT_CONTRAST, MARK_CONTRAST = 4.5, 3.0

HOSTILE = '</script><script>window.ran = 1</script>"\'&<b>\\u003c<!--<script>'
# As `polar bench` writes it, of names that nobody should have.
HOSTILE_RESULT = {
    "polarquant": "0.1.0", "commit": 4 * "0123456789" + "-dirty",
    "data": {"vectors": f"/tmp/{HOSTILE}.npy", "dim": 64, "base_rows": 3000, "queries_used": 100},
    "metric": "cosine", "k": 10, "threads": 0,
    "recommended": "Polar2", "reason": f"Polar2: {HOSTILE}",
    "rows": [
        {"library": "polarquant", "code": "Polar2", "bytes_per_vector": 20.0, "recall": 0.9,
         "recall_margin": 0.01, "build_seconds": 0.2, "queries_per_second": 5000.0},
        {"library": "FAISS", "code": HOSTILE, "bytes_per_vector": 32.0, "recall": 0.8,
         "recall_margin": 0.02, "build_seconds": 3.5, "queries_per_second": 900.0},
        {"library": "FAISS", "code": "SQ4" + 12 * "ABCDEFGHIJ", "bytes_per_vector": 32.0, "recall": 1.0,
         "recall_margin": 0.0, "build_seconds": 0.001, "queries_per_second": 123456.0},
        {"library": "turbovec", "code": "9", "problem": HOSTILE},
    ],
}

LUMINANCE = """
const luminance = (colour) => {
  const canvas = document.createElement("canvas").getContext("2d");
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((value) => value / 255)
    .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
};
const contrast = (a, b) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};
const page = getComputedStyle(document.body).backgroundColor;
"""


def points_of(result):
    """(code, its point) of a result of bench/peers."""
    return [(row, point) for row in result["contenders"] if "error" not in row for point in row["points"]]


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = chromium.Chromium().__enter__()
        cls.addClassCleanup(cls.browser.__exit__)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def open(self, results, **how):
        path = self.folder / f"{self.id()}.html"
        path.write_text(bench_page.make_page(json.dumps(results)), encoding="utf-8")
        return self.open_file(path, **how)

    def open_file(self, path, **how):
        """The page, which must have been quiet when the test ends."""
        page = self.browser.open(path.as_uri(), **how)
        self.addCleanup(lambda: self.assertEqual(page.requests, [path.as_uri()]))
        self.addCleanup(lambda: self.assertEqual(page.complaints, []))
        return page

    def column(self, page, head):
        """The texts of a column, by its head's."""
        return page.run(f"""(() => {{
            const heads = [...document.querySelectorAll("th")].map((head) => head.textContent.replace("\\u200b", ""));
            const at = heads.indexOf({json.dumps(head)});
            return [...document.querySelectorAll("tbody tr")].map((row) => row.cells[at].textContent);
        }})()""")

    def numbers(self, page, head):
        return [float(text.replace(",", "").rstrip(" %")) for text in self.column(page, head) if text]

    def click_head(self, page, head):
        number = page.run(f"""[...document.querySelectorAll("th")].findIndex(
            (each) => each.textContent.replace("\\u200b", "") === {json.dumps(head)})""")
        self.assertGreaterEqual(number, 0, head)
        page.click(f"th:nth-child({number + 1}) button")

    def assert_fits_a_phone(self, page):
        page.resize(**PHONE)
        page.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        page.run("document.querySelector('details').open = true")
        self.assertEqual(page.run("innerWidth"), PHONE["width"])
        self.assertLessEqual(page.run("document.documentElement.scrollWidth"), PHONE["width"])
        beyond = page.run(f"""[...document.querySelectorAll("body *")].filter((each) =>
            !each.closest("[hidden]") && each.getBoundingClientRect().right > {PHONE["width"]})
            .map((each) => each.outerHTML.slice(0, 80))""")
        self.assertEqual(beyond, [])
        small = page.run("""[...document.querySelectorAll("svg text")].map((text) =>
            parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a).filter((size) => size < 11)""")
        self.assertEqual(small, [])

    def assert_families_differ(self, page):
        marks = page.run("""[...document.querySelectorAll("#families path")].map((mark) =>
            ["d", "stroke", "fill"].map((name) => mark.getAttribute(name)).join())""")
        self.assertEqual(len(set(marks)), len(marks))

    def count(self, page, selector):
        return page.run(f"document.querySelectorAll({json.dumps(selector)}).length")

    def test_complaints_and_requests_are_noticed(self):
        path = self.folder / "bad.html"
        path.write_text("<script>console.log('x'); undefinedName()</script><img src=gone.png>", encoding="utf-8")
        page = self.browser.open(path.as_uri())
        self.assertTrue({"x"} < set(page.complaints), page.complaints)
        self.assertTrue(any("undefinedName" in text for text in page.complaints))
        self.assertTrue(any(url.endswith("gone.png") for url in page.requests))

    def test_every_result_is_drawn_whole(self):
        results = [json.loads(path.read_text(encoding="utf-8")) for path in RESULTS]
        page = self.open(results)
        self.assertEqual(self.count(page, "#result option"), len(results))
        for number, (path, result) in enumerate(zip(RESULTS, results)):
            with self.subTest(path.name):
                page.run(f"""(() => {{
                    const select = document.getElementById("result");
                    select.value = {number};
                    select.dispatchEvent(new Event("change"));
                }})()""")
                points = points_of(result)
                self.assertEqual(self.count(page, "tbody tr"), len(points))
                self.assertEqual(self.count(page, "#by-bytes .point"), len(points))
                timed = [point for _, point in points if "runs" in point]
                self.assertEqual(page.run("document.getElementById('by-speed').hidden"), not timed)
                if timed:
                    self.assertEqual(self.count(page, "#by-speed .point"), len(timed))
                codes = {row["contender"] for row, _ in points}
                self.assertEqual(self.count(page, "#builds .point"), len(codes))
                failed = [row for row in result["contenders"] if "error" in row]
                self.assertEqual(self.count(page, "#missing li"), len(failed))
                expected = sorted(round(row["bytes_per_vector"], 1) for row, _ in points)
                self.assertEqual(sorted(self.numbers(page, "bytes")), expected)
                self.assertIn(result["data"]["name"], page.run("document.title"))
                self.assertEqual(page.run("""[...document.querySelectorAll("svg .point")].filter((point) => {
                    const box = point.getBoundingClientRect(), all = point.ownerSVGElement.getBoundingClientRect();
                    return !point.closest("[hidden]") && (box.left < all.left || box.right > all.right + 1 ||
                        box.top < all.top || box.bottom > all.bottom);
                }).length"""), 0, "points outside of their chart")
                self.assertEqual(page.run("""[...document.querySelectorAll("svg.chart text")].filter((text) => {
                    const box = text.getBoundingClientRect(), all = text.ownerSVGElement.getBoundingClientRect();
                    return !text.closest("[hidden]") && (box.left < all.left || box.right > all.right);
                }).map((text) => text.textContent)"""), [], "texts outside of their chart")
                self.assert_families_differ(page)

    def result(self, name):
        return json.loads((ROOT / "bench" / "results" / name).read_text(encoding="utf-8"))

    def test_columns_sort(self):
        page = self.open(self.result("minilm384-flat-speed.json"))
        for head, first in (("bytes", "ascending"), ("recall@10", "descending"), ("q/s, one", "descending"),
                            ("build s", "ascending")):
            before = sorted(self.numbers(page, head))
            with self.subTest(head):
                for order in (first, {"ascending": "descending", "descending": "ascending"}[first]):
                    self.click_head(page, head)
                    expected = before if order == "ascending" else before[::-1]
                    self.assertEqual(self.numbers(page, head), expected)
                    self.assertEqual(page.run("document.querySelector('th[aria-sort]').ariaSort"), order)
        self.click_head(page, "family")
        families = self.column(page, "family")
        self.assertEqual(families, sorted(families, key=str.lower))
        self.assertEqual(self.count(page, "th[aria-sort]"), 1)

    def test_what_was_not_measured_is_last_whichever_way(self):
        result = json.loads(json.dumps(HOSTILE_RESULT))
        del result["rows"][0]["build_seconds"]
        page = self.open(result)
        for _ in range(2):
            self.click_head(page, "build s")
            texts = self.column(page, "build s")
            self.assertEqual(texts.index(""), len(texts) - 1)

    def test_points_tell_what_they_are(self):
        page = self.open(self.result("minilm384-flat-speed.json"))
        for chart in ("by-bytes", "by-speed", "builds"):
            with self.subTest(chart):
                page.point_at(f"#{chart} .point:last-of-type")
                self.assertFalse(page.run("document.getElementById('tip').hidden"))
                lit = page.run("[...document.querySelectorAll('tbody tr.lit td')].map((cell) => cell.textContent)")
                told = page.run("document.getElementById('tip').textContent")
                code = page.run("document.querySelector('#tip strong').textContent")
                self.assertTrue(lit[0].replace("\u200b", "").startswith(code), (lit, told))
                for figure in [text for text in lit[2:] if text and "%" not in text]:
                    self.assertIn(figure, told)
                box = page.run("(({left, right, top, bottom}) => [left, right, top, bottom])"
                               "(document.getElementById('tip').getBoundingClientRect())")
                self.assertTrue(0 <= box[0] < box[1] <= 1280 and 0 <= box[2] < box[3] <= 800, box)
                page.point_at("h1")
                self.assertTrue(page.run("document.getElementById('tip').hidden"))
                self.assertEqual(self.count(page, ".lit"), 0)

    def test_points_answer_to_arrow_keys(self):
        page = self.open(self.result("minilm384-flat-speed.json"))
        page.run("document.querySelector('#by-bytes svg.chart').focus()")
        told = []
        for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
            page.press(key)
            told.append(page.run("document.getElementById('tip').textContent"))
        self.assertTrue(told[0])
        self.assertNotEqual(told[0], told[1])
        self.assertEqual(told[0], told[2])

    def test_rows_light_their_points(self):
        page = self.open(self.result("minilm384-flat-speed.json"))
        page.point_at("tbody tr:nth-child(3)")
        self.assertEqual(self.count(page, "#by-bytes .point.lit"), 1)
        self.assertEqual(self.count(page, "tbody tr.lit"), 1)

    def test_families_are_filtered(self):
        result = self.result("minilm384-flat-speed.json")
        page = self.open(result)
        everything = len(points_of(result))
        own = sum(row["is_ours"] for row, _ in points_of(result))
        page.click("[data-family=polarquant]")
        self.assertEqual(page.run("document.querySelector('[data-family=polarquant]').ariaPressed"), "false")
        for selector in ("tbody tr", "#by-bytes .point", "#by-speed .point"):
            self.assertEqual(self.count(page, selector), everything - own)
        self.assertNotIn("polarquant", self.column(page, "family"))
        page.click("[data-family='FAISS PQ']")
        self.assertEqual(self.count(page, "tbody tr"), everything - own - 2)
        page.click("#families .all")
        self.assertEqual(self.count(page, "tbody tr"), everything)
        page.click("#families .all")
        self.assertEqual(self.count(page, "tbody tr"), 0)
        self.assertIn("Nothing is shown", page.run("document.getElementById('by-bytes').textContent"))
        page.click("[data-family=polarquant]")
        self.assertEqual(set(self.column(page, "family")), {"polarquant"})

    def test_speed_is_of_one_query_or_of_a_batch(self):
        page = self.open(self.result("minilm384-flat-speed.json"))
        seen = []
        for mode in ("batch", "one"):
            page.run(f"""(() => {{
                const select = document.getElementById("mode");
                select.value = "{mode}";
                select.dispatchEvent(new Event("change"));
            }})()""")
            seen.append(page.run("document.querySelector('#by-speed svg').innerHTML"))
        self.assertNotEqual(*seen)

    def test_names_are_texts(self):
        page = self.open(HOSTILE_RESULT)
        self.assertIsNone(page.run("window.ran"))
        self.assertEqual(self.count(page, "b"), 0)
        self.assertIn(f"FAISS {HOSTILE}", [text.replace("\u200b", "") for text in self.column(page, "code")])
        self.assertIn(HOSTILE, page.run("document.getElementById('reason').textContent"))
        self.assertIn(HOSTILE, page.run("document.getElementById('missing').textContent"))
        self.assertIn(HOSTILE.split("/")[-1], page.run("document.title"))
        self.assertEqual(page.run("document.querySelector('tr.chosen').cells[0].textContent"), "Polar2 recommended")

    def test_what_could_not_be_measured_at_all_is_no_error(self):
        result = {**HOSTILE_RESULT, "rows": HOSTILE_RESULT["rows"][-1:], "recommended": None}
        page = self.open(result)
        self.assertEqual(self.count(page, "tbody tr"), 0)
        self.assertEqual(self.count(page, "figure:not([hidden])"), 0)
        self.assertEqual(self.count(page, "#missing li"), 1)

    def test_colours_are_told_apart_from_the_page(self):
        pages = []
        for dark in (False, True):
            page = self.open(self.result("minilm384-search.json"), dark=dark)
            told = page.run(f"""(() => {{ {LUMINANCE}
                const texts = ["body", ".soft", "svg text", "th", "td small"]
                  .map((each) => [each, getComputedStyle(document.querySelector(each))])
                  .map(([each, style]) => [each, contrast(each.startsWith("svg") ? style.fill : style.color, page)]);
                const marks = [...document.querySelectorAll("#families svg path")]
                  .map((mark) => [mark.getAttribute("stroke"), contrast(getComputedStyle(mark).stroke, page)]);
                return {{ page: luminance(page), texts, marks }};
            }})()""")
            with self.subTest(dark=dark):
                self.assertGreater(len(told["marks"]), 10)
                self.assertEqual([text for text in told["texts"] if text[1] < TEXT_CONTRAST], [])
                self.assertEqual([mark for mark in told["marks"] if mark[1] < MARK_CONTRAST], [])
            pages.append(told["page"])
        self.assertGreater(pages[0], 0.9)
        self.assertLess(pages[1], 0.05)

    def test_a_phone_scrolls_downwards_alone(self):
        results = [json.loads(path.read_text(encoding="utf-8")) for path in RESULTS]
        for result in [HOSTILE_RESULT, *results]:
            page = self.open(result, **PHONE)
            with self.subTest(page.run("document.title")):
                self.assert_fits_a_phone(page)
        # What its table leaves out is told by a touch.
        page.click("tbody tr td")
        self.assertIn("recall@1", page.run("document.getElementById('tip').textContent"))

    def test_charts_follow_the_window(self):
        page = self.open(HOSTILE_RESULT)
        self.assert_fits_a_phone(page)
        self.assertLessEqual(page.run("document.querySelector('svg.chart').viewBox.baseVal.width"), PHONE["width"])

    def test_paper_is_white_and_has_no_buttons(self):
        page = self.open(self.result("minilm384-flat-speed.json"), dark=True)
        page.prefer(dark=True, media="print")
        self.assertEqual(page.run(f"(() => {{ {LUMINANCE} return luminance(page); }})()"), 1)
        self.assertEqual(page.run("getComputedStyle(document.querySelector('.all')).display"), "none")
        self.assertEqual(page.run("getComputedStyle(document.getElementById('mode')).display"), "none")
        printed = page.pdf()
        self.assertTrue(printed.startswith(b"%PDF"))
        self.assertLess(len(re.findall(rb"/Type\s*/Page\b", printed)), 4)

    @unittest.skipUnless(os.environ.get("POLAR_RECALL"), "POLAR_RECALL does not name polar-recall")
    def test_polar_recall_writes_it(self):
        path, result = self.folder / "recall.html", self.folder / "recall.json"
        command = [os.environ["POLAR_RECALL"], "--base", "bench/data/base.npy", "--query", "bench/data/query.npy",
                   "--metric", "ip", "--mode", "both", "--repeat", "1", "--nb", "3000", "--nq", "50", "--index",
                   "Polar2;Polar4-pca;IVF16,Polar2;Polar2,RFlat;SQ8;PQ48x4np;NoSuchCode", "--param", "nprobe=1",
                   "--param", "nprobe=4", "--html", str(path), "--json", str(result)]
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        rows = json.loads(result.read_text(encoding="utf-8"))["rows"]
        page = self.open_file(path)
        self.assertEqual(self.count(page, "tbody tr"), sum("error" not in row for row in rows))
        self.assertEqual(self.count(page, "tbody tr"), 7)
        self.assertEqual(self.count(page, "#missing li"), 1)
        self.assertEqual(set(self.column(page, "family")), {
            "polarquant", "polarquant, trained", "polarquant, lists", "polarquant, refined", "FAISS SQ", "FAISS PQ"})
        self.assert_families_differ(page)
        self.assertEqual(self.count(page, "figure:not([hidden])"), 3)
        recalls = [round(row["recall_at_k"], 4) for row in rows if "error" not in row]
        self.assertEqual(self.numbers(page, "recall@10"), recalls)
        self.assert_fits_a_phone(page)

    @unittest.skipUnless(os.environ.get("POLAR_RECALL"), "POLAR_RECALL does not name polar-recall")
    def test_polar_recall_writes_it_of_advice(self):
        path = self.folder / "advice.html"
        command = [os.environ["POLAR_RECALL"], "--advise", "--base", "bench/data/base.npy", "--metric", "cos",
                   "--index", "Polar1;Polar2;Polar4", "--sample-rows", "2000", "--html", str(path)]
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        page = self.open_file(path)
        self.assertEqual(self.column(page, "family"), 3 * ["polarquant"])
        self.assertEqual(self.count(page, "tr.chosen"), 1)
        self.assertEqual(self.count(page, "figure:not([hidden])"), 1)
        self.assert_fits_a_phone(page)

    @unittest.skipUnless(os.environ.get("POLARQUANT_LIBRARY"), "POLARQUANT_LIBRARY does not name the library")
    def test_polar_bench_writes_it(self):
        path, result = self.folder / "bench.html", self.folder / "bench.json"
        command = [sys.executable, "-m", "polarquant", "bench", "bench/data/base.npy", "--rows", "2000", "--rounds",
                   "1", "--codes", "Polar1;Polar2;PolarTree4.2.2.2;Polar77", "--html", path, "--json", result]
        subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(PACKAGE)}, stdout=subprocess.DEVNULL,
                       check=True)
        told = json.loads(result.read_text(encoding="utf-8"))
        page = self.open_file(path)
        self.assertEqual(self.numbers(page, "recall@10"), [round(row["recall"], 4) for row in told["rows"][:3]])
        self.assertEqual(set(self.column(page, "family")), {"polarquant", "published polar codes"})
        chosen = page.run("document.querySelector('tr.chosen').cells[0].textContent")
        self.assertEqual(chosen, f"{told['recommended']} recommended")
        self.assertIn("Polar77", page.run("document.getElementById('missing').textContent"))
        self.assert_fits_a_phone(page)


if __name__ == "__main__":
    if chromium.find_chromium() is None:
        print(f"skipped: {chromium.MISSING}")
        sys.exit(SKIPPED)
    unittest.main()
