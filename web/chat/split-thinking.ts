/** A piece of an answer, told apart. */
export interface Thought {
  readonly text: string
  readonly reasoning: string
}

/** Tells what a model thought from what it says, piece by piece. */
export interface ThinkingSplitter {
  push(piece: string): Thought
  /** What was held back, when nothing more comes. */
  end(): Thought
}

const open = '<think>'
const close = '</think>'

/**
 * Takes `<think>…</think>` at the beginning of an answer as what the model thought; anywhere else it is text. Both may
 * come cut into pieces: what could become a mark is held back until it is known. White space before the first mark, and
 * after the last, belongs to neither.
 */
export function thinkingSplitter(): ThinkingSplitter {
  let phase: 'beginning' | 'thinking' | 'after' | 'text' = 'beginning'
  let held = ''

  function begin(): Thought {
    const start = held.trimStart()
    if (start.startsWith(open)) {
      held = start.slice(open.length)
      phase = 'thinking'
      return think()
    }
    if (open.startsWith(start)) return { text: '', reasoning: '' }
    phase = 'text'
    return { text: take(), reasoning: '' }
  }

  function think(): Thought {
    const end = held.indexOf(close)
    if (end !== -1) {
      const reasoning = held.slice(0, end)
      held = held.slice(end + close.length)
      phase = 'after'
      return { reasoning, text: skipSpace() }
    }
    const safe = held.length - partLength(held)
    const reasoning = held.slice(0, safe)
    held = held.slice(safe)
    return { text: '', reasoning }
  }

  function skipSpace(): string {
    held = held.trimStart()
    if (held !== '') phase = 'text'
    return take()
  }

  function take(): string {
    const all = held
    held = ''
    return all
  }

  return {
    push(piece) {
      held += piece
      switch (phase) {
        case 'beginning':
          return begin()
        case 'thinking':
          return think()
        case 'after':
          return { text: skipSpace(), reasoning: '' }
        case 'text':
          return { text: take(), reasoning: '' }
      }
    },
    end() {
      const isThinking = phase === 'thinking'
      const rest = take()
      return isThinking ? { text: '', reasoning: rest } : { text: rest, reasoning: '' }
    },
  }
}

/** How much of the end of `text` could be the beginning of the closing mark. */
function partLength(text: string): number {
  for (let length = Math.min(close.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(close.slice(0, length))) return length
  }
  return 0
}
