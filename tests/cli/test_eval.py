#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_eval.py - evaluations from outside: figures, tables, journals, and what is refused."""
import json
import math
import os
import pathlib
import subprocess
import tempfile
import unittest

MINNOW = os.environ["MINNOW"]
MODEL = str(pathlib.Path(__file__).resolve().parent.parent / "golden" / "tiny" / "qwen3.gguf")
TEXT = "The pond was still. A minnow came up, looked at the moon, and went down again. " * 4
TASK = {"data": [{"file": "q.jsonl"}], "format": "jsonl", "context": "{{ q }}", "choices": "{{ c | tojson }}",
        "right": "{{ r }}"}
ITEMS = [{"q": "The moon is", "c": ["up", "upon us", "down"], "r": i % 3} for i in range(12)]


def call(*args, code=0, stdin=None):
    p = subprocess.run([MINNOW, "eval", *args], input=stdin, capture_output=True, text=True, timeout=120)
    if p.returncode != code:
        raise AssertionError("minnow eval %s: exit %d, expected %d\n%s" % (" ".join(args), p.returncode, code, p.stderr))
    return p.stdout, p.stderr


class Perplexity(unittest.TestCase):
    def test_json_has_the_figures_and_they_fit_together(self):
        out = json.loads(call("ppl", MODEL, "--text", "-", "--window", "16", "--json", stdin=TEXT)[0])
        self.assertGreater(out["windows"], 2)
        self.assertEqual(out["tokens"], out["windows"] * 15)
        nats = math.log(out["ppl"]) * out["tokens"]
        self.assertAlmostEqual(out["bits_per_byte"], nats / math.log(2) / out["bytes"], places=6)
        self.assertGreater(out["ppl_second_half"], 0)
        self.assertGreaterEqual(out["seconds"], 0)

    def test_a_stride_has_no_second_halves(self):
        out = json.loads(call("ppl", MODEL, "--text", "-", "--window", "16", "--stride", "4", "--limit-windows", "3",
                              "--json", stdin=TEXT)[0])
        self.assertEqual((out["windows"], out["tokens"], out["ppl_second_half"]), (3, 15 + 2 * 4, None))

    def test_people_get_lines(self):
        out, err = call("ppl", MODEL, "--text", "-", "--window", "16", stdin=TEXT)
        self.assertRegex(out, r"^perplexity +\d+\.\d+ \+- ")
        self.assertIn("perplexity: 100% of", err)

    def test_misuse_is_explained(self):
        self.assertIn("--text", call("ppl", MODEL, code=2)[1])
        self.assertIn("stride 17", call("ppl", MODEL, "--text", "-", "--window", "16", "--stride", "17", stdin=TEXT, code=2)[1])
        self.assertIn("no-such.txt", call("ppl", MODEL, "--text", "no-such.txt", code=66)[1])


class Choice(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.task, self.journal = self.dir.name + "/moon.json", self.dir.name + "/journal"
        pathlib.Path(self.task).write_text(json.dumps(TASK))
        pathlib.Path(self.dir.name + "/q.jsonl").write_text("".join(json.dumps(x) + "\n" for x in ITEMS))

    def tearDown(self):
        self.dir.cleanup()

    def run_task(self, *more, code=0):
        return call("choice", MODEL, "--task", self.task, "--data", self.dir.name, *more, code=code)

    def scores(self, *more):
        result = json.loads(self.run_task("--json", *more)[0])["tasks"][0]
        del result["seconds"]
        return result

    def test_the_same_question_has_one_answer(self):
        r = self.scores()
        self.assertEqual((r["task"], r["n"], r["known"], r["truncated"], r["shots"]), ("moon", 12, 0, 0, 0))
        self.assertAlmostEqual(r["acc"], 1 / 3)
        self.assertAlmostEqual(r["acc_stderr"], math.sqrt(2 / 9 / 11))
        self.assertLess(r["tokens_fed"], r["tokens_full"])
        self.assertEqual(self.scores("--limit", "5")["n"], 5)

    def test_a_table_in_markdown(self):
        out, err = self.run_task("--limit", "3")
        self.assertEqual(out.splitlines()[0], "| task | shots | n | acc | acc_norm | seconds | tokens scored |")
        self.assertRegex(out.splitlines()[2], r"^\| moon \| 0 \| 3 \| 33\.33 \+- ")
        self.assertIn("moon: 100% of 3 items", err)

    def test_a_journal_that_was_cut_short_is_continued(self):
        whole = self.scores("--resume", self.journal)
        full = pathlib.Path(self.journal).read_bytes()
        again = self.scores("--resume", self.journal)
        self.assertEqual((again["known"], again["tokens_fed"]), (12, 0))
        self.assertEqual(pathlib.Path(self.journal).read_bytes(), full)
        for cut in (len(full) // 2, len(full) - 1, full.index(b"\n") + 1, full.index(b"\n"), 0):
            pathlib.Path(self.journal).write_bytes(full[:cut])
            rest = self.scores("--resume", self.journal)
            self.assertEqual((rest["n"], rest["acc"], rest["acc_norm"]), (12, whole["acc"], whole["acc_norm"]))
            self.assertEqual(pathlib.Path(self.journal).read_bytes(), full)

    def test_a_journal_of_another_run_is_refused(self):
        self.scores("--resume", self.journal)
        before = pathlib.Path(self.journal).read_bytes()
        self.assertIn("another run", self.run_task("--resume", self.journal, "--kv", "i8", code=65)[1])
        self.assertEqual(pathlib.Path(self.journal).read_bytes(), before)
        pathlib.Path(self.journal).write_bytes(before + b"[]\n")
        self.assertIn("line 14 is no result", self.run_task("--resume", self.journal, code=65)[1])

    def test_sharing_changes_no_figure(self):
        a, b = self.scores(), self.scores("--no-sharing")
        self.assertEqual((a["acc"], a["acc_norm"]), (b["acc"], b["acc_norm"]))
        self.assertEqual(b["tokens_fed"], b["tokens_full"])

    def test_an_unknown_task_gets_the_list(self):
        err = call("choice", MODEL, "--task", "pica", "--data", self.dir.name, code=2)[1]
        self.assertIn("there is no such task", err)
        self.assertIn("\n  piqa ", err)
        self.assertIn("exclude each other", self.run_task("--zero-shot", "--shots", "2", code=2)[1])
        self.assertIn("the task has none", self.run_task("--shots", "2", code=2)[1])


if __name__ == "__main__":
    unittest.main()
