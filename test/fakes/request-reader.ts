/** A complete HTTP/1.1 request, byte for byte. */
export interface ReceivedRequest {
  /** Received request line and headers, without the blank line. */
  readonly head: string
  readonly method: string
  readonly path: string
  /** Lower-case name → value; repeated ones joined with `, `. */
  readonly headers: ReadonlyMap<string, string>
  /** The body, without its framing. */
  readonly body: Uint8Array
}

/** Reads one body by its framing: takes bytes, returns the body and the remaining bytes once it is complete. */
type BodyReader = (bytes: Uint8Array) => { readonly body: Uint8Array; readonly rest: Uint8Array } | undefined

const nothing = new Uint8Array()

/**
 * Parser for one connection: takes bytes, returns each complete request, and a sentence for each violation that a
 * strict server would refuse (RFC 9112 sections 2.2, 3, 5.1 and 6).
 */
export function requestReader(): (bytes: Uint8Array) => readonly (ReceivedRequest | string)[] {
  let buffered = nothing
  let pending: { readonly request: Omit<ReceivedRequest, 'body'>; readonly readBody: BodyReader } | undefined
  return function readRequests(bytes) {
    const found: (ReceivedRequest | string)[] = []
    let rest = bytes
    for (;;) {
      if (pending === undefined) {
        buffered = Buffer.concat([buffered, rest])
        const end = Buffer.from(buffered.buffer, buffered.byteOffset, buffered.length).indexOf('\r\n\r\n')
        if (end === -1) return found
        const head = parseHead(new TextDecoder('latin1').decode(buffered.subarray(0, end)))
        found.push(...head.faults)
        rest = buffered.subarray(end + 4)
        buffered = nothing
        pending = { request: head.request, readBody: bodyReader(head.request.headers) }
      }
      const complete = pending.readBody(rest)
      if (complete === undefined) return found
      found.push({ ...pending.request, body: complete.body })
      pending = undefined
      rest = complete.rest
      if (rest.length === 0) return found
    }
  }
}

function parseHead(head: string): {
  readonly request: Omit<ReceivedRequest, 'body'>
  readonly faults: readonly string[]
} {
  const faults: string[] = []
  const [requestLine = '', ...lines] = head.split('\r\n')
  const match = /^([A-Z]+) (\/[\x21-\x7e]*) HTTP\/1\.1$/.exec(requestLine)
  if (match === null) faults.push(`request line: ${requestLine}`)
  const headers = new Map<string, string>()
  for (const line of lines) {
    const field = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e\x80-\xff\t]*)$/.exec(line)
    if (field === null) {
      faults.push(`header line: ${line}`)
      continue
    }
    const name = (field[1] ?? '').toLowerCase(),
      value = (field[2] ?? '').trimEnd()
    if (headers.has(name) && ['host', 'content-length', 'content-type', 'authorization'].includes(name))
      faults.push(`repeated ${name}`)
    const before = headers.get(name)
    headers.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  if (!headers.has('host')) faults.push('no Host')
  if (headers.has('transfer-encoding') && headers.has('content-length'))
    faults.push('both Transfer-Encoding and Content-Length')
  if (!/^\d+$/.test(headers.get('content-length') ?? '0')) faults.push('Content-Length is no number')
  return { request: { head, method: match?.[1] ?? '', path: match?.[2] ?? '', headers }, faults }
}

function bodyReader(headers: ReadonlyMap<string, string>): BodyReader {
  return headers.get('transfer-encoding')?.toLowerCase() === 'chunked'
    ? chunkedBody()
    : sizedBody(Number(headers.get('content-length') ?? 0))
}

function sizedBody(length: number): BodyReader {
  const body = new Uint8Array(length)
  let filled = 0
  return (bytes) => {
    const taken = bytes.subarray(0, length - filled)
    body.set(taken, filled)
    filled += taken.length
    return filled < length ? undefined : { body, rest: bytes.subarray(taken.length) }
  }
}

function chunkedBody(): BodyReader {
  let buffered = nothing
  return (bytes) => {
    buffered = Buffer.concat([buffered, bytes])
    const pieces: Uint8Array[] = []
    for (let at = 0; ;) {
      const line = Buffer.from(buffered.buffer, buffered.byteOffset, buffered.length).indexOf('\r\n', at)
      if (line === -1) return undefined
      const size = Number.parseInt(new TextDecoder().decode(buffered.subarray(at, line)), 16)
      const next = line + 2 + size + 2
      if (Number.isNaN(size) || buffered.length < next) return undefined
      if (size === 0) return { body: Buffer.concat(pieces), rest: buffered.subarray(next) }
      pieces.push(buffered.subarray(line + 2, line + 2 + size))
      at = next
    }
  }
}
