import { say } from '../texts/say.ts'

/** One server-sent event. */
export interface PageEvent {
  /** Default: `message`. */
  readonly event: string
  /** The data lines, joined with LF. */
  readonly data: string
}

/** A line or an event exceeds the limit of {@link readEvents}. */
export class EventTooLarge extends Error {
  override readonly name = 'EventTooLarge'
}

/** Default limit of a line and of an event. */
const charactersMaxDefault = 1024 * 1024

/**
 * Reads the server-sent events of a response (HTML Living Standard, section 9.2). `id` and `retry` are ignored. A last
 * event without its blank line is complete, too. Cancels the response when the caller stops reading.
 *
 * @param charactersMax limit of one event and of one line
 * @throws {EventTooLarge} and read errors of the body
 */
export async function* readEvents(
  response: Response,
  charactersMax: number = charactersMaxDefault,
): AsyncGenerator<PageEvent> {
  if (response.body === null) return
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  const lines = lineReader(charactersMax)
  const events = eventReader(charactersMax)
  let isRead = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      isRead = done
      const text = done ? decoder.decode() : decoder.decode(value, { stream: true })
      for (const line of lines(text, done)) yield* events(line)
      if (done) return yield* events('')
    }
  } finally {
    if (isRead) reader.releaseLock()
    // The caller has left, so a failure to cancel does not matter.
    else void reader.cancel().catch(() => undefined)
  }
}

/** Splits text into lines. `isEnd` completes the last line. */
function lineReader(charactersMax: number): (text: string, isEnd: boolean) => readonly string[] {
  let rest = ''
  let isAfterCr = false
  return (text, isEnd) => {
    let next = isAfterCr && text.startsWith('\n') ? text.slice(1) : text
    if (text !== '') isAfterCr = text.endsWith('\r')
    const lines: string[] = []
    for (let end = next.search(lineEnd); end !== -1; end = next.search(lineEnd)) {
      lines.push(rest + next.slice(0, end))
      rest = ''
      next = next.slice(end + (next.startsWith('\r\n', end) ? 2 : 1))
    }
    rest += next
    if (rest.length > charactersMax) throw new EventTooLarge(say.api.lineTooLong)
    if (isEnd && rest !== '') lines.push(rest)
    return lines
  }
}

const lineEnd = /[\r\n]/

/** Collects lines into events. Returns at most one event per line. */
function eventReader(charactersMax: number): (line: string) => readonly PageEvent[] {
  let event = ''
  let data: string[] = []
  let size = 0

  function finish(): readonly PageEvent[] {
    const complete = data.length === 0 ? [] : [{ event: event === '' ? 'message' : event, data: data.join('\n') }]
    event = ''
    data = []
    size = 0
    return complete
  }

  return (line) => {
    if (line === '') return finish()
    const colon = line.indexOf(':')
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'event') event = value
    if (name !== 'data') return []
    data.push(value)
    size += value.length + 1
    if (size > charactersMax) throw new EventTooLarge(say.api.eventTooLarge)
    return []
  }
}
