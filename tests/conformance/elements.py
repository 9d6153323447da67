"""Functions of elements."""
import mlx.core as mx

from cases import LAYOUTS, MX, SHAPES, run
from library import DTYPES

UNARY = {  # name: (MLX's primitive, kind of numbers, whether signs of zero count)
    "abs": ("Abs", "any", True), "arccos": ("ArcCos", "unit", False),
    "arccosh": ("ArcCosh", "any", False), "arcsin": ("ArcSin", "unit", True),
    "arcsinh": ("ArcSinh", "finite", False), "arctan": ("ArcTan", "finite", False),
    "arctanh": ("ArcTanh", "unit", False), "bitwise_invert": ("BitwiseInvert", "any", False),
    "ceil": ("Ceil", "any", True), "conjugate": ("Conjugate", "any", True),
    "cos": ("Cos", "any", False), "cosh": ("Cosh", "finite", False),
    "degrees": ("Multiply", "any", True), "erf": ("Erf", "any", False),
    "erfinv": ("ErfInv", "unit", False), "exp": ("Exp", "any", False),
    "expm1": ("Expm1", "any", False), "floor": ("Floor", "any", True), "imag": ("Imag", "any", True),
    "isfinite": ("LogicalNot", "any", False), "isinf": ("Equal", "any", False),
    "isnan": ("NotEqual", "any", False), "isneginf": ("Equal", "any", False),
    "isposinf": ("Equal", "any", False), "log": ("Log", "any", False),
    "log2": ("Log", "any", False), "log10": ("Log", "any", False), "log1p": ("Log1p", "any", False),
    "logical_not": ("LogicalNot", "any", False), "negative": ("Negative", "any", True),
    "radians": ("Multiply", "any", True), "real": ("Real", "any", True),
    "reciprocal": ("Divide", "any", True), "rsqrt": ("Sqrt", "positive", False),
    "sigmoid": ("Sigmoid", "any", False), "sign": ("Sign", "any", False),
    "sin": ("Sin", "any", False), "sinh": ("Sinh", "finite", False),
    "sqrt": ("Sqrt", "any", False), "square": ("Square", "any", False),
    "tan": ("Tan", "any", False), "tanh": ("Tanh", "any", False), "trunc": ("Select", "any", False),
}
# Numbers of the second array: shifts within the dtype, divisors and exponents that integers can have
# (MLX stops the process for an integer by 0, and does not end for negative powers).
BINARY = {
    "add": ("Add", "any"), "arctan2": ("ArcTan2", "any"), "bitwise_and": ("BitwiseBinary", "any"),
    "bitwise_or": ("BitwiseBinary", "any"), "bitwise_xor": ("BitwiseBinary", "any"),
    "left_shift": ("BitwiseBinary", "shift"), "right_shift": ("BitwiseBinary", "shift"),
    "divide": ("Divide", "any"), "floor_divide": ("Divide", "nonzero"), "equal": ("Equal", "few"),
    "greater": ("Greater", "few"), "greater_equal": ("GreaterEqual", "few"), "less": ("Less", "few"),
    "less_equal": ("LessEqual", "few"), "logaddexp": ("LogAddExp", "any"),
    "logical_and": ("LogicalAnd", "any"), "logical_or": ("LogicalOr", "any"),
    "logical_xor": ("NotEqual", "any"), "maximum": ("Maximum", "any"), "minimum": ("Minimum", "any"),
    "multiply": ("Multiply", "any"), "not_equal": ("NotEqual", "few"), "power": ("Power", "positive"),
    "remainder": ("Remainder", "nonzero"), "subtract": ("Subtract", "any"),
    "divmod": ("DivMod", "nonzero"),
}


def unary(t, table):
    op = t.library.op
    for name, (primitive, kind, signs) in UNARY.items():
        reference = getattr(mx, name)
        for dtype in DTYPES:
            for shape, layout in t.arranged(SHAPES, 8):
                x = t.input(shape, dtype, layout, kind)
                # MLX's are of single precision, also in float64, and of 16 bits at every step.
                room = 1e-4 if name == "erfinv" else 2e-5 if dtype == "float64" else None
                least = 1.0 if name in ("cos", "sin", "erf") else 1e-2
                table(primitive, name, dtype, layout,
                      run(lambda: op(name, x.ours), lambda: reference(x.mlx), signs=signs, room=room, least=least))
    for dtype in DTYPES:
        for decimals in [0, 1, -1, 2]:
            x = t.input((3, 5), dtype, "steps", "finite")
            table("Round", "round", dtype, "steps",
                  run(lambda: op("round", x.ours, decimals), lambda: mx.round(x.mlx, decimals),
                      # MLX scales by numbers of single precision.
                      room=1e-6 if dtype == "float64" else None))
        # MLX has none of float64; the library has.
        for layout in LAYOUTS if dtype != "float64" else []:
            x = t.input((3, 4), dtype, layout, "any")
            table("Select", "nan_to_num", dtype, layout,
                  run(lambda: op("nan_to_num", x.ours, 1.0, 2.0, float("nan")),
                      lambda: mx.nan_to_num(x.mlx, 1.0, 2.0)))
        for other in DTYPES:
            # Fractions that do not fit an integer are the machine's own.
            x = t.input((3, 8), dtype, "transposed", "few" if other not in ("bool",) else "any")
            if dtype in ("float16", "float32", "float64", "bfloat16", "complex64") and other.startswith("uint"):
                x = t.input((3, 8), dtype, "transposed", "positive")
            table("AsType", "astype", dtype, "transposed",
                  run(lambda: op("astype", x.ours, other), lambda: x.mlx.astype(MX[other])))
            if "bool" not in (dtype, other):
                table("View", "view", dtype, "transposed",
                      run(lambda: op("view", x.ours, other), lambda: mx.view(x.mlx, MX[other])))


def binary(t, table):
    op = t.library.op
    pairs = [((3, 5), (3, 5)), ((2, 3, 4), (4,)), ((5, 1), (1, 7)), ((), (6,)), ((0, 3), (1, 3)),
             ((1, 2, 2, 3, 1, 2), (3, 1, 1))]
    for name, (primitive, kind) in BINARY.items():
        reference = getattr(mx, name)
        results = 2 if name == "divmod" else 1
        for dtype in DTYPES:
            others = [dtype] * 5 + [DTYPES[(DTYPES.index(dtype) + 3) % 14], "float32", "int8"]
            # A whole run has every pair of shapes in every layout.
            for place in range(120 if t.whole else len(others)):
                n, other = place + t.turn, others[place % len(others)]
                one, two = pairs[n % len(pairs)]
                layout = LAYOUTS[n % len(LAYOUTS)]
                first = {"few": "few", "positive": "few"}.get(kind, "any")
                if name in ("floor_divide", "remainder", "divmod"):
                    first = "few"
                a = t.input(one, dtype, layout, "positive" if name == "power" else first)
                second = {"shift": "positive"}.get(kind, kind)
                b = t.input(two, other, LAYOUTS[(n + 1) % len(LAYOUTS)], second)
                if name == "power" and "uint" in dtype + other and "int" in dtype + other:
                    b = t.input(two, other, "contiguous", "positive")
                table(primitive, name, dtype, layout,
                      run(lambda: op(name, a.ours, b.ours, results=results),
                          lambda: reference(a.mlx, b.mlx),
                          # MLX's logaddexp is of single precision, also in float64.
                          room=1e-6 if name == "logaddexp" and "float64" in (dtype, other) else None, least=0.1))
    for dtype in DTYPES:
        for n, (one, two), layout in t.cases(pairs):
            a, b = t.input(one, dtype, layout, "any"), t.input(two, dtype, "contiguous", "any")
            c = t.input(two, DTYPES[n], "contiguous", "any")
            table("Select", "where", dtype, layout,
                  run(lambda: op("where", c.ours, a.ours, b.ours), lambda: mx.where(c.mlx, a.mlx, b.mlx)))
            table("Maximum", "clip", dtype, layout,
                  run(lambda: op("clip", a.ours, b.ours, None), lambda: mx.clip(a.mlx, b.mlx, None)))
            table("Minimum", "clip", dtype, layout,
                  run(lambda: op("clip", a.ours, b.ours, c.ours), lambda: mx.clip(a.mlx, b.mlx, c.mlx)))
            for same in [False, True]:
                table("LessEqual", "isclose", dtype, layout,
                      run(lambda: op("isclose", a.ours, b.ours, 0.5, 0.1, same),
                          lambda: mx.isclose(a.mlx, b.mlx, 0.5, 0.1, equal_nan=same)))
                table("Reduce", "allclose", dtype, layout,
                      run(lambda: op("allclose", a.ours, a.ours, 1e-5, 1e-8, same),
                          lambda: mx.allclose(a.mlx, a.mlx, equal_nan=same)))
                table("Equal", "array_equal", dtype, layout,
                      run(lambda: op("array_equal", a.ours, a.ours, same),
                          lambda: mx.array_equal(a.mlx, a.mlx, equal_nan=same)))
