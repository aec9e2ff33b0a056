import asyncio

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage, ImageBlock, TextBlock
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike

import base64
import json

from program import png, run_scenarios, schema, url, weather_teller


def chat(model):
    return OpenAILike(
        model=model,
        api_base=f"{url}/v1",
        api_key="any",
        is_chat_model=True,
        is_function_calling_model=True,
        max_retries=0,
    )


def text(model, question, **more):
    return {"text": chat(model).chat([ChatMessage(question)], **more).message.content}


def stream(model, question):
    return {"text": "".join(part.delta or "" for part in chat(model).stream_chat([ChatMessage(question)]))}


def tools(model, question):
    ran, tell = weather_teller()
    agent = FunctionAgent(tools=[FunctionTool.from_defaults(tell, name="weather")], llm=chat(model))

    async def ask():
        return await agent.run(question)

    return {"text": str(asyncio.run(ask())), "ran": ran}


def structured(model, question):
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}
    return {"value": json.loads(text(model, question, response_format=form)["text"])}


def image(model, question):
    picture = ImageBlock(image=base64.b64decode(png), image_mimetype="image/png")
    message = ChatMessage(role="user", blocks=[TextBlock(text=question), picture])
    return {"text": chat(model).chat([message]).message.content}


names = {"text": text, "stream": stream, "tools": tools, "structured": structured, "image": image}
run_scenarios(names | {name: stream for name in ["cut", "down", "late"]})
