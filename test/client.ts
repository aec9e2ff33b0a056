import { connect, type Socket } from 'node:net'

/** Makes a chat request to model `m`; `more` adds and replaces fields. */
export function question(more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { model: 'm', messages: [{ role: 'user', content: 'hello' }], ...more }
}

/** A complete answer of the service. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; `undefined` for other text. */
  readonly json: unknown
  /** Events of a stream, in order. Empty for a plain answer. */
  readonly events: readonly StreamEvent[]
  /** Text of the answer: `content` of the message, or of all deltas. */
  readonly content: string
}

export interface StreamEvent {
  readonly data: string
  /** `data` as JSON; `undefined` for `[DONE]` and other text. */
  readonly json: unknown
}

/** Sends a body, an object or the exact text, to the chat endpoint of `url` and reads the whole answer. */
export async function chat(
  url: string,
  body: object | string | Uint8Array<ArrayBuffer>,
  init: { readonly headers?: Record<string, string>; readonly signal?: AbortSignal } = {},
): Promise<Answer> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...init.headers },
    ...(init.signal === undefined ? {} : { signal: init.signal }),
  })
  return answerOf(response, await response.text())
}

/** Reads an answer whose body has arrived. */
export function answerOf(response: { readonly status: number; readonly headers: Headers }, text: string): Answer {
  const isStream = (response.headers.get('content-type') ?? '').startsWith('text/event-stream')
  const events = isStream ? parseEvents(text) : []
  const json = isStream ? undefined : parseJson(text)
  const content = isStream
    ? events
        .map((event) => pick(event.json, 'choices', 0, 'delta', 'content'))
        .filter((piece) => typeof piece === 'string')
        .join('')
    : pick(json, 'choices', 0, 'message', 'content')
  return {
    status: response.status,
    headers: response.headers,
    text,
    json,
    events,
    content: typeof content === 'string' ? content : '',
  }
}

/**
 * Parses a stream strictly: `data:` lines and comments, each event ended by a blank line. @throws on anything else
 */
export function parseEvents(text: string): readonly StreamEvent[] {
  if (text !== '' && !text.endsWith('\n\n'))
    throw new Error(`the stream ends inside an event: ${JSON.stringify(text.slice(-80))}`)
  return text.split('\n\n').flatMap((block) => {
    const data = block
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith(':'))
      .map((line) => {
        if (!line.startsWith('data: ')) throw new Error(`not a data line: ${line.slice(0, 80)}`)
        return line.slice(6)
      })
    return data.length === 0 ? [] : [{ data: data.join('\n'), json: parseJson(data.join('\n')) }]
  })
}

/** Parses text as JSON; `undefined` for other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The caller checks the value.
    return undefined
  }
}

/** Value at a path inside a JSON value; `undefined` when the path does not exist. */
export function pick(value: unknown, ...path: readonly (string | number)[]): unknown {
  let at = value
  for (const step of path) {
    if (typeof at !== 'object' || at === null) return undefined
    const found: unknown = Reflect.get(at, step)
    at = found
  }
  return at
}

/** The error of an answer, or the one that ended its stream. */
export function errorOf(
  answer: Answer,
): { readonly message: string; readonly type: unknown; readonly code: unknown; readonly param: unknown } | undefined {
  const error =
    answer.events.map((event) => pick(event.json, 'error')).find((found) => found !== undefined) ??
    pick(answer.json, 'error')
  if (error === undefined) return undefined
  return {
    message: String(pick(error, 'message')),
    type: pick(error, 'type'),
    code: pick(error, 'code'),
    param: pick(error, 'param'),
  }
}

/** Whether a stream ended with `[DONE]`. */
export function isDone(answer: Answer): boolean {
  return answer.events.at(-1)?.data === '[DONE]'
}

/**
 * Parses the trail header: `a;status=429;class=rate_limit;ms=12` → `{ name: 'a', status: '429', class: 'rate_limit',
 * ms: '12' }`.
 */
export function trailOf(answer: Pick<Answer, 'headers'>): readonly Readonly<Record<string, string | undefined>>[] {
  return (answer.headers.get('x-svc-trail') ?? '')
    .split(', ')
    .filter((step) => step !== '')
    .map((step) => {
      const [name = '', ...fields] = step.split(';')
      return { name, ...Object.fromEntries(fields.map((field) => field.split('='))) }
    })
}

/**
 * A raw connection. `response` resolves with all received text when the service closes, or after `waitMs` (default
 * 3,000).
 */
export interface RawConnection {
  readonly socket: Socket
  readonly response: Promise<string>
  /** Resolves when the received text contains `text`. */
  until(text: string): Promise<void>
}

/** Opens a connection and sends bytes as they are. */
export function rawConnection(port: number, bytes: string | Uint8Array, waitMs = 3_000): RawConnection {
  const socket = connect(port, '127.0.0.1', () => void socket.write(bytes))
  let received = ''
  const looks = new Set<() => void>()
  socket.setEncoding('latin1')
  socket.on('data', (text) => {
    received += String(text)
    for (const look of looks) look()
  })
  const response = new Promise<string>((resolve) => {
    const end = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve(received)
    }
    const timer = setTimeout(end, waitMs)
    socket.on('close', end)
    // A reset is an end too: tests check the text received before it.
    socket.on('error', end)
  })
  return {
    socket,
    response,
    until: (text) =>
      new Promise((resolve) => {
        const look = () => {
          if (received.includes(text)) {
            looks.delete(look)
            resolve()
          }
        }
        looks.add(look)
        look()
      }),
  }
}

/**
 * Sends bytes on a new connection. @returns all received text when the service closes, or after `waitMs`
 */
export function rawRequest(port: number, bytes: string | Uint8Array, waitMs?: number): Promise<string> {
  return rawConnection(port, bytes, waitMs).response
}

/** The bytes of a chat request over HTTP/1.1. */
export function rawChat(body: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({
    host: '127.0.0.1',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return `POST /v1/chat/completions HTTP/1.1\r\n${head}\r\n${body}`
}

/** The body of a raw response in chunked framing (RFC 9112 section 7.1). @throws when it lacks its last chunk */
export function chunkedBody(response: string): string {
  const start = response.indexOf('\r\n\r\n') + 4
  const pieces: string[] = []
  for (let at = start; ;) {
    const line = response.indexOf('\r\n', at)
    const size = line === -1 ? Number.NaN : Number.parseInt(response.slice(at, line), 16)
    if (Number.isNaN(size) || line + 2 + size > response.length) throw new Error('the chunked body is cut')
    if (size === 0) return pieces.join('')
    pieces.push(response.slice(line + 2, line + 2 + size))
    at = line + 2 + size + 2
  }
}

/** Reads a metric by its name with labels, as in the text of `/metrics`; NaN when it is missing. */
export async function metric(
  url: string,
  name: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  // A kept-alive connection would delay a draining worker.
  const text = await (await fetch(`${url}/metrics`, { headers, keepalive: false })).text()
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length) ?? Number.NaN,
  )
}

/** The sum of all series of a metric. */
export async function metricSum(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { keepalive: false })).text()
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}
