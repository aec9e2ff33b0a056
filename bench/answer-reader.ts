/** Reads the bytes of one HTTP/1.1 connection, answer after answer. */
export interface AnswerReader {
  /** Takes received bytes, and calls the listener for each part. @throws Error when the bytes are no HTTP answer */
  readonly take: (bytes: Uint8Array) => void
}

export interface AnswerListener {
  /** The status line and headers are complete; `head` is both, without the blank line. */
  readonly onHead: (status: number, head: string) => void
  /** One event of the stream, without its blank line, as latin1. */
  readonly onEvent: (event: string) => void
  /** The body is complete by its framing. */
  readonly onEnd: () => void
}

type Phase = 'head' | 'size' | 'data' | 'data-end' | 'trailer' | 'fixed' | 'until-close'

/**
 * Reads answers with a chunked, a counted or an until-close body, and splits the body into events at blank lines. For
 * load generators: it trusts its peer, and keeps only the current event.
 */
export function answerReader(listener: AnswerListener): AnswerReader {
  let phase: Phase = 'head'
  let rest = ''
  let eventRest = ''
  let remaining = 0

  function takeBody(text: string): void {
    eventRest = eventRest === '' ? text : eventRest + text
    let from = 0
    for (let end = eventRest.indexOf('\n\n'); end >= 0; end = eventRest.indexOf('\n\n', from)) {
      listener.onEvent(eventRest.slice(from, end))
      from = end + 2
    }
    if (from > 0) eventRest = eventRest.slice(from)
  }

  function finish(): void {
    phase = 'head'
    eventRest = ''
    listener.onEnd()
  }

  /** Parses one step of `rest`; false when it needs more bytes. */
  function step(): boolean {
    switch (phase) {
      case 'head': {
        const end = rest.indexOf('\r\n\r\n')
        if (end < 0) return false
        const text = rest.slice(0, end)
        const head = parseHead(text)
        rest = rest.slice(end + 4)
        phase = head.framing
        remaining = head.length
        listener.onHead(head.status, text)
        if (phase === 'fixed' && remaining === 0) finish()
        return true
      }
      case 'size': {
        const end = rest.indexOf('\r\n')
        if (end < 0) return false
        remaining = Number.parseInt(rest, 16)
        if (Number.isNaN(remaining)) throw new Error(`not a chunk size: ${JSON.stringify(rest.slice(0, 40))}`)
        rest = rest.slice(end + 2)
        phase = remaining === 0 ? 'trailer' : 'data'
        return true
      }
      case 'data': {
        if (rest === '') return false
        const part = rest.length <= remaining ? rest : rest.slice(0, remaining)
        remaining -= part.length
        rest = rest.slice(part.length)
        if (remaining === 0) phase = 'data-end'
        takeBody(part)
        return true
      }
      case 'data-end': {
        if (rest.length < 2) return false
        rest = rest.slice(2)
        phase = 'size'
        return true
      }
      case 'trailer': {
        const end = rest.indexOf('\r\n')
        if (end < 0) return false
        const isLast = end === 0
        rest = rest.slice(end + 2)
        if (isLast) finish()
        return true
      }
      case 'fixed': {
        if (rest === '') return false
        const part = rest.length <= remaining ? rest : rest.slice(0, remaining)
        remaining -= part.length
        rest = rest.slice(part.length)
        takeBody(part)
        if (remaining === 0) finish()
        return true
      }
      case 'until-close': {
        if (rest === '') return false
        const part = rest
        rest = ''
        takeBody(part)
        return true
      }
    }
  }

  return {
    take(bytes) {
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
      rest = rest === '' ? text : rest + text
      while (step());
    },
  }
}

interface Head {
  readonly status: number
  readonly framing: 'size' | 'fixed' | 'until-close'
  /** Length of a counted body; 0 for others. */
  readonly length: number
}

function parseHead(head: string): Head {
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1])
  if (Number.isNaN(status)) throw new Error(`not an HTTP answer: ${JSON.stringify(head.slice(0, 40))}`)
  if (/\r\ntransfer-encoding:[^\r]*chunked/i.test(head)) return { status, framing: 'size', length: 0 }
  const length = /\r\ncontent-length:\s*(\d+)/i.exec(head)?.[1]
  return length === undefined
    ? { status, framing: 'until-close', length: 0 }
    : { status, framing: 'fixed', length: Number(length) }
}
