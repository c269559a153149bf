"""A service on FastAPI and uvicorn. A run is executed while it is streamed, its
events have no ids, and its messages have the types of LangChain.

| prompt | run |
| --- | --- |
| `say nothing` | completes without a reply |
| `fail` | fails in its second node |
| `wait` | never ends its second node |
| `be refused` | cannot be started: the code that starts it throws |
| `break before` | the code that streams it throws before the first event |
| `break during` | the code that streams it throws after the first event |
| anything else | replies `You said: ` and the prompt |
"""

import asyncio
import json
import os
from uuid import uuid4

import uvicorn
from fastapi import Depends, FastAPI, HTTPException
from fastapi.responses import StreamingResponse
from fastapi.security import APIKeyHeader
from pydantic import BaseModel

threads: dict[str, dict] = {}


def check_key(key: str = Depends(APIKeyHeader(name="X-API-Key"))) -> None:
    if key != os.environ["SERVICE_KEY"]:
        raise HTTPException(401, "Unknown key")


app = FastAPI(dependencies=[Depends(check_key)])


class Run(BaseModel):
    agentName: str
    prompt: str
    wait: bool


@app.post("/threads")
async def create_thread():
    thread_id = str(uuid4())
    threads[thread_id] = {"messages": [], "runs": {}}
    return {"thread_id": thread_id}


@app.post("/threads/{thread_id}/runs")
async def start_run(thread_id: str, run: Run):
    if thread_id not in threads:
        raise HTTPException(404, "No such thread")
    if run.prompt == "be refused":
        raise RuntimeError("the queue of runs is closed")
    run_id = str(uuid4())
    threads[thread_id]["runs"][run_id] = run.prompt
    return {"run_id": run_id}


@app.get("/threads/{thread_id}/runs/{run_id}/stream")
async def stream_run(thread_id: str, run_id: str):
    thread = threads.get(thread_id)
    if thread is None or run_id not in thread["runs"]:
        raise HTTPException(404, "No such run")
    prompt = thread["runs"][run_id]
    if prompt == "break before":
        raise RuntimeError("the log is unreadable")
    events = think(thread["messages"], prompt)
    return StreamingResponse(events, media_type="text/event-stream")


async def think(messages: list, prompt: str):
    messages.append({"type": "human", "content": prompt})
    yield data({"event": "progress", "node": "plan", "status": "done"})
    if prompt == "break during":
        raise RuntimeError("the log is unreadable")
    if prompt == "wait":
        await asyncio.Event().wait()
    if prompt == "fail":
        yield data({"event": "run_failed", "error": "node write: no quota is left"})
        return
    content = "" if prompt == "say nothing" else f"You said: {prompt}"
    messages.append({"type": "ai", "content": content})
    yield data({"event": "progress", "node": "write", "status": "done"})
    yield data({"event": "complete", "messages": messages})


def data(event: dict) -> str:
    return f"data: {json.dumps(event)}\n\n"


uvicorn.run(app, port=int(os.environ["PORT"]))
