"""States, forks, logits of positions, embeddings, logits processors and texts with NULs, with the demo model."""

import array as packed
import asyncio
import json
import mmap
import os
import select
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import mlxrocm
import numpy as np
from test_model import PATH, WithModel


class States(WithModel):
    def run_of(self, session, tokens):
        events = list(session.submit(tokens, max_tokens=6, logprobs=1))
        return events[-1], [event.logprob for event in events if isinstance(event, mlxrocm.Token)]

    def test_saved_in_one_session_and_loaded_in_another(self):
        tokens = self.tokenizer.encode("The quick brown fox jumps over the lazy dog. " * 9)
        _, expected = self.run_of(self.session, tokens)
        state = self.session.save_state(tokens)
        self.assertEqual(mlxrocm.state_tokens(state), tokens)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "stäte"
            self.session.save_state_file(tokens, path)
            self.assertEqual(path.read_bytes(), state)
            with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
                self.assertEqual(mlxrocm.state_tokens(mapped), tokens)
                for load in (
                    lambda session: session.load_state(state), lambda session: session.load_state(bytearray(state)),
                    lambda session: session.load_state(np.frombuffer(state, np.uint8)),
                    lambda session: session.load_state(mapped), lambda session: session.load_state_file(path),
                ):  # fmt: skip
                    with mlxrocm.Session(self.model, context=512) as other:
                        load(other)
                        last, logprobs = self.run_of(other, tokens)
                        self.assertGreaterEqual(last.cached_tokens, 32)
                        self.assertEqual(logprobs, expected)

    def test_damaged_and_foreign_states_are_refused(self):
        tokens = self.tokenizer.encode("The quick brown fox jumps over the lazy dog. " * 9)
        state = self.session.save_state(tokens)
        changed = bytearray(state)
        changed[len(state) // 2] ^= 1
        for damaged in (state[: len(state) // 2], state[:-1], changed, b"", b"x" * 100):
            with self.assertRaises(mlxrocm.InvalidFileError):
                self.session.load_state(damaged)
        for damaged in (b"", state[:10]):
            with self.assertRaises(mlxrocm.InvalidFileError):
                mlxrocm.state_tokens(damaged)
        with mlxrocm.Session(self.model, context=512, kv_type="q8") as other:
            with self.assertRaises(mlxrocm.InvalidArgumentError):
                other.load_state(state)
        with mlxrocm.Session(self.model, context=64) as other:
            with self.assertRaises(mlxrocm.ContextFullError):
                other.load_state(state)
            with self.assertRaises(mlxrocm.ContextFullError):
                other.save_state(tokens)
        with self.assertRaisesRegex(mlxrocm.InvalidArgumentError, "closed"):
            other.save_state(tokens)
        with self.assertRaisesRegex(mlxrocm.IoError, "/nowhere/state"):
            self.session.load_state_file("/nowhere/state")
        with self.assertRaises(TypeError):
            self.session.load_state("text")
        with self.assertRaises(mlxrocm.InvalidArgumentError):
            self.session.save_state([])
        with self.assertRaises(mlxrocm.InvalidArgumentError):
            self.session.save_state_file(tokens, "a\0b")


class Forks(WithModel):
    def test_both_go_on(self):
        whole = self.session.submit("One two three", max_tokens=8).text()
        generation = self.session.submit("One two three", max_tokens=8)
        begin, tokens = "", 0
        while tokens < 3:
            event = generation.next()
            begin += event.text
            tokens += isinstance(event, mlxrocm.Token)
        with generation.fork(max_tokens=5) as fork:
            self.assertEqual(begin + fork.text(), whole)
        self.assertEqual(begin + generation.text(), whole)
        # Also after the end.
        longer = self.session.submit("One two three", max_tokens=11).text()
        self.assertEqual(whole + generation.fork(mlxrocm.Request(max_tokens=3)).text(), longer)
        with self.assertRaises(TypeError):
            generation.fork(mlxrocm.Request(), max_tokens=3)
        generation.close()
        with self.assertRaisesRegex(mlxrocm.InvalidArgumentError, "closed"):
            generation.fork()


class Speculation(WithModel):
    def test_guesses_change_no_text(self):
        prompt = "one two three one two three one two three one"
        plain = self.session.submit(prompt, max_tokens=30).text()
        for options in ({"prompt_lookup": True}, {"draft_model": self.model}):
            guessing = mlxrocm.Session(self.model, context=128, **options)
            generation = guessing.submit(prompt, max_tokens=30)
            self.assertEqual(generation.text(), plain)
            self.assertGreater(generation.finished.guessed_tokens, 0)
            self.assertLessEqual(generation.finished.accepted_tokens, generation.finished.guessed_tokens)


class Waiting(WithModel):
    def test_any_of_several(self):
        prompts = ["The capital of France is", "Once upon a time", "Water boils at"]
        other = mlxrocm.Session(self.model, context=64)
        generations = [self.session.submit(prompts[0], max_tokens=6), other.submit(prompts[1], max_tokens=9),
                       self.session.submit(prompts[2], max_tokens=3)]  # fmt: skip
        texts = dict.fromkeys(generations, "")
        with self.assertRaises(StopIteration):
            while True:
                ready = mlxrocm.wait_any(generations)
                event = ready.next(0)
                texts[ready] += event.text
        self.assertEqual(texts[generations[0]], self.session.submit(prompts[0], max_tokens=6).text())
        self.assertEqual(texts[generations[1]], other.submit(prompts[1], max_tokens=9).text())
        self.assertEqual([g.finished.generated_tokens for g in generations], [6, 9, 3])
        with self.assertRaises(StopIteration):
            mlxrocm.wait_any([])
        waiting = self.session.submit("Count: " * 120, max_tokens=1)
        self.assertIsNone(mlxrocm.wait_any([waiting], timeout=0))
        generations[0].close()
        with self.assertRaisesRegex(mlxrocm.InvalidArgumentError, "closed"):
            mlxrocm.wait_any(generations)

    def test_event_loops_see_a_descriptor(self):
        generation = self.session.submit("Once upon a time", max_tokens=5)
        count = 0
        while generation.finished is None:
            readable, _, _ = select.select([generation], [], [], 60)
            self.assertEqual(readable, [generation])
            count += isinstance(generation.next(0), mlxrocm.Token)
        self.assertEqual(count, 5)
        self.assertEqual(select.select([generation], [], [], 0)[0], [])


class Numbers(WithModel):
    def test_logits_of_positions(self):
        tokens = self.tokenizer.encode("The capital of France is")
        whole = self.session.logits(tokens)
        np.testing.assert_array_equal(self.session.logits(tokens, [1, 3]), whole[[1, 3]])
        np.testing.assert_array_equal(self.session.logits(np.array(tokens), [-1]), whole[-1:])
        for positions in ([], [len(tokens)], [-len(tokens) - 1], [3, 1], [2, 2]):
            with self.assertRaises(mlxrocm.InvalidArgumentError):
                self.session.logits(tokens, positions)
        with self.assertRaises(mlxrocm.ContextFullError):
            self.session.logits([1] * 600, [0])

    def test_embeddings(self):
        tokens = self.tokenizer.encode("The capital of France is")
        rows = np.asarray(self.session.embed(tokens, "none", normalize=False))
        self.assertEqual((rows.shape, rows.dtype), ((len(tokens), self.model.info.hidden_size), np.float32))
        for pooling, wanted in (("mean", rows.mean(0)), ("cls", rows[0]), ("last", rows[-1])):
            found = self.session.embed(tokens, pooling, normalize=False)
            self.assertEqual((found.format, found.shape), ("f", rows.shape[1:]))
            np.testing.assert_allclose(found, wanted, atol=1e-4)
            length = np.linalg.norm(wanted)
            np.testing.assert_allclose(self.session.embed(tokens, pooling), wanted / length, atol=1e-5)
        some = np.asarray(self.session.embed(tokens, "none", positions=[0, -2], normalize=False))
        np.testing.assert_array_equal(some, rows[[0, -2]])
        # Without numpy.
        self.assertEqual(self.session.embed(tokens[:1], "none", normalize=False).tolist(), rows[:1].tolist())
        for wrong in ({"pooling": "max"}, {"positions": [0]}, {"pooling": "none", "positions": []}):
            with self.assertRaises(mlxrocm.InvalidArgumentError):
                self.session.embed(tokens, **wrong)
        with self.assertRaises(mlxrocm.InvalidArgumentError):
            self.session.embed([])


class Grammars(WithModel):
    def answer(self, **options):
        return self.session.submit("Is the sky blue? As JSON:", max_tokens=30, **options).text()

    def test_texts_are_what_they_must_be(self):
        schema = {"enum": ["yes", "no"]}
        self.assertIn(json.loads(self.answer(json_schema=schema)), schema["enum"])
        self.assertIn(json.loads(self.answer(json_schema=json.dumps(schema))), schema["enum"])
        self.assertRegex(self.answer(regex="[A-Z]{3}!"), "^[A-Z]{3}!$")
        self.assertIn(self.answer(grammar='start: "ja" | "nein"'), ("ja", "nein"))
        with self.assertRaisesRegex(mlxrocm.InvalidArgumentError, "not JSON"):
            self.answer(json_schema="{")
        with self.assertRaisesRegex(mlxrocm.InvalidArgumentError, "only one of"):
            self.answer(json_schema={}, regex="a")
        *_, end = self.session.submit("One", regex="a")
        self.assertEqual(end.reason, "grammar")


class Processors(WithModel):
    def test_what_it_writes_is_chosen_from(self):
        prompt = self.tokenizer.encode("One two")
        comma = self.tokenizer.encode(",")[0]
        seen = []

        def only_commas(tokens, logits):
            seen.append((tokens.tolist(), len(logits), threading.get_ident()))
            logits[comma] += 1000.0

        self.assertEqual(self.session.submit(prompt, max_tokens=3, logits_processor=only_commas).text(), ",,,")
        self.assertEqual([tokens for tokens, *_ in seen], [prompt, prompt + [comma], prompt + [comma] * 2])
        self.assertEqual({size for _, size, _ in seen}, {self.model.info.vocab_size})
        self.assertNotIn(threading.get_ident(), {thread for *_, thread in seen})

    def test_numpy_sees_the_logits_that_the_session_gives(self):
        tokens = self.tokenizer.encode("Water boils at")
        rows = self.session.logits(tokens)
        kept = []

        def negate(_, logits):
            kept.append(np.asarray(logits))  # kept beyond the call
            kept.append(np.array(logits))
            kept[0] *= -1

        made = list(self.session.submit(tokens, max_tokens=1, logits_processor=negate))
        np.testing.assert_array_equal(kept[1], rows[-1])
        (token,) = [event.token for event in made if isinstance(event, mlxrocm.Token)]
        self.assertEqual(token, rows[-1, : self.tokenizer.vocab_size].argmin())
        kept[0] += 1

    def test_what_it_raises_comes_out(self):
        def fails(tokens, logits):
            raise KeyError("enough")

        with self.assertRaisesRegex(KeyError, "enough"):
            self.session.submit("One", max_tokens=3, logits_processor=fails).text()
        with self.assertRaisesRegex(KeyError, "enough"):
            asyncio.run(self.session.submit("One", max_tokens=3, logits_processor=fails).atext())
        with self.assertRaisesRegex(KeyError, "enough"):
            self.session.submit("One", max_tokens=1).fork(max_tokens=3, logits_processor=fails).text()
        with self.assertRaisesRegex(RuntimeError, "StopIteration"):
            self.session.submit("One", max_tokens=3, logits_processor=lambda tokens, logits: next(iter(()))).text()

        def no_number(tokens, logits):
            logits[0] = float("nan")

        with self.assertRaises(mlxrocm.InvalidArgumentError):
            self.session.submit("One", max_tokens=3, logits_processor=no_number).text()
        with self.assertRaises(mlxrocm.InvalidArgumentError):
            self.session.submit("", max_tokens=3, logits_processor=fails)
        self.assertTrue(self.session.submit("The", max_tokens=2).text())

    def test_the_library_forgets_them(self):
        from mlxrocm import _processor

        with self.session.submit("Count:", max_tokens=400, ignore_eos=True, logits_processor=lambda *_: None) as generation:
            generation.next()
        for _ in range(500):
            if not _processor._live:
                break
            threading.Event().wait(0.01)
        self.assertEqual(_processor._live, {})

    def test_a_program_may_end_meanwhile(self):
        program = (
            "import os, time, mlxrocm\n"
            "model = mlxrocm.Model(os.environ['MLXROCM_DEMO_MODEL'], device=mlxrocm.Device(0))\n"
            "session = mlxrocm.Session(model, context=512)\n"
            "slow = lambda *_: time.sleep(0.05)\n"
            "generation = session.submit('Count:', max_tokens=400, ignore_eos=True, logits_processor=slow)\n"
            "generation.next(), generation.next(), print('so far')\n"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=os.environ)
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("so far\n", "", 0))


class Texts(WithModel):
    def test_they_may_hold_nuls(self):
        whole = "One two\0 three four"
        count = len(self.tokenizer.encode(whole, add_special=True))
        for prompt in (whole, [("user", "a\0b")], {"messages": [{"role": "user", "content": "a\0b"}]}):
            generation = self.session.submit(prompt, max_tokens=2, stop=["never\0ever", ""])
            self.assertTrue(generation.text())
            if prompt is whole:
                self.assertEqual(generation.finished.prompt_tokens, count)
        short, long = (self.model.chat_template.render([("user", text)]) for text in ("a", "a\0b"))
        self.assertEqual(long, short.replace("a<|im_end|>\n<|im_start|>assistant", "a\0b<|im_end|>\n<|im_start|>assistant"))
        template = mlxrocm.ChatTemplate("{{ bos_token }}\0{{ messages[0].content }}", bos="<\0>")
        self.assertEqual(template.source, "{{ bos_token }}\0{{ messages[0].content }}")
        self.assertEqual(template.render([("user", "")]), "<\0>\0")
        self.assertIsNone(self.tokenizer.find("a\0b"))
        # Of a stop string too what follows a NUL is looked at: "five" alone does not stop.
        text = self.session.submit("One, two, three, four,", max_tokens=20, stop=[" five\0"]).text()
        self.assertIn("six", text)

    def test_facts_about_tokens_and_sessions(self):
        end = self.tokenizer.find("<|im_end|>")
        self.assertEqual((self.tokenizer.vocab_size, self.tokenizer.eos), (49152, end))
        self.assertTrue(self.tokenizer.is_special(end))
        with self.assertRaises(mlxrocm.InvalidArgumentError):
            self.tokenizer.is_special(49152)
        tokens = self.tokenizer.encode("Zoë 🙂")
        self.assertEqual(b"".join(map(self.tokenizer.token_bytes, tokens)).decode(), "Zoë 🙂")
        self.assertEqual(self.session.submit(packed.array("I", tokens), max_tokens=2).text(),
                         self.session.submit(np.array(tokens), max_tokens=2).text())  # fmt: skip
        facts = self.session.info
        self.assertEqual(facts["context"], 512)
        self.assertGreater(facts["kv_bytes"], 0)
        self.assertIn("mlxrocm", mlxrocm.build_info())


if __name__ == "__main__":
    unittest.main()
