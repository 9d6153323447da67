"""Writes the files of the bindings that are made from include/mlxrocm.json.

    python3 bindings/generate.py            writes them
    python3 bindings/generate.py --check    says which are not up to date, and fails then
"""

import importlib
import sys

from generator import description

LANGUAGES = ["python", "go", "node", "rust", "cpp", "zig"]


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        raise SystemExit(__doc__)
    stale = []
    described = description.load()
    for language in LANGUAGES:
        for path, text in importlib.import_module(f"generator.{language}").files(described).items():
            file = description.ROOT / path
            if file.exists() and file.read_text() == text:
                continue
            stale.append(path)
            if not check:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
    if check and stale:
        raise SystemExit("not up to date, run python3 bindings/generate.py: " + ", ".join(stale))
    print(f"{'up to date' if not stale else 'written: ' + ', '.join(stale)}")


if __name__ == "__main__":
    main()
