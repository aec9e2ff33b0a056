import { describe, expect, test } from 'bun:test'
import Ajv from 'ajv/dist/2020'
import fc from 'fast-check'
import answerSchema from '../../../test/schemas/CreateChatCompletionResponse.schema.json'
import chunkSchema from '../../../test/schemas/CreateChatCompletionStreamResponse.schema.json'
import type { JsonObject } from '../../base/json-value.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { chunkReader } from './chunk.ts'
import { readCompletion } from './completion.ts'
import { partGatherer, completionToParts } from './whole-and-parts.ts'

const ajv = new Ajv({ strict: false, logger: false })
const isAnswer = ajv.compile(answerSchema)
const isChunk = ajv.compile(chunkSchema)
const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const parse = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes))

const absent = undefined
/** An object of which members may be absent, in any order. */
function members(model: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<JsonObject> {
  return fc
    .tuple(fc.record(model), fc.shuffledSubarray(Object.keys(model), { minLength: Object.keys(model).length }))
    .map(([record, names]) => Object.fromEntries(names.map((name) => [name, record[name]])))
}

const oddText = fc.constantFrom<unknown>('a', 'é', '', null, absent, 5, {}, [])
const oddTime = fc.constantFrom<unknown>(1_700_000_000, '1700000000', 1_700_000_000.25, -1, null, absent, 'now', {})
const oddCount = fc.constantFrom<unknown>(3, 0, '12', ' 7 ', -4, 2.5, null, absent, 'many', [], true, 1e400)
const oddIndex = fc.constantFrom<unknown>(0, 0, '0', null, absent, -1, 0.5, 'x')
const oddRole = fc.constantFrom<unknown>('assistant', 'model', 'ai', '', null, absent, 1)
const oddReason = fc.constantFrom<unknown>(
  'stop',
  'length',
  'tool_calls',
  null,
  '',
  absent,
  4,
  'STOP',
  'eos',
  'max_tokens',
  'tool_use',
  'SAFETY',
)
const oddContent = fc.constantFrom<unknown>('text', '', null, absent, [], ['a'], [{ type: 'text', text: 'b' }])
const oddRefusal = fc.constantFrom<unknown>('no', '', null, absent, false, {}, [])
const oddLogprob = fc.constantFrom<unknown>(-0.5, 0, '-0.25', null, absent, '-inf', [])
const oddBytes = fc.constantFrom<unknown>([104, 105], [], null, absent, 'hi', [1.5], ['a'], 7)
const token = { token: fc.constantFrom<unknown>('a', '', 5), logprob: oddLogprob, bytes: oddBytes }
const topToken = members({ ...token, x_kept: fc.constant(1) })
const topTokens = fc.oneof(fc.array(topToken, { maxLength: 2 }), fc.constantFrom<unknown>(null, absent, {}))
const oddToken = members({ ...token, top_logprobs: topTokens })
const oddTokens = fc.oneof(fc.array(oddToken, { maxLength: 2 }), fc.constantFrom<unknown>(null, absent, {}, 'x'))
const oddLogprobs = fc.oneof(
  members({ content: oddTokens, refusal: oddTokens, x_kept: fc.constant(1) }),
  fc.constantFrom<unknown>(null, absent, [], 'x', {}),
)
const oddArguments = fc.constantFrom<unknown>('{}', '', '{"a":1}', { a: 9 }, [1], null, absent, 5)
const detailName = fc.constantFrom(
  'cached_tokens',
  'audio_tokens',
  'text_tokens',
  'image_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'accepted_prediction_tokens',
  'rejected_prediction_tokens',
  'x_kept',
)
const oddDetails = fc.oneof(
  fc.dictionary(detailName, oddCount, { maxKeys: 4 }),
  fc.constantFrom<unknown>(null, absent, [], 'x', 4),
)
const oddUsage = fc.oneof(
  members({
    prompt_tokens: oddCount,
    completion_tokens: oddCount,
    total_tokens: oddCount,
    prompt_tokens_details: oddDetails,
    completion_tokens_details: oddDetails,
    x_kept: fc.constant(1),
  }),
  fc.constantFrom<unknown>(null, absent, {}, [], 'x', 3),
)
const noCalls = fc.constantFrom<unknown>(null, absent, [], '', false)
const head = { id: oddText, object: oddText, created: oddTime, model: oddText, x_kept: fc.constant('top') }

const wholeCall = members({
  id: oddText,
  type: fc.constantFrom<unknown>('function', 'FUNCTION', '', null, absent, 3),
  function: members({ name: fc.constant('f'), arguments: oddArguments, x_kept: fc.constant(1) }),
  index: oddIndex,
})
const text = { role: oddRole, content: oddContent, refusal: oddRefusal, x_kept: fc.constant(1) }
const wholeMessage = members({ ...text, tool_calls: fc.oneof(noCalls, fc.array(wholeCall, { maxLength: 2 })) })
const choice = { index: oddIndex, logprobs: oddLogprobs, finish_reason: oddReason, x_kept: fc.constant(1) }
const wholeChoice = members({ ...choice, message: wholeMessage })
const oddAnswer = members({ ...head, choices: fc.array(wholeChoice, { minLength: 1, maxLength: 2 }), usage: oddUsage })

const pieceFunction = members({ name: fc.constantFrom<unknown>('f', '', null, absent), arguments: oddArguments })
const piece = members({
  index: oddIndex,
  id: fc.constantFrom<unknown>('a', 'b', '', null, absent, 5),
  type: fc.constantFrom<unknown>('function', 'x', '', null, absent, 3),
  function: fc.oneof(pieceFunction, fc.constantFrom<unknown>(null, absent)),
  x_kept: fc.constant(1),
})
const delta = members({ ...text, tool_calls: fc.oneof(noCalls, fc.array(piece, { maxLength: 2 })) })
const nothing = fc.constantFrom<unknown>(null, absent)
const chunkChoice = members({ ...choice, delta: fc.oneof({ weight: 8, arbitrary: delta }, nothing) })
const chunkChoices = fc.oneof({ weight: 6, arbitrary: fc.array(chunkChoice, { maxLength: 2 }) }, nothing)
const oddChunk = members({ ...head, choices: chunkChoices, usage: oddUsage })

function expectValid(validate: typeof isAnswer, value: unknown): void {
  if (!validate(value)) throw new Error(`${ajv.errorsText(validate.errors)}: ${JSON.stringify(value)}`)
}

/** Counts how often `x_kept` stands in a value. */
function kept(value: unknown): number {
  return JSON.stringify(value).split('"x_kept"').length
}

describe('for any fields of a wrong type', () => {
  test('a complete answer is well-formed, and keeps unknown members', () => {
    fc.assert(
      fc.property(oddAnswer, (value) => {
        const read = readCompletion(encode(value))
        if (read.kind === 'error') throw new Error('an error')
        const answer = parse(read.body)
        expectValid(isAnswer, answer)
        expect(kept({ ...answer, usage: 0 })).toBe(kept({ ...parse(encode(value)), usage: 0 }))
        expect(readCompletion(read.body)).toMatchObject({ body: read.body })
        for (const part of completionToParts(read.body, { includeUsage: true })) expectValid(isChunk, parse(part.data))
      }),
      { numRuns: 1_000 },
    )
  })

  test('the parts of a stream are well-formed, and so is the answer gathered from them', () => {
    let gathered = 0
    fc.assert(
      fc.property(fc.array(oddChunk, { minLength: 1, maxLength: 4 }), (values) => {
        const read = chunkReader()
        const gatherer = partGatherer()
        const parts = values.map((value) => read(encode(value)))
        for (const part of [...parts, ...read.finish()]) {
          if (part.kind === 'error') throw new Error('an error')
          expectValid(isChunk, parse(part.data))
          gatherer.add(part)
        }
        expect(read.finish()).toEqual([])
        try {
          expectValid(isAnswer, parse(gatherer.finish()))
          gathered += 1
        } catch (error) {
          // A call that never got a name, or no choice at all.
          if (!(error instanceof MalformedAnswer)) throw error
        }
      }),
      { numRuns: 1_000 },
    )
    expect(gathered).toBeGreaterThan(300)
  })
})
