"""Files that one writes and the other reads, and sums of products over named axes."""
import ctypes as C
import os
import tempfile
from pathlib import Path

import mlx.core as mx
import numpy as np

from cases import LAYOUTS, ROOM, SHAPES, difference, run
from library import DTYPES, Array, Failure, Text


class Named:
    """A map of the library."""

    def __init__(self, library, path=None):
        self.library, self.handle = library, C.c_void_p()
        if path is None:
            library.call("map_new", C.byref(self.handle))
        else:
            path = str(path).encode()
            library.call("map_load", path, C.c_size_t(len(path)), C.byref(self.handle))

    def __del__(self):
        if self.handle:
            self.library.c.mlxrocm_array_map_free(self.handle)

    def _text(self, function, *arguments):
        function = getattr(self.library.c, "mlxrocm_array_map_" + function)
        function.restype, length = C.c_void_p, C.c_size_t()
        found = function(self.handle, *arguments, C.byref(length))
        return None if found is None else C.string_at(found, length.value).decode()

    def names(self):
        self.library.c.mlxrocm_array_map_count.restype = C.c_size_t
        count = self.library.c.mlxrocm_array_map_count(self.handle)
        return [self._text("name", C.c_size_t(i)) for i in range(count)]

    def get(self, name):
        out, name = C.c_void_p(), name.encode()
        self.library.call("map_get", self.handle, name, C.c_size_t(len(name)), C.byref(out))
        return Array(self.library, out)

    def set(self, name, array):
        name = name.encode()
        self.library.call("map_set", self.handle, name, C.c_size_t(len(name)), array.handle)

    def metadata(self):
        """Keys with a text, an array or the number of texts."""
        self.library.c.mlxrocm_array_map_metadata_count.restype = C.c_size_t
        found = {}
        for i in range(self.library.c.mlxrocm_array_map_metadata_count(self.handle)):
            key = self._text("metadata_key", C.c_size_t(i))
            name = key.encode()
            kind = self.library.c.mlxrocm_array_map_metadata_kind(self.handle, name, C.c_size_t(len(name)))
            if kind == 1:
                found[key] = self._text("metadata_text", name, C.c_size_t(len(name)), C.c_size_t(0))
                continue
            out = C.c_void_p()
            self.library.call("map_metadata_array", self.handle, name, C.c_size_t(len(name)), C.byref(out))
            found[key] = Array(self.library, out)
            if kind == 2:
                count = int(found[key].numpy())
                found[key] = [self._text("metadata_text", name, C.c_size_t(len(name)), C.c_size_t(at))
                              for at in range(count)]
        return found

    def set_metadata(self, key, text):
        key, text = key.encode(), text.encode()
        self.library.call("map_set_metadata", self.handle, key, C.c_size_t(len(key)), text, C.c_size_t(len(text)))

    def save(self, path):
        path = str(path).encode()
        self.library.call("map_save_safetensors", self.handle, path, C.c_size_t(len(path)))


def save(library, array, path):
    path = str(path).encode()
    library.call("save", array.handle, path, C.c_size_t(len(path)))


def exactly(pairs):
    """What is wrong with arrays that must be the same, or None."""
    wrong = [difference(a, b, room=0.0, signs=True) for a, b in pairs]
    return next((w for w in wrong if w), None)


def files(t, table):
    library, op = t.library, t.library.op
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for d, dtype in enumerate(DTYPES):
            for n, layout in enumerate(LAYOUTS):
                x = t.input(SHAPES[(n + d) % len(SHAPES)], dtype, layout, "any")
                path = folder / "x.npy"
                mx.save(str(path), x.mlx)
                table("Load", "load", dtype, layout,
                      (True, exactly([(op("load", Text(str(path))), x.mlx)])))
                # Numpy has no bfloat16: MLX's files of it are two bytes each.
                if dtype != "bfloat16":
                    fortran = np.array(x.mlx, order="F")
                    np.save(path, fortran.astype(fortran.dtype.newbyteorder(">")))
                    table("Load", "load", dtype, layout,
                          (True, exactly([(op("load", Text(str(path))), x.mlx)])))
                save(library, x.ours, path)
                mlx = mx.load(str(path))
                table("Load", "save", dtype, layout, (True, exactly([(x.ours, mlx)])))
        # Of float64 MLX reads none.
        dtypes = [dtype for dtype in DTYPES if dtype != "float64"]
        for n, layout in enumerate(LAYOUTS):
            shapes = [SHAPES[(n + d) % len(SHAPES)] for d in range(len(dtypes))]
            pairs = {f"layer.{d}": t.input(shape, d, layout, "any") for d, shape in zip(dtypes, shapes)}
            path = folder / "x.safetensors"
            mx.save_safetensors(str(path), {k: p.mlx for k, p in pairs.items()}, {"format": "mlx", "ü": "\n"})
            ours = Named(library, path)
            wrong = exactly([(ours.get(k), p.mlx) for k, p in pairs.items()])
            if ours.metadata() != {"format": "mlx", "ü": "\n"} or sorted(pairs) != ours.names():
                wrong = f"names {ours.names()}, metadata {ours.metadata()}"
            for dtype in dtypes:
                table("Load", "map_load", dtype, layout, (True, wrong))
            ours = Named(library)
            for key, pair in pairs.items():
                ours.set(key, pair.ours)
            ours.set_metadata("format", "mlx")
            ours.save(path)
            mlx, metadata = mx.load(str(path), return_metadata=True)
            wrong = exactly([(p.ours, mlx[k]) for k, p in pairs.items()])
            if metadata != {"format": "mlx"} or set(mlx) != set(pairs):
                wrong = f"names {sorted(mlx)}, metadata {metadata}"
            for dtype in dtypes:
                table("Load", "map_save_safetensors", dtype, layout, (True, wrong))
        gguf(t, table, folder)


def gguf(t, table, folder):
    """A file that MLX writes, and the quantized one of the tests."""
    pairs = {f"blk.0.{d}.weight": t.input((4, 32), d, "contiguous", "any") for d in ["float16", "float32"]}
    path = folder / "x.gguf"
    numbers = {"an.array": mx.array([1.5, -2.0]), "a.text": "llama", "texts": ["a", "ß"], "n": mx.array(7, mx.uint32)}
    mx.save_gguf(str(path), {k: p.mlx for k, p in pairs.items()}, numbers)
    ours = Named(t.library, path)
    wrong = exactly([(ours.get(k), p.mlx) for k, p in pairs.items()])
    for key, value in ours.metadata().items():
        if isinstance(value, Array) and key in numbers:
            wrong = wrong or difference(value, numbers[key])
        elif key in numbers and value != numbers[key]:
            wrong = wrong or f"metadata {key}: {value!r}"
    if not set(numbers) <= set(ours.metadata()):
        wrong = wrong or f"metadata {sorted(ours.metadata())}"
    for dtype in ["float16", "float32"]:
        table("Load", "map_load", dtype, "contiguous", (True, wrong))
    demo = os.environ.get("MLXROCM_DEMO_MODEL")
    if demo:
        # The table does not depend on whether the model is there.
        mlx, metadata = mx.load(demo, format="gguf", return_metadata=True)
        ours = Named(t.library, demo)
        if set(ours.names()) != set(mlx):
            wrong = f"tensors {sorted(set(ours.names()) ^ set(mlx))[:4]}"
        for name in ["token_embd", "blk.0.attn_q", "blk.29.ffn_down"]:
            for part in ["weight", "scales", "biases"]:
                wrong = wrong or exactly([(ours.get(f"{name}.{part}"), mlx[f"{name}.{part}"])])
        said = ours.metadata()
        if set(said) != set(metadata) or said["tokenizer.ggml.merges"] != metadata["tokenizer.ggml.merges"]:
            wrong = wrong or f"metadata {sorted(set(said) ^ set(metadata))}"
        if wrong:
            table("Load", "map_load", "float16", "contiguous", (True, wrong))


# Subscripts, shapes, and whether there are sums of products, which MLX has of inexact numbers only.
EINSUM = [
    ("ij,jk->ik", [(3, 5), (5, 4)], True), ("ij,jk", [(3, 5), (5, 4)], True), ("ji", [(3, 5)], False),
    ("b i j , b j k -> b i k", [(2, 3, 5), (2, 5, 4)], True), ("ii->i", [(4, 4)], False), ("ii", [(4, 4)], False),
    ("ij->", [(3, 5)], False), (",->", [(), ()], False), ("...j,jk->...k", [(2, 3, 5), (5, 4)], True),
    ("...ij,...jk->...ik", [(4, 3, 5), (1, 5, 2)], True), ("...ij,...jk", [(4, 3, 5), (5, 2)], True),
    ("ij,ij->ij", [(3, 5), (1, 5)], False), ("ij,jk->ik", [(3, 5), (1, 4)], True),
    ("ij,jk,kl->il", [(3, 5), (5, 4), (4, 2)], True), ("ii,ij->ij", [(3, 3), (3, 4)], False),
    ("a...a->a...", [(3, 2, 3)], False), ("ij,kl->", [(2, 3), (3, 4)], False), ("i,j->ij", [(3,), (0,)], False),
    ("ij,jk->ik", [(2, 0), (0, 4)], True), ("bhqd,bhkd->bhqk", [(2, 3, 4, 8), (2, 3, 5, 8)], True),
    ("Ab,bC", [(2, 3), (3, 2)], True), ("ijk,ijk->j", [(2, 3, 4), (2, 3, 4)], True),
    # What makes no sense.
    ("ij,jk->ii", [(3, 5), (5, 4)], True), ("ij,jk->iz", [(3, 5), (5, 4)], True), ("ij,jk", [(3, 5)], True),
    ("ij,jk->ik", [(3, 5), (4, 4)], True), ("i1,jk->ik", [(3, 5), (5, 4)], True), ("ijk", [(3, 5)], True),
]


def einsum(t, table):
    for dtype in DTYPES:
        for n, (subscripts, shapes, products) in enumerate(EINSUM):
            if products and dtype not in ROOM:
                continue
            layout = LAYOUTS[n % len(LAYOUTS)]
            pairs = [t.input(shape, dtype, layout, "unit") for shape in shapes]
            # MLX adds 16-bit numbers in 16 bits.
            least = 4.0 if dtype in ("float16", "bfloat16") else 1.0
            table("Matmul", "einsum", dtype, layout,
                  run(lambda: t.library.op("einsum", Text(subscripts), [p.ours for p in pairs]),
                      lambda: mx.einsum(subscripts, *[p.mlx for p in pairs]), least=least))


def refusals(t, table):
    """Damaged files are refused with a message that names them."""
    library = t.library
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        mx.save(str(folder / "x.npy"), mx.arange(12).reshape(3, 4))
        mx.save_safetensors(str(folder / "x.safetensors"), {"a": mx.arange(12), "b": mx.ones((2, 2))})
        for name in ["x.npy", "x.safetensors"]:
            whole = (folder / name).read_bytes()
            for cut in list(range(0, len(whole), 7)) + [len(whole) - 1]:
                path = folder / ("cut-" + name)
                path.write_bytes(whole[:cut])
                wrong = None
                try:
                    if name == "x.npy":
                        library.op("load", Text(str(path))).numpy()
                    else:
                        Named(library, path)
                    wrong = f"{name} cut to {cut} bytes is taken"
                except Failure as refused:
                    if str(path) not in str(refused):
                        wrong = f"{name} cut to {cut} bytes: {refused}"
                if wrong:
                    table("Load", "load", "float32", "contiguous", (True, wrong))
        for missing in [folder / "none.npy", folder]:
            try:
                library.op("load", Text(str(missing)))
                table("Load", "load", "float32", "contiguous", (True, f"{missing} is taken"))
            except Failure:
                pass
