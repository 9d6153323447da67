"""Writes a chess network of T82's shape (768x15x24h), whose own weights are in no package, with other numbers:

    chess_shape.py OUT.pb.gz
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "golden" / "chess"))
import nets  # noqa: E402

pathlib.Path(sys.argv[1]).write_bytes(nets.large(768, 24, 1024, 15))
