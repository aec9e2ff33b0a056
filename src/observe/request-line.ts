import { formatDuration, harmless, type Paint } from '../base/shown-text.ts'
import type { Usage } from '../formats/usage.ts'
import { lineOf } from './fields.ts'
import { clock, type LineLevel, type Logger } from './log.ts'
import { requestFields, trailMax, type RecordedAttempt, type RequestRecord } from './record.ts'

/** Makes a function that logs one line for each request. Costs about a microsecond in JSON (docs/observability.md). */
export function requestLog(logger: Logger): (record: RequestRecord) => void {
  const isoTime = isoClock()
  return function logRequest(record) {
    const level = levelOf(record)
    if (!logger.isEnabled(level)) return
    logger.line(
      logger.format === 'json'
        ? jsonRequestLine(record, level, isoTime(record.time))
        : humanRequestLine(record, logger.paint),
    )
  }
}

/**
 * The level of a request's log line: `error` when the service or its providers failed, `warn` when the request was at
 * fault, else `info`, also when the caller left.
 */
export function levelOf(record: Pick<RequestRecord, 'status' | 'error'>): LineLevel {
  if (record.status === 499) return 'info'
  if (record.status >= 500 || (record.status < 400 && record.error !== undefined)) return 'error'
  return record.status >= 400 ? 'warn' : 'info'
}

const colours: Readonly<Record<LineLevel, Parameters<Paint>[0]>> = {
  error: 'red',
  warn: 'yellow',
  info: 'green',
  debug: 'green',
}
const modelMax = 128

const membersOf = lineOf(requestFields)

/** Writes one JSON object on one line (docs/observability.md). */
function jsonRequestLine(record: RequestRecord, level: LineLevel, time: string): string {
  return `{"time":"${time}","level":"${level}","message":"request",${membersOf(record)}}`
}

/** `12:03:04 200 gpt-4o-mini openai 340 ms (first 120 ms) 12+34 tokens groq ✗ 429 → openai ✓` */
function humanRequestLine(record: RequestRecord, paint: Paint): string {
  const level = levelOf(record)
  const words = [
    paint('dim', clock(record.time)),
    paint(colours[level], String(record.status)),
    record.model === '' ? '–' : harmless(record.model.slice(0, modelMax)),
    record.provider === undefined ? '–' : harmless(record.provider),
    formatDuration(record.totalMs),
  ]
  if (record.firstTokenMs !== undefined) words.push(paint('dim', `(first ${formatDuration(record.firstTokenMs)})`))
  const tokens = humanTokens(record.usage)
  if (tokens !== '') words.push(tokens)
  if (record.user !== undefined) words.push(paint('dim', harmless(record.user.slice(0, modelMax))))
  if (record.error !== undefined) words.push(paint(level === 'error' ? 'red' : 'yellow', harmless(record.error)))
  return words.join(' ') + humanTrail(record.trail, paint)
}

/** `12+34 tokens`; `≈` before estimated counts, `?` for an unknown one. Empty when both are unknown. */
function humanTokens(usage: Usage | undefined): string {
  if (usage === undefined) return ''
  const { promptTokens, completionTokens, isEstimated } = usage
  if (promptTokens === undefined && completionTokens === undefined) return ''
  return `${isEstimated === true ? '≈' : ''}${promptTokens ?? '?'}+${completionTokens ?? '?'} tokens`
}

/** ` groq ✗ 429 → openai ✓`; empty when the first attempt succeeded. */
function humanTrail(trail: readonly RecordedAttempt[], paint: Paint): string {
  if (trail.length < 2 && trail[0]?.failure === undefined) return ''
  const attempts = trail.slice(0, trailMax).map((attempt) => humanAttempt(attempt, paint))
  return `  ${attempts.join(' → ')}`
}

function humanAttempt({ name, status, failure }: RecordedAttempt, paint: Paint): string {
  if (failure === undefined) return `${harmless(name)} ${paint('green', '✓')}`
  return `${harmless(name)} ${paint('red', '✗')} ${status !== undefined && status !== 200 ? status : harmless(failure)}`
}

/** Formats Unix milliseconds as `2026-01-02T03:04:05.678Z`. Caches the second, which most lines share with the last. */
function isoClock(): (time: number) => string {
  let second = NaN
  let prefix = ''
  return function isoTime(time) {
    const thisSecond = Math.floor(time / 1000)
    if (thisSecond !== second) {
      second = thisSecond
      prefix = new Date(thisSecond * 1000).toISOString().slice(0, 20)
    }
    return `${prefix}${String(Math.floor(time - second * 1000)).padStart(3, '0')}Z`
  }
}
