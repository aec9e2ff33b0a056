"""Shared by the programs in Python, as program.mjs by those in JavaScript."""

import json
import os
import sys

url = sys.argv[1]
variant = sys.argv[2] if len(sys.argv) > 2 else ""

schema = {
    "type": "object",
    "properties": {"population_of_matrix": {"type": "integer"}},
    "required": ["population_of_matrix"],
    "additionalProperties": False,
}
weather = {
    "name": "weather",
    "description": "Tells the weather.",
    "schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
}
png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def run_scenarios(scenarios):
    """Runs each with the model to ask and the text of the question, and prints a line of JSON: what it saw, or its error."""
    for name, run in scenarios.items():
        try:
            line = {"name": name, "seen": run(name, f"[[{name}]]")}
        except Exception as error:
            status = getattr(error, "status_code", None)
            line = {"name": name, "failed": {"message": str(error)[:300], "kind": type(error).__name__, "status": status}}
        print(json.dumps(line), flush=True)
    # Some libraries keep connections that would delay the end.
    os._exit(0)


def weather_teller():
    """The cities that a tool was called for, and that tool."""
    ran = []

    def tell(city: str) -> str:
        """Tells the weather."""
        ran.append(city)
        return f"{20 if city == 'Rome' else 21} degrees"

    tell.__name__ = weather["name"]
    return ran, tell
