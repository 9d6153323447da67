"""Calls of tools, with the demo model under templates that have tools: what it continues is the caller's."""

import json
import re
import unittest

import jsonschema
import openai
from server import Server, changed_model

TEMPLATE = "{% if tools %}{{ tools|tojson }}\n{% endif %}{{ messages[-1].content }}"
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "%s"}}\n</tool_call>\n'
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]


class Case(unittest.TestCase):
    """With a server whose template has a mark of a form of calls. What is forced needs no prompt that tells of it."""

    def serve(self, mark, template="{{ messages[-1].content }}", **tokens):
        file = changed_model(template + "{# " + mark + " #}", **tokens)
        self.addCleanup(file.close)
        self.server = Server("--context", 768, model=file.name)
        self.addCleanup(lambda: self.assertEqual(self.server.stop(), 0))

    def chat(self, prompt, **options):
        options = {"temperature": 0, "max_tokens": 40, "stop": "</end>", **options}
        messages = [{"role": "user", "content": prompt}]
        return self.server.client.chat.completions.create(model="demo", messages=messages, **options)


class Tools(Case):
    def setUp(self):
        self.serve("<tool_call>", TEMPLATE)

    def test_the_template_is_given_the_tools(self):
        tokens = lambda **options: self.chat("Hi", max_tokens=1, **options).usage.prompt_tokens
        without = tokens()
        self.assertGreater(tokens(tools=TOOLS), without + 10)
        self.assertEqual(tokens(tools=TOOLS, tool_choice="none"), without)
        self.assertEqual(tokens(tools=[]), without)
        variable = {"chat_template_kwargs": {"tools": TOOLS}}
        self.assertEqual(tokens(extra_body=variable), tokens(tools=TOOLS))

    def test_calls_are_taken_out_of_the_text(self):
        prompt = "".join(CALL % city for city in ("Rome", "Paris", "Berlin", "Madrid"))
        # The same prompt, and nobody looks for calls.
        plain = self.chat(prompt, extra_body={"chat_template_kwargs": {"tools": TOOLS}}).choices[0]
        self.assertEqual((plain.finish_reason, plain.message.tool_calls), ("length", None))
        written = re.findall(r"<tool_call>(.*?)</tool_call>", plain.message.content, re.S)
        wanted = [(call["name"], call["arguments"]) for call in map(json.loads, written)]
        self.assertGreater(len(wanted), 0, plain.message.content)
        choice = self.chat(prompt, tools=TOOLS).choices[0]
        self.assertEqual(choice.finish_reason, "tool_calls")
        calls = choice.message.tool_calls
        self.assertEqual([(call.function.name, json.loads(call.function.arguments)) for call in calls], wanted)
        self.assertEqual(len({call.id for call in calls}), len(calls))
        self.assertNotIn("</tool_call>", choice.message.content or "")
        streamed, reason, text = [], None, ""
        for chunk in self.chat(prompt, tools=TOOLS, stream=True):
            delta, reason = chunk.choices[0].delta, chunk.choices[0].finish_reason or reason
            text += delta.content or ""
            streamed += [(call.index, call.function.model_dump()) for call in delta.tool_calls or []]
        whole = list(enumerate(call.function.model_dump() for call in calls))
        self.assertEqual((streamed, reason), (whole, "tool_calls"))
        self.assertEqual(text, choice.message.content or "")


def tool(name, **properties):
    """A tool whose arguments are all required; their values are schemas."""
    parameters = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


WEATHER = tool("get", unit={"enum": ["K", "C"]}, city={"type": "string", "maxLength": 8})
TRIPS = tool("get_all", days={"type": "array", "items": {"$ref": "#/$defs/day"}, "minItems": 1, "maxItems": 2})
TRIPS["function"]["parameters"]["$defs"] = {"day": {"type": "integer", "minimum": 1, "maximum": 9}}
CLOCK = {"type": "function", "function": {"name": "now"}}
ALL = [WEATHER, TRIPS, CLOCK]
SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": False}
FORMAT = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}


def named(tool):
    return {"type": "function", "function": {"name": tool["function"]["name"]}}


class Forced(Case):
    def called(self, **options):
        """The name and the arguments of the only call, which fit the tool's schema."""
        choice = self.chat("Hi.", tools=ALL, **{"max_tokens": 99, **options}).choices[0]
        message = choice.message
        self.assertEqual((choice.finish_reason, message.content, len(message.tool_calls or [])), ("tool_calls", None, 1), choice)
        function = message.tool_calls[0].function
        value = json.loads(function.arguments)
        [schema] = [tool["function"].get("parameters") for tool in ALL if tool["function"]["name"] == function.name]
        jsonschema.Draft202012Validator(schema or {"const": {}}).validate(value)
        return function.name, value

    def check(self):
        self.called(tool_choice="required")
        # In the order of the schema; one name is the beginning of another.
        name, value = self.called(tool_choice=named(WEATHER))
        self.assertEqual((name, list(value)), ("get", ["unit", "city"]))
        self.assertEqual(self.called(tool_choice=named(TRIPS))[0], "get_all")
        self.assertEqual(self.called(tool_choice=named(CLOCK)), ("now", {}))
        self.assertEqual({self.called(tool_choice=named(WEATHER), temperature=1.5, seed=seed)[0] for seed in range(3)}, {"get"})
        streamed, reason = [], None
        for chunk in self.chat("Hi.", tools=ALL, tool_choice=named(WEATHER), stream=True, max_tokens=99):
            delta, reason = chunk.choices[0].delta, chunk.choices[0].finish_reason or reason
            self.assertFalse(delta.content)
            streamed += [(call.function.name, json.loads(call.function.arguments)) for call in delta.tool_calls or []]
        self.assertEqual((streamed, reason), ([(name, value)], "tool_calls"))

    def test_tags_that_are_text(self):
        self.serve("<tool_call>")
        self.check()
        # What the answer is otherwise does not matter, and a limit ends it.
        self.called(tool_choice="required", response_format=FORMAT)
        cut = self.chat("Hi.", tools=ALL, tool_choice="required", max_tokens=3)
        self.assertEqual((cut.choices[0].finish_reason, cut.usage.completion_tokens), ("length", 3))

    def test_tags_that_are_control_tokens(self):
        self.serve("<tool_call>", **{"<repo_name>": "<tool_call>", "<|im_start|>": "</tool_call>"})
        self.check()
        tokens = self.chat("Hi.", tools=ALL, tool_choice="required", logprobs=True, max_tokens=99).choices[0].logprobs.content
        spelled = [token.token for token in tokens]
        self.assertEqual((spelled[0], spelled[-1]), ("<tool_call>", "</tool_call>"))

    def test_lists(self):
        self.serve("[TOOL_CALLS]", **{"<|im_start|>": "[TOOL_CALLS]"})
        self.check()

    def test_names_before_arguments(self):
        self.serve("[TOOL_CALLS] [ARGS]")
        self.check()

    def test_whole_answers(self):
        self.serve("<|python_tag|>")
        self.check()
        self.refused("response_format", tools=ALL, response_format=FORMAT)

    def refused(self, param, **options):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.chat("Hi.", **options)
        self.assertEqual(caught.exception.param, param, caught.exception)
        return caught.exception

    def test_refusals(self):
        self.serve("<tool_call>")
        for choice in (5, [], {}, "always", {"type": "function"}, {"type": "allowed_tools", "function": {"name": "now"}}):
            self.assertEqual(self.refused("tool_choice", tools=ALL, tool_choice=choice).code, "unsupported_parameter")
        self.assertIn("no tools", str(self.refused("tool_choice", tool_choice="required")))
        self.assertIn("no tools", str(self.refused("tool_choice", tools=[], tool_choice="required")))
        self.assertIn('no tool "other"', str(self.refused("tool_choice", tools=ALL, tool_choice=named(tool("other")))))
        for field, value in (("regex", "a"), ("grammar", 'start: "a"'), ("json_schema", {})):
            self.refused(field, tools=ALL, tool_choice="required", extra_body={field: value})
        wrong = [[5], [{"type": "function"}], [tool('a"b')], [tool("a", x={"type": "objekt"})], [tool("a", x={"$ref": "#/x"})],
                 [{"type": "function", "function": {"name": "a", "parameters": 5}}]]  # fmt: skip
        for tools in wrong:
            self.refused("tools", tools=tools, tool_choice="required")
        # The tool that is asked for is right.
        self.assertEqual(self.chat("Hi.", tools=[*ALL, wrong[3][0]], tool_choice=named(CLOCK)).choices[0].finish_reason, "tool_calls")

    def test_forms_that_cannot_be_forced(self):
        self.serve("<tool_call><function=")
        for choice in ("required", named(WEATHER)):
            self.assertEqual(self.refused("tool_choice", tools=ALL, tool_choice=choice).code, "unsupported_parameter")
        self.assertEqual(self.refused("response_format", tools=ALL, response_format=FORMAT).code, "unsupported_parameter")
        free = self.chat("Hi.", tools=ALL, tool_choice="none", response_format=FORMAT).choices[0]
        jsonschema.validate(json.loads(free.message.content), SCHEMA)


class Formats(Case):
    def test_a_call_or_json(self):
        self.serve("<tool_call>")
        ask = lambda prompt, **more: self.chat(prompt, response_format=FORMAT, **{"tools": [WEATHER], **more}).choices[0]
        calls = "".join(CALL % city for city in ("Rome", "Paris", "Berlin")).replace("get_weather", "get")
        choice = ask(calls)
        self.assertEqual((choice.finish_reason, choice.message.content), ("tool_calls", None), choice)
        arguments = json.loads(choice.message.tool_calls[0].function.arguments)
        jsonschema.validate(arguments, WEATHER["function"]["parameters"])
        for more in ({}, {"tools": []}, {"tool_choice": "none"}):
            choice = ask('{"ok": true}\n{"ok": false}\n{"ok": true}\n', **more)
            self.assertEqual((choice.finish_reason, choice.message.tool_calls), ("stop", None), choice)
            jsonschema.validate(json.loads(choice.message.content), SCHEMA)
        # These say what the whole text is.
        self.assertEqual(self.chat(calls, tools=[WEATHER], extra_body={"regex": "[a-c]{2}"}).choices[0].finish_reason, "stop")


if __name__ == "__main__":
    unittest.main()
