import type { AnswerEvent } from '../../formats/answer.ts'
import type { Ask, FormatName } from '../../formats/ask.ts'
import { formats } from '../../formats/format-list.ts'
import type { PartWriter, Talk } from '../../formats/format.ts'
import { embeddingsOf, readEmbeddingsElsewhere } from '../../formats/gemini/embed-elsewhere.ts'
import type { Part } from '../../formats/part.ts'
import { type Reply, watchable } from '../../formats/reply.ts'
import type { Service } from '../../service/service.ts'
import { throwIfError } from '../native.ts'
import { echoAnswer } from './answer.ts'
import { echoEmbeddings } from './embeddings.ts'

/** Answers requests of one format that was checked. */
interface EchoDialect {
  answer(ask: Ask, now: () => number): Reply
}

/** Every format with conversations, and embeddings. */
const dialects: { readonly [Name in FormatName]?: EchoDialect } = {
  ...Object.fromEntries(
    Object.values(formats).flatMap(({ name, talk }) => (talk === undefined ? [] : [[name, conversing(talk)]])),
  ),
  embeddings: { answer: echoEmbeddings },
  gemini_embed: { answer: echoElsewhere },
  gemini_batch_embed: { answer: echoElsewhere },
}

/** The formats that the echo answers. */
export const echoFormats: readonly string[] = Object.keys(dialects)

/**
 * A provider without an upstream, for trying svc and its clients without an API key (docs/protocols.md#the-echo). It
 * answers with the caller's last message, word by word, or with values that fit the caller's schemas.
 *
 * @param now Unix milliseconds
 */
export function echo(now: () => number = Date.now): Service<Ask, Reply> {
  return async function answerWithTheQuestion(ask): Promise<Reply> {
    const dialect = dialects[ask.format]
    if (dialect === undefined) throw new Error(`the echo does not answer ${ask.format}`)
    return dialect.answer(ask, now)
  }
}

/** Answers from the conversation of a request, for all formats alike. */
function conversing(talk: Talk): EchoDialect {
  return {
    answer(ask, now) {
      const pieces = echoAnswer(talk.read(ask, []), Math.floor(now() / 1000))
      return ask.stream ? streamed(pieces, talk.writer(ask)) : talk.writeWhole(pieces.flat(), ask)
    },
  }
}

/** Embeddings in Gemini's format. */
function echoElsewhere(ask: Ask): Reply {
  return throwIfError(readEmbeddingsElsewhere(echoEmbeddings(embeddingsOf(ask)).body, ask))
}

function streamed(pieces: readonly (readonly AnswerEvent[])[], writer: PartWriter): Reply {
  const remaining = written(pieces, writer)
  return watchable({
    kind: 'stream',
    isEmpty: false,
    async read() {
      return remaining.next().value
    },
    cancel() {
      remaining.return(undefined)
    },
  })
}

/** The parts of each piece that has some, then the last ones. */
function* written(
  pieces: readonly (readonly AnswerEvent[])[],
  writer: PartWriter,
): Generator<readonly Part[], undefined> {
  for (const piece of pieces) {
    const parts = writer.write(piece)
    if (parts.length > 0) yield parts
  }
  const parts = writer.end()
  if (parts.length > 0) yield parts
  return undefined
}
