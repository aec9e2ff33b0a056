import type { AnswerEvent } from '../formats/answer.ts'
import type { Ask } from '../formats/ask.ts'
import { formats } from '../formats/format-list.ts'
import type { Part } from '../formats/part.ts'
import { readTo, type Receiver } from '../formats/receiver.ts'
import { deliveredParts, readBy, type StreamReply } from '../formats/reply.ts'
import type { Usage } from '../formats/usage.ts'
import type { AttemptHold } from '../limits/budgets/attempt-hold.ts'

/** Choices of one answer that get an end. */
const choicesMax = 128

/**
 * A stream that ends when its hold of a hard limit of money is used up, as its format ends an answer at its limit of
 * tokens. The provider's stream is cancelled, and the request stays in memory until then. `undefined`: streams of the
 * format cannot be ended so.
 *
 * @param onEnded called when the stream was ended so
 */
export function endedAtHold(
  reply: StreamReply,
  hold: Pick<AttemptHold, 'count' | 'isUsedUp' | 'estimatedUsage'>,
  ask: Ask,
  onEnded: () => void,
): StreamReply | undefined {
  const { talk, stream: { continuation } = {}, demand } = formats[ask.format]
  if (talk === undefined || continuation === undefined) return undefined
  const delivered = deliveredParts()
  let text = ''
  let isFinished = false
  let hasEnded = false

  /** @returns the number of parts that still go to the client; the others are beyond the hold */
  function note(parts: readonly Part[]): number {
    // An answer that has ended by itself is left alone.
    isFinished ||= parts.some(({ finishReason }) => finishReason !== undefined)
    for (const [index, part] of parts.entries()) {
      delivered.add(part)
      text += part.text
      hold.count([part])
      if (!isFinished && hold.isUsedUp) return index + 1
    }
    return parts.length
  }

  /** The end of the stream: as of another stream that has nothing but its end. */
  function endParts(): readonly Part[] {
    const writer = talk?.writer(ask)
    const rest = continuation?.(ask, delivered.soFar(), text)
    if (writer === undefined || rest === undefined) return []
    const usage = hold.estimatedUsage()
    const written = [...writer.write(endEvents(demand(ask).answers, usage)), ...writer.end()]
    return written
      .flatMap((part) => rest.write(part))
      .map((part) => (part.usage === undefined ? part : { ...part, usage }))
  }

  function readParts(receiver: Receiver<readonly Part[]>): void {
    if (hasEnded) return queueMicrotask(() => void receiver.receive(undefined))
    readTo(reply, {
      receive(parts) {
        if (parts === undefined) return receiver.receive(undefined)
        const count = note(parts)
        if (isFinished || !hold.isUsedUp) return receiver.receive(parts)
        let end: readonly Part[]
        try {
          end = endParts()
        } catch (error) {
          receiver.fail(error)
          return false
        }
        hasEnded = true
        onEnded()
        reply.cancel()
        if (receiver.receive([...parts.slice(0, count), ...end])) receiver.receive(undefined)
        return false
      },
      fail: (error) => receiver.fail(error),
    })
  }

  return readBy(reply, readParts)
}

function endEvents(choices: number, { promptTokens = 0, completionTokens = 0 }: Usage): readonly AnswerEvent[] {
  const finishes = Array.from({ length: Math.min(choices, choicesMax) }, (_, choice): AnswerEvent => ({
    kind: 'finish',
    choice,
    reason: 'length',
    raw: undefined,
  }))
  return [
    { kind: 'start', id: undefined, model: undefined, created: undefined },
    ...finishes,
    { kind: 'usage', counts: { prompt: promptTokens, completion: completionTokens }, own: undefined },
  ]
}
