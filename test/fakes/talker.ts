import { parseJson, pick } from '../client.ts'
import type { Exchange, Script } from './fault-upstream.ts'
import {
  chunk,
  done,
  errorReply,
  event,
  framed,
  lastChunk,
  streamHead,
  usageChunk,
  type HeaderLines,
} from './replies.ts'

/** One request for a stream, which a test answers piece by piece. */
export interface Talk {
  /** Body of the request, as JSON. */
  readonly body: unknown
  /** Messages of the request, as `role: content`; parts by their types. */
  readonly messages: readonly string[]
  say(text: string): Promise<void>
  /** Sends a chunk with these members of `delta` and of its choice. */
  send(delta: object, choice?: object): Promise<void>
  finish(reason?: string): Promise<void>
  /** Breaks the connection. */
  cut(): void
  refuse(status: number, message: string, headers?: HeaderLines): Promise<void>
  /** Resolves when the client has left. */
  readonly left: Promise<unknown>
}

/** An upstream whose answers a test sends by hand. */
export interface Talker {
  readonly script: Script
  /** Resolves with the next request. @throws after eight seconds */
  next(): Promise<Talk>
}

const nextMs = 8_000

/** Makes a {@link Talker}. */
export function talker(): Talker {
  const asked: Talk[] = []
  const waiting: ((talk: Talk) => void)[] = []

  return {
    async script(exchange) {
      const over = Promise.withResolvers<void>()
      const talk = talkOf(exchange, over.resolve)
      const first = waiting.shift()
      if (first === undefined) asked.push(talk)
      else first(talk)
      // Only a waiting script notices that the client leaves.
      await Promise.race([over.promise, exchange.hang()])
    },
    next() {
      const talk = asked.shift()
      if (talk !== undefined) return Promise.resolve(talk)
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error('no request has arrived')), nextMs)
        waiting.push((next) => {
          clearTimeout(timer)
          resolve(next)
        })
      })
    },
  }
}

function talkOf(exchange: Exchange, end: () => void): Talk {
  const body = parseJson(new TextDecoder().decode(exchange.hit.body))
  let isBegun = false

  async function write(text: string): Promise<void> {
    if (!isBegun)
      await exchange.write(
        Buffer.concat([Buffer.from(streamHead), framed(event(chunk({ role: 'assistant', content: '' })))]),
      )
    isBegun = true
    await exchange.write(framed(text))
  }

  const send = (delta: object, choice: object = {}): Promise<void> =>
    write(event({ ...chunk(delta), choices: [{ index: 0, delta, finish_reason: null, ...choice }] }))

  return {
    body,
    messages: messagesOf(body),
    say: (text) => send({ content: text }),
    send,
    async finish(reason = 'stop') {
      await write(event(chunk({}, reason)) + event(usageChunk()) + done)
      await exchange.write(lastChunk)
      end()
    },
    cut() {
      exchange.reset()
      end()
    },
    async refuse(status, message, headers = {}) {
      await exchange.write(errorReply(status, { message }, headers))
      end()
    },
    left: exchange.hit.left,
  }
}

function messagesOf(body: unknown): readonly string[] {
  const messages = pick(body, 'messages')
  return Array.isArray(messages)
    ? messages.map((message) => `${String(pick(message, 'role'))}: ${contentOf(pick(message, 'content'))}`)
    : []
}

function contentOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content)
  return content.map((part) => String(pick(part, 'text') ?? pick(part, 'type'))).join(' + ')
}
