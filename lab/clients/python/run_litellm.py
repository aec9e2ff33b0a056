import json
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
import litellm

from program import png, run_scenarios, schema, url, variant, weather, weather_teller

litellm.suppress_debug_info = True
prefix, base = {"chat": ("openai", f"{url}/v1"), "messages": ("anthropic", url)}[variant]
tool = {
    "type": "function",
    "function": {"name": weather["name"], "description": weather["description"], "parameters": weather["schema"]},
}


def ask(model, content, **more):
    turns = content if isinstance(content, list) and "role" in content[0] else [{"role": "user", "content": content}]
    return litellm.completion(
        model=f"{prefix}/{model}", messages=turns, api_base=base, api_key="any", max_retries=0, max_tokens=9_000, **more
    )


def text(model, content, **more):
    return {"text": ask(model, content, **more).choices[0].message.content}


def stream(model, question):
    return {"text": "".join(part.choices[0].delta.content or "" for part in ask(model, question, stream=True))}


def tools(model, question):
    ran, tell = weather_teller()
    turns = [{"role": "user", "content": question}]
    while True:
        message = litellm.stream_chunk_builder(list(ask(model, turns, tools=[tool], stream=True))).choices[0].message
        if not message.tool_calls:
            return {"text": message.content, "ran": ran}
        turns.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            result = tell(**json.loads(call.function.arguments))
            turns.append({"role": "tool", "tool_call_id": call.id, "content": result})


def structured(model, question):
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}
    return {"value": json.loads(text(model, question, response_format=form)["text"])}


def image(model, question):
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{png}"}}
    return text(model, [{"type": "text", "text": question}, picture])


names = {"text": text, "stream": stream, "tools": tools, "structured": structured, "image": image}
run_scenarios(names | {name: stream for name in ["cut", "down", "late"]})
