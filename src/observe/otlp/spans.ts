import { formats } from '../../formats/format-list.ts'
import type { SpanTarget } from '../../service/trail.ts'
import { attemptFields, requestFields, trailMax, wasSent, type RecordedAttempt, type RequestRecord } from '../record.ts'
import type { RandomIds, TraceFacts } from '../trace.ts'
import { attributesOf, attributeWriter, constantAttribute } from './attributes.ts'
import { operationOf, systemOf } from './names.ts'
import type { ProtobufWriter } from './protobuf.ts'

/** Field of ScopeSpans, and those of Span, Event and Status (opentelemetry/proto/trace/v1/trace.proto). */
const spans = 2
const span = {
  traceId: 1,
  id: 2,
  state: 3,
  parentId: 4,
  name: 5,
  kind: 6,
  start: 7,
  end: 8,
  attributes: 9,
  events: 11,
  status: 15,
  flags: 16,
}
const event = { time: 1, name: 2, attributes: 3 }
const statusCode = 3
const failed = 2
const server = 2,
  client = 3
/** Sampled, and it is known whether the parent is in another process. */
const flags = 0x101
const remoteParent = 0x200

/** What spans say of a format. */
const apis = new Map<string, ReturnType<typeof apiFacts>>(
  Object.values(formats).map(({ name, path }) => [name, apiFacts(name, path)]),
)
const otherApi = apiFacts('other', '/v1')

function apiFacts(api: string, path: string) {
  const operation = operationOf(api)
  return {
    name: `POST ${path}`,
    operation,
    route: constantAttribute(span.attributes, 'http.route', path),
    operationAttribute: constantAttribute(span.attributes, 'gen_ai.operation.name', operation),
  }
}

const serverAttributes = attributesOf(requestFields, 'server')
const inferenceAttributes = attributesOf(requestFields, 'inference')
const attemptAttributes = attributesOf(attemptFields, 'attempt')
const method = constantAttribute(span.attributes, 'http.request.method', 'POST')
const writeSystem = attributeWriter('gen_ai.provider.name', 'text')
const writeAddress = attributeWriter('server.address', 'text')
const writePort = attributeWriter('server.port', 'whole')
const writeResends = attributeWriter('http.request.resend_count', 'whole')
const writeException = attributeWriter('exception.type', 'text')

/** A record whose spans are exported. */
export interface TracedRecord extends RequestRecord {
  readonly trace: TraceFacts & { readonly spanId: string }
}

/** Whether the spans of a record are exported. */
export function isTraced(record: RequestRecord): record is TracedRecord {
  return record.trace?.isSampled === true && record.trace.spanId !== undefined
}

/** An attempt that was sent, and when it was. */
interface SentAttempt {
  readonly attempt: RecordedAttempt
  readonly id: string
  readonly target: SpanTarget
  readonly startMs: number
}

/**
 * Writes the spans of a request: its own, and if providers were asked one for the inference, with all attempts, and one
 * for each attempt. Only the one for the inference has names of models, since some readers take each span with one for
 * a call of a model. @returns their number
 */
export function writeSpans(out: ProtobufWriter, record: TracedRecord, ids: RandomIds): number {
  const { trace, time, totalMs, api } = record
  const endMs = time + totalMs
  const { name, route } = apis.get(api) ?? otherApi
  const start = beginSpan(out, { trace, id: trace.spanId, parentId: trace.parentId, isRemote: true })
  out.text(span.name, name)
  times(out, server, time, endMs)
  out.raw(method)
  out.raw(route)
  serverAttributes(out, span.attributes, record)
  if (record.status >= 500) writeFailed(out)
  out.end(start)
  const sent = sentAttempts(record)
  if (sent.length === 0) return 1
  const inference = ids.span()
  writeInference(out, record, inference, sent)
  for (const [index, each] of sent.entries())
    writeAttempt(out, { record, sent: each, inference, index, endMs: endOf(record, sent, index) })
  return sent.length + 2
}

function sentAttempts({ time, totalMs, trail }: RequestRecord): readonly SentAttempt[] {
  return trail.slice(0, trailMax).flatMap((attempt) => {
    const { span: traced } = attempt
    if (traced === undefined || !wasSent(attempt)) return []
    const { id, target, afterMs } = traced
    return [{ attempt, id, target, startMs: time + Math.min(Math.max(afterMs, 0), totalMs) }]
  })
}

/** An attempt that answered with a stream ends with the request, or where another one goes on. */
function endOf({ time, totalMs, stream }: RequestRecord, sent: readonly SentAttempt[], index: number): number {
  const [{ attempt, startMs } = {}, next] = [sent[index], sent[index + 1]]
  const requestEnd = time + totalMs
  if (attempt === undefined || startMs === undefined) return requestEnd
  if (stream && attempt.failure === undefined) return next?.startMs ?? requestEnd
  return Math.min(startMs + attempt.ms, requestEnd)
}

function writeInference(out: ProtobufWriter, record: TracedRecord, id: string, sent: readonly SentAttempt[]): void {
  const { trace, time, totalMs, api, model, error, status, provider } = record
  const served = sent.findLast(({ attempt }) => attempt.name === provider) ?? sent.at(-1)
  const start = beginSpan(out, { trace, id, parentId: trace.spanId, isRemote: false })
  const { operation, operationAttribute } = apis.get(api) ?? otherApi
  out.text(span.name, `${operation} ${model}`)
  times(out, client, sent[0]?.startMs ?? time, time + totalMs)
  out.raw(operationAttribute)
  if (served !== undefined) {
    writeSystem(out, span.attributes, systemOf(served.target.system))
    writeAddress(out, span.attributes, served.target.address || undefined)
    writePort(out, span.attributes, served.target.port || undefined)
  }
  inferenceAttributes(out, span.attributes, record)
  for (const [index, { attempt }] of sent.entries())
    if (attempt.failure !== undefined) writeExceptionEvent(out, attempt.failure, endOf(record, sent, index))
  if (error !== undefined && status !== 499) writeFailed(out)
  out.end(start)
}

function writeExceptionEvent(out: ProtobufWriter, failure: string, timeMs: number): void {
  const start = out.begin(span.events)
  out.nanoseconds(event.time, timeMs)
  out.text(event.name, 'gen_ai.client.inference.exception')
  // Messages of providers may quote the prompt.
  writeException(out, event.attributes, failure)
  out.end(start)
}

interface AttemptFacts {
  readonly record: TracedRecord
  readonly sent: SentAttempt
  /** The span of the inference. */
  readonly inference: string
  readonly index: number
  readonly endMs: number
}

function writeAttempt(out: ProtobufWriter, { record, sent, inference, index, endMs }: AttemptFacts): void {
  const { trace } = record
  const start = beginSpan(out, { trace, id: sent.id, parentId: inference, isRemote: false })
  out.text(span.name, 'POST')
  times(out, client, sent.startMs, endMs)
  out.raw(method)
  if (index > 0) writeResends(out, span.attributes, index)
  attemptAttributes(out, span.attributes, sent.attempt)
  if (sent.attempt.failure !== undefined) writeFailed(out)
  out.end(start)
}

interface SpanIds {
  readonly trace: TraceFacts
  readonly id: string
  readonly parentId: string | undefined
  readonly isRemote: boolean
}

/** @returns for the end of the span */
function beginSpan(out: ProtobufWriter, { trace, id, parentId, isRemote }: SpanIds): number {
  const start = out.begin(spans)
  out.hex(span.traceId, trace.id)
  out.hex(span.id, id)
  if (trace.state !== undefined) out.text(span.state, trace.state)
  if (parentId !== undefined) out.hex(span.parentId, parentId)
  out.fixed32(span.flags, parentId !== undefined && isRemote ? flags | remoteParent : flags)
  return start
}

function times(out: ProtobufWriter, kind: number, startMs: number, endMs: number): void {
  out.varint(span.kind, kind)
  out.nanoseconds(span.start, startMs)
  out.nanoseconds(span.end, Math.max(startMs, endMs))
}

function writeFailed(out: ProtobufWriter): void {
  const start = out.begin(span.status)
  out.varint(statusCode, failed)
  out.end(start)
}
