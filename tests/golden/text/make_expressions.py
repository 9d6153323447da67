"""Renders expressions with jinja2 as transformers sets it up; writes expressions.json: a list of
[template, output], null where rendering fails.

    pip install jinja2==3.1.6
    python make_expressions.py
"""
import json
import os

from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

HERE = os.path.dirname(os.path.abspath(__file__))

NUMBERS = ["7", "-7", "3", "-3", "0", "2.5", "-0.5", "true"]
FORMATS = [
    ("%s", "'x'"), ("%s", "1"), ("%s", "none"), ("%s", "[1, 'a']"), ("%s", "{'a': 1}"),
    ("%s", "(1,)"), ("%s and %s", "(1, 'b')"), ("%s", "(1, 2)"), ("%s %s", "('a',)"),
    ("%s", "()"), ("plain", "()"), ("plain", "1"), ("plain", "{}"), ("plain", "[1]"),
    ("%r", "'it\\'s'"), ("%r", "'x'"), ("%a", "'\u00e9\u20ac'"), ("%5s|", "'ab'"),
    ("%-5s|", "'ab'"), ("%.2s|", "'abcdef'"), ("%5.1s|", "'abc'"), ("%%", "()"), ("100%%", "()"),
    ("%d", "7"), ("%d", "-7"), ("%d", "7.9"), ("%d", "true"), ("%d", "'7'"), ("%i|%u", "(3, 4)"),
    ("%05d", "42"), ("%05d", "-42"), ("%+d", "42"), ("% d", "42"), ("%-6d|", "42"), ("%6d|", "-42"),
    ("%.4d", "42"), ("%x", "255"), ("%X", "255"), ("%#x", "255"), ("%o", "8"), ("%#o", "8"),
    ("%x", "-255"), ("%#06x", "255"), ("%f", "1.5"), ("%.2f", "3.14159"), ("%8.3f|", "3.14159"),
    ("%-8.1f|", "2.25"), ("%+.1f", "0.05"), ("%08.2f", "-3.14159"), ("%.0f", "2.5"), ("%.0f", "3.5"),
    ("%f", "1"), ("%e", "12345.678"), ("%.2e", "0.00012345"), ("%E", "1e10"), ("%g", "0.0001"),
    ("%g", "0.00001"), ("%g", "123456789"), ("%g", "100000"), ("%g", "1.50"), ("%.3g", "1234.5"),
    ("%G", "1e-10"), ("%#g", "1.5"), ("%c", "65"), ("%c", "'z'"), ("%c", "'zz'"), ("%*d", "(6, 42)"),
    ("%-*d|", "(6, 42)"), ("%.*f", "(2, 3.14159)"), ("%(a)s", "{'a': 1}"),
    ("%(a)s %(b)d", "{'a': 'x', 'b': 2}"), ("%(c)s", "{'a': 1}"), ("%(a)s", "[1]"), ("%q", "1"),
    ("%", "1"), ("%5", "1"), ("%s%", "1"), ("%ld", "3"), ("%.1f%%", "99.5"), ("%f", "'x'"),
    ("%s", "2.0"), ("%s", "1e20"), ("%05s", "'ab'"), ("%d", "1e3"), ("%e", "0"), ("%.3e", "0.0"),
    ("%g", "0"), ("%f", "1e300 * 1e300"), ("%5.1f|", "-1e300 * 1e300"),
]


def expressions():
    for operator in ["+", "-", "*", "/", "//", "%", "**"]:
        for a in NUMBERS:
            for b in NUMBERS:
                yield f"({a}) {operator} ({b})"
    yield from ["2 ** -1", "-2 ** 2", "2 ** 3 ** 2", "2 ** 0.5", "10 ** 20", "4 / 2", "1 - true",
                "7 // 2.0", "-7 % 3.0", "2 ** 62", "1.0", "1e100", "0.1 + 0.2", "3 * 1.0"]
    for text, values in FORMATS:
        yield f"{text!r} % {values}"
    yield from ["'%s' | format('x')", "'%s %d' | format('x', 3)", "'%(a)s' | format(a=1)",
                "'%5.1f|' | format(2.25)", "1 | format(2)"]
    for method in ["rjust", "ljust", "center"]:
        for arguments in ["5", "6", "2", "0", "-1", "7, '*'", "8, '*'", "7, '\u00e9'", "7, 'ab'", "7, ''",
                          "'x'", ""]:
            yield f"'abc'.{method}({arguments}) ~ '|'"
        yield f"'abcd'.{method}(7, '.')"
        yield f"'\u00e9\u20ac'.{method}(5, '-')"
    yield from ["'abc' | center ~ '|'", "'abc' | center(9) ~ '|'", "'abc' | center(width=8) ~ '|'",
                "12 | center(7) ~ '|'", "'12'.zfill(5)", "'-12'.zfill(5)", "'+1'.zfill(4)", "''.zfill(2)"]
    yield from ["'one two  three' | wordcount", "'' | wordcount", "'a-b c_d, \u00e9t\u00e9!' | wordcount",
                "12 | wordcount", "'it is 5 \u4e2d\u6587' | wordcount"]
    yield from ["(1, 2)", "(1,)", "()", "[1, 2]", "[(1, 'a'), [2]]", "((1, 2), (3,))", "(1, 2)[0]",
                "(1, 2)[::-1]", "[1, 2][::-1]", "(1, 2, 3)[1:]", "(1, 2) + (3,)", "(1, 2) * 2", "2 * (1,)",
                "(1, 2) + [3]", "[1] + (2,)", "(1, 2) | list", "(1, 2) | tojson", "(1, 2) | join('-')",
                "(1, 2) ~ ''", "'' ~ [(1, 2)]", "(1, 2) == (1, 2)", "(1, 2) == [1, 2]", "[1, 2] == (1, 2)",
                "(1, 2) != [1, 2]", "(1, 2) in [(1, 2)]", "1 in (1, 2)", "[1] in ([1], 2)",
                "(1, 2) | length", "(1, 2) | first", "(1, 2) | last", "(1, 2) is sequence",
                "(1, 2) is iterable", "(1, 2) | string", "{'a': (1, 2)}", "{'a': 1}.items() | list",
                "{'a': 1, 'b': 2} | dictsort", "{'a': 1} | items | list", "(2, 1) | sort", "(1, 2) | reverse | list",
                "(1, 2) | sum", "(1, 2) | max", "(1, 2).count(1)", "(1, 2).index(2)", "'a,b'.partition(',')",
                "'ab'.partition(',')", "'a,b,c'.rpartition(',')", "(1, 2) < (1, 3)", "(1, 2) is mapping",
                "(1, 2) | map('string') | list", "(1, 2) | unique | list", "('a', 'b') | upper",
                "'x'.startswith(('x', 'y'))", "'x' if () else 'empty'", "(none, true, 1.0, 'q')", "(1)", "(1) + 2"]


def main():
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    environment.filters["tojson"] = lambda x: json.dumps(x, ensure_ascii=False)
    cases = []
    for expression in expressions():
        template = "{{ " + expression + " }}"
        try:
            output = environment.from_string(template).render()
        except Exception:
            output = None
        if output is not None and output.endswith("j)"):
            continue  # complex numbers are of no use to a chat
        cases.append([template, output])
    for template in ["{% set a, b = (1, 2) %}{{ a }}{{ b }}", "{% for k, v in {'a': 1}.items() %}{{ k }}{{ v }}{% endfor %}",
                     "{% for x in (1, 2) %}{{ x }}{% endfor %}", "{% set x = (1, 2) %}{{ x }}{{ x[1] }}",
                     "{% macro m(x=(1, 2)) %}{{ x }}{% endmacro %}{{ m() }}",
                     "{% for x in {'a': 1}.items() %}{{ x }}{% endfor %}",
                     "{% for x in {'a': 1} | dictsort %}{{ x }}{% endfor %}"]:
        cases.append([template, environment.from_string(template).render()])
    with open(os.path.join(HERE, "expressions.json"), "w") as file:
        lines = (json.dumps(case, ensure_ascii=True) for case in cases)
        file.write("[\n" + ",\n".join(lines) + "\n]\n")
    failing = sum(output is None for _, output in cases)
    print(f"{len(cases)} expressions, {failing} of which fail")


main()
