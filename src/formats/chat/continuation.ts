import type { AnswerEvent } from '../answer.ts'
import { numberOf, textOf } from '../exact-json.ts'
import type { Continuation } from '../format.ts'
import { logprobsOfEnd } from '../logprobs-end.ts'
import type { Part } from '../part.ts'
import { chatAnswerReader } from './answer-reader.ts'
import { answerWriter } from './answer-writer.ts'
import type { ChunkHead } from './chunk.ts'
import { parseChecked } from './read-event.ts'

/** Reads the head of a chunk. */
function headOf(part: Part): ChunkHead {
  const { id, created, model } = parseChecked(part.data)
  return { id: textOf(id) ?? '', created: numberOf(created) ?? 0, model: textOf(model) ?? '' }
}

/** Starts the rest of a stream. All its parts have the head of `first` (failover.md row 39). */
export function chatContinuation(first: Part | undefined): Continuation {
  const head = first === undefined ? undefined : headOf(first)
  const reader = chatAnswerReader()
  const writer = answerWriter({ model: head?.model ?? '', usage: 'beside', continued: head })
  return {
    write(part, text = part.text) {
      if (part.data.length === 0) return [part]
      const events = reader.read(parseChecked(part.data))
      const parts = writer.write(text === part.text ? events : events.flatMap((event) => endOf(event, text)))
      return parts.map((written) => (written.usage === undefined ? written : { ...written, usage: part.usage }))
    },
  }
}

/** Shortens a text event, and its log probabilities, to `text`: the end that is new to the client. */
function endOf(event: AnswerEvent, text: string): readonly AnswerEvent[] {
  if (event.kind === 'text' && event.choice === 0) return [{ ...event, text }]
  if (event.kind === 'logprobs' && event.choice === 0) return logprobsOfEnd(event, text)
  return [event]
}
