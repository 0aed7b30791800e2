# SPDX-License-Identifier: MIT
"""Layer check on small invented repositories."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import check_layers  # noqa: E402


def check(files):
    """Returns (exit status, output) of the check over {path: text}."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            file = Path(folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = check_layers.main([folder])
        return status, output.getvalue()


class CheckLayers(unittest.TestCase):
    def expect_allowed(self, path, include):
        status, output = check({path: f"#include {include}\n"})
        self.assertEqual(status, 0, output)

    def expect_refused(self, path, include, *words):
        status, output = check({path: f"// First line.\n#include {include}\n"})
        self.assertEqual(status, 1, output)
        for word in (f"{path}:2:", "remedy:", *words):
            self.assertIn(word, output)

    def test_lower_layers_may_be_included(self):
        self.expect_allowed("src/rows/outer.cpp", '"kernels/patch_products/patch_products.h"')
        self.expect_allowed("src/rows/outer.cpp", '"base/clock.h"')
        self.expect_allowed("src/rules/ops/relu.cpp", '"graph/node_view.h"')
        self.expect_allowed("src/passes/watch.cpp", '"rows/outer.h"')
        self.expect_allowed("src/passes/watch.cpp", '"flightdeck/watch.h"')
        self.expect_allowed("cli/main.cpp", '"suite/data/fashion_mnist.h"')
        self.expect_allowed("cli/main.cpp", '"base/clock.h"')
        self.expect_allowed("tests/rows/outer_test.cpp", '"passes/watch.h"')

    def test_higher_layers_may_not(self):
        self.expect_refused("src/rows/outer.cpp", '"rules/elementwise.h"',
                            "rows may not include rules", "rows may use: kernels, base, public")
        self.expect_refused("src/base/clock.cpp", '"kernels/k/k.h"', "base may not include kernels")
        self.expect_refused("src/passes/watch.cpp", '"cli/json.h"', "passes may not include cli")

    def test_plain_data_may_be_shared_by_layers_that_share_nothing_else(self):
        self.expect_allowed("study/space.h", '"suite/search.h"')
        self.expect_refused("study/space.h", '"suite/optimizer.h"', "study may not include suite")
        self.expect_allowed("suite/search.h", "<vector>")
        self.expect_refused("suite/search.h", '"suite/optimizer.h"', "the standard library alone")
        self.expect_refused("suite/search.h", "<ATen/core/Tensor.h>", "the standard library alone")

    def test_graph_and_rows_do_not_know_each_other(self):
        self.expect_refused("src/graph/uses.cpp", '"rows/outer.h"', "graph may not include rows")
        self.expect_refused("src/rows/outer.cpp", '"graph/uses.h"', "rows may not include graph")

    def test_spectra_know_operators_but_no_graph(self):
        self.expect_allowed("src/spectra/lanczos.cpp", '"flightdeck/operator.h"')
        self.expect_allowed("src/quantities/hess_max_ev.cpp", '"spectra/krylov.h"')
        self.expect_refused("src/spectra/lanczos.cpp", '"graph/layout.h"',
                            "spectra may not include graph", "spectra may use: base, public")
        self.expect_refused("src/passes/watch.cpp", '"spectra/krylov.h"',
                            "passes may not include spectra")

    def test_public_headers_stand_alone(self):
        self.expect_allowed("include/flightdeck/watch.h", '"flightdeck/gradients.h"')
        self.expect_allowed("include/flightdeck/watch.h", "<ATen/core/Tensor.h>")
        self.expect_refused("include/flightdeck/watch.h", '"passes/watch.h"',
                            "public may not include passes")

    def test_suite_and_examples_stay_out_of_src(self):
        self.expect_allowed("examples/first_look.cpp", '"suite/data/idx.h"')
        self.expect_allowed("suite/runner.cpp", "<flightdeck/flightdeck.h>")
        self.expect_allowed("suite/runner.cpp", '"suite/data/idx.h"')
        self.expect_allowed("suite/runner.cpp", '"base/limits.h"')
        self.expect_refused("suite/runner.cpp", '"rows/outer.h"', "suite may not include rows")
        self.expect_refused("examples/first_look.cpp", '"rows/outer.h"',
                            "examples may not include rows")
        self.expect_refused("suite/runner.cpp", '"cli/json.h"', "suite may not include cli")

    def test_the_form_with_src_is_the_same_include(self):
        self.expect_allowed("cli/commands/doctor.cpp", '"src/kernels/k/k.h"')
        self.expect_allowed("suite/formats/idx.cpp", '"src/base/limits.h"')
        self.expect_refused("suite/formats/idx.cpp", '"src/rows/outer.h"', "suite may not include rows")
        self.expect_refused("src/rows/outer.cpp", '"src/rules/elementwise.h"', "rows may not include rules")

    def test_run_stands_on_suite_and_study_and_below_the_tool(self):
        self.expect_allowed("run/training.cpp", '"suite/problem.h"')
        self.expect_allowed("run/training.cpp", '"study/outcome.h"')
        self.expect_allowed("cli/commands/run.cpp", '"run/training.h"')
        self.expect_refused("run/training.cpp", '"cli/text/json.h"', "run may not include cli")
        self.expect_refused("run/training.cpp", '"cockpit/plan.h"', "run may not include cockpit")
        self.expect_refused("suite/problem.cpp", '"run/training.h"', "suite may not include run")

    def test_without_libtorch_public_headers_may_be_used_that_do_without_it_too(self):
        headers = {"include/flightdeck/ending.h": "#include <string>\n",
                   "include/flightdeck/cockpit.h": '#include "flightdeck/watch.h"\n',
                   "include/flightdeck/watch.h": "#include <ATen/core/Tensor.h>\n"}
        status, output = check({**headers, "study/outcome.h": '#include "flightdeck/ending.h"\n'})
        self.assertEqual(status, 0, output)
        status, output = check({**headers, "study/outcome.h": '#include "flightdeck/cockpit.h"\n'})
        self.assertEqual(status, 1)
        self.assertIn('study may not include LibTorch (by "flightdeck/cockpit.h")', output)

    def test_names_of_nodes_stand_in_the_rules_alone(self):
        line = "const auto* relu = dynamic_cast<const nodes::ReluBackward0*>(node);\n"
        for path in ("src/rules/ops/relu.cpp", "src/graph/torch_compat.h", "tests/rules/relu_test.cpp"):
            status, output = check({path: line})
            self.assertEqual(status, 0, output)
        status, output = check({"src/quantities/catalogue/wiring.cpp": line})
        self.assertEqual(status, 1)
        self.assertIn("wiring.cpp:1: quantities may not name an autograd node (ReluBackward0)", output)
        status, output = check({"src/quantities/catalogue/dead_units.cpp": 'return activation.op == "relu";\n'})
        self.assertEqual(status, 1)
        status, output = check({"src/passes/watch.cpp": "// As ReluBackward0 has it.\n"})
        self.assertEqual(status, 0, output)

    def test_the_version_of_libtorch_is_asked_for_in_one_place(self):
        line = "#if TORCH_VERSION_MAJOR >= 2\n"
        for path in ("src/graph/torch_compat.h", "tests/rules/relu_test.cpp"):
            status, output = check({path: line})
            self.assertEqual(status, 0, output)
        status, output = check({"cli/bench/gpt2.cpp": "\n  #  elif TORCH_VERSION_MINOR > 4\n"})
        self.assertEqual(status, 1)
        self.assertIn("gpt2.cpp:2: cli may not ask for the version of LibTorch", output)
        status, output = check({"cli/tool.cpp": "const char* version = TORCH_VERSION;\n"})
        self.assertEqual(status, 0, output)

    def test_nothing_depends_on_tests(self):
        self.expect_refused("src/rows/outer.cpp", '"tests/oracle/oracle.h"',
                            "rows may not include tests")

    def test_base_and_kernels_do_without_libtorch(self):
        self.expect_refused("src/kernels/k/reference.cpp", "<ATen/ATen.h>",
                            "kernels may not include LibTorch")
        self.expect_refused("src/base/clock.h", "<c10/util/Optional.h>",
                            "base may not include LibTorch")
        self.expect_refused("src/kernels/k/k.h", '"flightdeck/watch.h"',
                            "kernels may not include public")

    def test_relative_includes_are_followed(self):
        status, output = check({
            "src/rows/outer.cpp": '#include "../rules/elementwise.h"\n',
            "src/rules/elementwise.h": "",
        })
        self.assertEqual(status, 1)
        self.assertIn("src/rows/outer.cpp:1: rows may not include rules", output)

    def test_a_neighbour_is_the_same_layer(self):
        status, output = check({"cli/main.cpp": '#include "json.h"\n', "cli/json.h": ""})
        self.assertEqual(status, 0, output)

    def test_comments_are_no_includes(self):
        self.expect_allowed("src/rows/outer.cpp", '<vector>\n// #include "rules/elementwise.h"')

    def test_an_unknown_folder_of_src_is_named(self):
        status, output = check({"src/helpers/strings.h": ""})
        self.assertEqual(status, 1)
        self.assertIn("src/helpers is not a layer", output)

    def expect_import(self, path, statement, *refused_with):
        status, output = check({path: f"// First line.\n{statement}\n"})
        self.assertEqual(status, 1 if refused_with else 0, output)
        for word in refused_with:
            self.assertIn(word, output)

    def test_layers_of_the_page_import_lower_ones(self):
        self.expect_import("web/src/widgets/scene.tsx", "import {x} from '../wire/types';")
        self.expect_import("web/src/widgets/scene.tsx", "import {y} from './surface';")
        self.expect_import("web/src/app/views/a.tsx", "import {x} from '../../base/format';")
        self.expect_import("web/src/app/views/a.tsx", "import all from 'instruments';")
        self.expect_import("web/src/base/format.ts", "import {render} from 'preact';")

    def test_layers_of_the_page_do_not_import_higher_ones(self):
        self.expect_import("web/src/base/format.ts", "import {x} from '../wire/types';",
                           "web/src/base/format.ts:2: base may not import wire/types", "remedy:")
        self.expect_import("web/src/widgets/scene.tsx", "import type {S} from '../store/run_store';",
                           "widgets may not import store", "widgets may use: wire, base")
        self.expect_import("web/src/store/run_store.ts", "export {x} from '../widgets/palette';",
                           "store may not import widgets")
        self.expect_import("web/src/wire/a.ts", "import '../app/app.css';", "wire may not import app")
        self.expect_import("web/src/wire/a.ts", "const x = await import('../app/a');",
                           "wire may not import app")
        self.expect_import("web/src/wire/a.ts", "import {\n  x,\n  y,\n} from '../app/a';",
                           "web/src/wire/a.ts:5:")
        self.expect_import("web/src/app/a.ts", "import {x} from '../../tests/fake_source';",
                           "app may not import outside")

    def test_instruments_import_their_shape_as_a_type_only(self):
        path = "web/src/instruments/loss.ts"
        self.expect_import(path, "import type {Instrument} from '../app/instrument';")
        self.expect_import(path, "import {Instrument} from '../app/instrument';",
                           "instruments may not import app/instrument")
        self.expect_import(path, "import type {App} from '../app/view_props';",
                           "instruments may not import app/view_props")

    def test_an_unknown_folder_of_the_page_is_named(self):
        status, output = check({"web/src/helpers/strings.ts": ""})
        self.assertEqual(status, 1)
        self.assertIn("web/src/helpers is not a layer", output)


if __name__ == "__main__":
    unittest.main()
