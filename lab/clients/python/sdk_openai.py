import json

from openai import OpenAI

from program import png, run_scenarios, schema, url, variant, weather, weather_teller

client = OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0)
parameters = {"description": weather["description"], "parameters": weather["schema"]}


def user(content):
    return [{"role": "user", "content": content}]


class Chat:
    tool = {"type": "function", "function": {"name": weather["name"], **parameters}}

    def text(model, question, **more):
        answer = client.chat.completions.create(model=model, messages=user(question), **more)
        return {"text": answer.choices[0].message.content}

    def stream(model, question):
        with client.chat.completions.stream(model=model, messages=user(question)) as stream:
            return {"text": stream.get_final_completion().choices[0].message.content}

    def tools(model, question):
        ran, tell = weather_teller()
        turns = user(question)
        while True:
            with client.chat.completions.stream(model=model, messages=turns, tools=[Chat.tool]) as stream:
                message = stream.get_final_completion().choices[0].message
            if not message.tool_calls:
                return {"text": message.content, "ran": ran}
            turns.append(message)
            for call in message.tool_calls:
                result = tell(**json.loads(call.function.arguments))
                turns.append({"role": "tool", "tool_call_id": call.id, "content": result})

    def structured(model, question):
        form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}
        return {"value": json.loads(Chat.text(model, question, response_format=form)["text"])}

    def image(model, question):
        picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{png}"}}
        return Chat.text(model, [{"type": "text", "text": question}, picture])

    def abort(model, question):
        with client.chat.completions.create(model=model, messages=user(question), stream=True) as stream:
            aborted = any(chunk.choices and chunk.choices[0].delta.content for chunk in stream)
        return {"aborted": aborted}


class Responses:
    tool = {"type": "function", "name": weather["name"], "strict": True, **parameters}

    def text(model, question, **more):
        return {"text": client.responses.create(model=model, input=user(question), store=False, **more).output_text}

    def stream(model, question):
        with client.responses.stream(model=model, input=question, store=False) as stream:
            return {"text": stream.get_final_response().output_text}

    def tools(model, question):
        ran, tell = weather_teller()
        items = user(question)
        while True:
            with client.responses.stream(model=model, input=items, tools=[Responses.tool], store=False) as stream:
                answer = stream.get_final_response()
            calls = [item for item in answer.output if item.type == "function_call"]
            if not calls:
                return {"text": answer.output_text, "ran": ran}
            items += [item.model_dump(exclude={"parsed_arguments"}, exclude_none=True) for item in answer.output]
            for call in calls:
                result = tell(**json.loads(call.arguments))
                items.append({"type": "function_call_output", "call_id": call.call_id, "output": result})

    def structured(model, question):
        form = {"format": {"type": "json_schema", "name": "answer", "schema": schema, "strict": True}}
        return {"value": json.loads(Responses.text(model, question, text=form)["text"])}

    def image(model, question):
        picture = {"type": "input_image", "image_url": f"data:image/png;base64,{png}"}
        return Responses.text(model, [{"type": "input_text", "text": question}, picture])

    def abort(model, question):
        with client.responses.create(model=model, input=question, stream=True) as stream:
            return {"aborted": any(event.type == "response.output_text.delta" for event in stream)}


way = Responses if variant == "responses" else Chat
names = ["text", "stream", "tools", "structured", "image", "abort"]
run_scenarios({name: getattr(way, name) for name in names} | {name: way.stream for name in ["cut", "down", "late"]})
