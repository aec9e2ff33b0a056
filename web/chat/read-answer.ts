import { readEvents } from '../api/event-stream.ts'
import type { AnswerError } from '../history/conversation.ts'
import { readChoice, type AnswerPiece } from './read-choice.ts'
import { thinkingSplitter } from './split-thinking.ts'

/** How an answer ended. */
export type AnswerEnd =
  | { readonly kind: 'complete' }
  /** It broke off: no `[DONE]` came, or no end of the JSON. */
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failed'; readonly error: AnswerError }

/**
 * The pieces of an answer as they come, a stream of chunks or a whole; at last how it ended. @throws what `signal` was
 * aborted with
 */
export async function* readAnswer(response: Response, signal?: AbortSignal): AsyncGenerator<AnswerPiece, AnswerEnd> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  try {
    return yield* isStream ? readStream(response) : readWhole(response)
  } catch (error) {
    if (signal?.aborted === true) throw error
    return { kind: 'interrupted' } // The connection broke, or what came over it is no answer.
  }
}

async function* readStream(response: Response): AsyncGenerator<AnswerPiece, AnswerEnd> {
  const splitter = thinkingSplitter()
  let end: AnswerEnd | undefined
  let broken: { readonly why: unknown } | undefined
  try {
    for await (const { data } of readEvents(response)) {
      // The rest is read nevertheless: a connection that is read to its end can be used again.
      if (end !== undefined) continue
      const said = readChoice(data)
      if (data === '[DONE]') end = { kind: 'complete' }
      else if (said.kind === 'error') end = { kind: 'failed', error: said.error }
      else if (said.kind === 'piece') yield toldApart(said.piece, splitter.push(said.piece.text))
    }
  } catch (why) {
    broken = { why }
  }
  // What was held back belongs to the answer, however it ends.
  yield toldApart(nothing, splitter.end())
  if (end === undefined && broken !== undefined) throw broken.why
  return end ?? { kind: 'interrupted' }
}

async function* readWhole(response: Response): AsyncGenerator<AnswerPiece, AnswerEnd> {
  const said = readChoice(await response.text())
  if (said.kind === 'nothing') return { kind: 'interrupted' }
  if (said.kind === 'error') return { kind: 'failed', error: said.error }
  const splitter = thinkingSplitter()
  yield toldApart(said.piece, splitter.push(said.piece.text))
  yield toldApart(nothing, splitter.end())
  return { kind: 'complete' }
}

const nothing: AnswerPiece = { text: '', reasoning: '' }

function toldApart(
  piece: AnswerPiece,
  { text, reasoning }: { readonly text: string; readonly reasoning: string },
): AnswerPiece {
  return { ...piece, text, reasoning: piece.reasoning + reasoning }
}
