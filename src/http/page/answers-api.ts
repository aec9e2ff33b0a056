import { WireError } from '../../formats/error.ts'
import type { Caller } from '../../people/person.ts'
import { watchdog } from '../../service/watchdog.ts'
import { withinMs } from '../../service/within.ts'
import type { EventStreamSink } from '../entrance/event-stream-body.ts'
import type { HandlerContext } from '../handler-context.ts'
import type { Route } from '../route.ts'
import type { AnswerBytes, AnswerHead, KeptReader, KeptAnswer } from './kept-answer.ts'
import type { AnswerName, KeptAnswers } from './kept-answers.ts'

const answerPath = '/api/answers/'
const acceptableId = /^[\w-]{16,64}$/
/** Interval of asking the guards again, so that an answer and its readers end soon after their user signs out. */
const guardIntervalMs = 5_000
/** Time that a read by another process waits for bytes. Shorter than the time for which an unread answer goes on. */
const relayWaitMs = 10_000
/** Between two reads of an answer in another process, unless much is there. Its tokens are sent together. */
const relayPauseMs = 50
const muchBytes = 8 * 1024

/** A read of an answer that another process keeps. */
export interface RelayedRead extends AnswerName {
  readonly from: number
}

/** Bytes of an answer that another process keeps. */
export interface RelayedBytes extends AnswerBytes {
  readonly head: AnswerHead
}

/** The answers that the other processes of the service keep. */
export interface OtherAnswers {
  /** Reads some bytes; waits some seconds if there are none yet. `undefined`: no process has the answer. */
  read(wanted: RelayedRead): Promise<RelayedBytes | undefined>
  stop(name: AnswerName): void
  /** Whether this process shall answer a request: no other one does. */
  claim(name: AnswerName): Promise<boolean>
  /** This process does not keep the answer that it has claimed. */
  release(name: AnswerName): void
}

export interface AnswersApiOptions {
  /** The route of chat completions. */
  readonly chat: Pick<Route, 'path' | 'handle'>
  readonly answers: KeptAnswers
  /** Absent: this process is the only one. */
  readonly others?: OtherAnswers | undefined
  /** Milliseconds a reader may take to read. */
  readonly stallMs: number
}

/**
 * `POST /api/chat`, a chat request whose answer goes on for a minute without its reader; `GET` and `DELETE` of
 * `/api/answers/{id}`, which read it again and stop it (docs/using.md). An answer is found only by the user that asked,
 * by the id in its `x-svc-answer`: request ids are shown in logs and lists.
 */
export function answersApi({ chat, answers, others, stallMs }: AnswersApiOptions): readonly Route[] {
  async function ask(context: HandlerContext): Promise<Response> {
    const id = context.request.headers.get('x-svc-answer') ?? ''
    if (!acceptableId.test(id)) throw invalid('x-svc-answer must have 16 to 64 letters, digits, _ or -')
    const name = { owner: ownerOf(context.caller), id }
    const work = new AbortController()
    const answer = answers.begin(name, () => work.abort())
    const reader = answer?.read(0)
    // At a limit, the answer ends with its reader, as answers to programs do.
    if (answer === undefined || reader === undefined) return chat.handle(context)
    stopWhenRefused(context, name.owner, answer)
    const inner = { ...withoutConnection(context, chat.path), left: work.signal }
    return await answerKept(context, inner, { route: chat, answer, reader, stallMs })
  }

  async function read(context: HandlerContext): Promise<Response> {
    const wanted = { ...nameOf(context), from: fromOf(context) }
    const answer = answers.find(wanted)
    return answer === undefined
      ? await relayed(context, wanted, { others, stallMs })
      : await readHere(context, { answer, from: wanted.from, stallMs })
  }

  function stop(context: HandlerContext): Response {
    if (!answers.stop(nameOf(context))) others?.stop(nameOf(context))
    return new Response(null, { status: 204 })
  }

  return [
    { method: 'POST', path: '/api/chat', isPublic: false, handle: ask },
    { method: 'GET', path: answerPath, isPublic: false, handle: read },
    { method: 'DELETE', path: answerPath, isPublic: false, handle: stop },
  ]
}

/** An answer that is being kept, with the reader that asks for it. */
export interface KeptAsking {
  readonly route: Pick<Route, 'handle'>
  readonly answer: KeptAnswer
  readonly reader: KeptReader
  readonly stallMs: number
}

/** Answers a request while its answer is kept. @param inner without its connection */
export async function answerKept(
  context: HandlerContext,
  inner: HandlerContext,
  { route, answer, reader, stallMs }: KeptAsking,
): Promise<Response> {
  context.request.signal.addEventListener('abort', reader.leave, { once: true })
  if (context.request.signal.aborted) reader.leave()
  context.keepOpen()
  let isStream = false
  const kept: HandlerContext = {
    ...inner,
    keep(send) {
      isStream = true
      void send(answer)
    },
  }
  let response: Response
  try {
    response = await route.handle(kept)
  } catch (error) {
    answer.abandon()
    context.resetIdleLimit()
    throw error
  }
  if (isStream) {
    answer.begin(headOf(response))
    return streamed(context, response, () => nextOf(answer, reader), reader.leave, stallMs)
  }
  const bytes = await keptWhole(answer, response)
  reader.leave()
  context.extendIdleLimit()
  return new Response(bytes, response)
}

/** The byte from which an answer is read. @throws {WireError} 400 */
function fromOf({ request }: HandlerContext): number {
  const from = new URL(request.url).searchParams.get('from') ?? '0'
  if (!/^\d{1,12}$/.test(from)) throw invalid('from must be a number of bytes', 'from')
  return Number(from)
}

/** @throws {WireError} 404 */
export async function readHere(
  context: HandlerContext,
  { answer, from, stallMs }: { readonly answer: KeptAnswer; readonly from: number; readonly stallMs: number },
): Promise<Response> {
  const reader = answer.read(from)
  if (reader === undefined) throw notFound()
  const { signal, method } = context.request
  signal.addEventListener('abort', reader.leave, { once: true })
  if (signal.aborted || method === 'HEAD') reader.leave()
  context.keepOpen()
  const head = await answer.head
  if (head === undefined || method === 'HEAD') context.resetIdleLimit()
  if (head === undefined) throw notFound()
  if (method === 'HEAD') return new Response(null, head)
  return streamed(
    context,
    head,
    whileAllowed(context, () => nextOf(answer, reader)),
    reader.leave,
    stallMs,
  )
}

/** @throws {WireError} 404 */
export async function relayed(
  context: HandlerContext,
  wanted: RelayedRead,
  { others, stallMs }: Pick<AnswersApiOptions, 'others' | 'stallMs'>,
): Promise<Response> {
  const first = await others?.read(wanted)
  if (others === undefined || first === undefined) throw notFound()
  if (context.request.method === 'HEAD') return new Response(null, first.head)
  context.keepOpen()
  let position = wanted.from
  let found: AnswerBytes | undefined
  async function next(): Promise<AnswerBytes | undefined> {
    if (found !== undefined && found.bytes.length < muchBytes) await Bun.sleep(relayPauseMs)
    found = found === undefined ? first : await others?.read({ ...wanted, from: position })
    position += found?.bytes.length ?? 0
    return found
  }
  return streamed(context, first.head, whileAllowed(context, next), () => undefined, stallMs)
}

const clientLeftStatus = 499

async function keptWhole(answer: KeptAnswer, response: Response): Promise<Uint8Array> {
  const bytes = await response.bytes()
  if (response.status === clientLeftStatus) answer.abandon()
  else {
    answer.begin(headOf(response))
    answer.write(bytes)
    answer.end()
  }
  return bytes
}

/** Reads an answer of this process for another one. `undefined`: it is not here, or not kept as a whole. */
export async function readForOther(
  answers: Pick<KeptAnswers, 'find'>,
  wanted: RelayedRead,
): Promise<RelayedBytes | undefined> {
  const answer = answers.find(wanted)
  const reader = answer?.isWhole === true ? answer.read(wanted.from) : undefined
  if (answer === undefined || reader === undefined) return undefined
  try {
    const head = await answer.head
    if (head === undefined) return undefined
    const found = await withinMs(nextOf(answer, reader), relayWaitMs)
    return { head, ...(found ?? { bytes: new Uint8Array(), isLast: false }) }
  } finally {
    reader.leave()
  }
}

/** Waits for the next bytes, and counts them as read. `undefined`: they are not kept. */
async function nextOf(answer: KeptAnswer, reader: KeptReader): Promise<AnswerBytes | undefined> {
  for (;;) {
    const found = reader.next()
    if (found === undefined || found.bytes.length > 0 || found.isLast) {
      reader.advance(found?.bytes.length ?? 0)
      return found
    }
    await answer.changed()
  }
}

/**
 * Sends the bytes of an answer as they arrive, over a connection that is kept open. It is closed when its reader does
 * not read.
 */
function streamed(
  context: HandlerContext,
  { status, headers }: Pick<Response, 'status'> & { readonly headers: AnswerHead['headers'] | Headers },
  next: () => Promise<AnswerBytes | undefined>,
  onEnd: () => void,
  stallMs: number,
): Response {
  const { signal } = context.request
  let isOver = false
  const stall = watchdog(stallMs, leave)
  stall.pause()
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()

  function finish(): boolean {
    if (isOver) return false
    isOver = true
    stall.stop()
    signal.removeEventListener('abort', leave)
    onEnd()
    return true
  }

  function leave(): void {
    if (finish()) context.drop()
  }

  async function send(sink: EventStreamSink): Promise<void> {
    while (!isOver) {
      const found = await next().catch(() => undefined)
      if (found === undefined) leave()
      if (isOver || found === undefined) break
      const written = found.bytes.length === 0 ? undefined : sink.write(found.bytes)
      if (written instanceof Promise) {
        stall.touch()
        await written
        stall.pause()
      }
      if (found.isLast && finish()) {
        context.resetIdleLimit()
        sink.end()
        return
      }
    }
    // The runtime would end the response as if it were complete.
    await new Promise(() => undefined)
  }

  const body: Bun.DirectUnderlyingSource<Uint8Array> = { type: 'direct', pull: send, cancel: leave }
  return new Response(new ReadableStream(body), { status, headers })
}

/** The context of a request with the same connection. */
export function withRequest(context: HandlerContext, request: Request): HandlerContext {
  const { path, id, started, caller, left = context.request.signal } = context
  return {
    ...{ request, path, id, started, caller, left },
    onRefusal: (error) => context.onRefusal?.(error),
    address: () => context.address(),
    peerPort: () => context.peerPort(),
    currentCaller: () => context.currentCaller(),
    keepOpen: () => context.keepOpen(),
    resetIdleLimit: () => context.resetIdleLimit(),
    extendIdleLimit: () => context.extendIdleLimit(),
    drop: () => context.drop(),
  }
}

/** The context of a request whose answer does not depend on its connection. */
export function withoutConnection(context: HandlerContext, path: string): HandlerContext {
  const nothing = (): void => undefined
  return {
    ...withRequest(context, context.request),
    path,
    keepOpen: nothing,
    resetIdleLimit: nothing,
    extendIdleLimit: nothing,
    drop: nothing,
  }
}

/** Stops an answer when the guards do not let its user pass any more. */
function stopWhenRefused(context: HandlerContext, owner: string, answer: KeptAnswer): void {
  if (context.caller.name === undefined) return
  const timer = setInterval(() => {
    if (answer.isOver) return clearInterval(timer)
    void isRefused(context, owner).then((isNow) => {
      if (isNow) answer.stop()
    })
  }, guardIntervalMs)
  timer.unref()
}

/** Reads on only while the guards let the reader pass: its session may end before that of the answer. */
function whileAllowed(
  context: HandlerContext,
  next: () => Promise<AnswerBytes | undefined>,
): () => Promise<AnswerBytes | undefined> {
  if (context.caller.name === undefined) return next
  const owner = ownerOf(context.caller)
  let allowedAt = Date.now()
  return async () => {
    const found = await next()
    if (Math.abs(Date.now() - allowedAt) < guardIntervalMs) return found
    if (await isRefused(context, owner)) return undefined
    allowedAt = Date.now()
    return found
  }
}

/** Whether the guards do not let a user pass any more. */
async function isRefused(context: HandlerContext, owner: string): Promise<boolean> {
  try {
    return ownerOf(await context.currentCaller()) !== owner
  } catch (error) {
    // The store of sessions may be out of reach for a moment.
    return error instanceof WireError && error.status < 500
  }
}

/** Without sign-in, answers belong to all. A user name never counts as the id of another person. */
function ownerOf({ person }: Caller): string {
  if (person === undefined) return ''
  const { id, name, accountId } = person
  return accountId === undefined && id === name ? `name:${name}` : `id:${id}`
}

/** @throws {WireError} 404 for an id that no answer can have */
function nameOf({ path, caller }: HandlerContext): AnswerName {
  const id = path.slice(answerPath.length)
  if (!acceptableId.test(id)) throw notFound()
  return { owner: ownerOf(caller), id }
}

function headOf({ status, headers }: Response): AnswerHead {
  return { status, headers: Object.fromEntries(headers) }
}

function invalid(message: string, param?: string): WireError {
  return new WireError(400, 'invalid_request_error', 'invalid_value', message, { param })
}

function notFound(): WireError {
  const message = 'There is no such answer here. Answers can be read again until a minute after their end'
  return new WireError(404, 'invalid_request_error', 'answer_not_found', message)
}
