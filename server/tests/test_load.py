"""Many clients, slow ones, those that go away, limits, and the end."""

import json
import os
import signal
import socket
import subprocess
import threading
import time
import unittest

import openai
from server import MODEL, PROGRAM, Server, read_all

PROMPTS = [f"{start} {end}" for start in ("The sea", "A good day", "My friend", "In Rome") for end in ("is", "has", "was", "and")]
TOKENS = 16


def body(prompt, stream, **more):
    return json.dumps({"prompt": prompt, "max_tokens": TOKENS, "temperature": 0, "stream": stream, **more})


def streamed(answer):
    """The text of an event stream, which must be whole."""
    events = [line[6:] for line in answer.decode().split("\n") if line.startswith("data: ")]
    assert events[-1].startswith("[DONE]"), answer
    return "".join(json.loads(event)["choices"][0]["text"] for event in events[:-1])


class Load(unittest.TestCase):
    def setUp(self):
        self.server = Server("--context", 512, "--max-requests", 8)

    def tearDown(self):
        self.assertEqual(self.server.stop(), 0)

    def round(self, wanted):
        """64 clients at once: whole answers, streams, slow readers, and some that go away in the middle."""
        server, found, failures = self.server, {}, []

        def whole(client, prompt):
            found[client] = server.client.completions.create(
                model="demo", prompt=prompt, max_tokens=TOKENS, temperature=0).choices[0].text  # fmt: skip

        def stream(client, prompt):
            chunks = server.client.completions.create(
                model="demo", prompt=prompt, max_tokens=TOKENS, temperature=0, stream=True)  # fmt: skip
            found[client] = "".join(chunk.choices[0].text for chunk in chunks)

        def slow(client, prompt):
            answer = b""
            headers = {"Connection": "close"}
            with server.send(body(prompt, True), headers=headers, receive_buffer=1024) as connection:
                while piece := connection.recv(200):
                    answer += piece
                    time.sleep(0.02)
            found[client] = streamed(answer)

        def leaves(client, prompt):
            # In the middle of an answer that would be long, some at once, some after its beginning.
            with server.send(body(prompt, client % 8 < 4, max_tokens=480, ignore_eos=True)) as connection:
                if client % 8 == 3:
                    connection.recv(300)
                    time.sleep(0.05 * (client % 5))

        def run(client):
            try:
                kind = (whole, stream, slow, leaves)[client % 4]
                kind(client, PROMPTS[client // 4])
            except Exception as error:
                failures.append((client, repr(error)))

        threads = [threading.Thread(target=run, args=(client,)) for client in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        self.assertEqual(failures, [])
        self.assertEqual(found, {client: wanted[PROMPTS[client // 4]] for client in range(64) if client % 4 != 3})

    def test_64_clients_lose_nothing_and_leave_nothing(self):
        alone = lambda prompt: self.server.client.completions.create(
            model="demo", prompt=prompt, max_tokens=TOKENS, temperature=0)  # fmt: skip
        wanted = {prompt: alone(prompt).choices[0].text for prompt in PROMPTS}
        self.assertEqual(len(set(wanted.values())), len(PROMPTS))
        self.server.hang_up()
        idle = self.server.wait_idle()
        self.round(wanted)
        self.server.hang_up()
        first = self.server.wait_idle()
        self.round(wanted)
        self.server.hang_up()
        second = self.server.wait_idle()
        for after in (first, second):
            self.assertEqual((after["files"], after["threads"]), (idle["files"], idle["threads"]))
        # What the first round needed, the second needs no more of.
        self.assertLess(second["kib"], first["kib"] + 8192, (idle, first, second))
        metrics = self.server.metrics()
        self.assertGreater(metrics["generated_tokens_total"], 2 * 48 * TOKENS * 0.9)
        answered = metrics['http_requests_total{path="/v1/completions",status="200"}']
        self.assertTrue(16 + 2 * 48 <= answered <= 16 + 2 * 64, answered)


class Limits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(
            "--context", 1024, "--max-requests", 2, "--max-waiting", 2, "--client-timeout", 2,
            "--max-body", 4096)  # fmt: skip

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0

    def tearDown(self):
        self.server.hang_up()
        self.server.wait_idle()

    def test_who_reads_nothing_stops_nobody(self):
        # Their answers are far larger than what the kernel keeps for a connection.
        long = body("The sea", True, max_tokens=400, ignore_eos=True, logprobs=20)
        stalled = [self.server.send(long, receive_buffer=1024) for _ in range(2)]
        end = time.monotonic() + 20
        while self.server.busy()["generations"] < 2:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        answer = self.server.client.completions.create(model="demo", prompt="The sea", max_tokens=4, temperature=0)
        self.assertEqual(answer.usage.completion_tokens, 4)
        # It had the place of one of them, whose answer was written for nobody. Then they are let go.
        end = time.monotonic() + 20
        while self.server.metrics()["connections"] > 1:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        for connection in stalled:
            connection.close()

    def test_too_many_are_told_to_come_again(self):
        long = body("The sea", False, max_tokens=900, ignore_eos=True)
        waiting = [self.server.send(long) for _ in range(4)]
        while self.server.busy()["requests_running"] + self.server.busy()["requests_waiting"] < 4:
            time.sleep(0.01)
        status, answer = self.server.ask(body("Hi", False))
        self.assertEqual(status, 429)
        self.assertIn("retry-after: 1", answer)
        with self.assertRaises(openai.RateLimitError):
            self.server.client.completions.create(model="demo", prompt="Hi")
        # More at once than could ever be.
        self.assertEqual(self.server.ask(body(["Hi"] * 5, False))[0], 400)
        for connection in waiting:
            connection.close()
        # Those who went away wait no more.
        self.server.wait_idle()
        self.assertEqual(self.server.ask(body("Hi", False))[0], 200)

    def test_answers_that_take_too_long(self):
        short = Server("--context", 8192, "--max-time", 1)
        request = dict(prompt="The sea", max_tokens=8000, ignore_eos=True)
        status, answer = short.ask(json.dumps(request))
        self.assertEqual((status, "timeout" in answer), (504, True))
        with self.assertRaises(openai.APIError) as caught:
            list(short.client.completions.create(
                model="demo", prompt="The sea", max_tokens=8000, extra_body={"ignore_eos": True}, stream=True))  # fmt: skip
        self.assertIn("longer than 1 seconds", str(caught.exception))
        short.hang_up()
        short.wait_idle()
        self.assertEqual(short.stop(), 0)

    def test_requests_that_never_come(self):
        with self.server.connect() as headers, self.server.connect() as idle:
            headers.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\n")
            with self.server.send("", headers={"Content-Length": 100}) as rest:
                self.assertIn(b" 408 ", read_all(rest))
            begin = time.monotonic()
            read_all(headers)
            self.assertEqual(read_all(idle), b"")
            self.assertLess(time.monotonic() - begin, 10)

    def test_large_bodies(self):
        self.assertEqual(self.server.ask(body("a" * 5000, False))[0], 413)


class End(unittest.TestCase):
    def test_answers_end_before_the_server(self):
        server = Server("--context", 512)
        chunks = server.client.completions.create(
            model="demo", prompt="The sea", max_tokens=40, stream=True, extra_body={"ignore_eos": True},
            stream_options={"include_usage": True})  # fmt: skip
        next(chunks)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.1)
        with self.assertRaises(OSError):
            socket.create_connection(("127.0.0.1", server.port), timeout=5).close()
        self.assertEqual(list(chunks)[-1].usage.completion_tokens, 40)
        server.hang_up()
        self.assertEqual(server.process.wait(20), 0)

    def test_the_second_signal_cuts_them_off(self):
        server = Server("--context", 8192)
        connection = server.send(body("The sea", True, max_tokens=8000, ignore_eos=True))
        connection.recv(500)
        server.process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        self.assertIsNone(server.process.poll())
        begin = time.monotonic()
        self.assertEqual(server.stop(signal.SIGINT), 0)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertNotIn(b"[DONE]", read_all(connection))
        connection.close()

    def test_grace_is_limited(self):
        server = Server("--context", 8192, "--grace", 1)
        connection = server.send(body("The sea", True, max_tokens=8000, ignore_eos=True))
        connection.recv(500)
        self.assertEqual(server.stop(), 0)
        self.assertNotIn(b"[DONE]", read_all(connection))
        connection.close()

    def test_what_cannot_be_served(self):
        run = lambda *options: subprocess.run([PROGRAM, *options], capture_output=True, text=True, timeout=60)
        self.assertIn("Usage: mlxrocm-serve", run("--help").stdout)
        self.assertRegex(run("--version").stdout, r"^mlxrocm-serve \d+\.\d+\.\d+, libmlxrocm \d+\.\d+\.\d+\n$")
        wrong = run("--nothing")
        self.assertEqual((wrong.returncode, wrong.stdout), (2, ""))
        missing = run("--port", "0", "/nowhere/model.gguf")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("/nowhere/model.gguf", missing.stderr)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            busy = run("--port", port, "--device", "cpu", MODEL)
        self.assertEqual(busy.returncode, 1)
        self.assertIn(f"port {port}", busy.stderr)
        # Nobody waits for a model to hear that.
        self.assertNotIn("loaded", busy.stderr)

    def test_what_the_model_runs_on_is_said(self):
        silent = {"MLXROCM_LOG": "", "MLXROCM_API_KEY": ""}
        for more, said in ((silent, True), ({**silent, "MLXROCM_LOG": "error"}, False)):
            command = [PROGRAM, "--port", "0", "--device", "cpu", "--context", "100000", MODEL]
            with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **more}) as server:
                log = ""
                while line := server.stderr.readline():
                    log += line
                    if " at http://" in line:
                        server.terminate()
            self.assertEqual("mlxrocm-serve: loaded" in log and "on the CPU" in log, said, log)
            self.assertEqual("mlxrocm-serve: a session's context of 100000" in log, said, log)

    def test_nobody_reads_what_it_says(self):
        # Of the log: answers still end before the server does.
        server = Server("--context", 512, logs=False)
        connection = server.send(body("The sea", True, max_tokens=400, ignore_eos=True), headers={"Connection": "close"})
        connection.recv(500)
        server.process.send_signal(signal.SIGTERM)
        self.assertIn(b"[DONE]", read_all(connection))
        connection.close()
        self.assertEqual(server.process.wait(20), 0)
        # Of the help.
        for option in ("--help", "--version"):
            with open("/dev/full", "w") as full:
                said = subprocess.run([PROGRAM, option], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual((said.returncode, "mlxrocm-serve: stdout: " in said.stderr), (1, True), said.stderr)
            self.assertNotIn("panicked", said.stderr)
            reader, writer = os.pipe()
            os.close(reader)
            said = subprocess.run([PROGRAM, option], stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60)
            os.close(writer)
            self.assertEqual((said.returncode, said.stderr), (1, ""))

    def test_arguments_that_are_no_texts(self):
        def run(*options, key=b""):
            return subprocess.run([PROGRAM, *options], capture_output=True, timeout=60, env={**os.environb, b"MLXROCM_API_KEY": key})

        # A path may have any bytes.
        path = run(b"/nowhere/\xff.gguf")
        self.assertEqual((path.returncode, b"/nowhere/" in path.stderr), (1, True), path.stderr)
        for options in ((b"--name=\xff", b"model"), (b"--name", b"\xff", b"model"), (b"-\xff",)):
            wrong = run(*options)
            self.assertEqual((wrong.returncode, b"is not UTF-8" in wrong.stderr), (2, True), wrong.stderr)
        # A key that no client can send is no reason to ask for none.
        wrong = run(b"/nowhere/model.gguf", key=b"\xff")
        self.assertEqual((wrong.returncode, b"MLXROCM_API_KEY is not UTF-8" in wrong.stderr), (2, True), wrong.stderr)


if __name__ == "__main__":
    unittest.main()
