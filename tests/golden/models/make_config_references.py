"""Has mlx-lm run the models that tests/config_keys.rs writes, in float32 on the CPU. Needs mlx-lm and "mlx[cpu]".
Write the models first:

    MLXROCM_WRITE_CONFIG_MODELS=DIRECTORY cargo test --test config_keys logits

usage: make_config_references.py DIRECTORY

Writes config_keys.json: by model, every fifth logit after the last of the test's tokens.
"""

import json
import os
import re
import sys
from pathlib import Path

import mlx.core as mx
from mlx_lm.utils import load_model

HERE = os.path.dirname(os.path.abspath(__file__))


def tokens():
    text = open(os.path.join(HERE, "../../config_keys.rs")).read()
    return [int(n) for n in re.search(r"const TOKENS: \[u32; \d+\] = \[([^\]]*)\]", text)[1].split(",") if n.strip()]


def main():
    mx.set_default_device(mx.cpu)
    folder = Path(sys.argv[1])
    ids = mx.array([tokens()])
    references = {}
    for path in sorted(folder.iterdir()):
        model, _ = load_model(path)
        logits = model(ids)[0, -1].astype(mx.float32)
        references[path.name] = [round(x, 5) for x in logits.tolist()[::5]]
        print(path.name, references[path.name][:3])
    with open(os.path.join(HERE, "config_keys.json"), "w") as file:
        rows = (f'"{name}": {json.dumps(row)}' for name, row in references.items())
        file.write("{\n" + ",\n".join(rows) + "\n}\n")


main()
