import type { TakenAnswer, TakenContent } from '../../content/taken-content.ts'
import type { Part } from '../../formats/part.ts'
import { throughParts, type PartStream } from '../../formats/reply.ts'
import type { ContentTerms } from '../../limits/content-rules.ts'
import type { RequestRecord } from '../../observe/record.ts'
import type { Caller } from '../../people/person.ts'
import type { HandlerContext } from '../handler-context.ts'

/** The content of requests, while some is kept. */
export interface ContentIntake {
  /** `undefined`: no content of the caller is kept. */
  termsOf(caller: Caller): ContentTerms | undefined
  /**
   * Takes content of an ended request over, if the rules still name the caller.
   *
   * @param terms those at its arrival
   */
  keep(taken: PassedContent, caller: Caller, terms: ContentTerms): void
}

/** Content as it passed, without the terms. */
export type PassedContent = Omit<TakenContent, keyof ContentTerms>

/** A header with which a caller switches it off for a request. */
const offHeader = 'x-svc-no-content'
/** Characters of an answer's text; what is kept has fewer. */
const textMax = 300 * 1024
/** Bytes of events with other content than text. */
const otherBytesMax = 1024 * 1024
/** Pieces of text that are joined at a time. */
const piecesMax = 256

/** Begins to take the content of a request that has arrived; `undefined`: it is not kept. */
export function beginTaking(context: HandlerContext, intake: ContentIntake): TakingContent | undefined {
  const terms = intake.termsOf(context.caller)
  if (terms === undefined || context.request.headers.has(offHeader)) return undefined
  return new TakingContent(context, terms)
}

/** Takes the content of one request while it is answered. */
export class TakingContent {
  readonly #context: HandlerContext
  readonly #terms: ContentTerms
  #question: Uint8Array | undefined
  #answer: TakenAnswer | undefined
  /** Measures what the answer has, when it is a stream. */
  #stream: (() => TakenAnswer) | undefined

  constructor(context: HandlerContext, terms: ContentTerms) {
    this.#context = context
    this.#terms = terms
  }

  /** The body of the checked request. It is held until the end. */
  asked(body: Uint8Array): void {
    this.#question = body
  }

  /** The answer. @param contentType absent: JSON */
  answered(bytes: Uint8Array, contentType = ''): void {
    this.#answer = { kind: 'whole', sent: { bytes, contentType } }
  }

  /** The same stream, of which the answer is taken as it passes. */
  passing(stream: PartStream): PartStream {
    const { contentType } = stream
    const taking = contentType === undefined ? takingText() : takingMedia(contentType)
    this.#stream = taking.taken
    return throughParts(stream, (parts) => parts.forEach(taking.add))
  }

  /** Hands the content over. */
  end(request: RequestRecord, intake: ContentIntake): void {
    if (this.#question === undefined) return
    const answer = this.#stream?.() ?? this.#answer
    const { time, id, line, person } = request
    const { headers } = this.#context.request
    const passed: PassedContent = {
      request: { time, id, line, person },
      question: { bytes: this.#question, contentType: headers.get('content-type') ?? '' },
      ...(answer === undefined ? {} : { answer }),
    }
    intake.keep(passed, this.#context.caller, this.#terms)
  }
}

interface Taking {
  add(part: Part): void
  taken(): TakenAnswer
}

function takingText(): Taking {
  const pieces: (string | Uint8Array)[] = []
  let texts: string[] = []
  let characters = 0
  let otherBytes = 0
  let isCut = false

  function join(): void {
    if (texts.length > 0) pieces.push(texts.join(''))
    texts = []
  }

  return {
    add({ text, isBeyondText, data }) {
      if (isCut) return
      characters += text.length
      if (isBeyondText) otherBytes += data.length
      isCut = characters > textMax || otherBytes > otherBytesMax
      if (isCut) return
      if (text !== '') texts.push(text)
      if (texts.length >= piecesMax || isBeyondText) join()
      // A copy: the data may be a small part of bytes that are no longer needed.
      if (isBeyondText) pieces.push(data.slice())
    },
    taken() {
      join()
      return { kind: 'parts', pieces, isCut }
    },
  }
}

function takingMedia(contentType: string): Taking {
  const hash = new Bun.CryptoHasher('sha256')
  let length = 0
  return {
    add({ data }) {
      hash.update(data)
      length += data.length
    },
    taken: () => ({ kind: 'media', contentType, length, sha256: hash.digest('hex') }),
  }
}
