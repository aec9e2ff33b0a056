import base64
import json

from google import genai
from google.genai import types

from program import png, run_scenarios, schema, url, weather_teller

client = genai.Client(api_key="any", http_options={"base_url": url})
models = client.models


def text(model, question, **config):
    return {"text": models.generate_content(model=model, contents=question, config=config).text}


def stream(model, question):
    parts = models.generate_content_stream(model=model, contents=question)
    return {"text": "".join(part.text or "" for part in parts)}


def tools(model, question):
    ran, tell = weather_teller()
    return text(model, question, tools=[tell]) | {"ran": ran}


def structured(model, question):
    form = {"response_mime_type": "application/json", "response_json_schema": schema}
    return {"value": json.loads(text(model, question, **form)["text"])}


def image(model, question):
    return text(model, [question, types.Part.from_bytes(data=base64.b64decode(png), mime_type="image/png")])


def abort(model, question):
    parts = models.generate_content_stream(model=model, contents=question)
    aborted = any(part.text for part in parts)
    parts.close()
    return {"aborted": aborted}


names = {"text": text, "stream": stream, "tools": tools, "structured": structured, "image": image, "abort": abort}
run_scenarios(names | {name: stream for name in ["cut", "down", "late"]})
