import base64

from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, NativeOutput

from program import png, run_scenarios, url, variant, weather_teller


def chat(model):
    if variant == "gemini":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        return GoogleModel(model, provider=GoogleProvider(base_url=url, api_key="any"))
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    maker = OpenAIResponsesModel if variant == "responses" else OpenAIChatModel
    return maker(model, provider=OpenAIProvider(base_url=f"{url}/v1", api_key="any"))


class Answer(BaseModel):
    population_of_matrix: int


def text(model, question):
    return {"text": Agent(chat(model)).run_sync(question).output}


def stream(model, question):
    with Agent(chat(model)).run_stream_sync(question) as result:
        return {"text": "".join(result.stream_text(delta=True, debounce_by=None))}


def tools(model, question):
    ran, tell = weather_teller()
    agent = Agent(chat(model), tools=[tell])
    output = agent.run_sync(question).output
    # The library runs both calls at once, in threads.
    return {"text": output, "ran": sorted(ran, reverse=True)}


def structured(model, question):
    answer = Agent(chat(model), output_type=NativeOutput(Answer)).run_sync(question).output
    return {"value": answer.model_dump()}


def image(model, question):
    return text(model, [question, BinaryContent(data=base64.b64decode(png), media_type="image/png")])


names = {"text": text, "stream": stream, "tools": tools, "structured": structured, "image": image}
run_scenarios(names | {name: stream for name in ["cut", "down", "late"]})
