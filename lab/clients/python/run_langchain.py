from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from program import png, run_scenarios, schema, url, variant, weather_teller

makers = {
    "chat": lambda model: ChatOpenAI(model=model, base_url=f"{url}/v1", api_key="any", max_retries=0),
    "responses": lambda model: ChatOpenAI(
        model=model, base_url=f"{url}/v1", api_key="any", max_retries=0, use_responses_api=True, store=False
    ),
    "messages": lambda model: ChatAnthropic(model=model, base_url=url, api_key="any", max_retries=0),
}
chat = makers[variant]


def text(model, question):
    return {"text": chat(model).invoke(question).text}


def stream(model, question):
    return {"text": "".join(part.text for part in chat(model).stream(question))}


def tools(model, question):
    ran, tell = weather_teller()
    bound = chat(model).bind_tools([tool("weather", description="Tells the weather.")(tell)])
    turns = [HumanMessage(question)]
    while True:
        message = None
        for part in bound.stream(turns):
            message = part if message is None else message + part
        turns.append(message)
        if not message.tool_calls:
            return {"text": message.text, "ran": ran}
        turns += [ToolMessage(tell(**call["args"]), tool_call_id=call["id"]) for call in message.tool_calls]


def structured(model, question):
    form = {"title": "answer", "description": "The answer.", **schema}
    return {"value": chat(model).with_structured_output(form, method="json_schema").invoke(question)}


def image(model, question):
    picture = {"type": "image", "base64": png, "mime_type": "image/png"}
    return {"text": chat(model).invoke([HumanMessage([{"type": "text", "text": question}, picture])]).text}


names = {"text": text, "stream": stream, "tools": tools, "structured": structured, "image": image}
run_scenarios(names | {name: stream for name in ["cut", "down", "late"]})
