#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_commands.py - the program's conventions, on the tiny models of the golden tests."""
import json
import os
import pathlib
import pty
import signal
import subprocess
import tempfile
import unittest

MINNOW = os.environ["MINNOW"]
TINY = pathlib.Path(__file__).resolve().parent.parent / "golden" / "tiny"
MODEL = str(TINY / "qwen3.gguf")
COMMANDS = ["run", "chat", "info", "check", "tokenize", "template", "logits", "pull", "convert", "quantize", "eval ppl", "eval choice",
            "completion", "version"]


def call(*args, stdin="", code=0, env=None):
    p = subprocess.run([MINNOW, *args], input=stdin.encode() if isinstance(stdin, str) else stdin, capture_output=True,
                       timeout=120, env=dict(os.environ, **(env or {})))
    if p.returncode != code:
        raise AssertionError("minnow %s: exit %d, expected %d\n%s" % (" ".join(args), p.returncode, code, p.stderr.decode()))
    return p.stdout, p.stderr.decode()


class Conventions(unittest.TestCase):
    def test_help_lists_every_command_and_each_explains_itself(self):
        out, _ = call("--help")
        for name in COMMANDS:
            self.assertIn("\n  %s " % name, out.decode())
            text, err = call(*name.split(), "--help")
            self.assertTrue(text.startswith(b"usage: minnow " + name.encode()))
            self.assertIn(b"--strict", text)
            self.assertEqual(err, "")

    def test_a_misspelt_command_or_option_gets_the_nearest_one(self):
        self.assertIn("did you mean run?", call("rnu", code=2)[1])
        self.assertIn("did you mean eval ppl?", call("eval", "pll", code=2)[1])
        self.assertIn("eval what?", call("eval", code=2)[1])
        self.assertIn("did you mean --temp?", call("run", "m", "p", "--tmep", "1", code=2)[1])
        self.assertNotIn("did you mean", call("run", "m", "p", "--xyzzyx", code=2)[1])

    def test_values_are_judged_on_both_sides_of_their_limits(self):
        for good, bad in (("--threads=256", "--threads=257"), ("--temp=100", "--temp=100.1"), ("--top-p=1", "--top-p=1.01"),
                          ("--threads=1", "--threads=0"), ("--max-tokens=1", "--max-tokens=0"), ("--temp=0", "--temp=-1"),
                          ("--seed=18446744073709551615", "--seed=18446744073709551616"), ("--kv=f16", "--kv=f64")):
            call("run", "no-such.gguf", "p", good, code=66)
            call("run", "no-such.gguf", "p", bad, code=2)
        for bad in ("--temp=x", "--temp=nan", "--top-k=-1", "--top-k=1x", "--raw=1", "--max-tokens", "-Z"):
            call("run", "no-such.gguf", "p", bad, code=2)

    def test_an_option_may_be_given_sixteen_stops_and_no_more(self):
        stops = ["--stop", "x"] * 16
        call("run", "no-such.gguf", "p", *stops, code=66)
        call("run", "no-such.gguf", "p", *stops, "--stop", "y", code=2)

    def test_words_after_two_dashes_are_no_options(self):
        call("run", "no-such.gguf", "--", "--help", code=66)
        call("run", "no-such.gguf", "a", "b", code=2)
        call("run", "no-such.gguf", code=2)
        call(code=2)

    def test_the_environment_gives_defaults_and_is_judged_too(self):
        self.assertEqual(json.loads(call("version", "--json", env={"MINNOW_CPU": "scalar"})[0])["tier"], "scalar")
        self.assertEqual(json.loads(call("version", "--json", "--cpu", "scalar", env={"MINNOW_CPU": "bogus"})[0])["tier"], "scalar")
        call("version", env={"MINNOW_CPU": "bogus"}, code=2)
        self.assertIn("MINNOW_THREADS", call("version", env={"MINNOW_THREADS": "many"}, code=2)[1])

    def test_manual_and_completion_know_every_command_and_option(self):
        man = call("--man")[0].decode()
        for shell in ("bash", "zsh", "fish"):
            text = call("completion", shell)[0].decode()
            for name in COMMANDS:
                for word in name.split():
                    self.assertIn(word, text)
            self.assertIn("max-tokens", text)
        for name in COMMANDS:
            self.assertIn(".SS minnow " + name, man)
        self.assertIn("max\\-tokens", man)
        call("completion", "csh", code=2)
        subprocess.run(["bash", "-n"], input=call("completion", "bash")[0], check=True)

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "w") as full:
            p = subprocess.run([MINNOW, "--help"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(p.returncode, 74)

    def test_version_is_one_object_in_json(self):
        v = json.loads(call("version", "--json")[0])
        self.assertRegex(v["version"], r"^\d+\.\d+\.\d+$")
        self.assertGreaterEqual(v["threads"], 1)


class Models(unittest.TestCase):
    def test_a_file_that_is_not_there_is_66_and_named_once(self):
        for cmd in (("run", "no-such.gguf", "p"), ("info", "no-such.gguf"), ("check", "no-such.gguf"),
                    ("tokenize", "no-such.gguf"), ("logits", "no-such.gguf", "p")):
            _, err = call(*cmd, code=66)
            self.assertEqual(err.count("no-such.gguf"), 1, err)

    def test_a_file_that_is_no_model_is_65(self):
        with tempfile.NamedTemporaryFile(suffix=".gguf") as f:
            f.write(b"not a model at all" * 10)
            f.flush()
            for cmd in ("info", "check"):
                self.assertIn(f.name, call(cmd, f.name, code=65)[1])

    def test_check_finds_a_cut_file(self):
        out, _ = call("check", MODEL)
        self.assertEqual(out.decode(), "%s: ok\n" % MODEL)
        with tempfile.NamedTemporaryFile(suffix=".gguf") as f:
            f.write(pathlib.Path(MODEL).read_bytes()[:-1000])
            f.flush()
            call("check", f.name, code=65)
            self.assertFalse(json.loads(call("check", f.name, "--json", code=65)[0])["ok"])

    def test_info_is_one_json_object_or_lines_for_reading(self):
        info = json.loads(call("info", MODEL, "--json")[0])
        self.assertIn("qwen3", json.dumps(info))
        text = call("info", MODEL)[0].decode()
        self.assertIn("qwen3", text)
        self.assertGreater(len(call("info", MODEL, "--tensors")[0]), len(text))

    def test_run_prints_the_answer_and_nothing_else_and_repeats_it(self):
        args = ("run", MODEL, "Hello", "--max-tokens", "8", "--raw")
        first, err = call(*args)
        self.assertEqual(first, call(*args, "--quiet", "--threads", "1")[0])
        self.assertIn("tok/s", err)
        self.assertEqual(call(*args, "--quiet")[1], "")
        o = json.loads(call(*args, "--json")[0])
        self.assertEqual(o["text"].rstrip("\n"), first.decode().rstrip("\n"))
        self.assertLessEqual(o["generated_tokens"], 8)
        for key in ("reason", "prompt_tokens", "prompt_tok_per_s", "generate_tok_per_s", "first_token_s", "seed", "tier"):
            self.assertIn(key, o)

    def test_a_seed_repeats_and_another_differs(self):
        def text(seed):
            return call("run", MODEL, "Hello", "--raw", "-n", "16", "--temp", "2", "--seed", seed, "--json")[0]
        self.assertEqual(json.loads(text("1"))["text"], json.loads(text("1"))["text"])
        self.assertNotEqual(json.loads(text("1"))["text"], json.loads(text("2"))["text"])

    def test_a_prompt_may_come_from_stdin(self):
        a = call("run", MODEL, "-", "--raw", "-n", "4", stdin="Hello")[0]
        self.assertEqual(a, call("run", MODEL, "Hello", "--raw", "-n", "4")[0])

    def test_a_prompt_longer_than_the_context_is_65_with_both_numbers(self):
        _, err = call("run", MODEL, "a b c d e f g h i j k l m n o p", "--raw", "--ctx", "4", code=65)
        self.assertRegex(err, r"\b4\b")

    def test_logits_has_every_position_with_its_probabilities(self):
        o = json.loads(call("logits", MODEL, "Hello you", "--raw", "--top", "5", "--json")[0])
        self.assertEqual(len(o["positions"]), len(o["tokens"]))
        for at, p in enumerate(o["positions"]):
            self.assertEqual((p["pos"], p["token"]), (at, o["tokens"][at]))
            lp = [t["logprob"] for t in p["top"]]
            self.assertEqual(len(lp), 5)
            self.assertEqual(lp, sorted(lp, reverse=True))
            self.assertLessEqual(max(lp), 0)
        ref = json.loads(call("logits", MODEL, "Hello you", "--raw", "--top", "5", "--json", "--backend", "ref")[0])
        self.assertEqual(ref["tokens"], o["tokens"])

    def test_tokenize_and_decode_are_inverse(self):
        text = "Hello, world!\n  twice  "
        ids = json.loads(call("tokenize", MODEL, "--json", stdin=text)[0])
        lines = call("tokenize", MODEL, stdin=text)[0].decode()
        self.assertEqual([int(x) for x in lines.split()], ids)
        self.assertEqual(call("tokenize", MODEL, "--decode", stdin=json.dumps(ids))[0].decode(), text)
        self.assertEqual(call("tokenize", MODEL, "--decode", stdin=lines)[0].decode(), text)
        call("tokenize", MODEL, "--decode", stdin="1 x", code=65)
        call("tokenize", MODEL, "--decode", stdin="999999999", code=2)

    def test_template_renders_messages_and_refuses_what_is_not_json(self):
        messages = json.dumps([{"role": "user", "content": "Hi there"}])
        out = call("template", MODEL, stdin=messages)[0].decode()
        self.assertIn("Hi there", out)
        self.assertEqual(json.loads(call("template", MODEL, "--json", stdin=messages)[0])["prompt"], out)
        ids = json.loads(call("template", MODEL, "--ids", "--json", stdin=messages)[0])
        self.assertGreater(len(ids), 2)
        call("template", MODEL, stdin="[{", code=65)

    def test_chat_answers_line_by_line_from_a_pipe(self):
        out, err = call("chat", MODEL, "-n", "4", stdin="Hello\n/stats\n/hlep\n/reset\nAgain\n/quit\nnever\n")
        self.assertIn("did you mean /help?", err)
        self.assertIn("context", err)
        self.assertGreater(len(out), 0)

    def test_a_conversation_can_be_saved_and_loaded(self):
        with tempfile.TemporaryDirectory() as d:
            f = d + "/talk.json"
            call("chat", MODEL, "-n", "4", "--system", "Be brief", stdin="Hello\n/save %s\n" % f)
            talk = json.loads(pathlib.Path(f).read_text())
            self.assertEqual([m["role"] for m in talk], ["system", "user", "assistant"])
            _, err = call("chat", MODEL, "-n", "4", stdin="/load %s\nAnd now?\n/save %s\n" % (f, f))
            self.assertIn("loaded 3 messages", err)
            self.assertEqual(len(json.loads(pathlib.Path(f).read_text())), 5)
            pathlib.Path(f).write_text('[{"role": 1}]')
            self.assertIn("expected a list", call("chat", MODEL, stdin="/load %s\n" % f)[1])

    def test_on_a_terminal_lines_are_kept_in_a_private_history(self):
        with tempfile.TemporaryDirectory() as d:
            person, terminal = pty.openpty()
            p = subprocess.Popen([MINNOW, "chat", MODEL, "-n", "4"], stdin=terminal, stdout=terminal, stderr=terminal,
                                 env=dict(os.environ, XDG_STATE_HOME=d, TERM="vt100"), start_new_session=True)
            os.close(terminal)
            os.write(person, b"H\xc3\xa9llo\n/quit\n")
            seen = b""
            try:
                while True:
                    seen += os.read(person, 4096)
            except OSError:                                 # the other side is closed
                pass
            os.close(person)
            self.assertEqual(p.wait(timeout=60), 0, seen)
            self.assertIn(b"> ", seen)
            history = pathlib.Path(d, "minnow", "history")
            self.assertIn("llo", history.read_text())
            self.assertEqual(history.stat().st_mode & 0o777, 0o600)

    def test_ctrl_c_stops_the_answer_prints_figures_and_gives_130(self):
        p = subprocess.Popen([MINNOW, "run", MODEL, "Hello", "--raw", "--backend", "ref", "--temp", "3", "--ctx", "256"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        p.stdout.read(1)                                    # it is talking
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=60)
        if p.returncode == 0:
            self.skipTest("the answer was complete before the signal came")
        self.assertEqual(p.returncode, 130)
        self.assertIn(b"end: cancelled", err)


class Quantize(unittest.TestCase):
    def test_every_tensor_is_told_in_a_table_or_in_json(self):
        with tempfile.TemporaryDirectory() as tmp:
            out = tmp + "/q.gguf"
            table, err = call("quantize", MODEL, out, "--type", "q4x", "--tensor", "blk.0.*=q8x", "-q")
            self.assertRegex(table.decode(), r"blk\.0\.attn_q\.weight .* -> q8x +9.000 bits  -\d+\.\d\d dB")
            self.assertRegex(table.decode(), r"blk\.1\.attn_q\.weight .* -> q4x +6.000 bits")
            self.assertRegex(table.decode(), r"MB of weights, [\d.]+ bits each")
            self.assertNotIn("quantize:", err)
            self.assertEqual(call("check", out)[0].decode(), out + ": ok\n")
            self.assertIn("q4x", call("info", out, "--tensors")[0].decode())
            self.assertTrue(call("run", out, "Hi", "--max-tokens", "2")[0])

            j = json.loads(call("quantize", MODEL, out, "--json", "--type=q8_0", "--threads=2", "-q")[0])
            row = next(t for t in j["tensors"] if t["name"] == "blk.1.ffn_up.weight")
            self.assertEqual((row["to"], row["wanted"], row["bits"]), ("q8_0", None, 8.5))
            self.assertLess(row["error_db"], -40)
            self.assertAlmostEqual(j["weights_bytes"], sum(t["bytes"] for t in j["tensors"]))
            self.assertEqual(sorted(os.listdir(tmp)), ["q.gguf"])

    def test_progress_goes_to_stderr_and_warnings_can_be_errors(self):
        with tempfile.TemporaryDirectory() as tmp:
            out = tmp + "/q.gguf"
            _, err = call("quantize", MODEL, out, "--type", "q4_k")
            self.assertIn("quantize: 100% of", err)
            self.assertIn("[type-fallback]", err)
            os.remove(out)
            _, err = call("quantize", MODEL, out, "--type", "q4_k", "--strict", code=65)
            self.assertIn("instead of q4_k", err)
            self.assertEqual(os.listdir(tmp), [])

    def test_options_are_judged(self):
        with tempfile.TemporaryDirectory() as tmp:
            out = tmp + "/q.gguf"
            self.assertIn("expected one of: q4x", call("quantize", MODEL, out, "--type", "q9", code=2)[1])
            self.assertIn("expected GLOB=TYPE", call("quantize", MODEL, out, "--tensor", "x", code=2)[1])
            self.assertIn("no matrix has such a name", call("quantize", MODEL, out, "--tensor", "x=q8x", code=2)[1])
            call("quantize", MODEL, out, "--target-bpw", "33", code=2)
            self.assertIn("with q4x the file has", call("quantize", MODEL, out, "--target-size", "1", code=2)[1])
            call("quantize", MODEL, out, "--calibration", tmp + "/none", code=66)
            call("quantize", tmp + "/none.gguf", out, code=66)
            self.assertEqual(os.listdir(tmp), [])


class Convert(unittest.TestCase):
    FOLDER = str(TINY.parent / "hf" / "qwen3")

    def test_a_folder_becomes_a_file_and_a_folder_again(self):
        with tempfile.TemporaryDirectory() as d:
            out, err = call("convert", self.FOLDER, d + "/m.gguf", "--json")
            self.assertEqual(json.loads(out), {"out": d + "/m.gguf", "warnings": []})
            self.assertIn("convert: 100% of", err)
            self.assertEqual(call("convert", d + "/m.gguf", d + "/f", "--to", "hf", "--type", "f16", "--quiet")[1], "")
            with open(d + "/f/config.json") as f:
                self.assertEqual(json.load(f)["torch_dtype"], "float16")
            self.assertEqual(sorted(os.listdir(d + "/f")),
                             ["config.json", "generation_config.json", "model.safetensors", "tokenizer.json",
                              "tokenizer_config.json"])
            self.assertIn("exists already", call("convert", d + "/m.gguf", d + "/f", "--to", "hf", code=2)[1])
            self.assertEqual(sorted(os.listdir(d)), ["f", "m.gguf"])

    def test_what_cannot_be_converted_is_explained(self):
        with tempfile.TemporaryDirectory() as d:
            self.assertIn("no such file", call("convert", d + "/no", d + "/x", code=66)[1].lower())
            self.assertIn("config.json", call("convert", d, d + "/x", code=66)[1])
            self.assertIn("a folder to a folder", call("convert", self.FOLDER, d + "/x", "--to", "hf", code=2)[1])
            self.assertIn("needs its tokenizer", call("convert", self.FOLDER + "/config.json", d + "/x", code=65)[1])
            call("convert", self.FOLDER, d + "/x", "--type", "q3", code=2)
            self.assertEqual(os.listdir(d), [])


if __name__ == "__main__":
    unittest.main()
