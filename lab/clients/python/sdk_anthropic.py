import json

from anthropic import Anthropic

from program import png, run_scenarios, schema, url, weather, weather_teller

messages = Anthropic(base_url=url, auth_token="any", max_retries=0).messages
limits = {"max_tokens": 9_000}
tool = {"name": weather["name"], "description": weather["description"], "input_schema": weather["schema"]}


def user(content):
    return [{"role": "user", "content": content}]


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def text(model, question, **more):
    return {"text": text_of(messages.create(model=model, messages=user(question), **limits, **more))}


def stream(model, question):
    with messages.stream(model=model, messages=user(question), **limits) as streamed:
        return {"text": text_of(streamed.get_final_message())}


def tools(model, question):
    ran, tell = weather_teller()
    turns = user(question)
    while True:
        with messages.stream(model=model, messages=turns, tools=[tool], **limits) as streamed:
            message = streamed.get_final_message()
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            return {"text": text_of(message), "ran": ran}
        turns.append({"role": "assistant", "content": message.content})
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": tell(**call.input)} for call in calls]
        turns.append({"role": "user", "content": results})


def structured(model, question):
    form = {"format": {"type": "json_schema", "schema": schema}}
    return {"value": json.loads(text(model, question, output_config=form)["text"])}


def image(model, question):
    source = {"type": "base64", "media_type": "image/png", "data": png}
    return text(model, [{"type": "image", "source": source}, {"type": "text", "text": question}])


def abort(model, question):
    with messages.stream(model=model, messages=user(question), **limits) as streamed:
        return {"aborted": any(streamed.text_stream)}


names = {"text": text, "stream": stream, "tools": tools, "structured": structured, "image": image, "abort": abort}
run_scenarios(names | {name: stream for name in ["cut", "down", "late"]})
