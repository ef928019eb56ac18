#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the command lines of pages, those in blocks of `sh`: of the README, the quick start and the tutorials.

usage: run_commands.py ROOT BUILD WORK_FOLDER PAGE… | run_commands.py --self-test

Lines run one after another in WORK_FOLDER, which is made anew and has links to what ROOT has. polar and
polar-recall are those of this build, `./dev.sh bench` is polar-recall, `./dev.sh demo` is that with the demo's
list (less PQ, whose training takes a minute), and python and .venv/bin/python are
the Python that runs this program. What no test can run so is in the table RUN_ELSEWHERE with the test that
runs it; a line that is neither is an error where it fails.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# The beginning of a line, and what runs it.
RUN_ELSEWHERE = {
    "./dev.sh setup": "the build itself: its packages are there",
    "./dev.sh test": "the run of the tests that this is part of",
    "./dev.sh build": "the build that this test belongs to",
    "./dev.sh docs": "the test site",
    "cmake --install": "the tests of tests/install",
    "python3 -m venv": "the test python_install",
    ".venv/bin/pip install": "the test python_install, and test_examples.py for other packages",
    "bench/peers/run.sh": "nothing: it needs other libraries from PyPI; the tests benchmark_tables read what it wrote",
}
DEMO = """eval "$(grep '^demo_' dev.sh)"
polar-recall --base "$demo_base" --query "$demo_queries" --metric "$demo_metric" \\
  --index "$(sed 's/PQ[^;]*;//g' <<<"$demo_indexes")"
"""
LAUNCHER = """#!/bin/sh
exec "{python}" {arguments} "$@"
"""


def command_lines(text):
    """The commands of a page, without comments; a line that ends with \\ goes on in the next."""
    for block in BLOCK.findall(text):
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            line = re.sub(r"(^|\s)#.*", "", line).strip()
            if line:
                yield line


def as_run(line):
    """The line as a test runs it, or None where another does."""
    if any(line.startswith(beginning) for beginning in RUN_ELSEWHERE):
        return None
    if line == "./dev.sh demo":
        return DEMO
    line = re.sub(r"^\./dev\.sh bench\b", "polar-recall", line)
    return re.sub(r"^\.venv/bin/(?=polar|python)", "", line)


def write_program(path, arguments):
    path.write_text(LAUNCHER.format(python=sys.executable, arguments=arguments), encoding="utf-8")
    path.chmod(0o755)


def prepare(root, build, work):
    """The folder that commands run in, and their environment."""
    shutil.rmtree(work, ignore_errors=True)
    programs = work / ".programs"
    programs.mkdir(parents=True)
    for name in ("bench", "dev.sh", "docs", "examples"):
        (work / name).symlink_to(root / name)
    write_program(programs / "polar", "-m polarquant")
    write_program(programs / "python", f'"{root}/tests/examples/run_with_embeddings.py"')
    path = os.pathsep.join([str(programs), str(build / "bin"), os.environ["PATH"]])
    return dict(os.environ, PATH=path)


def run_pages(root, build, work, pages):
    environment = prepare(root, build, work)
    done = left = 0
    for page in pages:
        for line in command_lines((root / page).read_text(encoding="utf-8")):
            command = as_run(line)
            if command is None:
                left += 1
                continue
            print(f"{page}: {line}", flush=True)
            result = subprocess.run(["bash", "-euc", command], cwd=work, env=environment, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            if result.returncode:
                print(result.stdout, f"ended with {result.returncode}", sep="\n")
                return 1
            done += 1
    print(f"{done} commands run, {left} run elsewhere")
    return 1 if done == 0 else 0


def self_test():
    page = "```sh\npolar info a.npy  # says what it is\n./dev.sh bench \\\n  -k 10\n\n./dev.sh test\n```\n```c\nno();\n```\n"
    lines = list(command_lines(page))
    assert lines == ["polar info a.npy", "./dev.sh bench -k 10", "./dev.sh test"], lines
    assert [as_run(line) for line in lines] == ["polar info a.npy", "polar-recall -k 10", None]
    assert as_run(".venv/bin/python a.py") == "python a.py"
    assert as_run("./dev.sh demo") == DEMO
    print("commands are found as a reader would type them")
    return 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    root, build, work = (pathlib.Path(argument).resolve() for argument in arguments[:3])
    return run_pages(root, build, work, arguments[3:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
