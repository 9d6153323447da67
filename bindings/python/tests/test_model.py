"""Chat, batch, cancel and errors with the demo model."""

import asyncio
import ctypes
import os
import tempfile
import threading
import unittest
from pathlib import Path

import mlxrocm
import numpy as np
from mlxrocm import _abi, errors

PATH = os.environ["MLXROCM_DEMO_MODEL"]


class WithModel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = mlxrocm.Model(PATH, device=mlxrocm.Device(0))
        cls.session = mlxrocm.Session(cls.model, context=512, max_requests=4)
        cls.tokenizer = cls.model.tokenizer

    @classmethod
    def tearDownClass(cls):
        cls.session.close()
        cls.model.close()


class Files(WithModel):
    def test_list_tensors(self):
        tensors = mlxrocm.list_tensors(Path(PATH))
        # 30 layers of 2 norms and 7 matrices, the embedding and the last norm.
        self.assertEqual(len({tensor.name for tensor in tensors}), 30 * 9 + 2)
        named = {tensor.name: tensor for tensor in tensors}
        self.assertEqual(named["output_norm.weight"], mlxrocm.TensorInfo("output_norm.weight", "F32", (576,), 4 * 576))
        self.assertEqual(named["blk.29.ffn_down.weight"].shape, (576, 1536))
        self.assertEqual(named["blk.0.attn_q.weight"].format, "Q4_1")
        self.assertEqual(sum(np.prod(tensor.shape) for tensor in tensors), self.model.info.parameters)
        self.assertEqual(sum(tensor.bytes for tensor in tensors), self.model.info.weight_bytes)
        with self.assertRaisesRegex(mlxrocm.IoError, "/nowhere"):
            mlxrocm.list_tensors("/nowhere/model.gguf")
        with self.assertRaises(mlxrocm.InvalidArgumentError):
            mlxrocm.list_tensors("a\0b")


class Chat(WithModel):
    def test_streams_and_ends(self):
        generation = self.session.chat([("user", "What is the capital of France?")], max_tokens=24)
        events = list(generation)
        self.assertIsInstance(events[-1], mlxrocm.Finished)
        tokens = [event.token for event in events if isinstance(event, mlxrocm.Token)]
        text = "".join(event.text for event in events)
        self.assertEqual(text, self.tokenizer.decode(tokens, skip_special=True))
        self.assertIn("Paris", text)
        self.assertEqual(events[-1].generated_tokens, len(tokens))
        self.assertEqual(list(generation), [])

    def test_chat_is_the_rendered_template(self):
        messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Name a colour."}]
        prompt = self.model.chat_template.render(messages)
        tokens = self.tokenizer.encode(prompt, parse_special=True)
        self.assertEqual(self.session.chat(messages, max_tokens=8).text(), self.session.submit(tokens, max_tokens=8).text())

    def test_chat_in_the_form_of_openai(self):
        parts = [{"type": "text", "text": "Name a"}, {"type": "text", "text": " colour."}]
        chat = {"messages": [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": parts}], "tools": []}
        plain = [("system", "Be brief."), ("user", "Name a colour.")]
        self.assertEqual(self.session.chat(chat, max_tokens=8).text(), self.session.chat(plain, max_tokens=8).text())
        with self.assertRaisesRegex(mlxrocm.InvalidArgumentError, "image_url"):
            self.session.chat({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]})

    def test_greedy_takes_the_largest_logit(self):
        prompt = self.tokenizer.encode("Water boils at")
        made = [e for e in self.session.submit(prompt, max_tokens=6, logprobs=2) if isinstance(e, mlxrocm.Token)]
        rows = self.session.logits(prompt + [e.token for e in made])[len(prompt) - 1 : -1]
        self.assertEqual(rows.shape, (6, self.model.info.vocab_size))
        self.assertEqual([e.token for e in made], rows.argmax(-1).tolist())
        logprobs = rows[range(6), rows.argmax(-1)] - np.log(np.exp(rows.astype(np.float64)).sum(-1))
        np.testing.assert_allclose([e.logprob for e in made], logprobs, atol=1e-3)
        self.assertEqual([e.top[0][0] for e in made], [e.token for e in made])

    def test_batch_is_as_one_by_one(self):
        prompts = ["The capital of France is", "Once upon a time", "Water boils at", "The sea", "Two and two"]
        self.assertEqual(
            self.session.batch(prompts, max_tokens=8),
            [self.session.submit(prompt, max_tokens=8).text() for prompt in prompts],
        )

    def test_sampling_repeats_with_its_seed(self):
        options = mlxrocm.Request(max_tokens=12, temperature=1.0, top_p=0.95, seed=11)
        one, two = (self.session.submit("Once upon a time", options).text() for _ in range(2))
        self.assertEqual(one, two)

    def test_stop_strings_and_biases(self):
        text = self.session.submit("One, two, three, four,", max_tokens=20, stop=[" six"]).text()
        self.assertNotIn("six", text)
        comma = self.tokenizer.encode(",")[0]
        made = self.session.submit("One two", max_tokens=3, logit_bias={comma: 1000.0}).text()
        self.assertEqual(made, ",,,")

    def test_unicode_comes_in_whole_characters(self):
        wanted = "日本語 🙂 é"
        self.assertEqual(self.tokenizer.decode(self.tokenizer.encode(wanted)), wanted)
        bias = {token: 1000.0 for token in self.tokenizer.encode("🙂")}
        pieces = list(self.session.submit("Smile", max_tokens=8, logit_bias=bias).texts())
        self.assertTrue(pieces)


class Cancel(WithModel):
    def test_from_another_thread_while_one_waits(self):
        generation = self.session.submit("Count:", max_tokens=400, ignore_eos=True)
        first = threading.Event()

        def cancel():
            first.wait(30)
            generation.cancel()

        thread = threading.Thread(target=cancel)
        thread.start()
        count = 0
        for event in generation:
            count += isinstance(event, mlxrocm.Token)
            first.set()
        thread.join()
        self.assertEqual(generation.finished.reason, "cancelled")
        self.assertLess(count, 400)

    def test_close_cancels(self):
        with self.session.submit("Count:", max_tokens=400, ignore_eos=True):
            pass
        self.assertEqual(self.session.submit("Hi", max_tokens=1).finished, None)
        self.assertTrue(self.session.submit("The", max_tokens=2).text())

    def test_timeout(self):
        generation = self.session.submit("Count:" * 100, max_tokens=1)
        waited = 0
        while True:
            try:
                waited += generation.next(timeout=0) is None
            except StopIteration:
                break
        self.assertGreater(waited, 0)


class Async(WithModel):
    def test_many_at_once(self):
        async def main():
            prompts = ["The capital of France is", "Once upon a time", "Water boils at"]
            generations = [self.session.submit(prompt, max_tokens=8) for prompt in prompts]
            ticks = 0

            async def tick():
                nonlocal ticks
                while True:
                    await asyncio.sleep(0.01)
                    ticks += 1

            ticking = asyncio.create_task(tick())
            texts = await asyncio.gather(*(generation.atext() for generation in generations))
            ticking.cancel()
            return prompts, list(texts), ticks

        prompts, texts, ticks = asyncio.run(main())
        self.assertEqual(texts, self.session.batch(prompts, max_tokens=8))
        self.assertGreater(ticks, 3)  # the loop went on meanwhile

    def test_a_cancelled_task_cancels_its_generation(self):
        async def main():
            generation = self.session.submit("Count:", max_tokens=400, ignore_eos=True)
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(generation.atext(), 0.3)
            await asyncio.sleep(0)
            return generation

        generation = asyncio.run(main())
        list(generation)
        self.assertEqual(generation.finished.reason, "cancelled")


class Errors(WithModel):
    def test_each_status_has_a_class(self):
        self.assertEqual(set(errors.CLASSES), set(_abi.ERRORS))
        self.assertIsInstance(errors.make(-99, "later"), mlxrocm.Error)

    def test_files(self):
        with self.assertRaises(mlxrocm.IoError) as caught:
            mlxrocm.Model("/nowhere/model.gguf")
        self.assertIn("/nowhere/model.gguf", str(caught.exception))
        self.assertIsInstance(caught.exception, OSError)
        with tempfile.TemporaryDirectory() as folder:
            damaged = Path(folder) / "damaged.gguf"
            damaged.write_bytes(Path(PATH).read_bytes()[:5000])
            with self.assertRaises(mlxrocm.InvalidFileError):
                mlxrocm.Model(damaged)

    def test_requests(self):
        for options in ({"max_tokens": -1}, {"temperature": float("nan")}, {"stop_tokens": [2**31]}, {"logprobs": 21}):
            with self.assertRaises(mlxrocm.InvalidArgumentError):
                self.session.submit("Hi", **options)
        with self.assertRaises(mlxrocm.ContextFullError):
            self.session.submit([1] * 600)
        for prompt in (5, b"Hi", ["Hi"], [("user", 5)]):
            with self.assertRaises((TypeError, ValueError)):
                self.session.submit(prompt)
        with self.assertRaises(TypeError):
            self.session.submit("Hi", mlxrocm.Request(), max_tokens=3)
        with self.assertRaises(mlxrocm.InvalidArgumentError):
            self.session.submit([])
        self.assertTrue(self.session.submit("The", max_tokens=2).text())

    def test_closed_objects(self):
        session = mlxrocm.Session(self.model, context=64)
        session.close()
        session.close()
        with self.assertRaises(mlxrocm.InvalidArgumentError):
            session.submit("Hi")

    def test_objects_may_be_freed_in_any_order(self):
        model = mlxrocm.Model(PATH, device=mlxrocm.Device(0))
        session = mlxrocm.Session(model, context=64)
        generation = session.submit("The capital of France is", max_tokens=3)
        model.close()
        session.close()
        self.assertIn("Paris", generation.text())

    def test_progress(self):
        seen = []
        mlxrocm.Model(PATH, device=mlxrocm.Device(0), progress=lambda done, total: seen.append((done, total)))
        self.assertEqual(seen[-1][0], seen[-1][1])

        def refuse(done, total):
            raise KeyError("enough")

        with self.assertRaises(KeyError):
            mlxrocm.Model(PATH, progress=refuse)

    def test_no_gpu_says_why(self):
        count = mlxrocm.device_count()
        with self.assertRaises(mlxrocm.NoDeviceError):
            mlxrocm.Device(count)
        self.assertEqual(mlxrocm.Device(0).info["kind"], "cpu")
        if count == 1:
            self.assertTrue(mlxrocm.why_no_gpu("hip"))
        with self.assertRaises(mlxrocm.Error):
            from mlxrocm import engine

            engine.Module(mlxrocm.Device(0), "nonsense")


class Description(unittest.TestCase):
    def test_structs_lie_as_the_library_has_them(self):
        for struct, (size, offsets) in _abi.LAYOUT.items():
            self.assertEqual(ctypes.sizeof(struct), size, struct)
            self.assertEqual({name: getattr(struct, name).offset for name, *_ in struct._fields_}, offsets)

    def test_log(self):
        lines = []
        mlxrocm.set_log(mlxrocm.LOG_DEBUG, lambda level, line: lines.append((level, line)))
        mlxrocm.Model(PATH, device=mlxrocm.Device(0)).close()
        mlxrocm.set_log(mlxrocm.LOG_DEBUG, None)
        self.assertTrue(lines)
        self.assertTrue(all(1 <= level <= 4 and line for level, line in lines))

    def test_version(self):
        self.assertEqual(mlxrocm.version(), mlxrocm.__version__)
        self.assertEqual(mlxrocm.version(), _abi.LIBRARY_VERSION)


if __name__ == "__main__":
    unittest.main()
