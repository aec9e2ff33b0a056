import { doneEvent, errorEventStart, finishEvent, readToken, roleEvent } from './token-format.ts'

/** What was wrong with tokens, over all streams. */
export interface TokenFaults {
  /** Tokens that came. */
  seen: number
  /** Tokens that never came, in streams that ended or broke without them. */
  lost: number
  /** Events that are not what the upstream sent. */
  garbled: number
  /** Tokens that came twice, or late. */
  duplicated: number
}

/** Holds one stream against what was ordered, event by event. */
export interface StreamCheck {
  /**
   * The next event, without its blank line. Gives when the upstream sent it (µs since 1970), if it is the token that
   * was to come.
   */
  take(event: string): number | undefined
  /** The stream is over. Whether it was complete: every token, the finish and `[DONE]`. */
  end(): boolean
  /** Tokens that came so far, in order. */
  readonly tokens: number
  /** The error event that ended it. */
  readonly error: string | undefined
}

/** A check of the stream `name` of `tokens` tokens, which adds what it finds to `faults`. */
export function streamCheck(name: string, tokens: number, faults: TokenFaults): StreamCheck {
  let next = 0,
    isFinished = false,
    isDone = false,
    isSpoiled = false
  let error: string | undefined

  function takeOther(event: string): void {
    if (event.startsWith(':') || (event === roleEvent && next === 0)) return
    if (event === finishEvent && !isFinished) isFinished = true
    else if (event === doneEvent && isFinished && !isDone) isDone = true
    else if (event.startsWith(errorEventStart) && !isDone) error ??= event
    else {
      isSpoiled = true
      faults.garbled++
    }
  }

  function takeToken(number: number): boolean {
    if (number < next) {
      isSpoiled = true
      faults.duplicated++
      return false
    }
    faults.lost += number - next
    isSpoiled ||= number > next
    next = number + 1
    faults.seen++
    return true
  }

  return {
    take(event) {
      const token = readToken(event)
      if (token === undefined || token.name !== name || token.number >= tokens || isFinished)
        return void takeOther(token === undefined ? event : '')
      return takeToken(token.number) ? token.sentUs : undefined
    },
    end() {
      faults.lost += tokens - next
      return next === tokens && isDone && !isSpoiled && error === undefined
    },
    get tokens() {
      return next
    },
    get error() {
      return error
    },
  }
}
