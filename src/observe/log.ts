import { harmless, jsonString, paintFor, type Paint, type Style } from '../base/shown-text.ts'

/** Least important first. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const

/** The lowest level that a logger writes. */
export type LogLevel = (typeof logLevels)[number]

/** The level of a line. */
export type LineLevel = Exclude<LogLevel, 'silent'>

/** `human`: for reading; `json`: one object for each line. */
export type LogFormat = 'human' | 'json'

/**
 * Fields beside the message. An error is written with the messages of its causes, and at level `debug` with its stack.
 */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined | Error>>

/** The fields for a thrown value. */
export function errorFields(error: unknown): LogFields {
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
  /** Whether lines of this level are written. */
  isEnabled(level: LineLevel): boolean
  /** Writes a formatted line, given without its line break. */
  line(text: string): void
  /** Number of lines dropped because the output was blocked or failed. */
  readonly dropped: number
  /** Resolves when all lines are written, after a second at the latest. */
  flush(): Promise<void>
}

export interface LoggerOptions {
  readonly level: LogLevel
  readonly format: LogFormat
  /** Writes whole lines. Not called again before its promise settles. A rejection means that the lines are lost. */
  write(text: string): Promise<void>
  /** Only for the human format. Default `false`. */
  readonly hasColour?: boolean
  /** Unix milliseconds. Default `Date.now`. */
  now?(): number
  /**
   * Milliseconds that lines are collected before they are written. Default 10: each write costs 37 µs of CPU time.
   */
  readonly gatherMs?: number
}

/** Most UTF-16 units that wait to be written; further lines are dropped. */
const waitingMax = 1024 * 1024
/** Collected UTF-16 units that are written at once. */
const gatherMax = 64 * 1024
const messageMax = 2_000
const fieldMax = 1_000
const stackMax = 8_000
const flushMs = 1_000

/** Makes a logger that collects lines and writes them together. Lines it cannot write are dropped and counted. */
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
      // A log that cannot be written can only count its lost lines.
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

  const isEnabled = (of: LineLevel): boolean => logLevels.indexOf(of) >= least
  const isDebugging = isEnabled('debug')

  function say(of: LineLevel, message: string, fields: LogFields | undefined): void {
    if (!isEnabled(of)) return
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
    isEnabled,
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
  const start = `${paint('dim', clock(time))} ${paint(levelStyles[level], level.padEnd(5))}`
  let text = `${start} ${bounded(message, messageMax)}`
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
