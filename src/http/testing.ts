import type { Ask } from '../formats/ask.ts'
import { finishPart, textPart, usagePart } from '../formats/chat/testing.ts'
import type { WholeReply } from '../formats/reply.ts'
import type { Gateway, ServedReply } from '../gateway/gateway.ts'
import type { Call } from '../service/service.ts'
import type { HandlerContext } from './handler-context.ts'

const head = { id: 'chatcmpl-1', created: 1, model: 'm' }

/** Parts of an answer. For tests. */
export const answerParts = {
  text: (text: string) => textPart(head, text),
  finish: () => finishPart(head, 'stop'),
  usage: () => usagePart(head, 1, 2),
}

/** A whole answer. For tests. */
export function bareReply(): WholeReply {
  return {
    kind: 'whole',
    body: new TextEncoder().encode('{"object":"chat.completion"}'),
    usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
    isEmpty: false,
  }
}

/** A gateway whose answers come from `answer`. For tests. */
export function fakeGateway(answer: (request: Ask, call: Call) => Promise<ServedReply>): Gateway {
  return {
    answer,
    models: () => [],
    model: () => undefined,
    listedName: (name) => name,
    namesOf: (name) => [name],
    costAt: () => undefined,
    providers: [],
  }
}

/** Rejects with the call's reason when it is aborted; never resolves. For tests. */
export function rejectionOnAbort({ signal }: Call): Promise<never> {
  return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

/** The context of a request. For tests. */
export function contextOf(request: Request): HandlerContext {
  return {
    request,
    path: new URL(request.url).pathname,
    id: 'request-1',
    caller: {},
    started: performance.now(),
    address: () => '127.0.0.1',
    peerPort: () => undefined,
    keepOpen: () => undefined,
    currentCaller: async () => ({}),
    resetIdleLimit: () => undefined,
    extendIdleLimit: () => undefined,
    drop: () => undefined,
  }
}

/** Reads a stream of events as text, one string for each event or comment. For tests. */
export async function readEvents(response: Response): Promise<readonly string[]> {
  return (await response.text()).split(/(?<=\n\n)/)
}
