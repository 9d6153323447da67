"""The header as doxygen takes it: what include/mlxrocm.json tells of each function as @param and @return, and a
group for each noun. Doxygen runs it on include/mlxrocm.h (docs/reference/Doxyfile)."""

import html
import json
import re
import sys
from pathlib import Path

HEADER = Path(sys.argv[1])
INTERFACE = json.loads(HEADER.with_suffix(".json").read_text())
FUNCTIONS = {function["name"]: function for function in INTERFACE["functions"]}
# The longest name first: mlxrocm_device_info is one of mlxrocm_device.
NOUNS = sorted((handle["name"] for handle in INTERFACE["handles"]), key=len, reverse=True)
DIRECTIONS = {"in": "in", "out": "out", "inout": "in,out"}


def group(name):
    noun = next((noun for noun in NOUNS if name == noun or name.startswith(noun + "_")), "mlxrocm_general")
    return noun.removeprefix("mlxrocm_")


def plain(text):
    """Text for doxygen: no tags and commands of its own, functions as links."""
    parts = re.split(r"(`[^`]*`)", text)
    for i in range(0, len(parts), 2):
        # Between quotation marks it takes no entity.
        part = html.escape(parts[i], quote=False).replace("\"", "&quot;")
        part = re.sub(r"([@\\#%])", r"\\\1", part)
        parts[i] = re.sub(r"\bmlxrocm_\w+\b(?!\()", lambda m: m[0] + ("()" if m[0] in FUNCTIONS else ""), part)
    return "".join(parts)


def function_comment(function):
    words = re.sub(r"(?m)^- `\w+`:.*\n?(^  .*\n?)*", "", function["doc"] + "\n").strip()
    # The last sentences say which threads may call it, and since when.
    words, threads = re.match(r"(.*?)((?:\s|^)(?:Any|One)\s+thread.*)?$", words, re.DOTALL).groups()
    text, returned, errors = [], "", ""
    for paragraph in filter(None, re.split(r"\n{2,}", words.strip())):
        if paragraph.startswith("Returns "):
            returned = paragraph.removeprefix("Returns ")
        elif paragraph.startswith("Errors: "):
            errors = paragraph.removeprefix("Errors: ")
        else:
            text.append(plain(paragraph))
    for parameter in function["parameters"]:
        text.append(f"@param[{DIRECTIONS[parameter['direction']]}] {parameter['name']} {plain(parameter['doc'])}")
    if function["returns"] == "mlxrocm_status":
        returned = returned or "MLXROCM_OK, or the status of the error."
    if function["returns"] != "void":
        text.append("@return " + plain(returned or words.split("\n\n")[0]))
    if errors:
        text.append("@par Errors\n" + plain(errors))
    text.append("@par Threads\n" + plain(threads.strip()))
    return "\n\n".join([*text, f"@ingroup {group(function['name'])}"])


def comment(match):
    text = "\n".join(line.strip().removeprefix("*").removeprefix(" ") for line in match[1].strip().split("\n"))
    declaration = match[2]
    name = re.match(r"[\w *]*?\b(mlxrocm_\w+)\(", declaration)
    if name:
        text = function_comment(FUNCTIONS[name[1]])
    else:
        text = plain(text)
        kind = re.match(r"typedef (?:struct (\w+)|(?:\w+) \(\*(\w+)\)|\w+ (\w+);)", declaration)
        if kind:
            text += f"\n\n@ingroup {group(next(filter(None, kind.groups())))}"
    lines = "".join(f" *{' ' + line if line else ''}\n" for line in text.split("\n"))
    return f"/**\n{lines} */\n{declaration}"


def main():
    text = HEADER.read_text()
    intro, rest = text.split("*/", 1)
    intro = plain(re.sub(r"(?m)^ ?\*? ?", "", intro.removeprefix("/*"))).strip()
    groups = "".join(
        f"/** @defgroup {group(noun)} {group(noun).replace('_', ' ')} */\n" for noun in [*NOUNS, "mlxrocm_general"]
    )
    print(f"/** @mainpage The C interface\n{intro}\n*/\n/** @file\nAll of the interface. */\n{groups}")
    rest = rest.replace("\nenum {", "\n/** Statuses. @ingroup general */\nenum {")
    print(re.sub(r"/\*\*\n(.*?)\*/\n\s*([^\n]*)", comment, rest, flags=re.DOTALL))


main()
