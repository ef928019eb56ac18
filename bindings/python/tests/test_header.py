# SPDX-License-Identifier: MIT
"""What the package says of the C library is what the header says."""

import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from support import HEADER, TOPICS

from polarquant import _library, _structs, errors
from polarquant._library import lib

_FUNCTION = re.compile(r"POLAR_API\s+([\w\s*]+?)\s*(\w+)\(([^)]*)\);")
# How a C type is passed. Pointers are addresses, of texts and of everything else.
_FUNCTIONS = {
    "polar_write_fn": _structs.WriteFunction,
    "polar_read_fn": _structs.ReadFunction,
}
_SCALARS = {
    "void": None,
    "float": ctypes.c_float,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "size_t": ctypes.c_size_t,
    "polar_status": ctypes.c_int32,
    "polar_metric": ctypes.c_int32,
    "polar_reconstruction": ctypes.c_int32,
}
# For the reader of a status in C; exceptions have names of their own.
_NOT_NEEDED = {"polar_status_name"}


def _header_text():
    return "".join(topic.read_text(encoding="utf-8") for topic in TOPICS)


def _declarations():
    """{function: (result, [arguments])} of the header, as ctypes."""
    text = re.sub(r"/\*.*?\*/", "", _header_text(), flags=re.DOTALL)
    return {
        name: (
            _ctype(result),
            ([] if arguments.strip() == "void" else [_ctype(a) for a in arguments.split(",")]),
        )
        for result, name, arguments in _FUNCTION.findall(text)
    }


def _ctype(declared):
    words = [word for word in declared.replace("*", " * ").split() if word != "const"]
    if words.count("*") > 1:
        return ctypes.c_void_p
    if "*" in words:
        return ctypes.c_char_p if words[0] == "char" else ctypes.c_void_p
    return _FUNCTIONS.get(words[0]) or _SCALARS[words[0]]


@unittest.skipUnless(HEADER.is_file(), "there is no header beside an installed package")
class HeaderTest(unittest.TestCase):
    def test_the_header_is_its_topics(self):
        included = re.findall(r'#include "polarquant/(\w+\.h)"', HEADER.read_text(encoding="utf-8"))
        self.assertEqual(included, [topic.name for topic in TOPICS])
        there = {
            path.name for path in HEADER.parent.glob("*.h") if not path.name.startswith("faiss")
        }
        self.assertEqual(there, {*included, HEADER.name})

    def test_every_prototype_is_the_header_s(self):
        declared = _declarations()
        self.assertGreater(len(declared), 50)
        for name, (result, arguments) in _library.PROTOTYPES.items():
            with self.subTest(name):
                self.assertIn(name, declared)
                self.assertIs(declared[name][0], result)
                self.assertEqual(declared[name][1], arguments)

    def test_every_function_is_reached(self):
        package = pathlib.Path(_library.__file__).parent
        sources = "".join(p.read_text(encoding="utf-8") for p in package.rglob("*.py"))
        called = set(re.findall(r"\b(?:_?lib|loaded)\.(polar_\w+)", sources))
        declared = set(_declarations())
        self.assertEqual(declared - called, _NOT_NEEDED)
        self.assertEqual(declared - set(_library.PROTOTYPES), set())

    def test_every_struct_is_the_header_s(self):
        declared = re.findall(r"typedef struct (\w+) \{", _header_text())
        self.assertGreater(len(declared), 8)
        self.assertEqual(set(declared), set(_structs.STRUCTS))

    def test_structs_lie_in_memory_as_the_compiler_has_them(self):
        compiler = shutil.which(os.environ.get("CC") or "cc")
        if compiler is None:
            self.skipTest("there is no C compiler")
        prints = []
        expected = []
        for name, struct in _structs.STRUCTS.items():
            prints.append(f'printf("{name} %zu\\n", sizeof({name}));')
            expected.append(f"{name} {ctypes.sizeof(struct)}")
            for field, *_ in struct._fields_:
                where = f"offsetof({name}, {field}), sizeof((({name}*)0)->{field})"
                prints.append(f'printf("{name}.{field} %zu %zu\\n", {where});')
                known = getattr(struct, field)
                expected.append(f"{name}.{field} {known.offset} {known.size}")
        source = "\n".join(
            [
                "#include <stdio.h>",
                "#include <stddef.h>",
                "#include <polarquant/polarquant.h>",
            ]
            + ["int main(void) {", *prints, "return 0; }", ""]
        )
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "layout.c")
            program = os.path.join(folder, "layout")
            with open(path, "w", encoding="utf-8") as file:
                file.write(source)
            include = f"-I{HEADER.parents[1]}"
            subprocess.run([compiler, include, path, "-o", program], check=True)
            printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        self.assertEqual(printed.splitlines(), expected)


class LibraryTest(unittest.TestCase):
    def test_options_are_as_long_as_the_library_s(self):
        for struct, init in [
            (_structs.WorkOptions, lib.polar_work_options_init_sized),
            (_structs.Filter, lib.polar_filter_init_sized),
            (_structs.SearchOptions, lib.polar_search_options_init_sized),
            (_structs.CodecOptions, lib.polar_codec_options_init_sized),
            (_structs.AdviceOptions, lib.polar_advice_options_init_sized),
            (_structs.LoadOptions, lib.polar_load_options_init_sized),
            (_structs.SaveOptions, lib.polar_save_options_init_sized),
            (_structs.CudaOptions, lib.polar_cuda_options_init_sized),
        ]:
            with self.subTest(struct.__name__):
                # What the library does not know it fills with zeros, and leaves what is beyond.
                size = ctypes.sizeof(struct)
                longer = ctypes.create_string_buffer(b"\xff" * (size + 16))
                init(longer, size + 8)
                self.assertEqual(longer.raw[size : size + 16], b"\0" * 8 + b"\xff" * 8)
                self.assertEqual(struct.from_buffer(longer).struct_size, size + 8)

    def test_every_status_has_its_exception(self):
        for status in range(1, 256):
            name = lib.polar_status_name(status).decode()
            kind = type(errors.error_for(status, "x"))
            with self.subTest(name):
                if name == "unknown status":
                    self.assertIs(kind, errors.PolarError)
                else:
                    self.assertEqual(kind.status, status)
                    self.assertIsNot(kind, errors.PolarError)


if __name__ == "__main__":
    unittest.main()
