import { harmless, jsonString, paintFor } from './text.ts'
import type { Paint, Style } from './text.ts'

/** Least important first. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const

/** What a logger lets through: lines of this level and of those after it. */
export type LogLevel = (typeof logLevels)[number]

/** A level that a line can have. */
export type LineLevel = Exclude<LogLevel, 'silent'>

/** `human`: for eyes; `json`: one object a line. */
export type LogFormat = 'human' | 'json'

/**
 * What may be said beside the message. An error is written with the messages of its causes; with its stack too at level
 * `debug`.
 */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined | Error>>

/** What a line says of whatever was thrown. */
export function mistake(error: unknown): LogFields {
  return error instanceof Error ? { error } : { reason: String(error) }
}

/** Writes log lines. None of its methods throws or waits. */
export interface Logger {
  readonly level: LogLevel
  readonly format: LogFormat
  readonly paint: Paint
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** Whether a line of this level would be written. */
  lets(level: LineLevel): boolean
  /** A line that is formatted already, without its line break. */
  line(text: string): void
  /** Lines lost because nobody took them. */
  readonly dropped: number
  /** Settles when what was logged so far is written, or after a second at the latest. */
  flush(): Promise<void>
}

/** What a logger needs. */
export interface LoggerOptions {
  readonly level: LogLevel
  readonly format: LogFormat
  /** Takes whole lines; called again only when its promise has settled. A rejection means that they are lost. */
  write(text: string): Promise<void>
  /** Human form only. Default `false`. */
  readonly hasColour?: boolean
  /** Unix milliseconds. Default `Date.now`. */
  now?(): number
  /**
   * Milliseconds that lines wait for others to be written with. Default 10: writing is the dear part (37 µs of CPU a
   * write).
   */
  readonly gatherMs?: number
}

/** UTF-16 units that wait to be written; what is beyond is dropped. */
const waitingMax = 1024 * 1024
/** UTF-16 units that are written without waiting for more. */
const gatherMax = 64 * 1024
const messageMax = 2_000
const fieldMax = 1_000
const stackMax = 8_000
const flushMs = 1_000

/** A logger over `write`: lines are gathered, written together, and dropped and counted when they are not taken. */
export function logger(options: LoggerOptions): Logger {
  const { level, format, now = Date.now, gatherMs = 10 } = options
  const paint = paintFor({ hasColour: format === 'human' && options.hasColour === true })
  const least = logLevels.indexOf(level)
  let waiting = ''
  let waitingLines = 0
  let dropped = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let writing: Promise<void> | undefined

  function line(text: string): void {
    if (waiting.length + text.length > waitingMax) {
      dropped++
      return
    }
    waiting += text
    waiting += '\n'
    waitingLines++
    if (writing !== undefined) return
    if (waiting.length >= gatherMax) writeWaiting()
    else timer ??= setTimeout(writeWaiting, gatherMs)
  }

  function writeWaiting(): void {
    clearTimeout(timer)
    timer = undefined
    if (writing !== undefined || waitingLines === 0) return
    const text = waiting
    const lines = waitingLines
    waiting = ''
    waitingLines = 0
    writing = writeLines(text, lines).then(written)
  }

  async function writeLines(text: string, lines: number): Promise<void> {
    try {
      await options.write(text)
    } catch {
      // A log that cannot be written has nowhere to say so but its count.
      dropped += lines
    }
  }

  function written(): void {
    writing = undefined
    if (waitingLines > 0) timer ??= setTimeout(writeWaiting, gatherMs)
  }

  async function flush(): Promise<void> {
    const end = Date.now() + flushMs
    while ((waitingLines > 0 || writing !== undefined) && Date.now() < end) {
      writeWaiting()
      let limit: ReturnType<typeof setTimeout> | undefined
      await Promise.race([writing, new Promise((resolve) => (limit = setTimeout(resolve, end - Date.now())))])
      clearTimeout(limit)
    }
  }

  const lets = (of: LineLevel): boolean => logLevels.indexOf(of) >= least
  const isDebugging = lets('debug')

  function say(of: LineLevel, message: string, fields: LogFields | undefined): void {
    if (!lets(of)) return
    line(
      format === 'json'
        ? jsonLine(now(), of, message, fields, isDebugging)
        : humanLine(now(), of, message, fields, isDebugging, paint),
    )
  }

  return {
    level,
    format,
    paint,
    debug: (message, fields) => say('debug', message, fields),
    info: (message, fields) => say('info', message, fields),
    warn: (message, fields) => say('warn', message, fields),
    error: (message, fields) => say('error', message, fields),
    lets,
    line,
    get dropped() {
      return dropped
    },
    flush,
  }
}

function jsonLine(
  time: number,
  level: LineLevel,
  message: string,
  fields: LogFields | undefined,
  isDebugging: boolean,
): string {
  let text = `{"time":"${new Date(time).toISOString()}","level":"${level}","message":${jsonString(message, messageMax)}`
  for (const [name, value] of Object.entries(fields ?? {})) {
    if (value === undefined) continue
    text += `,${jsonString(name, fieldMax)}:${jsonValue(value)}`
    if (isDebugging && value instanceof Error && value.stack !== undefined)
      text += `,"stack":${jsonString(value.stack, stackMax)}`
  }
  return `${text}}`
}

function jsonValue(value: string | number | boolean | Error): string {
  if (value instanceof Error) return jsonString(causes(value), messageMax)
  if (typeof value === 'string') return jsonString(value, fieldMax)
  return typeof value === 'number' && !Number.isFinite(value) ? 'null' : String(value)
}

const levelStyles: Readonly<Record<LineLevel, Style>> = { debug: 'dim', info: 'cyan', warn: 'yellow', error: 'red' }

function humanLine(
  time: number,
  level: LineLevel,
  message: string,
  fields: LogFields | undefined,
  isDebugging: boolean,
  paint: Paint,
): string {
  let text = `${paint('dim', clock(time))} ${paint(levelStyles[level], level.padEnd(5))} ${bounded(message, messageMax)}`
  for (const [name, value] of Object.entries(fields ?? {})) {
    if (value === undefined) continue
    text += `  ${paint('dim', `${harmless(name)}=`)}${humanValue(value)}`
    if (isDebugging && value instanceof Error)
      text += `\n${(value.stack ?? '')
        .slice(0, stackMax)
        .split('\n')
        .map((each) => `    ${harmless(each)}`)
        .join('\n')}`
  }
  return text
}

function humanValue(value: string | number | boolean | Error): string {
  if (value instanceof Error) return jsonString(causes(value), messageMax)
  if (typeof value !== 'string') return String(value)
  return /^[^\s"=]+$/.test(value) && value.length <= fieldMax ? harmless(value) : jsonString(value, fieldMax)
}

function bounded(text: string, lengthMax: number): string {
  return harmless(text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text)
}

const causesMax = 8

function causes(error: Error): string {
  const messages: string[] = []
  for (
    let cause: unknown = error;
    cause !== undefined && messages.length < causesMax;
    cause = cause instanceof Error ? cause.cause : undefined
  ) {
    messages.push(cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause))
  }
  return messages.join(' ← ')
}

/** The local time of day, `12:03:04`. @param time Unix milliseconds */
export function clock(time: number): string {
  const date = new Date(time)
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':')
}
