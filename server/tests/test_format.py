"""Answers that must be JSON by a schema, or what a regular expression or a grammar says, validated by others."""

import concurrent.futures
import enum
import json
import re
import unittest

import jsonschema
import openai
import pydantic
from server import Server

ANNA = "Anna is 31 years old, lives in Rome and likes tea and jazz. Describe her as JSON."
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 130},
        "home": {
            "type": "object",
            "properties": {"city": {"enum": ["Berlin", "Paris", "Rome"]}, "abroad": {"type": "boolean"}},
            "required": ["city", "abroad"],
            "additionalProperties": False,
        },
        "likes": {"type": "array", "items": {"$ref": "#/$defs/like"}, "minItems": 1, "maxItems": 3},
    },
    "required": ["name", "age", "home", "likes"],
    "additionalProperties": False,
    "$defs": {"like": {"enum": ["jazz", "tea", "chess"]}},
}


def setUpModule():
    global server, client
    server = Server("--context", 512)
    client = server.client


def tearDownModule():
    assert server.stop() == 0


def chat(prompt=ANNA, **options):
    messages = [{"role": "user", "content": prompt}]
    return client.chat.completions.create(model="demo", messages=messages, **{"temperature": 0, "max_tokens": 100, **options})


def text(prompt, **options):
    return client.completions.create(model="demo", prompt=prompt, **{"temperature": 0, "max_tokens": 60, **options})


def by_schema(schema, **more):
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, **more}}


def validated(choice, schema):
    assert choice.finish_reason == "stop", choice
    value = json.loads(choice.message.content)
    jsonschema.Draft202012Validator(schema).validate(value)
    return value


class Schemas(unittest.TestCase):
    def test_any_object(self):
        choice = chat(max_tokens=200, response_format={"type": "json_object"}).choices[0]
        validated(choice, {"type": "object"})
        self.assertEqual(chat(max_tokens=8, response_format={"type": "text"}).choices, chat(max_tokens=8).choices)

    def test_a_nested_schema(self):
        answer = chat(response_format=by_schema(PERSON, strict=True))
        value = validated(answer.choices[0], PERSON)
        # In the order of the schema.
        self.assertEqual(list(value), list(PERSON["properties"]))
        usage = answer.usage
        self.assertEqual(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)
        chunks = list(chat(response_format=by_schema(PERSON), stream=True))
        streamed = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        self.assertEqual((streamed, chunks[-1].choices[0].finish_reason), (answer.choices[0].message.content, "stop"))
        self.assertGreater(len(chunks), 10)
        same = chat(extra_body={"json_schema": PERSON})
        self.assertEqual(same.choices, answer.choices)

    def test_several_that_are_drawn(self):
        answers = chat(response_format=by_schema(PERSON), n=3, temperature=1.5, seed=5, max_tokens=200).choices
        found = [validated(choice, PERSON) for choice in answers]
        self.assertGreater(len({json.dumps(value) for value in found}), 1)

    def test_models_of_pydantic(self):
        class Drink(str, enum.Enum):
            tea = "tea"
            coffee = "coffee"

        class Home(pydantic.BaseModel):
            city: str = pydantic.Field(max_length=10)
            rooms: int = pydantic.Field(ge=1, le=9)

        class Person(pydantic.BaseModel):
            name: str = pydantic.Field(max_length=10)
            drinks: list[Drink] = pydantic.Field(max_length=2)
            home: Home | None

        messages = [{"role": "user", "content": ANNA}]
        answer = client.chat.completions.parse(
            model="demo", messages=messages, response_format=Person, temperature=0, max_tokens=100)  # fmt: skip
        person = answer.choices[0].message.parsed
        self.assertIsInstance(person, Person)
        self.assertTrue(person.name)

    def test_eight_at_once(self):
        def schema(i):
            value = {"type": "string", "pattern": f"^[a-z]{{{i + 1}}}$"} if i % 2 else {"type": "integer", "minimum": 10**i, "maximum": 10 ** (i + 1)}
            item = {"type": "object", "properties": {f"key{i}": value}, "required": [f"key{i}"], "additionalProperties": False}
            return {"type": "array", "items": item, "minItems": 1, "maxItems": 2}

        def one(i):
            # Some of them are free.
            form = {} if i % 4 == 3 else {"response_format": by_schema(schema(i))}
            return chat(max_tokens=60, temperature=1, seed=i, **form).choices[0]

        alone = [one(i) for i in range(8)]
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            together = list(threads.map(one, range(8)))
        self.assertEqual(together, alone)
        for i in (0, 1, 2, 4, 5, 6):
            validated(together[i], schema(i))

    def test_logprobs(self):
        plain = chat(response_format=by_schema(PERSON)).choices[0]
        choice = chat(response_format=by_schema(PERSON), logprobs=True, top_logprobs=2).choices[0]
        self.assertEqual(choice.message, plain.message)
        tokens = choice.logprobs.content
        self.assertEqual(b"".join(bytes(token.bytes) for token in tokens).decode(), choice.message.content)
        self.assertEqual({len(token.top_logprobs) for token in tokens}, {2})
        # They are the model's, which would have begun otherwise.
        first = chat(extra_body={"regex": "zebra|quagga"}, logprobs=True, top_logprobs=1).choices[0].logprobs.content[0]
        self.assertIn(first.token[0], "zq")
        self.assertLess(first.logprob, first.top_logprobs[0].logprob)

    def test_what_ends_it_early(self):
        whole = chat(response_format=by_schema(PERSON)).choices[0].message.content
        cut = chat(response_format=by_schema(PERSON), max_tokens=9)
        self.assertEqual((cut.choices[0].finish_reason, cut.usage.completion_tokens), ("length", 9))
        self.assertTrue(whole.startswith(cut.choices[0].message.content) and len(whole) > len(cut.choices[0].message.content))
        stopped = chat(response_format=by_schema(PERSON), stop='"home"').choices[0]
        self.assertEqual((stopped.finish_reason, stopped.message.content), ("stop", whole.split('"home"')[0]))


class Texts(unittest.TestCase):
    REGEX = r"\+[0-9]{2} [0-9]{3}-[0-9]{4}"
    GRAMMAR = """
        start: sum
        sum: NUMBER (" + " NUMBER){2}
        NUMBER: /[1-9][0-9]?/
    """

    def test_regular_expressions(self):
        choice = chat("What is your phone number?", extra_body={"regex": self.REGEX}).choices[0]
        self.assertRegex(choice.message.content, f"^{self.REGEX}$")
        self.assertEqual(choice.finish_reason, "stop")
        for choice in text(["Call me:", "Her number is"], n=2, temperature=1, extra_body={"regex": self.REGEX}).choices:
            self.assertRegex(choice.text, f"^{self.REGEX}$")
            self.assertEqual(choice.finish_reason, "stop")
        # Where it may end and go on, the model chooses.
        open_end = text("One, two, three,", extra_body={"regex": "( [a-z]+,?)*"}, max_tokens=8).choices[0]
        self.assertRegex(open_end.text, "^( [a-z]*,?)*$")
        self.assertTrue(open_end.text.startswith(" four"), open_end)

    def test_grammars(self):
        choice = chat("Add numbers.", extra_body={"grammar": self.GRAMMAR}).choices[0]
        self.assertRegex(choice.message.content, r"^[1-9]\d?( \+ [1-9]\d?){2}$")
        chunks = list(text("2 + 3 + 4 =", extra_body={"grammar": self.GRAMMAR}, stream=True))
        whole = text("2 + 3 + 4 =", extra_body={"grammar": self.GRAMMAR}).choices[0]
        self.assertEqual("".join(chunk.choices[0].text for chunk in chunks), whole.text)
        self.assertRegex(whole.text, r"^[1-9]\d?( \+ [1-9]\d?){2}$")
        self.assertEqual((chunks[-1].choices[0].finish_reason, whole.finish_reason), ("stop", "stop"))

    def test_schemas_of_completions(self):
        schema = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 4}
        one = text("Numbers as JSON:", extra_body={"json_schema": schema}, logprobs=1).choices[0]
        jsonschema.validate(json.loads(one.text), schema)
        self.assertEqual("".join(one.logprobs.tokens), one.text)
        same = text("Numbers as JSON:", extra_body={"response_format": by_schema(schema)}).choices[0]
        self.assertEqual((same.text, same.finish_reason), (one.text, "stop"))


class Refusals(unittest.TestCase):
    def refused(self, make):
        with self.assertRaises(openai.BadRequestError) as caught:
            make()
        self.assertEqual(caught.exception.type, "invalid_request_error")
        return caught.exception

    def test_formats(self):
        schema = lambda schema: by_schema(schema)
        for form, says in [
            ({"type": "xml"}, "type is none of"), ({"type": "regex", "regex": "a"}, "type is none of"),
            ({}, "type is none of"), ({"type": 5}, "type is none of"), ("json_object", "json_object"), (["json_object", None], "map"),
            ({"type": "json_schema"}, "json_schema.schema is missing"),
            ({"type": "json_schema", "json_schema": {"name": "a"}}, "json_schema.schema is missing"),
            ({"type": "json_schema", "json_schema": {"schema": None}}, "json_schema.schema is missing"),
            ({"type": "json_schema", "json_schema": 5}, "json_schema: "),
            (schema("string"), "json_schema.schema: a schema is an object"), (schema([]), "a schema is an object"),
            (schema(5), "a schema is an object"), (schema({"type": "objekt"}), "objekt"),
            (schema({"$ref": "#/nowhere"}), "nowhere"), (schema({"$ref": "http://example.org/"}), "example.org"),
            (schema({"type": "string", "minLength": 3, "maxLength": 2}), "response_format: "), (schema(False), "response_format: "),
        ]:  # fmt: skip
            for make in (lambda: chat(response_format=form), lambda: text("a", extra_body={"response_format": form})):
                error = self.refused(make)
                self.assertEqual(error.param, "response_format", (form, error))
                self.assertIn(says, str(error), form)
        self.assertEqual(self.refused(lambda: chat(response_format={"type": "xml"})).code, "unsupported_parameter")

    def test_fields_beyond_openais(self):
        for more, param in [
            ({"regex": "("}, "regex"), ({"regex": "a(?=b)"}, "regex"), ({"regex": 5}, "regex"),
            ({"grammar": 'begin: "a"'}, "grammar"), ({"grammar": "start: nothing"}, "grammar"), ({"grammar": ["a"]}, "grammar"),
            ({"json_schema": {"type": "objekt"}}, "json_schema"), ({"json_schema": "{}"}, "json_schema"),
            ({"json_schema": 5}, "json_schema"), ({"json_schema": {}, "regex": "a"}, "regex"),
            ({"regex": "a", "grammar": 'start: "a"'}, "grammar"),
            ({"response_format": {"type": "json_object"}, "json_schema": {}}, "json_schema"),
            ({"response_format": {"type": "json_object"}, "grammar": 'start: "a"'}, "grammar"),
        ]:  # fmt: skip
            for make in (lambda: chat(extra_body=more), lambda: text("a", extra_body=more)):
                error = self.refused(make)
                self.assertEqual(error.param, param, (more, error))
        # These exclude nothing.
        free = {"response_format": {"type": "text"}, "json_schema": None, "regex": "[0-9]", "grammar": None}
        self.assertRegex(chat(extra_body=free).choices[0].message.content, "^[0-9]$")
        for depth in (100, 100_000):
            body = '{"prompt": "a", "json_schema": ' + '{"not": ' * depth + "{}" + "}" * depth + "}"
            status, answer = server.ask(body)
            self.assertEqual((status, "json_schema" in answer), (400, True), answer)


if __name__ == "__main__":
    unittest.main()
