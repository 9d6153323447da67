"""Renders chat templates as transformers' apply_chat_template does; writes templates.json.

    pip install transformers==5.23.0 jinja2==3.1.6
    python make_templates.py [FOLDER_OF_JINJA_FILES OUTPUT]

The templates were written for these tests in the forms that the named families use.
"""
import json
import os
import sys

from transformers.utils.chat_template_utils import _cached_compile_jinja_template

HERE = os.path.dirname(os.path.abspath(__file__))

CHATML = """{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""

SMOLLM2 = """{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\\nYou are a helpful AI assistant<|im_end|>\\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""

LLAMA2 = """{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}{% for message in loop_messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}{% if loop.index0 == 0 and system_message != false %}{% set content = '<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + message['content'] %}{% else %}{% set content = message['content'] %}{% endif %}{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ ' '  + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"""

LLAMA3 = """{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}"""

# With tools, dates and macros, laid out over many lines.
LLAMA31 = """{{- bos_token }}
{%- if custom_tools is defined %}
    {%- set tools = custom_tools %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}
{%- if not date_string is defined %}
    {%- set date_string = "26 Jul 2024" %}
{%- endif %}

{#- The system message comes first. #}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}

{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{{- "Today Date: " + date_string + "\\n\\n" }}
{%- if tools is not none %}
    {{- "You have access to the following functions.\\n\\n" }}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
{%- endif %}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("This model only supports single tool-calls at once!") }}
        {%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' -}}
        {{- '{"name": "' + tool_call.name + '", ' }}
        {{- '"parameters": ' }}
        {{- tool_call.arguments | tojson }}
        {{- "}" }}
        {{- "<|eot_id|>" }}
    {%- elif message.role == "tool" or message.role == "ipython" %}
        {{- "<|start_header_id|>ipython<|end_header_id|>\\n\\n" }}
        {%- if message.content is mapping or message.content is iterable %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
        {{- "<|eot_id|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""

MISTRAL = """{{ bos_token }}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ message['content'] + eos_token + ' ' }}{% else %}{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}{% endfor %}"""

# Filters of lists, namespaces and a running count.
MISTRAL_TOOLS = """{%- if messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace() %}
{%- set ns.index = 0 %}
{%- for message in loop_messages %}
    {%- if not (message.role == "tool" or message.role == "tool_results" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
            {{- raise_exception("After the optional system message, conversation roles must alternate") }}
        {%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}
            {{- "[AVAILABLE_TOOLS] [" }}
            {%- for tool in tools %}
                {%- set tool = tool.function %}
                {{- '{"type": "function", "function": {' }}
                {%- for key, val in tool.items() if key != "return" %}
                    {%- if val is string %}
                        {{- '"' + key + '": "' + val + '"' }}
                    {%- else %}
                        {{- '"' + key + '": ' + val|tojson }}
                    {%- endif %}
                    {%- if not loop.last %}
                        {{- ", " }}
                    {%- endif %}
                {%- endfor %}
                {{- "}}" }}
                {%- if not loop.last %}
                    {{- ", " }}
                {%- else %}
                    {{- "]" }}
                {%- endif %}
            {%- endfor %}
            {{- "[/AVAILABLE_TOOLS]" }}
        {%- endif %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST] " + system_message + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST] " + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"]|trim + eos_token}}
    {%- elif message["role"] == "tool" %}
        {%- if message.content is defined and message.content.content is defined %}
            {%- set content = message.content.content %}
        {%- else %}
            {%- set content = message.content %}
        {%- endif %}
        {{- '[TOOL_RESULTS] {"content": ' + content|string + "}[/TOOL_RESULTS]" }}
    {%- else %}
        {{- raise_exception("Only user and assistant roles are supported, with the exception of an initial optional system message!") }}
    {%- endif %}
{%- endfor %}
"""

QWEN2 = """{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""

# Walks backwards to the last question, cuts out thoughts, joins tool answers.
QWEN3 = """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0].role == 'system' %}
        {{- messages[0].content + '\\n\\n' }}
    {%- endif %}
    {{- "# Tools\\n\\n<tools>" }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools><|im_end|>\\n" }}
{%- else %}
    {%- if messages[0].role == 'system' %}
        {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endif %}
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning_content = message.reasoning_content %}
        {%- else %}
            {%- if '</think>' in content %}
                {%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
                {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
            {%- endif %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index %}
            {%- if loop.last or (not loop.last and reasoning_content) %}
                {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
            {%- else %}
                {{- '<|im_start|>' + message.role + '\\n' + content }}
            {%- endif %}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {%- if message.tool_calls %}
            {%- for tool_call in message.tool_calls %}
                {%- if (loop.first and content) or (not loop.first) %}
                    {{- '\\n' }}
                {%- endif %}
                {%- if tool_call.function %}
                    {%- set tool_call = tool_call.function %}
                {%- endif %}
                {{- '<tool_call>\\n{"name": "' }}
                {{- tool_call.name }}
                {{- '", "arguments": ' }}
                {%- if tool_call.arguments is string %}
                    {{- tool_call.arguments }}
                {%- else %}
                    {{- tool_call.arguments | tojson }}
                {%- endif %}
                {{- '}\\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\\n<tool_response>\\n' }}
        {{- content }}
        {{- '\\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}
            {{- '<|im_end|>\\n' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}"""

GEMMA = """{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}{{ '<start_of_turn>' + role + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}{% endfor %}{% if add_generation_prompt %}{{'<start_of_turn>model\\n'}}{% endif %}"""

# Text between the tags, so that trim_blocks and lstrip_blocks matter.
ZEPHYR = """{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>\\n' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>\\n' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
{{ '<|assistant|>\\n'  + message['content'] + eos_token }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}
"""

# What Python and Jinja do with values, in places where other engines differ.
PYTHON = """{# comment #}
{%- set s = ' Überraschung, wirklich? ' -%}
{{ s.strip().upper() }}|{{ s.find('wirk') }}|{{ s.rfind('zz') }}|{{ s.split() }}|{{ s.split(',', 1) }}|{{ 'a-b-c'.rsplit('-', 1) }}
{{ s.replace('ü', 'ue').lower() }}|{{ s[1:5] }}|{{ s[::-1] }}|{{ s|length }}|{{ 'ab' * 3 }}|{{ [1, 2] * 2 }}|{{ [1] + [2, 'x'] }}
{{ true }} {{ false }} {{ none }} {{ 1.0 }} {{ 7 / 2 }} {{ 7 // 2 }} {{ -7 % 3 }} {{ 2 ** 10 }} {{ 1e20 }} {{ 0.00001 }}
{{ {'a': [1, none, true, "it's", 'q"q'], 'b': {}} }} {{ ['\\n', 'é'] }} {{ ('x', 1) | list }}
{{ 'x' ~ 1 ~ none ~ true ~ 1.5 ~ [1] }} {{ undefined_thing }} {{ undefined_thing is defined }} {{ undefined_thing | default('d') }} {{ '' | default('e', true) }}
{{ 'abc' is string }} {{ 'abc' is iterable }} {{ 'abc' is sequence }} {{ {} is mapping }} {{ {} is sequence }} {{ 1 is number }} {{ true is number }} {{ none is none }} {{ 1 is iterable }}
{{ ['b', 'a', 'C'] | sort | join(',') }} {{ [3, 1] | sort(reverse=true) | join('+') }} {{ ['a', 'b'] | map('upper') | join }} {{ [{'n': 1}, {'n': 2}] | map(attribute='n') | list }}
{{ {'z': 1, 'a': [1, 2.5, null_thing is defined, '<&\\'>', 'ü\\u0001']} | tojson }}
{{ {'z': 1, 'a': {'k': []}} | tojson(indent=2) }}
{{ {'z': 1, 'a': 'ü😀'} | tojson(sort_keys=true, ensure_ascii=true, separators=(',', ':')) }}
{% macro greet(name, greeting='Hello', mark=none) %}{{ greeting }}, {{ name }}{{ mark or '.' }}{% endmacro %}
{{ greet('A') }} {{ greet('B', 'Hi', mark='!') }} {{ greet(name='C') }}
{% for k, v in {'one': 1, 'two': 2}.items() %}{{ loop.index }}{{ k }}={{ v }}{{ ', ' if not loop.last }}{% endfor %}

{% for x in range(5) if x != 3 %}{% if x == 1 %}{% continue %}{% endif %}{% if x == 4 %}{% break %}{% endif %}{{ x }};{% else %}none{% endfor %}

{% for x in [] %}{% else %}empty{% endfor %}{% set ns = namespace(n=0, s='') %}{% for x in [1, 2, 3] %}{% set ns.n = ns.n + x %}{% set ns.s = ns.s ~ x %}{% endfor %} {{ ns.n }}{{ ns.s }}
{% set block %}
  inner {{ 1 + 1 }}
{% endset %}[{{ block }}]{% filter upper %}loud{% endfilter %}
{{ 'a,b,,c'.split(',') }} {{ '\\u00a0x\\u00a0'.strip() }}! {{ 'line1\\nline2\\n' | indent(2) }} {{ 'xXx'.strip('x') }} {{ 'title case'.title() }} {{ 'cap'.capitalize() }} {{ 'a.b'.partition('.') | list }}
{{ 'abc'.startswith('ab') }} {{ 'abc'.endswith(('bc', 'x')) }} {{ 'b' in 'abc' }} {{ 'k' in {'k': 1} }} {{ 3 not in [1, 2] }} {{ 'x' if false }}{{ 1 < 2 < 3 }} {{ not true or true and false }}
{{ [1, 2, 3, 4][1:3] }}{{ [1, 2, 3, 4][::-2] }}{{ [1, 2, 3, 4][-3:] }}{{ [1, 2, 3, 4][:-1] }}{{ [1, 2, 3, 4][2:0:-1] }}{{ [1, 2][5:] }}{{ [1, 2][-9:9] }}{{ 'héllo'[-4:-1] }}{{ 'abc' | reverse }}{{ [1, 2] | reverse | list }}{% for k, v in {'a': 1} | items %}{{ k }}{{ v }}{% endfor %}{{ {'a': {'b': 2}}.get('a').get('b') }}{{ {'a': none}.get('a', 5) }}{{ {'a': 1}.values() | list }} {{ [1, 2, 3][-1] }} {{ {'a': 1}.get('b', 'dflt') }} {{ {'a': 1}.keys() | list }} {{ {'a': 1} | items | list | length }} {{ [1, [2, 3]] | string }} {{ '3' | int + 4 }} {{ [1, 2, 3] | sum }} {{ [4, 2] | min }} {{ 3.7 | int }} {{ -3 | abs }} {{ 'abc' | first }}{{ 'abc' | last }} {{ ['a', 'a', 'b'] | unique | list }} {{ 'a b' | replace(' ', '_') }}
{%- generation %} generated {%+ endgeneration -%}
   {{ messages | map(attribute='role') | list | tojson }} {{ messages | selectattr('role', 'equalto', 'user') | list | length }} {{ messages | rejectattr('role', 'in', ['user', 'system']) | map(attribute='content') | join('/') }}
{{ (' a ' | default('', true)).strip() }}{{ ' <&"\\'> b ' | e }}{{ 1 | safe }}{{ (1, 2)[0] }}{{ ('a' ~ 'b').upper() | lower | title }}
{{ "{{ not a tag }}" }} {% raw %}{{ raw }} {% x %}{% endraw %}
{% if messages %}{{ messages[0].content.split('\\n') | first | trim }}{% endif %}
"""

TEMPLATES = {
    "chatml": (CHATML, "", "<|im_end|>"),
    "smollm2": (SMOLLM2, "<|im_start|>", "<|im_end|>"),
    "llama2": (LLAMA2, "<s>", "</s>"),
    "llama3": (LLAMA3, "<|begin_of_text|>", "<|eot_id|>"),
    "llama31": (LLAMA31, "<|begin_of_text|>", "<|eot_id|>"),
    "mistral": (MISTRAL, "<s>", "</s>"),
    "mistral_tools": (MISTRAL_TOOLS, "<s>", "</s>"),
    "qwen2": (QWEN2, "", "<|im_end|>"),
    "qwen3": (QWEN3, "", "<|im_end|>"),
    "gemma": (GEMMA, "<bos>", "<eos>"),
    "zephyr": (ZEPHYR, "<s>", "</s>"),
    "python": (PYTHON, "<s>", "</s>"),
}


def message(role, content, **more):
    return {"role": role, "content": content, **more}


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather of a city, in °C <now>",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string", "enum": ["Köln", "東京"]}, "days": {"type": "integer", "default": 1.5}},
                "required": ["city"],
            },
        },
    }
]
CALL = {"id": "call00001", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "Köln", "days": None, "x": [True, 1.0]}}}
USER = message("user", "  What is 2+2? 'quoted' & \"double\"\n")
CASES = [
    ([USER], True, {}),
    ([USER], False, {}),
    ([message("system", "Be brief.\n"), USER], True, {}),
    ([USER, message("assistant", " It is 4. "), message("user", "Sure? 😀\r\n\tReally")], True, {}),
    ([message("system", ""), USER, message("assistant", "<think>\nhm\n</think>\n\n4"), message("user", "again")], True, {"enable_thinking": False}),
    ([USER, message("assistant", "<think>\nhm\n</think>\n\n4")], False, {}),
    ([USER, message("user", "twice")], True, {}),
    ([message("system", "S"), USER], True, {"tools": TOOLS}),
    ([USER, message("assistant", "", tool_calls=[CALL]), message("tool", "12 °C"), message("tool", "rain"), message("assistant", "Cold."), message("user", "ok")], True, {"tools": TOOLS}),
]


def render(template, bos, eos, messages, add, extra):
    variables = {"tools": None, "documents": None, "bos_token": bos, "eos_token": eos, **extra}
    return _cached_compile_jinja_template(template).render(messages=messages, add_generation_prompt=add, **variables)


def main():
    templates, output = TEMPLATES, os.path.join(HERE, "templates.json")
    if len(sys.argv) > 2:
        folder, output = sys.argv[1:3]
        templates = {}
        for name in sorted(os.listdir(folder)):
            if name.endswith(".jinja"):
                text = open(os.path.join(folder, name), encoding="utf-8", newline="").read()
                templates[name] = (text, "<s>", "</s>")
    result = []
    for name, (template, bos, eos) in templates.items():
        cases = []
        for messages, add, extra in CASES:
            # Texts, so that the order of keys stays.
            if all(set(m) == {"role", "content"} for m in messages):
                case = {"messages": messages, "add": add, "extra": json.dumps(extra)}
            else:
                case = {"messages": [], "add": add, "extra": json.dumps({**extra, "messages": messages})}
            try:
                case["output"] = render(template, bos, eos, messages, add, extra)
            except Exception as error:
                case["error"] = str(error)
            cases.append(case)
        result.append({"name": name, "template": template, "bos": bos, "eos": eos, "cases": cases})
    with open(output, "w", encoding="utf-8") as f:
        json.dump(result, f, ensure_ascii=False, indent=0)
        f.write("\n")


main()
