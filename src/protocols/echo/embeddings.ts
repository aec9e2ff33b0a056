import { fnv1a } from '../../base/fnv1a.ts'
import { embeddingsReply } from '../../formats/embeddings/answer.ts'
import type { EmbeddingsRequest } from '../../formats/embeddings/request.ts'
import { listOf, numberOf, objectOf, parseJsonBytes } from '../../formats/exact-json.ts'
import type { WholeReply } from '../../formats/reply.ts'
import { UpstreamFailure } from '../../service/failure.ts'

const dimensionsDefault = 1_536
const dimensionsMax = 4_096
const numbersMax = 4 * 1024 * 1024
/** Coordinates that one word changes. */
const coordinates = 4

/**
 * Answers with a unit vector for each input, made of the hashes of its words: the same text always has the same vector,
 * and texts with common words have similar ones. A word counts as a token.
 *
 * @throws {UpstreamFailure} `bad_request` for more than 4,096 dimensions, or 4 Mi numbers in all
 */
export function echoEmbeddings(request: EmbeddingsRequest): WholeReply {
  const { input, dimensions } = objectOf(parseJsonBytes(request.body))
  const size = numberOf(dimensions) ?? dimensionsDefault
  if (size > dimensionsMax) throw new UpstreamFailure('bad_request', `the echo has at most ${dimensionsMax} dimensions`)
  if (size * request.inputs > numbersMax)
    throw new UpstreamFailure('bad_request', `the echo has at most ${numbersMax} numbers in an answer`)
  const inputs = inputsOf(input).map(wordsOf)
  const promptTokens = inputs.reduce((sum, words) => sum + words.length, 0)
  const vectors = inputs.map((words) => vectorOf(words, size))
  return embeddingsReply(vectors, request, { promptTokens, completionTokens: 0, totalTokens: promptTokens })
}

/** An array of tokens is one input. */
function inputsOf(input: unknown): readonly unknown[] {
  return Array.isArray(input) && numberOf(input[0]) === undefined ? listOf(input) : [input]
}

/** The words of a text in lower case, tokens as they are, and other input as one word. */
function wordsOf(input: unknown): readonly string[] {
  if (Array.isArray(input)) return listOf(input).map((token) => JSON.stringify(token))
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? (text === '' ? [] : [text])
}

function vectorOf(words: readonly string[], size: number): readonly number[] {
  const vector = Array.from({ length: size }, () => 0)
  for (const word of words) {
    let hash = fnv1a(word)
    for (let nth = 0; nth < coordinates; nth++) {
      hash = mix(hash)
      vector[hash % size] = (vector[hash % size] ?? 0) + (mix(hash) % 2 === 0 ? 1 : -1)
    }
  }
  const length = Math.hypot(...vector)
  // Words may cancel each other out, in few dimensions.
  return length === 0 ? vector.map((_, index) => (index === 0 ? 1 : 0)) : vector.map((value) => value / length)
}

/** Spreads the bits of an unsigned 32-bit number (the end of MurmurHash3, after an addition). */
function mix(hash: number): number {
  let mixed = hash + 0x9e3779b9
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
