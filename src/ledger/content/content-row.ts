import { keptTexts, type KeptText } from '../../content/kept-text.ts'
import { secretRemover, type ProviderSecrets, type RemoveSecrets } from '../../content/remove-secrets.ts'
import type { TakenContent } from '../../content/taken-content.ts'
import type { Person } from '../../people/person.ts'
import { storedPerson } from '../use/charges.ts'

/** Bits of the column `flags`. */
export const contentFlags = { questionCut: 1, answerCut: 2 } as const

/** Most bytes of all content, compressed. */
export const contentBytesMax: number = 1024 ** 3

/** Rows that are deleted in one transaction. */
export const contentChunkRows = 200

/** Content of a request, ready to be stored. */
export interface ContentRow {
  readonly id: string
  /** Of the arrival of the request, Unix milliseconds. */
  readonly time: number
  /** 0: no key. */
  readonly line: number
  readonly person: Person | undefined
  /** Milliseconds. */
  readonly keepMs: number
  readonly flags: number
  /** Compressed by zstd. */
  readonly question: Uint8Array
  readonly answer: Uint8Array
}

export interface ContentRows {
  /** @throws {TooManySteps} */
  rowOf(taken: TakenContent, secrets: ProviderSecrets): ContentRow
}

/** Makes rows; secrets that stay the same are prepared once. */
export function contentRows(): ContentRows {
  let known: { readonly secrets: string; readonly remove: RemoveSecrets } | undefined

  return {
    rowOf(taken, secrets) {
      const name = JSON.stringify(secrets)
      if (known?.secrets !== name) known = { secrets: name, remove: secretRemover(secrets) }
      const { question, answer } = keptTexts(taken, known.remove)
      const { request, keepMs } = taken
      return {
        id: request.id,
        time: request.time,
        line: request.line ?? 0,
        person: storedPerson(request.person),
        keepMs,
        flags: (question.isCut ? contentFlags.questionCut : 0) | (answer.isCut ? contentFlags.answerCut : 0),
        question: compressed(question),
        answer: compressed(answer),
      }
    },
  }
}

function compressed({ bytes }: KeptText): Uint8Array {
  return Bun.zstdCompressSync(bytes)
}

/** The text of a column. */
export function contentText(value: unknown): string {
  if (!(value instanceof Uint8Array)) throw new TypeError('stored content has no bytes')
  return new TextDecoder().decode(Bun.zstdDecompressSync(value))
}
