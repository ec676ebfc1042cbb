#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_pull.py - fetching against a server on this machine that misbehaves as servers do."""
import hashlib
import http.server
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import time
import unittest

MINNOW = os.environ["MINNOW"]
DATA = b"".join(hashlib.sha256(b"%d" % i).digest() for i in range(98304))      # 3 MiB that do not compress
SHA = hashlib.sha256(DATA).hexdigest()
MIB = 1 << 20


class Server:
    """Serves DATA at any path; a test says how by setting the fields."""

    def __init__(self):
        self.requests = []          # (path, Range header)
        self.drop_at = []           # absolute byte to break off at, one per request
        self.wrong_at = None        # byte to flip ...
        self.wrong_times = 0        # ... this many times it is served
        self.data, self.etag = DATA, '"v1"'
        self.delay = 0.0
        self.status = None
        self.redirect = None
        self.linked = None
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def do_GET(self):
                server.serve(self)

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.handle_error = lambda *args: None        # clients that hang up are expected
        self.url = "http://127.0.0.1:%d" % self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def serve(self, h):
        wanted = h.headers.get("Range")
        self.requests.append((h.path, wanted))
        if self.redirect and not h.path.startswith("/there"):
            h.send_response(302)
            h.send_header("Location", self.redirect)
            if self.linked:
                h.send_header("X-Linked-Etag", '"%s"' % self.linked)
            h.send_header("Content-Length", "0")
            h.end_headers()
            return
        if self.status:
            h.send_response(self.status)
            h.send_header("Content-Length", "0")
            h.end_headers()
            return
        if self.delay:
            time.sleep(self.delay)
        data, start, end = self.data, 0, len(self.data)
        if_range = h.headers.get("If-Range")
        m = re.fullmatch(r"bytes=(\d+)-(\d*)", wanted or "")
        partial = m and (if_range is None or if_range == self.etag)
        if partial:
            start = int(m.group(1))
            end = int(m.group(2)) + 1 if m.group(2) else end
            if start >= len(data):
                h.send_response(416)
                h.send_header("Content-Range", "bytes */%d" % len(data))
                h.send_header("Content-Length", "0")
                h.end_headers()
                return
        h.send_response(206 if partial else 200)
        h.send_header("ETag", self.etag)
        h.send_header("Content-Length", str(end - start))
        if partial:
            h.send_header("Content-Range", "bytes %d-%d/%d" % (start, end - 1, len(data)))
        h.end_headers()
        body = bytearray(data[start:end])
        if self.wrong_at is not None and start <= self.wrong_at < end and self.wrong_times > 0:
            self.wrong_times -= 1
            body[self.wrong_at - start] ^= 1
        if self.drop_at:
            stop = self.drop_at.pop(0)
            if stop is not None and start <= stop < end:
                h.wfile.write(body[:stop - start])
                h.wfile.flush()
                h.close_connection = True
                h.connection.shutdown(2)
                return
        h.wfile.write(body)

    def close(self):
        self.http.shutdown()
        self.http.server_close()


class Pull(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.dir = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(self.dir.name)
        self.env = dict(os.environ, no_proxy="*", NO_PROXY="*")

    def tearDown(self):
        self.server.close()
        self.dir.cleanup()

    def start(self, *args):
        return subprocess.Popen([MINNOW, "pull", *args], cwd=self.at, env=self.env, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def pull(self, *args, code=0):
        p = self.start(*args)
        out, err = p.communicate(timeout=120)
        self.assertEqual(p.returncode, code, err)
        return out, err

    def source(self):
        return self.server.url + "/files/model.gguf"

    def whole(self, name="model.gguf"):
        self.assertEqual((self.at / name).read_bytes(), DATA)
        self.assertEqual(sorted(p.name for p in self.at.iterdir() if ".part" in p.name), [])

    def percents(self, err):
        return [int(x) for x in re.findall(r"(\d+)% of", err)]

    def test_a_file_arrives_under_its_name_and_its_path_is_all_of_stdout(self):
        out, err = self.pull(self.source(), "--sha256", SHA)
        self.assertEqual(out, "model.gguf\n")
        self.whole()
        self.assertEqual(self.percents(err)[-1], 100)

    def test_a_connection_dropped_at_60_percent_resumes_there(self):
        at = len(DATA) * 6 // 10
        self.server.drop_at = [at]
        out, err = self.pull(self.source(), "--sha256", SHA, "--json")
        self.whole()
        self.assertEqual(self.server.requests[1][1], "bytes=%d-" % at)
        self.assertEqual(len(self.server.requests), 2)
        seen = self.percents(err)
        self.assertEqual(seen, sorted(seen))
        self.assertEqual(json.loads(out)["sha256"], SHA)

    def test_a_later_run_resumes_what_an_earlier_one_left(self):
        at = len(DATA) // 3
        (self.at / "model.gguf.part").write_bytes(DATA[:at])
        (self.at / "model.gguf.part.tag").write_text('"v1"\n')
        self.pull(self.source())
        self.whole()
        self.assertEqual(self.server.requests[0][1], "bytes=%d-" % at)

    def test_bytes_of_another_version_are_not_glued_together(self):
        (self.at / "model.gguf.part").write_bytes(b"x" * 1000)
        (self.at / "model.gguf.part.tag").write_text('"v0"\n')
        self.pull(self.source())
        self.whole()

    def test_bytes_of_an_unknown_version_are_not_used(self):
        (self.at / "model.gguf.part").write_bytes(b"x" * 1000)
        self.pull(self.source())
        self.whole()
        self.assertIsNone(self.server.requests[0][1])

    def test_a_finished_part_needs_no_more_bytes(self):
        (self.at / "model.gguf.part").write_bytes(DATA)
        (self.at / "model.gguf.part.tag").write_text('"v1"\n')
        self.pull(self.source(), "--sha256", SHA)
        self.whole()
        self.assertEqual(len(self.server.requests), 1)

    def ranges(self):
        (self.at / "whole").write_bytes(DATA)
        out = subprocess.run([MINNOW, "check", "whole", "--ranges", "1"], cwd=self.at, text=True, check=True,
                             capture_output=True).stdout
        self.assertEqual(out.split("\n")[0], "minnow-ranges %d %d" % (MIB, len(DATA)))
        self.assertEqual(out.split("\n")[2], hashlib.sha256(DATA[MIB:2 * MIB]).hexdigest())
        (self.at / "list").write_text(out)

    def test_one_wrong_byte_costs_its_range_alone(self):
        self.ranges()
        self.server.wrong_at, self.server.wrong_times = MIB + 7, 1
        out, _ = self.pull(self.source(), "--ranges", "list", "--sha256", SHA, "--json")
        self.whole()
        self.assertEqual([r for _, r in self.server.requests], [None, "bytes=%d-%d" % (MIB, 2 * MIB - 1)])
        self.assertEqual(json.loads(out)["ranges_fetched_again"], 1)

    def test_a_range_that_stays_wrong_is_an_error_that_names_it(self):
        self.ranges()
        self.server.wrong_at, self.server.wrong_times = MIB + 7, 100
        _, err = self.pull(self.source(), "--ranges", "list", code=65)
        self.assertIn("bytes %d to %d" % (MIB, 2 * MIB), err)
        self.assertFalse((self.at / "model.gguf").exists())

    def test_a_wrong_whole_is_fetched_once_more(self):
        self.server.wrong_at, self.server.wrong_times = 5, 1
        self.pull(self.source(), "--sha256", SHA)
        self.whole()
        self.assertEqual(len(self.server.requests), 2)

    def test_a_file_that_is_not_what_was_asked_for_never_gets_its_name(self):
        _, err = self.pull(self.source(), "--sha256", "0" * 64, code=65)
        self.assertIn(SHA, err)
        self.assertFalse((self.at / "model.gguf").exists())

    def test_a_checksum_must_be_64_lower_case_hex_digits(self):
        for bad in ("", "0" * 63, "0" * 65, "G" * 64, "A" * 64, "0" * 63 + "\n", "sha256:" + "0" * 57):
            self.pull(self.source(), "--sha256", bad, code=2)
        self.assertEqual(self.server.requests, [])

    def test_of_two_pullers_the_second_waits_and_fetches_nothing(self):
        self.server.delay = 0.6
        first = self.start(self.source(), "--sha256", SHA)
        time.sleep(0.2)
        second = self.start(self.source(), "--sha256", SHA)
        for p in (first, second):
            out, err = p.communicate(timeout=60)
            self.assertEqual((p.returncode, out), (0, "model.gguf\n"), err)
        self.assertIn("waiting", err)
        self.whole()
        self.assertEqual(len(self.server.requests), 1)

    def test_who_does_not_want_to_wait_gets_75(self):
        self.server.delay = 0.6
        first = self.start(self.source(), "--sha256", SHA)
        time.sleep(0.2)
        self.pull(self.source(), "--no-wait", code=75)
        first.communicate(timeout=60)
        self.assertEqual(first.returncode, 0)

    def test_a_missing_file_is_66_and_an_absent_server_69(self):
        self.server.status = 404
        self.pull(self.source(), code=66)
        self.server.status = 429
        self.pull(self.source(), code=75)
        self.server.close()
        self.server = Server()
        _, err = self.pull("http://127.0.0.1:1/model.gguf", code=69)
        self.assertIn("127.0.0.1:1", err)

    def test_a_hub_source_becomes_its_url_and_states_its_hash(self):
        self.server.redirect, self.server.linked = self.server.url + "/there/blob", SHA
        out, err = self.pull("hf:org/repo/sub dir/model.gguf", "--endpoint", self.server.url + "/", "--json", "--strict")
        self.assertEqual(self.server.requests[0][0], "/org/repo/resolve/main/sub%20dir/model.gguf")
        self.assertEqual(json.loads(out)["verified"], True)
        self.whole()

    def test_a_hub_that_states_a_wrong_hash_is_not_believed(self):
        self.server.redirect, self.server.linked = self.server.url + "/there/blob", "0" * 64
        self.pull("hf:org/repo@v2/model.gguf", "--endpoint", self.server.url, code=65)
        self.assertEqual(self.server.requests[0][0], "/org/repo/resolve/v2/model.gguf")

    def test_the_second_hub_has_its_own_paths(self):
        self.env["MINNOW_MS_ENDPOINT"] = self.server.url
        self.pull("ms:org/repo/model.gguf")
        self.assertEqual(self.server.requests[0][0], "/models/org/repo/resolve/master/model.gguf")

    def test_strict_wants_a_checksum(self):
        self.pull(self.source(), "--strict", code=65)

    def test_sources_that_could_escape_are_refused(self):
        for bad in ("hf:org/../x/model", "hf:org/repo", "hf:/repo/a/b", "hf:org/repo/..", "hf:org//model", "hf:org/a\\b/c",
                    "file:///etc/passwd", "ftp://host/file", "http://example.com/model.gguf", "https://", "model.gguf",
                    "https://user:secret@example.com/model.gguf", self.server.url + "/a/%2e%2e",
                    self.server.url + "/a%2fb%2f..%2fc", self.server.url + "/", "hf:org/repo/a\nb"):
            self.pull(bad, "--endpoint", self.server.url, code=2)
        self.assertEqual(self.server.requests, [])

    def test_a_redirect_may_not_leave_https(self):
        for bad in ("http://example.com/x", "file:///etc/passwd", "ftp://example.com/x"):
            self.server.redirect = bad
            _, err = self.pull(self.source(), code=69)
            self.assertIn("only https", err)

    def test_a_redirect_loop_ends(self):
        self.server.redirect = self.server.url + "/again"
        _, err = self.pull(self.source(), code=69)
        self.assertIn("too many redirects", err)

    def test_an_empty_file_is_an_error(self):
        self.server.data = b""
        self.pull(self.source(), code=65)

    def test_a_file_that_is_there_is_not_fetched_again(self):
        (self.at / "model.gguf").write_bytes(DATA)
        self.pull(self.source(), "--sha256", SHA)
        self.pull(self.source(), "--sha256", "0" * 64, code=65)
        self.assertEqual(self.server.requests, [])


if __name__ == "__main__":
    unittest.main()
