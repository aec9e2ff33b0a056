import { nextTurn } from '../base/next-turn.ts'
import { serverSentEvents, startsLikeJson, textStart, type Framing } from '../bytes/framing.ts'
import { unslicedBytesMax } from '../bytes/pace.ts'
import type { Ask } from '../formats/ask.ts'
import { answerBytesDefault } from '../formats/format.ts'
import type { Reply } from '../formats/reply.ts'
import type { TargetProfile } from '../profiles/profile.ts'
import type { LearnedProfile } from '../profiles/resolve-profile.ts'
import type { Dialect, ExchangeNotes, ModelTarget } from '../protocols/protocol.ts'
import type { AnswerBudget, AnswerReservation } from '../service/answer-budget.ts'
import { UpstreamFailure } from '../service/failure.ts'
import type { Call, Service } from '../service/service.ts'
import { withLines } from '../transport/header-block.ts'
import {
  responseMemoryError,
  TransportError,
  type UpstreamBody,
  type UpstreamResponse,
} from '../transport/transport.ts'
import { adaptedAfter } from './adapted.ts'
import { byteStreamReply, type ByteStreamOptions } from './byte-stream-reply.ts'
import type { HiddenSecrets } from './hide-secrets.ts'
import { findBase } from './list-models.ts'
import { streamReply, type StreamBody, type StreamReplyOptions } from './stream-reply.ts'
import { bodyFailure, exchangeFailure } from './transport-failure.ts'
import type { Signed, Upstream } from './upstream.ts'

/*
 * One exchange with a provider. A dialect of its protocol gives path and body (`protocols/`), `upstream.ts` signs and
 * sends them through `transport/`. A whole answer is read with a limit, a stream as parts (`stream-reply.ts`).
 *
 * What is no answer becomes a failure with a class, a scope and a wait: by words, codes and status (`classify.ts`, by
 * the rules of `refusal-rules.ts`), or by how the connection ended (`transport-failure.ts`). Texts of failures lose
 * secrets first (`redact.ts` by form, `hide-secrets.ts` the provider's own). A refusal that names a trait of the model
 * teaches its profile, and the request is sent once more (`adapted.ts`): below retries and health, for which it is one
 * attempt.
 */

/** Length of `event:`, the longest field name that can begin an event stream. */
const fieldNameBytes = 6
const beginningBytesMax = 4 * 1024
const errorBodyBytesMax = 64 * 1024
/** Time limit for the body of an error. Its status is known, so the body can be missing. */
const errorBodyMs = 1_000

export interface ExchangeOptions {
  readonly upstream: Upstream
  /** The upstream's name for the model. */
  readonly model: string
  /** Milliseconds between two reads of a stream that has begun. */
  readonly idleMs: number
  /** Memory budget of answers that are read as a whole. */
  readonly answerBudget: AnswerBudget
  readonly profile: LearnedProfile
}

/** A provider over HTTP: one request, one answer, classified failures (failover.md). */
export function upstreamExchange(options: ExchangeOptions): Service<Ask, Reply> {
  const { upstream, model, idleMs, answerBudget, profile } = options
  const { transport, protocol, endpoint, origin, connectMs, base } = upstream
  const { framing = serverSentEvents } = protocol
  const seal = upstream.sealOf(model)
  const known: ModelTarget = { ...endpoint, profile: profile.current }
  let asked = base.endpoint
  const dialects = new Map<Dialect, SpokenDialect>()

  function spokenBy(dialect: Dialect): SpokenDialect {
    if (asked !== base.endpoint) {
      asked = base.endpoint
      dialects.clear()
    }
    let spoken = dialects.get(dialect)
    if (spoken === undefined) {
      spoken = {
        dialect,
        bytesMax: dialect.answerBytesMax ?? answerBytesDefault,
        wholePath: dialect.path(asked, model, false),
        streamPath: dialect.path(asked, model, true),
        idleMs,
        answerBudget,
        framing,
      }
      dialects.set(dialect, spoken)
    }
    return spoken
  }

  function targetOf(current: TargetProfile): ModelTarget {
    return current === known.profile ? known : { ...endpoint, profile: current }
  }

  async function send(request: Ask, call: Call, target: ModelTarget): Promise<Reply> {
    const usual = protocol.dialects[request.format]
    if (usual === undefined)
      throw new UpstreamFailure('bad_request', `the provider does not serve ${request.format}`, { status: 501 })
    const notes: SentNotes = {
      brand: endpoint.brand,
      seal,
      changes: call.changes,
      target,
      names: undefined,
      instead: undefined,
    }
    let spoken: SpokenDialect
    let response: UpstreamResponse
    let signed: Signed
    try {
      const body = usual.encode(request, model, target, notes)
      spoken = spokenBy(notes.instead ?? usual)
      noteUntranslated(spoken.dialect, request, call)
      const path = request.stream ? spoken.streamPath : spoken.wholePath
      const signing = upstream.sign(
        { method: 'POST', path, body, headers: spoken.dialect.isNative && request.headers },
        call.signal,
      )
      signed = signing instanceof Promise ? await signing : signing
      response = await transport.request(
        {
          origin,
          method: 'POST',
          path,
          headers: upstream.endpoint.trace && call.trace ? withLines(signed.block, call.trace.headers) : signed.block,
          body,
          connectMs,
          bodyBytesMax: request.stream ? Number.POSITIVE_INFINITY : spoken.bytesMax,
        },
        call.signal,
      )
    } catch (error) {
      throw exchangeFailure(error)
    }
    const { secrets } = signed
    if (response.status === 200) {
      const reply = await readAnswer(response, request, spoken, notes, secrets)
      base.settle()
      return reply
    }
    if (response.status === 204) {
      response.body.cancel()
      throw new UpstreamFailure('empty', 'status 204: no content', { status: 204 })
    }
    const body = secrets.inBody(await readError(response.body))
    const failure = protocol.failure(response.status, response.headers, body, endpoint.brand)
    throw secrets.inFailure(spoken.dialect.isOptional === true ? ofOptional(failure) : failure)
  }

  /** Compares the forms of a request for two profiles. The first form is written once. */
  function differing(request: Ask): (before: TargetProfile, after: TargetProfile) => boolean {
    let known: { readonly profile: TargetProfile; readonly body: Uint8Array | undefined } | undefined
    function encoded(current: TargetProfile): Uint8Array | undefined {
      try {
        const body = protocol.dialects[request.format]?.encode(request, model, targetOf(current), { seal })
        return body === undefined ? undefined : Buffer.concat(body)
      } catch {
        // A request that cannot be written for a profile has no other form.
        return undefined
      }
    }
    return (before, after) => {
      if (known?.profile !== before) known = { profile: before, body: encoded(before) }
      const body = encoded(after)
      return body !== undefined && known.body !== undefined && Buffer.compare(known.body, body) !== 0
    }
  }

  return async function askUpstream(request: Ask, call: Call): Promise<Reply> {
    const { current } = profile
    const place = base.endpoint
    const key = upstream.key()
    try {
      return await send(request, call, targetOf(current))
    } catch (error) {
      if (lacksApi(error)) await findBase(upstream, call.signal)
      if (isKeyRefused(error)) await upstream.renew()
      if ((place !== base.endpoint || key !== upstream.key()) && !call.signal.aborted) {
        call.changes?.restart()
        return askUpstream(request, call)
      }
      return await adaptedAfter(
        error,
        { learned: profile, profile: current, call },
        {
          send: (other) => send(request, call, targetOf(other)),
          differs: differing(request),
        },
      )
    }
  }
}

function isKeyRefused(error: unknown): boolean {
  return error instanceof UpstreamFailure && error.failure === 'credential' && error.status === 401
}

/** Whether the answer may be one of a web server that has its API elsewhere: no such path, or a page. */
function lacksApi(error: unknown): boolean {
  if (!(error instanceof UpstreamFailure)) return false
  const { status, failure, message } = error
  // Only an API knows of models.
  return (status === 404 && !/\bmodel/i.test(message)) || status === 405 || (status === 200 && failure === 'malformed')
}

/** Notes the members of a request that only its native dialect can express. */
function noteUntranslated({ isNative }: Dialect, { untranslated }: Ask, { changes }: Call): void {
  if (!isNative && untranslated !== undefined) for (const name of untranslated) changes?.drop(name)
}

/** The failure of an endpoint that the upstream may lack. Its health, which is that of the model, stays as it was. */
function ofOptional(failure: UpstreamFailure): UpstreamFailure {
  const { status, message, cause } = failure
  return status === 404 || status === 501 ? new UpstreamFailure('bad_request', message, { status, cause }) : failure
}

/** Facts that a request and its answer share. */
interface SentNotes extends ExchangeNotes {
  readonly target: ModelTarget
}

/** A dialect for one model, with everything that its exchanges share. */
interface SpokenDialect extends Pick<ExchangeOptions, 'idleMs' | 'answerBudget'> {
  readonly dialect: Dialect
  /** Limit of a whole answer. */
  readonly bytesMax: number
  readonly wholePath: string
  readonly streamPath: string
  readonly framing: Framing
}

async function readAnswer(
  { headers, body }: UpstreamResponse,
  request: Ask,
  spoken: SpokenDialect,
  notes: SentNotes,
  { inFailure: hidden }: HiddenSecrets,
): Promise<Reply> {
  const { framing, answerBudget, bytesMax } = spoken
  const reservation = answerBudget.reservation()
  const given = headers.get('content-type') ?? ''
  const saysStream = given.toLowerCase().includes(framing.mediaType)
  const media = spoken.dialect.media?.(request)
  const contentType = media?.contentType(given)
  try {
    if (contentType !== undefined)
      return await readMedia(body, contentType, {
        isStreamed: media?.isStreamed === true,
        bytesMax,
        idleMs: spoken.idleMs,
        hidden,
        reservation,
      })
    if (!saysStream && !request.stream) {
      const bytes = await body.readAll(reservation)
      if (framing.looksLikeStream(bytes)) return asStream(bodyOf(bytes), request, spoken, notes, { hidden })
      return await asWhole(bytes, request, spoken, notes)
    }
    const first = await readBeginning(body)
    if (first === undefined) throw new UpstreamFailure('empty', 'the answer is empty', { status: 200 })
    if (saysStream ? startsLikeJson(first) : !framing.looksLikeStream(first))
      return await asWhole(await collect(first, body, bytesMax, reservation), request, spoken, notes)
    return asStream(body, request, spoken, notes, { hidden, first })
  } catch (error) {
    throw hidden(bodyFailure(error))
  } finally {
    reservation.release()
  }
}

function asStream(
  body: StreamBody,
  request: Ask,
  { dialect, framing, idleMs, answerBudget }: SpokenDialect,
  notes: SentNotes,
  options: Pick<StreamReplyOptions, 'hidden' | 'first'>,
): Reply {
  const isMedia = dialect.media?.(request) !== undefined
  const decoder = isMedia ? undefined : dialect.stream?.(request, notes.target, notes)
  if (decoder === undefined) throw new UpstreamFailure('malformed', 'the answer is a stream', { status: 200 })
  return streamReply(body, decoder, { framing, idleMs, answerBudget, ...options })
}

function asWhole(
  bytes: Uint8Array,
  request: Ask,
  { dialect }: SpokenDialect,
  notes: ExchangeNotes,
): Reply | Promise<Reply> {
  if (bytes.length === 0) throw new UpstreamFailure('empty', 'the answer is empty', { status: 200 })
  return bytes.length > unslicedBytesMax && dialect.decodeLarge !== undefined
    ? dialect.decodeLarge(bytes, request, nextTurn)
    : dialect.decode(bytes, request, notes)
}

interface MediaOptions extends Omit<ByteStreamOptions, 'contentType'> {
  readonly isStreamed: boolean
  readonly reservation: AnswerReservation
}

/** Bytes of this type. Their end must be known, since nothing in them shows a cut. */
async function readMedia(
  body: UpstreamBody,
  contentType: string,
  { isStreamed, reservation, ...options }: MediaOptions,
): Promise<Reply> {
  if (body.endsWithConnection) {
    body.cancel()
    throw new UpstreamFailure('malformed', 'the answer has no length', { status: 200 })
  }
  if (isStreamed) return byteStreamReply(body, { contentType, ...options })
  const bytes = await body.readAll(reservation)
  return { kind: 'whole', body: bytes, contentType, usage: undefined, isEmpty: bytes.length === 0 }
}

/** Reads enough of a body to tell events from JSON: six bytes of text, or a line. `undefined`: it is empty. */
async function readBeginning(body: UpstreamBody): Promise<Uint8Array | undefined> {
  let beginning = await body.read()
  while (beginning !== undefined && !isSufficient(beginning)) {
    const more = await body.read()
    if (more === undefined) break
    beginning = Buffer.concat([beginning, more])
  }
  return beginning
}

function isSufficient(bytes: Uint8Array): boolean {
  const start = textStart(bytes)
  return (
    bytes.length - start >= fieldNameBytes ||
    bytes.length > beginningBytesMax ||
    bytes.includes(0x0a, start) ||
    bytes.includes(0x0d, start)
  )
}

async function collect(
  first: Uint8Array,
  body: UpstreamBody,
  bytesMax: number,
  reservation: AnswerReservation,
): Promise<Uint8Array> {
  const pieces = [first]
  let length = first.length
  for (let piece = await body.read(); piece !== undefined; piece = await body.read()) {
    pieces.push(piece)
    length += piece.length
    const isReserved = reservation.reserve(piece.length)
    if (isReserved && length <= bytesMax) continue
    body.cancel()
    throw isReserved ? new TransportError('too_large', 'the answer is too large') : responseMemoryError()
  }
  return pieces.length === 1 ? first : Buffer.concat(pieces, length)
}

/** Reads the body of an error: at most 64 KiB, for at most a second. */
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
    hasPendingBytes: () => false,
    cancel() {
      remaining = undefined
    },
  }
}
