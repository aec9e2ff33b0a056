import { failureEffects, type FailureClass } from './failure.ts'

const nameMost = 1_024
const targetMost = 64
const countMost = 1_000
const retryAfterMsMost = 600_000
const coolDownMsMost = 300_000
/** The longest a breaker is open, before jitter of ±20 %. */
export const openMsMost = 60_000
/**
 * How long a probe of another process holds this one off: that process may have died before it could tell how the probe
 * ended.
 */
export const probeMsMost = 30_000

/**
 * Why an upstream is left alone, each for how many milliseconds from the telling. Clocks of processes are never
 * compared.
 */
export interface HeldOff {
  readonly retryAfterMs?: number
  readonly coolDownMs?: number
  /**
   * Its breaker is open. `remainingMs` of 0: its time is over, and a probe has yet to succeed. `stepMs`: its time
   * before jitter; the next is twice as long.
   */
  readonly breaker?: { readonly remainingMs: number; readonly stepMs: number }
}

/**
 * An attempt failed in a way that counts. `retryAfterMs`: what the upstream asked for. `heldOff`: all that holds it off
 * now, if this failure began or lengthened any of it.
 */
export interface HeardFailure {
  readonly kind: 'failed'
  readonly failure: FailureClass
  readonly retryAfterMs?: number
  readonly heldOff?: HeldOff
  /** As of {@link Recovery}. */
  readonly lagMs?: number
}

/**
 * What is known of an upstream in trouble, for who knows nothing of it yet: failures in a row, and how many of them of
 * the last class.
 */
export interface Standing {
  readonly kind: 'standing'
  readonly row: number
  readonly failure?: FailureClass
  readonly sameClass: number
  readonly heldOff?: HeldOff
  /** It was so when it was told, so long ago; absent: it is so now. */
  readonly agoMs?: number
}

/**
 * `answered` or `succeeded`. `agoMs`: so long ago; absent: just now. `lagMs`: it is heard when it was told, or up to so
 * much later; absent: when it was told.
 */
export interface Recovery {
  readonly kind: 'answered' | 'succeeded'
  readonly heldOff?: HeldOff
  readonly agoMs?: number
  readonly lagMs?: number
}

/**
 * What others should know of an upstream's health. `answered`: it begins to answer, its breaker closes. `succeeded`: a
 * row of failures, or a cool-down, ends. Of these `heldOff` says what holds it off all the same. `probing`: its one
 * probe is under way. `probe_over`: that came to nothing.
 */
export type Happening =
  | HeardFailure
  | Standing
  | Recovery
  | { readonly kind: 'probing' }
  | { readonly kind: 'probe_over' }

/** Something one process tells the others of a provider, or of one model at it. Plain JSON of at most some 2 KiB. */
export type HealthNews = Happening & {
  readonly provider: string
  /**
   * What the teller means by that name: where requests go, and on whose account, in 1 to 64 characters. Absent:
   * whatever the hearer means by it, as those say who know of no targets.
   */
  readonly target?: string
  /** Absent: the whole provider. */
  readonly model?: string
}

/** Whether a failure of this class matters to other processes: it counts towards the breaker, or towards a cool-down. */
export function isNews(failure: FailureClass): boolean {
  const { breaker, coolDownMs } = failureEffects[failure]
  return breaker || coolDownMs > 0 || failure === 'rate_limit'
}

/**
 * What is to be kept, for newcomers and for who missed it: under which key, and for how many milliseconds, a whole
 * number. The latest takes the place of what was kept under its key. `undefined`: what is kept stays as it is. An open
 * breaker is kept for longer than it is open, so that a newcomer begins with a probe; that a trouble is over, for as
 * long as it could have lasted.
 */
export function keptFor(news: HealthNews): { readonly key: string; readonly ms: number } | undefined {
  if (news.kind === 'probing' || news.kind === 'probe_over') return undefined
  if (news.heldOff === undefined && !isRecovery(news.kind)) return undefined
  return { key: keyOf(news), ms: Math.ceil(msOf(news)) }
}

function keyOf({ provider, target, model }: HealthNews): string {
  if (target !== undefined) return JSON.stringify([provider, model ?? null, target])
  return JSON.stringify(model === undefined ? [provider] : [provider, model])
}

function msOf(news: HealthNews): number {
  const { retryAfterMs = 0, coolDownMs = 0, breaker } = ('heldOff' in news ? news.heldOff : undefined) ?? {}
  return Math.max(
    retryAfterMs,
    coolDownMs,
    breaker === undefined ? 0 : breaker.remainingMs + probeMsMost,
    isRecovery(news.kind) ? coolDownMsMost : 0,
  )
}

function isRecovery(kind: HealthNews['kind']): kind is Recovery['kind'] {
  return kind === 'answered' || kind === 'succeeded'
}

/** What a news that was kept still says, `elapsedMs` after it was told. `undefined`: nothing. */
export function aged(news: HealthNews, elapsedMs: number): HealthNews | undefined {
  if (news.kind === 'probing' || news.kind === 'probe_over' || elapsedMs >= msOf(news)) return undefined
  const { provider, target, model } = news
  const subject = { provider, ...(target === undefined ? {} : { target }), ...(model === undefined ? {} : { model }) }
  const rest = { ...remaining(news.heldOff, elapsedMs), agoMs: elapsedMs }
  if (isRecovery(news.kind)) return { ...subject, kind: news.kind, ...rest }
  return {
    ...subject,
    kind: 'standing',
    row: 0,
    sameClass: 0,
    ...('failure' in news ? { failure: news.failure } : {}),
    ...rest,
  }
}

function remaining(heldOff: HeldOff | undefined, elapsedMs: number): { readonly heldOff?: HeldOff } {
  if (heldOff === undefined) return {}
  const { retryAfterMs = 0, coolDownMs = 0, breaker } = heldOff
  return {
    heldOff: {
      ...(retryAfterMs > elapsedMs ? { retryAfterMs: retryAfterMs - elapsedMs } : {}),
      ...(coolDownMs > elapsedMs ? { coolDownMs: coolDownMs - elapsedMs } : {}),
      ...(breaker === undefined
        ? {}
        : { breaker: { ...breaker, remainingMs: Math.max(0, breaker.remainingMs - elapsedMs) } }),
    },
  }
}

/**
 * Reads what another process told. Names of 1 to 1,024 characters, targets of 1 to 64, and classes that are news, else
 * `undefined`; numbers are brought within what can be, and what is no finite number is left out. Members that it does
 * not know are ignored.
 */
export function parseHealthNews(value: unknown): HealthNews | undefined {
  if (!isRecord(value)) return undefined
  const { provider, target, model } = value
  const happening = parseHappening(value)
  if (happening === undefined || !isName(provider)) return undefined
  if (target !== undefined && !isName(target, targetMost)) return undefined
  if (model !== undefined && !isName(model)) return undefined
  return {
    provider,
    ...(target === undefined ? {} : { target }),
    ...(model === undefined ? {} : { model }),
    ...happening,
  }
}

function parseHappening(value: Readonly<Record<string, unknown>>): Happening | undefined {
  const { kind, failure } = value
  const heldOff = parseHeldOff(value['heldOff'])
  switch (kind) {
    case 'failed':
      return isNewsClass(failure) ? { kind, failure, ...parseRetryAfter(value), ...heldOff } : undefined
    case 'standing':
      return {
        kind,
        row: Math.floor(clamped(value['row'], countMost) ?? 0),
        sameClass: Math.floor(clamped(value['sameClass'], countMost) ?? 0),
        ...(isNewsClass(failure) ? { failure } : {}),
        ...heldOff,
      }
    case 'answered':
    case 'succeeded':
      return { kind, ...heldOff }
    case 'probing':
    case 'probe_over':
      return { kind }
    default:
      return undefined
  }
}

function parseHeldOff(value: unknown): { readonly heldOff?: HeldOff } {
  if (!isRecord(value)) return {}
  const breaker = isRecord(value['breaker']) ? value['breaker'] : {}
  const remainingMs = clamped(breaker['remainingMs'], openMsMost * 1.2)
  const coolDownMs = clamped(value['coolDownMs'], coolDownMsMost)
  return {
    heldOff: {
      ...parseRetryAfter(value),
      ...(coolDownMs === undefined ? {} : { coolDownMs }),
      ...(remainingMs === undefined
        ? {}
        : { breaker: { remainingMs, stepMs: clamped(breaker['stepMs'], openMsMost) ?? 0 } }),
    },
  }
}

function parseRetryAfter({ retryAfterMs }: Readonly<Record<string, unknown>>): { readonly retryAfterMs?: number } {
  const ms = clamped(retryAfterMs, retryAfterMsMost)
  return ms === undefined ? {} : { retryAfterMs: ms }
}

function clamped(value: unknown, most: number): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? Math.min(Math.max(value, 0), most) : undefined
}

function isName(value: unknown, most = nameMost): value is string {
  return typeof value === 'string' && value !== '' && value.length <= most
}

function isNewsClass(value: unknown): value is FailureClass {
  return typeof value === 'string' && isFailureClass(value) && isNews(value)
}

function isFailureClass(value: string): value is FailureClass {
  return Object.hasOwn(failureEffects, value)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
