import type { AnswerRoom, AnswerShare } from '../service/answer-room.ts'
import { UpstreamFailure } from '../service/failure.ts'
import type { Call } from '../service/service.ts'
import { headerBlock, parseOrigin } from '../transport/header-block.ts'
import {
  noRoomForAnswer,
  TransportError,
  type Transport,
  type UpstreamBody,
  type UpstreamResponse,
} from '../transport/transport.ts'
import type { ChatRequest } from '../wire/chat-request.ts'
import { hideSecrets } from './hide-secrets.ts'
import type { ChatReply, ChatService, Connection, Protocol } from './protocol.ts'
import { streamReply, type StreamBody, type StreamReplyOptions } from './stream-reply.ts'
import { bodyFailure, exchangeFailure } from './transport-failure.ts'

const bodyBytesMax = 32 * 1024 * 1024
/** `event:` is the longest beginning of an event stream. */
const fieldNameBytes = 6
const beginningBytesMax = 4 * 1024
const errorBodyBytesMax = 64 * 1024
/** An error's status is known; its body is only waited for this long. */
const errorBodyMs = 1_000

/** What {@link chatExchange} needs. */
export interface ExchangeOptions {
  readonly transport: Transport
  readonly protocol: Protocol
  readonly connection: Connection
  /** The upstream's name for the model. */
  readonly model: string
  readonly connectMs: number
  /** Milliseconds between two reads of a stream that has begun. */
  readonly idleMs: number
  /** What answers share that are read as a whole. */
  readonly room: AnswerRoom
}

/** A provider over HTTP: one request, one answer, every failure told as what it means (failover.md). */
export function chatExchange({
  transport,
  protocol,
  connection,
  model,
  connectMs,
  idleMs,
  room,
}: ExchangeOptions): ChatService {
  const origin = { ...parseOrigin(new URL(connection.baseUrl)), owner: connection.id }
  const headers = headerBlock(protocol.headers(connection))
  const wholePath = protocol.path(connection, model, false)
  const streamPath = protocol.path(connection, model, true)
  const secrets = hideSecrets(connection)

  return async function askUpstream(request: ChatRequest, call: Call): Promise<ChatReply> {
    let response: UpstreamResponse
    try {
      response = await transport.request(
        {
          origin,
          method: 'POST',
          path: request.stream ? streamPath : wholePath,
          headers,
          body: protocol.encode(request, model, connection),
          connectMs,
          bodyBytesMax: request.stream ? Number.POSITIVE_INFINITY : bodyBytesMax,
        },
        call.signal,
      )
    } catch (error) {
      throw exchangeFailure(error)
    }
    if (response.status === 200)
      return readAnswer(response, request, { protocol, connection, idleMs, room, hidden: secrets.inFailure })
    if (response.status === 204) {
      response.body.cancel()
      throw new UpstreamFailure('empty', 'status 204: no content', { status: 204 })
    }
    throw secrets.inFailure(
      protocol.failure(response.status, response.headers, secrets.inBody(await readError(response.body))),
    )
  }
}

interface AnswerOptions
  extends Pick<ExchangeOptions, 'protocol' | 'connection' | 'idleMs' | 'room'>, Pick<StreamReplyOptions, 'hidden'> {}

async function readAnswer(
  response: UpstreamResponse,
  request: ChatRequest,
  { protocol, connection, idleMs, room, hidden }: AnswerOptions,
): Promise<ChatReply> {
  const { body } = response
  const share = room.share()
  const hasOneChoice = !Object.hasOwn(connection.overrides, 'n') && request.members.every(({ name }) => name !== 'n')
  const saysStream = response.headers.get('content-type')?.toLowerCase().includes('text/event-stream') === true
  try {
    if (!saysStream && !request.stream) {
      const bytes = await body.readAll(share.hold)
      return looksLikeEvents(bytes)
        ? streamReply(bodyOf(bytes), protocol.stream(request, connection), { idleMs, hasOneChoice, hidden })
        : decodeWhole(protocol, bytes, request)
    }
    const first = await readBeginning(body)
    if (first === undefined) throw new UpstreamFailure('empty', 'an empty answer', { status: 200 })
    if (saysStream ? startsLikeJson(first) : !looksLikeEvents(first))
      return decodeWhole(protocol, await collect(first, body, share), request)
    return streamReply(body, protocol.stream(request, connection), { idleMs, first, hasOneChoice, hidden })
  } catch (error) {
    throw hidden(bodyFailure(error))
  } finally {
    share.release()
  }
}

function decodeWhole(protocol: Protocol, bytes: Uint8Array, request: ChatRequest): ChatReply {
  if (bytes.length === 0) throw new UpstreamFailure('empty', 'an empty answer', { status: 200 })
  return protocol.decode(bytes, request)
}

/** As much of a body as tells events from JSON: six bytes of text, or a line. `undefined`: it is empty. */
async function readBeginning(body: UpstreamBody): Promise<Uint8Array | undefined> {
  let beginning = await body.read()
  while (beginning !== undefined && !isTelling(beginning)) {
    const more = await body.read()
    if (more === undefined) break
    beginning = Buffer.concat([beginning, more])
  }
  return beginning
}

function isTelling(bytes: Uint8Array): boolean {
  const start = textStart(bytes)
  return (
    bytes.length - start >= fieldNameBytes ||
    bytes.length > beginningBytesMax ||
    bytes.includes(0x0a, start) ||
    bytes.includes(0x0d, start)
  )
}

async function collect(first: Uint8Array, body: UpstreamBody, share: AnswerShare): Promise<Uint8Array> {
  const pieces = [first]
  let length = first.length
  for (let piece = await body.read(); piece !== undefined; piece = await body.read()) {
    pieces.push(piece)
    length += piece.length
    const hasRoom = share.hold(piece.length)
    if (hasRoom && length <= bodyBytesMax) continue
    body.cancel()
    throw hasRoom ? new TransportError('too_large', 'the answer is too large') : noRoomForAnswer()
  }
  return pieces.length === 1 ? first : Buffer.concat(pieces, length)
}

/** Reads what there is of an error's body, without waiting long for it. */
async function readError(body: UpstreamBody): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let length = 0
  const timer = setTimeout(() => body.cancel(), errorBodyMs)
  try {
    for (let piece = await body.read(); piece !== undefined; piece = await body.read()) {
      pieces.push(piece)
      length += piece.length
      if (length > errorBodyBytesMax) break
    }
  } catch {
    // A broken error body is still an error, and its status says enough.
  } finally {
    clearTimeout(timer)
    body.cancel()
  }
  return Buffer.concat(pieces).subarray(0, errorBodyBytesMax)
}

function bodyOf(bytes: Uint8Array): StreamBody {
  let remaining: Uint8Array | undefined = bytes
  return {
    async read() {
      const piece = remaining
      remaining = undefined
      return piece
    },
    hasArrived: () => false,
    cancel() {
      remaining = undefined
    },
  }
}

const asciiSpace = new Set([0x20, 0x09, 0x0a, 0x0d])
const byteOrderMark = [0xef, 0xbb, 0xbf]

/** Where the text begins: after a byte order mark and white space. */
function textStart(bytes: Uint8Array): number {
  let start = byteOrderMark.every((byte, position) => bytes[position] === byte) ? byteOrderMark.length : 0
  while (start < bytes.length && asciiSpace.has(bytes[start] ?? 0)) start += 1
  return start
}

function startsLikeJson(bytes: Uint8Array): boolean {
  const first = bytes[textStart(bytes)]
  return first === 0x7b || first === 0x5b // { [
}

/** Begins as server-sent events do: a comment, or one of the four fields. */
function looksLikeEvents(bytes: Uint8Array): boolean {
  if (startsLikeJson(bytes)) return false
  const start = textStart(bytes)
  return /^(?::|(?:data|event|id|retry)(?::|\r|\n|$))/.test(new TextDecoder().decode(bytes.subarray(start, start + 16)))
}
