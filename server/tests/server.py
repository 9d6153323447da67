"""A running mlxrocm-serve, and what Linux and its metrics say of it."""

import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request

import openai

MODEL = os.environ["MLXROCM_DEMO_MODEL"]
PROGRAM = os.environ["MLXROCM_SERVE"]
KEY = "a key for the tests"


def changed_model(template, **tokens):
    """A file with the demo model under another chat template, and with other spellings of tokens."""
    with open(MODEL, "rb") as file:
        data = file.read()
    text = lambda text: len(text).to_bytes(8, "little") + text.encode()
    key = b"tokenizer.chat_template"
    at = data.index(key) + len(key) + 4
    length = int.from_bytes(data[at : at + 8], "little")
    # As long as the old one, so that all else stays where it is.
    template += "{#" + " " * (length - len(template) - 4) + "#}"
    data = data[:at] + text(template) + data[at + 8 + length :]
    for old, new in tokens.items():
        assert len(old) == len(new) and data.count(text(old)) == 1, old
        data = data.replace(text(old), text(new))
    file = tempfile.NamedTemporaryFile(suffix=".gguf", dir=os.environ.get("MLXROCM_SERVER_WORK"))
    file.write(data)
    file.flush()
    return file


class Server:
    def __init__(self, *options, model=MODEL, key=KEY, logs=True):
        environment = {**os.environ, "MLXROCM_API_KEY": key or ""}
        command = [PROGRAM, "--port", "0", "--device", "cpu", "--name", "demo", *map(str, options), model]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        self.log = []
        line = ""
        while not (found := re.search(r"at http://127\.0\.0\.1:(\d+)/v1", line)):
            line = self.process.stderr.readline()
            assert line, f"it did not start: {self.log}"
            self.log.append(line)
        self.port = int(found[1])
        if logs:
            threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True).start()
        else:
            self.process.stderr.close()
        self.key = key
        self.client = self.make(openai.OpenAI)

    def hang_up(self):
        """Closes the client's connections."""
        self.client.close()
        self.client = self.make(openai.OpenAI)

    def make(self, kind, **options):
        options = {"api_key": self.key or "none", "max_retries": 0, "timeout": 120, **options}
        return kind(base_url=f"http://127.0.0.1:{self.port}/v1", **options)

    def metrics(self):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/metrics")
        request.add_header("Authorization", f"Bearer {self.key}")
        text = urllib.request.urlopen(request, timeout=30).read().decode()
        lines = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        return {name.removeprefix("mlxrocm_"): float(value) for name, value in lines}

    def busy(self):
        metrics = self.metrics()
        return {name: metrics[name] for name in ("generations", "requests_running", "requests_waiting", "kv_tokens_used")}

    def wait_idle(self, seconds=20):
        """Until nothing runs and only the connection that asks is open; what it then holds."""
        end = time.monotonic() + seconds
        while any(self.busy().values()) or self.metrics()["connections"] > 1:
            assert time.monotonic() < end, f"still busy: {self.busy()}, {self.metrics()['connections']} connections"
            time.sleep(0.05)
        # Threads that have nothing to do end after two seconds.
        time.sleep(2.5)
        return self.held()

    def held(self):
        folder = f"/proc/{self.process.pid}"
        status = open(f"{folder}/status").read()
        number = lambda name: int(re.search(rf"^{name}:\s+(\d+)", status, re.M)[1])
        return {"files": len(os.listdir(f"{folder}/fd")), "threads": number("Threads"), "kib": number("VmRSS")}

    def connect(self, receive_buffer=None):
        connection = socket.socket()
        if receive_buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connection.settimeout(60)
        connection.connect(("127.0.0.1", self.port))
        return connection

    def send(self, body, path="/v1/completions", method="POST", headers=None, receive_buffer=None):
        """Sends a request by hand; gives the connection."""
        body = body.encode() if isinstance(body, str) else body
        all_headers = {"Host": "x", "Content-Type": "application/json", "Content-Length": len(body),
                       "Authorization": f"Bearer {self.key}", **(headers or {})}  # fmt: skip
        lines = [f"{method} {path} HTTP/1.1"] + [f"{name}: {value}" for name, value in all_headers.items() if value is not None]
        connection = self.connect(receive_buffer)
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        return connection

    def ask(self, *arguments, **options):
        """The status and the rest of an answer to a request by hand."""
        headers = {"Connection": "close", **options.pop("headers", {})}
        with self.send(*arguments, headers=headers, **options) as connection:
            answer = read_all(connection)
        return int(answer.split(b" ", 2)[1]), answer.decode()

    def stop(self, kind=signal.SIGTERM):
        self.process.send_signal(kind)
        return self.process.wait(60)


def read_all(connection):
    answer = b""
    while piece := connection.recv(1 << 16):
        answer += piece
    return answer
