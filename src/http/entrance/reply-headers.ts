import { encodeHeaderText } from '../../bytes/header-text.ts'
import type { ServedReply } from '../../gateway/gateway.ts'
import type { Cost } from '../../prices/cost.ts'
import { usdText } from '../../prices/money.ts'
import { formatTrail } from '../../service/trail.ts'
import type { HandlerContext } from '../handler-context.ts'
import { furtherLimitHeaders, limitHeaderNames, limitHeaders, limitValues, shownLimits } from './limit-answers.ts'
import type { Progress } from './progress.ts'

/** State of a request that its headers show. */
export interface ShownProgress extends Pick<Progress, 'trail' | 'format' | 'admission'> {
  readonly context: Pick<HandlerContext, 'id' | 'started'>
}

/** Writes the headers of answers (docs/api.md). */
export interface ReplyHeaders {
  /** Headers of an answer of a provider. Give them to one response, before the next call. @param cost of a whole one */
  of(progress: ShownProgress, contentType: string, served: ServedReply, cost?: Cost): Headers
  /** The same, for a stream of events. @param served absent: no provider has answered yet */
  ofEvents(progress: ShownProgress, served: ServedReply | undefined): Headers
}

const names = [
  'content-type',
  'x-request-id',
  'x-svc-provider',
  'x-svc-model',
  'x-svc-attempts',
  'x-svc-trail',
  'server-timing',
  'x-svc-cost',
] as const

export function replyHeaders(): ReplyHeaders {
  return new HeadersOfReplies()
}

interface Priced {
  readonly served: ServedReply
  readonly cost: Cost | undefined
}

class HeadersOfReplies implements ReplyHeaders {
  readonly #unlimited = new ReusedHeaders(names)
  readonly #ofRequests: ReusedHeaders
  readonly #ofTokens: ReusedHeaders
  readonly #ofBoth: ReusedHeaders

  constructor() {
    const { requests, tokens } = limitHeaderNames
    this.#ofRequests = new ReusedHeaders([...names, ...requests])
    this.#ofTokens = new ReusedHeaders([...names, ...tokens])
    this.#ofBoth = new ReusedHeaders([...names, ...requests, ...tokens])
  }

  of(progress: ShownProgress, contentType: string, served: ServedReply, cost?: Cost): Headers {
    const { admission } = progress
    let headers: Headers
    if (admission === undefined) {
      this.#write(this.#unlimited, progress, contentType, { served, cost })
      ;({ headers } = this.#unlimited)
    } else headers = this.#limited(progress, contentType, { served, cost }, admission)
    const { dropped = [], adjusted = [] } = served
    if (dropped.length === 0 && adjusted.length === 0) return headers
    return withHeaders(headers, {
      ...(dropped.length === 0 ? {} : { 'x-svc-dropped': dropped.join(', ') }),
      ...(adjusted.length === 0 ? {} : { 'x-svc-adjusted': adjusted.join(', ') }),
    })
  }

  ofEvents(progress: ShownProgress, served: ServedReply | undefined): Headers {
    const headers =
      served === undefined
        ? new Headers({
            'content-type': eventStream,
            'x-request-id': progress.context.id,
            ...attemptHeaders(progress),
          })
        : this.of(progress, eventStream, served)
    return withHeaders(headers, unbuffered)
  }

  #write(to: ReusedHeaders, progress: ShownProgress, contentType: string, { served, cost }: Priced): void {
    const { context, trail } = progress
    to.begin()
    to.next(contentType)
    to.next(context.id)
    to.next(served.provider)
    to.next(encodeHeaderText(served.model))
    to.next(String(trail.length))
    to.next(formatTrail(trail))
    to.next(ownTime(progress))
    to.next(cost && usdText(cost.nanoUsd))
  }

  #limited(
    progress: ShownProgress,
    contentType: string,
    priced: Priced,
    admission: NonNullable<Progress['admission']>,
  ): Headers {
    const shown = shownLimits(admission)
    const { now, requests, tokens } = shown
    const to =
      requests === undefined
        ? tokens === undefined
          ? this.#unlimited
          : this.#ofTokens
        : tokens === undefined
          ? this.#ofRequests
          : this.#ofBoth
    this.#write(to, progress, contentType, priced)
    for (const counter of [requests, tokens])
      if (counter !== undefined) for (const value of limitValues(counter, now)) to.next(value)
    const further = furtherLimitHeaders(admission, progress.format.name, shown)
    return further === undefined ? to.headers : withHeaders(to.headers, further)
  }
}

const eventStream = 'text/event-stream; charset=utf-8'

/** Tells proxies to pass a stream on as it arrives. */
export const unbuffered: Readonly<Record<string, string>> = {
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** A copy with further headers. */
export function withHeaders(headers: Headers, further: Readonly<Record<string, string>>): Headers {
  const all = new Headers(headers)
  for (const [name, value] of Object.entries(further)) all.set(name, value)
  return all
}

/** Headers about the attempts, of errors and of streams that no provider has answered yet. */
export function attemptHeaders(progress: ShownProgress): Record<string, string> {
  const { trail, admission, format } = progress
  return {
    'x-svc-attempts': String(trail.length),
    'server-timing': ownTime(progress),
    ...(trail.length === 0 ? {} : { 'x-svc-trail': formatTrail(trail) }),
    ...(admission === undefined ? {} : limitHeaders(admission, format.name)),
  }
}

/** `gw;dur=0.4`: milliseconds in this service, without those of the upstreams. */
function ownTime({ context, trail }: ShownProgress): string {
  let upstreamMs = 0
  for (const { ms } of trail) upstreamMs += ms
  return `gw;dur=${Math.max(0, performance.now() - context.started - upstreamMs).toFixed(2)}`
}

/**
 * Headers with the same names in many answers. There is one object, of which each response makes a copy: that costs
 * half of new headers, and values that stay the same cost next to nothing.
 */
export class ReusedHeaders {
  /** The values that were written last. */
  readonly headers = new Headers()
  readonly #names: readonly string[]
  readonly #values: (string | undefined)[] = []
  #position = 0

  /** @param names in the order of their values */
  constructor(names: readonly string[]) {
    this.#names = names
  }

  /** Begins with the first name. */
  begin(): void {
    this.#position = 0
  }

  /** Writes the value of the next name. Absent: this answer does not have the header. */
  next(value: string | undefined): void {
    const position = this.#position
    this.#position = position + 1
    if (this.#values[position] === value) return
    const name = this.#names[position] ?? ''
    if (value === undefined) this.headers.delete(name)
    else this.headers.set(name, value)
    this.#values[position] = value
  }
}
