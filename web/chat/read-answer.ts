import { readEvents } from '../api/event-stream.ts'
import type { AnswerError } from '../history/conversation.ts'
import { readChoice, type AnswerPiece } from './read-choice.ts'
import type { ToolReader } from './read-tools.ts'
import { thinkingSplitter, type SplitText } from './split-thinking.ts'

/** How an answer ended. */
export type AnswerEnd =
  | { readonly kind: 'complete' }
  /** By the person, in this tab or another. */
  | { readonly kind: 'stopped' }
  /** Without `[DONE]`, or with incomplete JSON. */
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failed'; readonly error: AnswerError }

/** Yields the pieces of an answer, streamed or whole, and returns how it ended. @throws the abort reason of `signal` */
export async function* readAnswer(response: Response, signal?: AbortSignal): AsyncGenerator<AnswerPiece, AnswerEnd> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  try {
    return yield* isStream ? readStream(response) : readWhole(response)
  } catch (error) {
    if (signal?.aborted === true) throw error
    return { kind: 'interrupted' } // The connection broke, or the body is invalid.
  }
}

async function* readStream(response: Response): AsyncGenerator<AnswerPiece, AnswerEnd> {
  const splitter = thinkingSplitter(),
    withTools = toolsAdder()
  let end: AnswerEnd | undefined
  let broken: { readonly why: unknown } | undefined
  try {
    for await (const { event, data } of readEvents(response)) {
      // Reads to the end, so that the connection can be reused.
      if (end !== undefined) continue
      const said = readChoice(data)
      if (event === 'stopped') end = { kind: 'stopped' }
      else if (data === '[DONE]') end = { kind: 'complete' }
      else if (said.kind === 'error') end = { kind: 'failed', error: said.error }
      else if (said.kind === 'piece') yield withSplitText(await withTools(said.piece), splitter.push(said.piece.text))
    }
  } catch (why) {
    broken = { why }
  }
  // Text held back by the splitter belongs to the answer, even if it broke off.
  yield withSplitText(nothing, splitter.end())
  if (end === undefined && broken !== undefined) throw broken.why
  return end ?? { kind: 'interrupted' }
}

async function* readWhole(response: Response): AsyncGenerator<AnswerPiece, AnswerEnd> {
  const said = readChoice(await response.text())
  if (said.kind === 'nothing') return { kind: 'interrupted' }
  if (said.kind === 'error') return { kind: 'failed', error: said.error }
  const splitter = thinkingSplitter()
  yield withSplitText(await toolsAdder()(said.piece), splitter.push(said.piece.text))
  yield withSplitText(nothing, splitter.end())
  return { kind: 'complete' }
}

const nothing: AnswerPiece = { text: '', reasoning: '' }

/** Creates a function that adds the calls of tools so far to pieces of an answer. Their reader loads on need. */
function toolsAdder(): (piece: AnswerPiece) => Promise<AnswerPiece> {
  let reader: ToolReader | undefined
  return async ({ called, ...piece }) => {
    if (called === undefined) return piece
    reader ??= (await import('./read-tools.ts')).toolReader()
    return { ...piece, tools: reader.push(called) }
  }
}

function withSplitText(piece: AnswerPiece, { text, reasoning, ...more }: SplitText): AnswerPiece {
  return { ...piece, ...more, text, reasoning: piece.reasoning + reasoning }
}
