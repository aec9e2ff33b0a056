import { type AttemptSpan, type AttemptTrace, type SpanTarget, wholeMicroseconds } from '../service/trail.ts'

/*
 * Traces of requests (docs/observability.md#traces-and-metrics-over-otlp). A `Tracer` gives each request a trace: that
 * of its caller by the header `traceparent`, else a new one. It goes with the call to the attempts, each of which has
 * a span, and with the record to the exporter (`otlp/`), which writes all spans of a request at once. Without an
 * exporter, a request has a trace only if its caller sent one, and providers that want it get it unchanged.
 */

/** What a record has of its trace. Ids are hexadecimal. */
export interface TraceFacts {
  /** 32 digits. */
  readonly id: string
  /** The span of the request, 16 digits. Absent: there is no exporter. */
  readonly spanId?: string | undefined
  /** The caller's span. */
  readonly parentId?: string | undefined
  /** The caller's `tracestate`. */
  readonly state?: string | undefined
  /** The spans of this request are exported. */
  readonly isSampled: boolean
}

/** The trace of a caller. */
export interface CallerTrace {
  readonly id: string
  readonly parentId: string
  readonly isSampled: boolean
  readonly state?: string
}

const parentPattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/
const noTrace = '0'.repeat(32)
const noSpan = '0'.repeat(16)
const stateMax = 512
const stateMembersMax = 32
const stateKey = /^(?:[a-z0-9][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})$/
const stateValue = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/

/**
 * Reads `traceparent` of version 00 and `tracestate` (W3C Trace Context). A faulty `traceparent` voids both, a faulty
 * `tracestate` itself.
 */
export function parseTrace(headers: Pick<Headers, 'get'>): CallerTrace | undefined {
  const [, id = noTrace, parentId = noSpan, flags = ''] = parentPattern.exec(headers.get('traceparent') ?? '') ?? []
  if (id === noTrace || parentId === noSpan) return undefined
  const state = parseState(headers.get('tracestate'))
  return { id, parentId, isSampled: (Number.parseInt(flags, 16) & 1) === 1, ...(state === undefined ? {} : { state }) }
}

function parseState(text: string | null): string | undefined {
  if (text === null || text.length > stateMax) return undefined
  const members = text
    .split(',')
    .map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ''))
    .filter((member) => member !== '')
  const pairs = new Map(
    members.map((member) => {
      const at = member.indexOf('=')
      return [member.slice(0, Math.max(at, 0)), member.slice(at + 1)]
    }),
  )
  const isValid =
    members.length > 0 &&
    members.length <= stateMembersMax &&
    pairs.size === members.length &&
    [...pairs].every(([key, value]) => stateKey.test(key) && stateValue.test(value))
  return isValid ? members.join(',') : undefined
}

/** Whether a new trace is recorded, by its id; and whether the flag of callers is followed. */
export interface Sampler {
  readonly followsCaller: boolean
  /** The share of traces that are recorded, from 0 to 1. */
  readonly share: number
}

/**
 * Whether a trace belongs to a share of all, by the last seven bytes of its id: programs with the same share choose the
 * same traces.
 */
export function isInShare(traceId: string, share: number): boolean {
  if (share >= 1) return true
  // 52 of the 56 bits, which numbers hold exactly.
  return Number.parseInt(traceId.slice(18, 31), 16) >= (1 - share) * 2 ** 52
}

/** Gives requests their traces. */
export interface Tracer {
  /**
   * @param started of the monotonic clock, in milliseconds
   * @param isTrusted the caller may choose that its spans are exported
   * @returns undefined: the request is not traced
   */
  begin(headers: Pick<Headers, 'get'>, started: number, isTrusted: boolean): RequestTrace | undefined
}

/** The trace of a request under way. */
export interface RequestTrace extends AttemptTrace {
  readonly facts: TraceFacts
}

export interface TracesOptions {
  /** Absent: no spans are exported, and upstreams get the trace of the caller as it is. */
  readonly sampler?: Sampler | undefined
  /** Requests without a trace of their caller are traced, too. */
  readonly hasOwn: boolean
}

export class Traces implements Tracer {
  readonly #options: TracesOptions
  readonly #ids = new RandomIds()

  constructor(options: TracesOptions) {
    this.#options = options
  }

  begin(headers: Pick<Headers, 'get'>, started: number, isTrusted: boolean): RequestTrace | undefined {
    const { sampler, hasOwn } = this.#options
    const caller = parseTrace(headers)
    if (caller === undefined && !hasOwn) return undefined
    const id = caller?.id ?? this.#ids.trace()
    if (sampler === undefined) return new StartedTrace({ id, isSampled: false }, started, this.#ids, caller)
    const isFollowed = caller !== undefined && sampler.followsCaller && isTrusted
    const facts = {
      id,
      spanId: this.#ids.span(),
      parentId: caller?.parentId,
      state: caller?.state,
      isSampled: isFollowed ? caller.isSampled : isInShare(id, sampler.share),
    }
    return new StartedTrace(facts, started, this.#ids)
  }
}

class StartedTrace implements RequestTrace {
  readonly facts: TraceFacts
  readonly #started: number
  readonly #ids: RandomIds
  readonly #passed: CallerTrace | undefined
  #attempt = ''

  /** @param passed the trace that upstreams get instead of this one */
  constructor(facts: TraceFacts, started: number, ids: RandomIds, passed?: CallerTrace) {
    this.facts = facts
    this.#started = started
    this.#ids = ids
    this.#passed = passed
  }

  begin(target: SpanTarget): AttemptSpan {
    this.#attempt = this.#ids.span()
    return { id: this.#attempt, afterMs: wholeMicroseconds(performance.now() - this.#started), target }
  }

  get headers(): string {
    const { id, spanId, isSampled, state } = this.facts
    if (spanId !== undefined) return headerLines(id, this.#attempt, isSampled, state)
    const passed = this.#passed
    return passed === undefined ? '' : headerLines(passed.id, passed.parentId, passed.isSampled, passed.state)
  }
}

function headerLines(id: string, spanId: string, isSampled: boolean, state: string | undefined): string {
  const parent = `traceparent: 00-${id}-${spanId}-${isSampled ? '01' : '00'}\r\n`
  return state === undefined ? parent : `${parent}tracestate: ${state}\r\n`
}

const poolBytes = 4_096
const traceDigits = 32
const spanDigits = 16

/** Random ids. One call of the system's generator serves for hundreds. */
export class RandomIds {
  readonly #pool = Buffer.alloc(poolBytes)
  #digits = ''
  #position = 0

  trace(): string {
    return this.#take(traceDigits)
  }

  span(): string {
    return this.#take(spanDigits)
  }

  #take(count: number): string {
    if (this.#position + count > this.#digits.length) {
      this.#digits = crypto.getRandomValues(this.#pool).toString('hex')
      this.#position = 0
    }
    return this.#digits.slice(this.#position, (this.#position += count))
  }
}
