#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The small size of FaultBench finds what it injects: faultbench_test.py <path of flightdeck>"""

import json
import os
import sys
import unittest

import loaded_tool

FLIGHTDECK = sys.argv.pop(1)
os.environ["FLIGHTDECK_ENV_SET"] = "1"

# Of one run of every fault on the part that thresholds were settled on. The long bench has stricter aims.
LEAST_DETECTED, LEAST_FIRST, LEAST_AMONG_THREE = 0.90, 0.75, 0.85


class QuickFaultBench(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = loaded_tool.run([FLIGHTDECK, "faultbench", "--quick", "--split", "tune", "--jobs", "2", "--json"],
                               capture_output=True, text=True, timeout=800, check=False)
        assert done.returncode == 0, done.stderr
        cls.result = json.loads(done.stdout)
        cls.total = cls.result["total"]

    def share(self, name):
        return self.total[name] / self.total["runs"]

    def missed(self, name):
        return [(case["fault"], case["problem"], case["verdict"], case["causes"])
                for case in self.result["cases"] if case["fault"] and not case[name]]

    def test_injects_every_fault(self):
        injected = {case["fault"] for case in self.result["cases"] if case["fault"]}
        self.assertEqual(len(injected), self.total["runs"] + self.total["harmless"])
        self.assertGreaterEqual(len(injected), 38)

    def test_detects_faults(self):
        self.assertGreaterEqual(self.share("detected"), LEAST_DETECTED, self.missed("detected"))

    def test_names_the_cause_first(self):
        self.assertGreaterEqual(self.share("first"), LEAST_FIRST, self.missed("first"))

    def test_names_the_cause_among_three(self):
        self.assertGreaterEqual(self.share("among_three"), LEAST_AMONG_THREE, self.missed("among_three"))

    def test_calls_no_healthy_run_faulty(self):
        healthy = [case for case in self.result["cases"] if not case["fault"]]
        self.assertGreaterEqual(len(healthy), 8)
        self.assertEqual(self.result["healthy_runs"], len(healthy))
        called = [(case["problem"], case["optimizer"], case["lamps"]) for case in healthy if case["verdict"] == "fault"]
        self.assertEqual(self.result["healthy_called_faulty"], 0, called)


if __name__ == "__main__":
    unittest.main(verbosity=2)
