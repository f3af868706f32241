"""The least that an agent can be, to compare with: python3 bare_agent.py BASE_URL TASK

Asks a model over chat completions, carries out its `read` and `write` calls in the current folder, and prints the
first answer that calls nothing. It checks nothing, keeps nothing, and nobody looks after it.
"""

import http.client
import json
import sys
from urllib.parse import urlsplit


def read(path):
    with open(path) as file:
        return file.read()


def write(path, content):
    with open(path, "w") as file:
        file.write(content)
    return "written"


def tool(name, *parameters):
    schema = {"type": "object", "properties": {key: {"type": "string"} for key in parameters}, "required": parameters}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


CARRY_OUT = {"read": read, "write": write}
TOOLS = [tool("read", "path"), tool("write", "path", "content")]


def ask(connection, path, messages):
    """Sends one request; returns the text and the tool calls that its answer streams."""
    body = {"model": "small", "stream": True, "messages": messages, "tools": TOOLS}
    connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
    response = connection.getresponse()
    if response.status != 200:
        sys.exit(f"{response.status}: {response.read().decode()}")
    text, calls = "", []
    for line in response:
        if not line.startswith(b"data: {"):
            continue
        for choice in json.loads(line[6:])["choices"]:
            delta = choice["delta"]
            text += delta.get("content") or ""
            for piece in delta.get("tool_calls", []):
                if piece["index"] == len(calls):
                    calls.append({"id": piece["id"], "type": "function", "function": {"name": "", "arguments": ""}})
                for key, part in piece["function"].items():
                    calls[piece["index"]]["function"][key] += part
    return text, calls


def main(base, task):
    url = urlsplit(base)
    connection = http.client.HTTPConnection(url.netloc)
    messages = [{"role": "user", "content": task}]
    while True:
        text, calls = ask(connection, url.path + "/chat/completions", messages)
        if not calls:
            return print(text)
        messages.append({"role": "assistant", "content": text or None, "tool_calls": calls})
        for call in calls:
            wanted = call["function"]
            result = CARRY_OUT[wanted["name"]](**json.loads(wanted["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


main(*sys.argv[1:])
