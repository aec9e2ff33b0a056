import type { Gateway, ServedReply } from '../gateway/gateway.ts'
import type { WholeReply } from '../protocols/protocol.ts'
import type { Call } from '../service/service.ts'
import type { ChatRequest } from '../wire/chat-request.ts'
import { finishChunk, textChunk, usageChunk } from '../wire/testing.ts'
import type { Exchange } from './exchange.ts'

const head = { id: 'chatcmpl-1', created: 1, model: 'm' }

/** Chunks by what they carry. For tests. */
export const chunks = {
  text: (text: string) => textChunk(head, text),
  finish: () => finishChunk(head, 'stop'),
  usage: () => usageChunk(head, 1, 2),
}

/** A whole answer. For tests. */
export function wholeReply(): WholeReply {
  return {
    kind: 'whole',
    body: new TextEncoder().encode('{"object":"chat.completion"}'),
    usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
    isEmpty: false,
  }
}

/** A gateway that answers so. For tests. */
export function fakeGateway(chat: (request: ChatRequest, call: Call) => Promise<ServedReply>): Gateway {
  return { chat, models: () => [], model: () => undefined, providers: [] }
}

/** Rejects with the call's reason when it is aborted; never resolves. For tests. */
export function untilAborted({ signal }: Call): Promise<never> {
  return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

/** A request on its way through the service. For tests. */
export function exchangeOf(request: Request): Exchange {
  return {
    request,
    path: new URL(request.url).pathname,
    id: 'request-1',
    started: performance.now(),
    address: () => '127.0.0.1',
    peerPort: () => undefined,
    keepOpen: () => undefined,
    whoNow: async () => ({}),
    letClose: () => undefined,
    letRead: () => undefined,
    drop: () => undefined,
  }
}

/** Reads a body as text, piece by piece as they are given. For tests. */
export async function readPieces(body: ReadableStream<Uint8Array>): Promise<readonly string[]> {
  const pieces: string[] = []
  for await (const piece of body) pieces.push(new TextDecoder().decode(piece))
  return pieces
}
