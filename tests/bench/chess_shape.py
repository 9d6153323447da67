"""Writes a chess network of T82's shape (768x15x24h) or of BT4's (1024x15x32h), whose own weights are in no package,
with other numbers:

    chess_shape.py OUT.pb.gz [t82|bt4]
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "golden" / "chess"))
import nets  # noqa: E402

shape = sys.argv[2] if len(sys.argv) > 2 else "t82"
file = {"t82": lambda: nets.large(768, 24, 1024, 15), "bt4": nets.larger}[shape]()
pathlib.Path(sys.argv[1]).write_bytes(file)
