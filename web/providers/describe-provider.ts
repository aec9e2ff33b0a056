import type { ProviderEntry, ProviderLack, ProviderState, ProviderTest } from '../../src/http/page/page-api.ts'
import { isFreePrice, priceInWords } from '../models/describe-model.ts'
import { formatCount } from '../texts/locale.ts'
import { say } from '../texts/say.ts'
import { formatAgo, formatMs, formatShare, formatTime, inWords } from '../ui/format.ts'
import type { IconName } from '../ui/icon.tsx'

/** A provider state as icon and text. */
export interface StateLook {
  readonly icon: IconName
  /** One or two words. */
  readonly word: string
  readonly tone: 'ok' | 'warn' | 'bad' | 'muted'
  /** Details. */
  readonly more?: string
}

/** Describes a provider's state. @param now for the rest of a cool-down */
export function describeState({ state, attempts }: Pick<ProviderEntry, 'state' | 'attempts'>, now: number): StateLook {
  switch (state.kind) {
    case 'ok':
      return {
        icon: 'check',
        word: say.providers.states.ok,
        tone: 'ok',
        ...(attempts.count === 0 ? { more: say.providers.states.notAskedInHour } : {}),
      }
    case 'cooling':
      return {
        icon: 'clock',
        word: say.providers.states.cooling,
        tone: 'warn',
        more: [
          state.failure === undefined ? undefined : inWords(state.failure),
          state.askedToWait === true ? say.providers.askedToWait : undefined,
          remaining(state.until, now),
        ]
          .filter((part) => part !== undefined)
          .join(', '),
      }
    case 'failing':
      return { icon: 'warn', word: say.providers.states.failing, tone: 'bad', more: inWords(state.failure) }
    case 'off':
      return { icon: 'pause', word: say.providers.states.off, tone: 'muted', more: say.providers.states.notAsked }
    case 'unavailable':
      return {
        icon: 'warn',
        word: isKeyMissing(state) ? say.providers.states.keyMissing : say.providers.states.unavailable,
        tone: 'bad',
        more: describeLacks(state.lacks),
      }
  }
}

/** Whether a key is all that the provider lacks. */
export function isKeyMissing(state: ProviderState): boolean {
  return state.kind === 'unavailable' && state.lacks.every(({ code, isKey }) => code === 'unset' && isKey === true)
}

/** `Groq · 11 models · from $0.05 in, $0.08 out`: its kind, models and prices. */
export function describeKind(provider: ProviderEntry): string {
  const { brand, baseUrl, protocol, modelCount } = provider
  const kind = brand ?? baseUrl ?? say.providers.protocol(protocol)
  const count = modelCount === undefined ? undefined : say.models.count(modelCount)
  return [kind, count, describePrice(provider)].filter((part) => part !== undefined).join(' · ')
}

function describePrice({ price, hasOtherPrices }: ProviderEntry): string | undefined {
  if (price === undefined) return undefined
  const words = priceInWords(price)
  if (hasOtherPrices !== true) return words
  return isFreePrice(price) ? say.providers.partlyFree : say.providers.fromPrice(words)
}

/** What to do about a provider that fails, in a sentence or two. */
export function adviceFor(failure: string, address: string | undefined): string {
  const { advice } = say.providers
  switch (failure) {
    case 'connect':
    case 'dns':
      return address === undefined ? advice.other : advice.connect(address)
    case 'tls':
      return advice.tls
    case 'timeout':
    case 'request_timeout':
      return advice.timeout
    case 'credential':
      return advice.credential
    case 'quota':
      return advice.quota
    case 'model_list':
      return advice.modelList
    default:
      return advice.other
  }
}

/** `until 12:03:10, in 7 s`. */
function remaining(until: number, now: number): string {
  const seconds = Math.ceil((until - now) / 1_000)
  return seconds <= 0
    ? say.providers.states.toBeAsked
    : say.providers.remaining(formatTime(until), seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`)
}

/** `GROQ_API_KEY is not set`. */
export function describeLacks(lacks: readonly ProviderLack[]): string {
  return lacks
    .map(({ code, variables }) => {
      const names = variables.join(', ')
      switch (code) {
        case 'unset':
          return variables.length === 1 ? say.providers.keyMissing(names) : say.providers.noneSet(names)
        case 'invalid':
          return say.providers.invalidValue(names)
        case 'no_base_url':
          return say.providers.noBaseUrl
        case 'missing_file':
          return say.providers.keyFileMissing(names)
        case 'invalid_file':
          return say.providers.keyFileUnusable(names)
      }
    })
    .join(', ')
}

/** `429 rate limit, model x, 2 min ago`; `undefined` without an error. */
export function describeLastError({ lastError }: Pick<ProviderEntry, 'lastError'>, now: number): string | undefined {
  if (lastError === undefined) return undefined
  const { status, failure, model, time } = lastError
  return `${withStatus(status, failure)}${model === '' ? '' : say.providers.modelIs(model)}, ${formatAgo(time, now)}`
}

/** `98 % of 120`; `undefined` without attempts. */
export function describeSuccess({ attempts: { count, ok } }: Pick<ProviderEntry, 'attempts'>): string | undefined {
  return count === 0 ? undefined : say.providers.shareOf(formatShare(ok / count), formatCount(count))
}

/** `p50 340 ms, p95 1.2 s`; `undefined` without streams. */
export function describeFirstToken({
  attempts: { firstTokenP50, firstTokenP95 },
}: Pick<ProviderEntry, 'attempts'>): string | undefined {
  if (firstTokenP50 === undefined) return undefined
  return `p50 ${formatMs(firstTokenP50)}${firstTokenP95 === undefined ? '' : `, p95 ${formatMs(firstTokenP95)}`}`
}

/** `98 % of 120 answered, first token 340 ms`; `undefined` without attempts. */
export function describeFigures(provider: Pick<ProviderEntry, 'attempts'>): string | undefined {
  const { firstTokenP50 } = provider.attempts
  const success = describeSuccess(provider)
  if (success === undefined) return undefined
  const first = firstTokenP50 === undefined ? [] : [say.providers.firstTokenIn(formatMs(firstTokenP50))]
  return [say.providers.answeredOf(success), ...first].join(', ')
}

/** The outcome of a test, in one sentence. */
export function describeTest({ ok, ms, model, status, failure, lacks }: ProviderTest): string {
  if (lacks !== undefined) return describeLacks(lacks)
  const about = model === undefined ? '' : say.providers.modelOf(model)
  if (ok) return say.providers.answeredIn(formatMs(ms), about)
  if (failure === 'credential') return say.providers.keyRefused(status)
  return say.providers.failedAfter(formatMs(ms), about, withStatus(status, failure ?? ''))
}

const unpricedShown = 3

/** `No price is known for a, b and 2 more …`, and the effect. */
export function describeUnpriced({ models, areRefused }: NonNullable<ProviderEntry['unpriced']>): string {
  const others = models.length - unpricedShown
  const names = models.slice(0, unpricedShown).join(', ')
  const all = others > 0 ? `${names} ${say.providers.andMore(formatCount(others))}` : names
  return `${say.providers.unpriced(all)} ${areRefused ? say.providers.notSentUnpriced : say.providers.lastUnpriced}`
}

/** The provider's own words, without the status that the service puts before them; `undefined`: there are none. */
export function ownWords(detail = ''): string | undefined {
  const words = detail.replace(/^status \d{3}(?:: |$)/, '')
  return words === '' ? undefined : words
}

/** `429 rate limit`. */
function withStatus(status: number | undefined, failure: string): string {
  return status === undefined ? inWords(failure) : `${status} ${inWords(failure)}`
}
