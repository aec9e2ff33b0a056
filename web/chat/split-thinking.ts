/** A piece of an answer, split into text and reasoning. */
export interface SplitText {
  readonly text: string
  readonly reasoning: string
  /** All text before this piece was reasoning: its beginning was in the prompt. */
  readonly wasReasoning?: true
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
 * Splits `<think>…</think>` at the start of an answer off as reasoning; elsewhere it stays text. Some models begin
 * within their reasoning, since the template of the prompt has the opening tag: then all before the first closing tag
 * is reasoning, unless the tag stands in code. Text that may be part of a tag is held back. White space before the
 * first tag and after the last is dropped.
 */
export function thinkingSplitter(): ThinkingSplitter {
  let phase: 'start' | 'thinking' | 'after' | 'maybe' | 'text' = 'start'
  let pending = ''
  const code = codeWatch()

  function readStart(): SplitText {
    const start = pending.trimStart()
    if (start.startsWith(open)) {
      pending = start.slice(open.length)
      phase = 'thinking'
      return readThinking()
    }
    if (open.startsWith(start)) return { text: '', reasoning: '' }
    phase = 'maybe'
    return readText()
  }

  /** Text that turns out to be reasoning at its closing tag. */
  function readText(): SplitText {
    let text = ''
    for (let end = pending.indexOf(close); end !== -1; end = pending.indexOf(close)) {
      const before = pending.slice(0, end)
      pending = pending.slice(end + close.length)
      if (code.isOutside(before)) {
        phase = 'after'
        return { reasoning: text + before, text: skipSpace(), wasReasoning: true }
      }
      text += before + close
      code.isOutside(close)
    }
    const safe = pending.length - partLength(pending)
    text += pending.slice(0, safe)
    code.isOutside(pending.slice(0, safe))
    pending = pending.slice(safe)
    return { text, reasoning: '' }
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
        case 'maybe':
          return readText()
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

/** Follows a text, to tell whether a tag behind it is one: not in code, and not behind an opening tag. */
function codeWatch() {
  let line = ''
  let isFenced = false
  let hasOpened = false
  return {
    /** @param text comes next @returns whether its end is outside of code */
    isOutside(text: string): boolean {
      const lines = (line + text).split('\n')
      hasOpened ||= lines.some((each) => each.includes(open))
      line = lines.pop() ?? ''
      for (const each of lines) if (/^ {0,3}(?:```|~~~)/.test(each)) isFenced = !isFenced
      return !isFenced && !hasOpened && (line.split('`').length - 1) % 2 === 0
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
