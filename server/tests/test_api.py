"""The API, with OpenAI's own client."""

import asyncio
import json
import socket
import unittest

import openai
from server import KEY, Server, read_all

CAPITAL = [{"role": "user", "content": "What is the capital of France?"}]


def setUpModule():
    global server, client
    server = Server("--context", 512)
    client = server.client


def tearDownModule():
    assert server.stop() == 0


def chat(messages=CAPITAL, **options):
    return client.chat.completions.create(model="demo", messages=messages, **{"temperature": 0, "max_tokens": 24, **options})


def text(prompt, **options):
    return client.completions.create(model="demo", prompt=prompt, **{"temperature": 0, "max_tokens": 8, **options})


def content(chunks):
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


class Chat(unittest.TestCase):
    def test_an_answer(self):
        answer = chat()
        choice = answer.choices[0]
        self.assertIn("Paris", choice.message.content)
        self.assertEqual((choice.message.role, choice.finish_reason, choice.index), ("assistant", "stop", 0))
        self.assertEqual((answer.object, answer.model), ("chat.completion", "demo"))
        usage = answer.usage
        self.assertEqual(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)
        # As transformers' template and tokenizer have it.
        self.assertEqual(usage.prompt_tokens, 37)
        self.assertIsNone(choice.logprobs)

    def test_streaming_gives_the_same(self):
        whole = chat()
        chunks = list(chat(stream=True, stream_options={"include_usage": True}))
        self.assertEqual(content(chunks), whole.choices[0].message.content)
        self.assertEqual(chunks[0].choices[0].delta.role, "assistant")
        self.assertEqual([c.choices[0].finish_reason for c in chunks if c.choices][-1], "stop")
        self.assertEqual(chunks[-1].choices, [])
        usage = chunks[-1].usage
        self.assertEqual(usage.completion_tokens, whole.usage.completion_tokens)
        self.assertEqual({chunk.id for chunk in chunks}, {chunks[0].id})
        self.assertGreater(len(chunks), 5)
        self.assertTrue(all(chunk.usage is None for chunk in chunks[:-1]))
        raw = server.ask(json.dumps({"messages": CAPITAL, "stream": True, "max_tokens": 1}), "/v1/chat/completions")[1]
        self.assertIn("content-type: text/event-stream", raw)
        self.assertIn("data: [DONE]\n\n", raw)
        self.assertNotIn("usage", raw)

    def test_async_clients(self):
        async def all():
            client = server.make(openai.AsyncOpenAI)
            create = lambda: client.chat.completions.create(model="demo", messages=CAPITAL, temperature=0, max_tokens=24)
            answers = await asyncio.gather(*(create() for _ in range(4)))
            await client.close()
            return {answer.choices[0].message.content for answer in answers}

        self.assertEqual(asyncio.run(all()), {chat().choices[0].message.content})

    def test_parts_and_developers(self):
        parts = [{"type": "text", "text": "What is the capital"}, {"type": "text", "text": " of France?"}]
        self.assertEqual(chat([{"role": "user", "content": parts}]).choices, chat().choices)
        system = chat([{"role": "system", "content": "Be brief."}, *CAPITAL])
        developer = chat([{"role": "developer", "content": "Be brief."}, *CAPITAL])
        self.assertEqual(developer.choices, system.choices)
        self.assertNotEqual(system.usage.prompt_tokens, chat().usage.prompt_tokens)

    def test_logprobs(self):
        whole = chat(logprobs=True, top_logprobs=3).choices[0]
        streamed = []
        for chunk in chat(logprobs=True, top_logprobs=3, stream=True):
            if chunk.choices[0].logprobs:
                streamed += chunk.choices[0].logprobs.content
        self.assertEqual(streamed, whole.logprobs.content)
        spelled = b"".join(bytes(token.bytes) for token in streamed)
        self.assertEqual(spelled.decode(), whole.message.content)
        for token in streamed:
            self.assertEqual(len(token.top_logprobs), 3)
            best = token.top_logprobs[0]
            self.assertEqual((best.token, best.logprob), (token.token, token.logprob))
            self.assertLess(sum(2.718281828**top.logprob for top in token.top_logprobs), 1.0001)
        self.assertEqual(chat(logprobs=True, max_tokens=2).choices[0].logprobs.content[0].top_logprobs, [])

    def test_seeds_and_choices(self):
        drawn = lambda seed, **more: chat(temperature=1, seed=seed, max_tokens=12, **more)
        texts = lambda answer: [choice.message.content for choice in answer.choices]
        three = texts(drawn(7, n=3))
        self.assertEqual(texts(drawn(7, n=3)), three)
        self.assertEqual(texts(drawn(8)), three[1:2])
        self.assertEqual(len(set(three)), 3)
        self.assertEqual(texts(drawn(-1)), texts(drawn(-1)))
        parts = ["", "", ""]
        for chunk in drawn(7, n=3, stream=True):
            parts[chunk.choices[0].index] += chunk.choices[0].delta.content or ""
        self.assertEqual(parts, three)
        # No seed: another one each time.
        self.assertGreater(len({texts(chat(temperature=2, max_tokens=12))[0] for _ in range(3)}), 1)
        # These leave only the most probable token.
        for one in ({"top_p": 0}, {"extra_body": {"top_k": 1}}, {"extra_body": {"min_p": 1}}):
            self.assertEqual(texts(drawn(7, **one)), texts(chat(max_tokens=12)), one)

    def test_limits_and_stops(self):
        cut = chat(max_tokens=3)
        self.assertEqual((cut.choices[0].finish_reason, cut.usage.completion_tokens), ("length", 3))
        self.assertEqual(chat(max_completion_tokens=3, max_tokens=9).choices, cut.choices)
        stopped = chat(stop=["Par", "nothing"]).choices[0]
        self.assertEqual(stopped.finish_reason, "stop")
        self.assertEqual(stopped.message.content, chat().choices[0].message.content.split("Par")[0])
        self.assertEqual(content(chat(stop="Par", stream=True)), stopped.message.content)
        long = chat(max_tokens=None, extra_body={"ignore_eos": True})
        self.assertEqual((long.usage.total_tokens, long.choices[0].finish_reason), (512, "length"))


class Completions(unittest.TestCase):
    def test_texts_and_tokens(self):
        one = text("The capital of France is")
        self.assertTrue(one.choices[0].text.startswith(" Paris"), one)
        self.assertEqual((one.object, one.choices[0].finish_reason, one.usage.completion_tokens), ("text_completion", "length", 8))
        two = text(["The capital of France is", "One, two, three,"])
        self.assertEqual([choice.index for choice in two.choices], [0, 1])
        self.assertEqual(two.choices[0].text, one.choices[0].text)
        self.assertTrue(two.choices[1].text.startswith(" four"))
        # "The capital of France is" in the model's vocabulary.
        tokens = [504, 3575, 282, 4649, 314]
        self.assertEqual(text(tokens).choices, one.choices)
        self.assertEqual(text([tokens, tokens]).choices[1].text, one.choices[0].text)
        self.assertEqual(text(tokens).usage.prompt_tokens, 5)
        self.assertEqual(text("Hi", max_tokens=None).usage.completion_tokens, 16)

    def test_streaming_gives_the_same(self):
        whole = text(["The capital of France is", "One, two,"], n=2, temperature=1, seed=3)
        parts = [""] * 4
        for chunk in text(["The capital of France is", "One, two,"], n=2, temperature=1, seed=3, stream=True):
            parts[chunk.choices[0].index] += chunk.choices[0].text
        self.assertEqual(parts, [choice.text for choice in whole.choices])
        self.assertEqual(len(set(parts)), 4)

    def test_logprobs(self):
        whole = text("One, two, three,", logprobs=2, max_tokens=6).choices[0]
        found = whole.logprobs
        self.assertEqual("".join(found.tokens), whole.text)
        self.assertEqual([whole.text[at:][: len(token)] for at, token in zip(found.text_offset, found.tokens)], found.tokens)
        for token, logprob, top in zip(found.tokens, found.token_logprobs, found.top_logprobs):
            self.assertEqual((len(top), top[token]), (2, logprob))
        streamed = [chunk.choices[0].logprobs for chunk in text("One, two, three,", logprobs=2, max_tokens=6, stream=True)]
        for name in ("tokens", "token_logprobs", "top_logprobs", "text_offset"):
            self.assertEqual(sum((getattr(one, name) for one in streamed), []), getattr(found, name))
        # Parts of characters: where each begins, and all that could have stood there.
        snakes = "\U0001f389\U0001f40d" * 2
        parts = text(f"{snakes} {snakes} {snakes} \U0001f389", logprobs=5, max_tokens=9).choices[0]
        self.assertIn("\U0001f40d", parts.text)
        spelled, at = b"", []
        for token in parts.logprobs.tokens:
            at.append(len(spelled.decode(errors="ignore")))
            spelled += bytes.fromhex(token[6:].replace("\\x", "")) if token.startswith("bytes:") else token.encode()
        self.assertEqual((spelled.decode(errors="replace"), parts.logprobs.text_offset), (parts.text, at))
        self.assertIn(r"bytes:\x9f", "".join(parts.logprobs.tokens).replace(r"\xf0\x9f", r"\x9f"))
        self.assertEqual({len(top) for top in parts.logprobs.top_logprobs}, {5})
        # The stop token is no part of the text.
        ended = chat(logprobs=True).choices[0]
        self.assertNotIn("<|im_end|>", [token.token for token in ended.logprobs.content])

    def test_biases_and_penalties(self):
        comma = 28
        self.assertEqual(text("One two", max_tokens=3, logit_bias={comma: 100}).choices[0].text, ",,,")
        prompt = "I like cats. I like dogs. I like"
        plain = text(prompt, max_tokens=12).choices[0].text
        for penalty in ({"presence_penalty": 2}, {"frequency_penalty": 2}, {"extra_body": {"repetition_penalty": 2}}):
            self.assertNotEqual(text(prompt, max_tokens=12, **penalty).choices[0].text, plain, penalty)


class Embeddings(unittest.TestCase):
    def embed(self, input, **options):
        answer = client.embeddings.create(model="demo", input=input, **options)
        return [entry.embedding for entry in answer.data], answer.usage

    def test_embeddings(self):
        texts = ["A cat sleeps on the sofa.", "A kitten naps on the couch.", "x = 5; return x"]
        # The client asks for base64 unless told otherwise.
        found, usage = self.embed(texts)
        self.assertEqual([len(one) for one in found], [576] * 3)
        floats, _ = self.embed(texts, encoding_format="float")
        product = lambda a, b: sum(x * y for x, y in zip(a, b))
        for one, same in zip(found, floats):
            self.assertAlmostEqual(product(one, one), 1, places=4)
            self.assertAlmostEqual(max(abs(x - y) for x, y in zip(one, same)), 0, places=6)
        self.assertGreater(product(found[0], found[1]), product(found[0], found[2]))
        alone, one_usage = self.embed(texts[0])
        self.assertEqual(alone[0], found[0])
        self.assertGreater(usage.prompt_tokens, one_usage.prompt_tokens)
        # "The capital of France is", in either form.
        by_tokens, usage = self.embed([504, 3575, 282, 4649, 314])
        self.assertEqual((by_tokens, usage.total_tokens), (self.embed("The capital of France is")[0], 5))
        self.assertEqual(len(self.embed("Hi", dimensions=576)[0][0]), 576)

    def test_refusals(self):
        for input, options in [([], {}), ([[]], {}), (5, {}), ([99999], {}), ("", {}), ("word " * 600, {}),
                               (["a"] * 2049, {}), ("a", {"dimensions": 8}), ("a", {"encoding_format": "int8"})]:  # fmt: skip
            with self.assertRaises(openai.BadRequestError):
                self.embed(input, **options)


class Models(unittest.TestCase):
    def test_the_one_that_is_there(self):
        self.assertEqual([model.id for model in client.models.list()], ["demo"])
        self.assertEqual(client.models.retrieve("demo").object, "model")
        for wrong in (lambda: client.models.retrieve("other/one"), lambda: client.completions.create(model="x", prompt="a")):
            with self.assertRaises(openai.NotFoundError) as caught:
                wrong()
            self.assertEqual(caught.exception.code, "model_not_found")


class Refusals(unittest.TestCase):
    def refused(self, make, kind=openai.BadRequestError):
        with self.assertRaises(kind) as caught:
            make()
        return caught.exception

    def test_chats(self):
        image = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]}]
        for options, param in [
            ({"temperature": 3}, "temperature"), ({"temperature": -1}, "temperature"), ({"top_p": 2}, "top_p"),
            ({"n": 0}, "n"), ({"n": 17}, "n"), ({"max_tokens": 0}, "max_tokens"), ({"max_tokens": -1}, "max_tokens"),
            ({"max_completion_tokens": "a"}, "max_completion_tokens"), ({"seed": 0.5}, "seed"), ({"stop": ["x"] * 17}, "stop"),
            ({"stop": 5}, "stop"), ({"logit_bias": {"a": 1}}, "logit_bias"), ({"logit_bias": {"1": 101}}, "logit_bias"),
            ({"presence_penalty": 3}, "presence_penalty"), ({"frequency_penalty": -3}, "frequency_penalty"),
            ({"top_logprobs": 3}, "top_logprobs"), ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
            ({"stream_options": {}}, "stream_options"), ({"functions": [{"name": "f"}]}, "functions"), ({"modalities": ["audio"]}, "modalities"), ({"extra_body": {"min_p": 2}}, "min_p"),
            ({"extra_body": {"chat_template_kwargs": []}}, "chat_template_kwargs"),
        ]:  # fmt: skip
            error = self.refused(lambda: chat(**options))
            self.assertEqual((error.param, error.type), (param, "invalid_request_error"), (options, error))
        self.assertIn("neither a text nor texts", str(self.refused(lambda: chat(stop=5))))
        for messages, word in [([], "no messages"), (image, "image_url"), ([{"content": "a"}], "role"), ([5], "object")]:
            self.assertIn(word, str(self.refused(lambda: chat(messages))))
        self.assertIn("tools", str(self.refused(lambda: chat(tools=[5]))))
        unknown = self.refused(lambda: chat(logit_bias={1: 1, 99999: 1}))
        self.assertEqual(unknown.param, "logit_bias")
        self.assertIn("token 99999", str(unknown))
        self.assertNotIn("bias_tokens", str(unknown))

    def test_completions(self):
        for prompt in (5, [], [[]], [""], ["a", 5], {"a": 1}, ["a"] * 65, [99999], [-1]):
            self.refused(lambda: text(prompt))
        for options, param in [({"echo": True}, "echo"), ({"best_of": 2}, "best_of"), ({"suffix": "x"}, "suffix"),
                               ({"logprobs": 21}, "logprobs")]:  # fmt: skip
            self.assertEqual(self.refused(lambda: text("a", **options)).param, param)
        error = self.refused(lambda: text("word " * 600))
        self.assertEqual(error.code, "context_length_exceeded")

    def test_bodies_and_paths(self):
        for body in ("", "{", "[]", "5", '{"prompt": "a"', "\0", b"\xff"):
            status, answer = server.ask(body)
            self.assertEqual(status, 400, body)
            self.assertEqual(json.loads(answer.split("\r\n\r\n")[1])["error"]["type"], "invalid_request_error")
        self.assertEqual(server.ask("{}", headers={"Content-Type": "text/plain"})[0], 415)
        self.assertEqual(server.ask("{}", headers={"Content-Type": None})[0], 415)
        self.assertEqual(server.ask("{}", path="/v1/nothing")[0], 404)
        self.assertEqual(server.ask("", method="GET")[0], 405)
        status, answer = server.ask("", path="/v1/models/%ff", method="GET")
        self.assertEqual((status, "invalid_request_error" in answer), (400, True), answer)
        # Blanks in values that change nothing.
        harmless = '{"messages": [{"role": "user", "content": "a"}], "max_tokens": 1, "modalities": [ "text" ], "functions": [ ]}'
        self.assertEqual(server.ask(harmless, "/v1/chat/completions")[0], 200)
        self.assertEqual(server.ask("[" * 100000)[0], 400)
        # Too long by what it says, and by what comes.
        status, answer = server.ask("", headers={"Content-Length": 9 << 20})
        self.assertEqual((status, "error" in answer), (413, True))
        with server.send("", headers={"Content-Length": None, "Transfer-Encoding": "chunked"}) as connection:
            try:
                for _ in range(9):
                    connection.sendall(b"100000\r\n" + b" " * (1 << 20) + b"\r\n")
            except OSError:
                pass
            self.assertIn(b" 413 ", connection.recv(100))
        # Bodies that end too early, and chunks that are none.
        for headers, sent in (({"Content-Length": 50}, "{}"), ({"Transfer-Encoding": "chunked", "Content-Length": None}, "2\r\n{}"),
                              ({"Transfer-Encoding": "chunked", "Content-Length": None}, "ZZ\r\n")):  # fmt: skip
            with server.send(sent, headers=headers) as connection:
                connection.shutdown(socket.SHUT_WR)
                answer = read_all(connection)
            self.assertEqual((answer.split()[1], b"did not come whole" in answer), (b"400", True), answer)
        with server.connect() as connection:
            connection.sendall(b"nonsense\r\n\r\n")
            self.assertIn(b" 400 ", read_all(connection))

    def test_keys(self):
        for key in ("wrong", KEY + "x", KEY[:-1]):
            error = self.refused(lambda: server.make(openai.OpenAI, api_key=key).models.list(), openai.AuthenticationError)
            self.assertEqual(error.code, "invalid_api_key")
        for path in ("/metrics", "/v1/models", "/nothing"):
            self.assertEqual(server.ask("", path=path, method="GET", headers={"Authorization": None})[0], 401)
        self.assertEqual(server.ask("", path="/health", method="GET", headers={"Authorization": None})[0], 200)
        self.assertEqual(server.ask("{}", headers={"Authorization": "Basic " + KEY})[0], 401)


if __name__ == "__main__":
    unittest.main()
