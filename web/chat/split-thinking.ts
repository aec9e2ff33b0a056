/** A piece of an answer, split into text and reasoning. */
export interface SplitText {
  readonly text: string
  readonly reasoning: string
}

/** Splits a stream of text into text and reasoning. */
export interface ThinkingSplitter {
  push(piece: string): SplitText
  /** Returns the text held back. */
  end(): SplitText
}

const open = '<think>'
const close = '</think>'

/**
 * Splits `<think>…</think>` at the start of an answer off as reasoning; elsewhere it stays text. Text that may be part
 * of a tag is held back. White space before the first tag and after the last is dropped.
 */
export function thinkingSplitter(): ThinkingSplitter {
  let phase: 'start' | 'thinking' | 'after' | 'text' = 'start'
  let pending = ''

  function readStart(): SplitText {
    const start = pending.trimStart()
    if (start.startsWith(open)) {
      pending = start.slice(open.length)
      phase = 'thinking'
      return readThinking()
    }
    if (open.startsWith(start)) return { text: '', reasoning: '' }
    phase = 'text'
    return { text: takeAll(), reasoning: '' }
  }

  function readThinking(): SplitText {
    const end = pending.indexOf(close)
    if (end !== -1) {
      const reasoning = pending.slice(0, end)
      pending = pending.slice(end + close.length)
      phase = 'after'
      return { reasoning, text: skipSpace() }
    }
    const safe = pending.length - partLength(pending)
    const reasoning = pending.slice(0, safe)
    pending = pending.slice(safe)
    return { text: '', reasoning }
  }

  function skipSpace(): string {
    pending = pending.trimStart()
    if (pending !== '') phase = 'text'
    return takeAll()
  }

  function takeAll(): string {
    const all = pending
    pending = ''
    return all
  }

  return {
    push(piece) {
      pending += piece
      switch (phase) {
        case 'start':
          return readStart()
        case 'thinking':
          return readThinking()
        case 'after':
          return { text: skipSpace(), reasoning: '' }
        case 'text':
          return { text: takeAll(), reasoning: '' }
      }
    },
    end() {
      const isThinking = phase === 'thinking'
      const rest = takeAll()
      return isThinking ? { text: '', reasoning: rest } : { text: rest, reasoning: '' }
    },
  }
}

/** Length of the end of `text` that may start the closing tag. */
function partLength(text: string): number {
  for (let length = Math.min(close.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(close.slice(0, length))) return length
  }
  return 0
}
