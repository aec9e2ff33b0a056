import { doneEvent, errorEventStart, finishEvent, readToken, roleEvent } from './token-format.ts'

/** Token counts over all streams. */
export interface TokenFaults {
  /** Tokens that arrived in order. */
  seen: number
  /** Tokens that never arrived, in streams that ended or broke without them. */
  lost: number
  /** Events that the upstream did not send. */
  garbled: number
  /** Tokens that arrived twice, or late. */
  duplicated: number
}

/** Compares one stream with its order, event by event. */
export interface StreamCheck {
  /** Checks the next event, without its blank line. @returns when the upstream sent it (µs since 1970), for a token */
  take(event: string): number | undefined
  /** Ends the check. @returns whether the stream was complete: every token, the finish and `[DONE]` */
  end(): boolean
  /** Tokens in order so far. */
  readonly tokens: number
  /** Error event that ended the stream. */
  readonly error: string | undefined
}

/** Makes a check of the stream `name` with `tokens` tokens, which adds its counts to `faults`. */
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
