"""Renders chats in the form of OpenAI's API as mlx-lm's server does it with transformers; writes chats.json.

    pip install transformers==5.23.0 jinja2==3.1.6 mlx-lm==0.32.2
    python make_chats.py [FOLDER_OF_JINJA_FILES OUTPUT]

The templates are templates/*.jinja, and of templates.json those in the form of Llama 3.1's and of Mistral's with tools.
"""
import copy
import datetime
import json
import os
import sys

from mlx_lm.server import process_message_content
from transformers.utils.chat_template_utils import _cached_compile_jinja_template

HERE = os.path.dirname(os.path.abspath(__file__))
# What templates ask the clock for is the test's to fill in.
DATES = ["%Y-%m-%d", "%d %B %Y", "%d %b %Y"]


def call(name, arguments, id="call00001"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def text(part):
    return {"type": "text", "text": part}


USER = {"role": "user", "content": "Weather in Köln & \"東京\"?"}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather of a city, in °C <now>",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string", "description": "Its name"}, "days": {"type": "integer"}},
                "required": ["city"],
            },
        },
    },
    {"type": "function", "function": {"name": "now", "description": "The time", "parameters": {"type": "object", "properties": {}}}},
]
CALLED = {"role": "assistant", "content": None, "tool_calls": [call("get_weather", '{"city": "Köln", "days": 2, "x": [null, true, 1.5, {"k": "v"}]}')]}
ANSWER = {"role": "tool", "tool_call_id": "call00001", "name": "get_weather", "content": '{"temperature": 12}'}
CHATS = [
    ({"messages": [USER]}, True),
    ({"messages": [{"role": "system", "content": [text("Be "), text("brief.")]}, {"role": "user", "content": [text("One\n"), text(" two 😀")]}]}, True),
    ({"messages": [{"role": "developer", "content": "Be brief."}, USER]}, True),
    ({"messages": [USER], "tools": TOOLS}, True),
    ({"messages": [{"role": "system", "content": "Be brief."}, USER], "tools": TOOLS, "enable_thinking": False}, True),
    ({"messages": [USER, CALLED, ANSWER], "tools": TOOLS}, True),
    ({"messages": [USER, {**CALLED, "content": [text("A moment.")]}, {**ANSWER, "content": [text("12"), text(" °C")]}, {"role": "assistant", "content": "12 °C."}, USER], "tools": TOOLS}, True),
    ({"messages": [USER, {"role": "assistant", "tool_calls": [call("get_weather", '{"city": "A"}'), call("now", "", "call00002")]}, ANSWER, {**ANSWER, "tool_call_id": "call00002", "name": "now"}], "tools": TOOLS}, True),
    ({"messages": [USER, {**CALLED, "reasoning_content": "Which city?\nBoth."}, ANSWER], "tools": TOOLS}, True),
    ({"messages": [USER, {"role": "assistant", "reasoning_content": "Hm.", "content": "Fine."}, USER], "enable_thinking": False}, True),
    ({"messages": [USER, {"role": "assistant", "reasoning_content": "Hm.", "content": "Fine."}], "reasoning_effort": "high"}, False),
    ({"messages": [USER], "tools": [], "thinking": True}, True),
]


def normalized(chat, template):
    chat = copy.deepcopy(chat)
    for message in chat["messages"]:
        for tool_call in message.get("tool_calls") or []:
            tool_call["function"]["arguments"] = tool_call["function"]["arguments"] or "{}"
        if message["role"] == "developer" and "developer" not in template:
            message["role"] = "system"
        if "thinking" in template and "reasoning_content" not in template and "reasoning_content" in message:
            message["thinking"] = message["reasoning_content"]
    process_message_content(chat["messages"])
    chat["tools"] = chat.get("tools") or None
    return chat


def render(template, bos, eos, chat, add):
    variables = {"documents": None, "bos_token": bos, "eos_token": eos, **normalized(chat, template)}
    output = _cached_compile_jinja_template(template).render(add_generation_prompt=add, **variables)
    for date in DATES:
        output = output.replace(datetime.datetime.now().strftime(date), f"@{date}@")
    return output


def main():
    folder, output = sys.argv[1:3] if len(sys.argv) > 2 else (os.path.join(HERE, "templates"), os.path.join(HERE, "chats.json"))
    templates = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".jinja"):
            templates[name] = open(os.path.join(folder, name), encoding="utf-8", newline="").read()
    if len(sys.argv) < 3:
        for entry in json.load(open(os.path.join(HERE, "templates.json"), encoding="utf-8")):
            if entry["name"] in ("llama31", "mistral_tools"):
                templates[entry["name"]] = entry["template"]
    result = []
    for name, template in templates.items():
        for chat, add in CHATS:
            # As text, so that the order of keys stays.
            case = {"template": name, "chat": json.dumps(chat, ensure_ascii=False), "add": add}
            try:
                case["output"] = render(template, "<s>", "</s>", chat, add)
            except Exception as error:
                case["error"] = str(error)
            result.append(case)
    with open(output, "w", encoding="utf-8") as f:
        json.dump(result, f, ensure_ascii=False, indent=0)
        f.write("\n")
    print(len(result), sum("error" in case for case in result))


main()
