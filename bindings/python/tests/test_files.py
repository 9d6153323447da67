"""Quantized models, and texts with NULs in files of arrays."""

import json
import os
import tempfile
import unittest
from pathlib import Path

import mlxrocm
import mlxrocm.core as mx
import numpy as np

RNG = np.random.default_rng(20261129)
WIDTH, HIDDEN, VOCABULARY = 64, 128, 96


def model_folder(path):
    """A llama of one layer, and its tensors."""
    config = {
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": WIDTH, "intermediate_size": HIDDEN,
        "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": VOCABULARY,
        "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "max_position_embeddings": 128, "tie_word_embeddings": True,
    }  # fmt: skip
    layer = "model.layers.0."
    shapes = {
        "model.embed_tokens.weight": (VOCABULARY, WIDTH), "model.norm.weight": (WIDTH,),
        f"{layer}input_layernorm.weight": (WIDTH,), f"{layer}post_attention_layernorm.weight": (WIDTH,),
        f"{layer}self_attn.q_proj.weight": (WIDTH, WIDTH), f"{layer}self_attn.k_proj.weight": (WIDTH // 2, WIDTH),
        f"{layer}self_attn.v_proj.weight": (WIDTH // 2, WIDTH), f"{layer}self_attn.o_proj.weight": (WIDTH, WIDTH),
        f"{layer}mlp.gate_proj.weight": (HIDDEN, WIDTH), f"{layer}mlp.up_proj.weight": (HIDDEN, WIDTH),
        f"{layer}mlp.down_proj.weight": (WIDTH, HIDDEN),
    }  # fmt: skip
    tensors = {name: RNG.standard_normal(shape).astype(np.float16) for name, shape in shapes.items()}
    path.mkdir()
    (path / "config.json").write_text(json.dumps(config))
    mx.save_safetensors(path / "model.safetensors", tensors)
    return tensors


def dequantized(codes, scales, biases, bits):
    """Plain numpy: codes of some bits, the lowest first, times a scale plus a bias for each group."""
    rows = codes.shape[0]
    as_bits = np.unpackbits(codes.view(np.uint8), bitorder="little").reshape(rows, -1, bits)
    numbers = (as_bits * (1 << np.arange(bits))).sum(-1)
    groups = numbers.reshape(rows, scales.shape[1], -1)
    return (groups * scales[..., None].astype(np.float32) + biases[..., None].astype(np.float32)).reshape(rows, -1)


class Quantizing(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)
        self.tensors = model_folder(self.path / "model")

    def made(self, name):
        return {name: np.asarray(x) for name, x in mx.load(self.path / name / "model.safetensors").items()}

    def test_weights_are_within_half_a_step(self):
        seen = []
        result = mlxrocm.quantize(self.path / "model", self.path / "made", bits=4, group_size=32, rules=["*.v_proj=8"],
                                  progress=lambda done, total: seen.append((done, total)))  # fmt: skip
        made = self.made("made")
        config = json.loads((self.path / "made/config.json").read_text())
        self.assertEqual((config["quantization"]["bits"], config["quantization"]["group_size"]), (4, 32))
        for name, weight in self.tensors.items():
            if weight.ndim == 1:
                np.testing.assert_array_equal(made[name], weight)
                continue
            module = name.removesuffix(".weight")
            scales = made[f"{module}.scales"]
            found = dequantized(made[name], scales, made[f"{module}.biases"], 8 if "v_proj" in name else 4)
            step = np.repeat(np.abs(scales.astype(np.float32)), 32, axis=1)
            # The first and the last number of a group may be off by a whole step: 0 is one of the codes' numbers.
            self.assertLess(np.abs(found - weight).max() / step.max(), 1.01, name)
            self.assertLess((np.abs(found - weight) / step).mean(), 0.3, name)
        self.assertEqual((result.files, result.resumed_bytes), (1, 0))
        self.assertEqual(result.bytes, sum(x.nbytes for x in made.values()))
        self.assertEqual(result.parameters, sum(x.size for x in self.tensors.values()))
        self.assertEqual(seen[-1][0], seen[-1][1])
        self.assertEqual({t.name for t in mlxrocm.list_tensors(self.path / "made")}, set(made))

    def test_modes_and_dtypes(self):
        mlxrocm.quantize(self.path / "model", self.path / "made", mode="mxfp4", dtype="bfloat16")
        loaded = mx.load(self.path / "made/model.safetensors")
        self.assertIs(loaded["model.norm.weight"].dtype, mx.bfloat16)
        self.assertIs(loaded["model.layers.0.mlp.up_proj.scales"].dtype, mx.uint8)

    def test_mistakes(self):
        def refuse(done, total):
            raise KeyError("enough")

        source, made = self.path / "model", self.path / "made"
        with self.assertRaisesRegex(KeyError, "enough"):
            mlxrocm.quantize(source, made, progress=refuse)
        self.assertFalse(made.exists())
        for wrong in ({"bits": 7}, {"bits": -1}, {"group_size": 2**32}, {"mode": "int4"}, {"mode": "affine\0"},
                      {"recipe": "x"}, {"rules": ["*=4", "nonsense"]}, {"dtype": "float8"}):  # fmt: skip
            with self.assertRaises(mlxrocm.InvalidArgumentError, msg=wrong):
                mlxrocm.quantize(source, self.path / "other", **wrong)
        mlxrocm.quantize(source, made)
        with self.assertRaisesRegex(mlxrocm.InvalidArgumentError, "made"):
            mlxrocm.quantize(source, made)
        with self.assertRaises(mlxrocm.UnsupportedError):
            mlxrocm.quantize(made, self.path / "again")
        with self.assertRaises(mlxrocm.IoError):
            mlxrocm.quantize("/nowhere/model", self.path / "other")


class Arrays(unittest.TestCase):
    def test_what_becomes_an_array_is_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.npy")
            for value in (np.arange(6, dtype=np.int32).reshape(2, 3), [[1, 2], [3, 4]]):
                mx.save(path, value)
                np.testing.assert_array_equal(np.load(path), value)
                mx.save_safetensors(f"{path}.safetensors", {"x": value})
                np.testing.assert_array_equal(np.asarray(mx.load(f"{path}.safetensors")["x"]), value)

    def test_metadata_may_hold_nuls(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.safetensors")
            mx.save_safetensors(path, {"a": mx.ones(2)}, {"key": "one\0two", "plain": ""})
            arrays, metadata = mx.load(path, return_metadata=True)
            self.assertEqual((list(arrays), metadata), (["a"], {"key": "one\0two", "plain": ""}))
            header = Path(path).read_bytes()[8:]
            self.assertIn(b"one\\u0000two", header)
        for call in (lambda: mx.save_safetensors("a", {"a\0b": mx.ones(1)}), lambda: mx.load("a\0.npy"), lambda: mx.save("a\0", mx.ones(1)),
                     lambda: mx.save_gguf("a\0", {"x": mx.ones(1)}), lambda: mlxrocm.list_tensors("a\0b")):  # fmt: skip
            with self.assertRaises(mlxrocm.InvalidArgumentError):
                call()


if __name__ == "__main__":
    unittest.main()
