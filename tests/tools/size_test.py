# SPDX-License-Identifier: MIT
"""Counting of functions on small invented sources."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import size  # noqa: E402


def found(text):
    """Returns (name, line, length) of the functions of a C++ source."""
    return [tuple(function) for function in size.functions_of_cpp(text)]


class Functions(unittest.TestCase):
    def test_functions_are_counted_from_their_head_to_their_brace(self):
        self.assertEqual(found("int one(int a,\n        int b) {\n  return a + b;\n}\n"), [("one", 1, 4)])
        self.assertEqual(found("template <typename T>\nT two(T a) {\n  return a;\n}\n"), [("two", 1, 4)])

    def test_classes_and_namespaces_are_not_functions_but_their_members_are(self):
        text = "namespace a {\nclass B : public C {\n public:\n  int b() const {\n    return 1;\n  }\n  int c_ = 0;\n};\n}\n"
        self.assertEqual(found(text), [("b", 4, 3)])
        self.assertEqual(found("enum class Kind { kOne,\n kTwo };\nstruct S {\n  int a{1};\n};\n"), [])

    def test_constructors_end_with_their_body(self):
        self.assertEqual(found("S::S(int a)\n    : a_(a), b_{1},\n      c_(2) {\n  run();\n}\n"), [("S::S", 1, 5)])

    def test_lambdas_and_blocks_belong_to_the_function_around_them(self):
        text = "void f() {\n  const auto g = [](int a) {\n    if (a) {\n      h();\n    }\n  };\n}\n"
        self.assertEqual(found(text), [("f", 1, 7)])

    def test_tables_are_not_functions(self):
        self.assertEqual(found("const std::vector<int> kAll = {\n  f(1),\n  f(2),\n};\n"), [])
        self.assertEqual(found("static const Table table{{g(1)},\n {g(2)}};\n"), [])

    def test_default_values_and_operators_do_not_hide_a_function(self):
        self.assertEqual(found("void f(int a = 1, B b = {}) {\n}\n"), [("f", 1, 2)])
        self.assertEqual(found("S& S::operator=(const S& s) {\n  return *this;\n}\n"), [("S::operator=", 1, 3)])
        self.assertEqual(found("bool operator==(A a, A b) {\n  return true;\n}\n"), [("operator==", 1, 3)])

    def test_braces_in_texts_comments_and_macros_do_not_count(self):
        text = '#define X {\nvoid f() {  // }\n  g("}", \'}\', R"(})");  /* } */\n  h(1\'000);\n}\n'
        self.assertEqual(found(text), [("f", 2, 4)])

    def test_functions_of_python_are_counted_without_classes(self):
        text = "class A:\n    def one(self):\n        pass\n\n\ndef two():\n    return 1\n"
        self.assertEqual([tuple(f) for f in size.functions_of_python(text)], [("two", 6, 2), ("one", 2, 2)])


class Report(unittest.TestCase):
    def test_long_functions_are_printed_with_their_length_the_longest_first(self):
        body = "  f();\n"
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "src" / "rows" / "all.cpp"
            file.parent.mkdir(parents=True)
            file.write_text("class Big {\n" + "  int a;\n" * 100 + "};\n"
                            + "void long_one() {\n" + body * 59 + "}\n"
                            + "void longer_one() {\n" + body * 69 + "}\n"
                            + "void fitting() {\n" + body * 58 + "}\n", encoding="utf-8")
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                self.assertEqual(size.main([folder]), 0)
        self.assertEqual(output.getvalue().splitlines(), [
            "src/rows/all.cpp:164: longer_one has 71 lines, guideline 60",
            "src/rows/all.cpp:103: long_one has 61 lines, guideline 60",
            "size: 0 of 1 files and 2 of 3 functions over the guideline"])


if __name__ == "__main__":
    unittest.main()
