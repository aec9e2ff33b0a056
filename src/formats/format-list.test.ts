import { describe, expect, test } from 'bun:test'
import { formats } from './format-list.ts'
import { formatContract } from './format-testing.ts'
import { formatSamples } from './sample-testing.ts'

describe.each(Object.values(formats).map((format) => [format.name, format] as const))(
  'the format %s',
  (name, format) => {
    formatContract(format, formatSamples[name])
  },
)

test('waiting streams have a comment every 10 s, those of Messages a ping every 15 s, those of Gemini nothing', () => {
  const times = Object.values(formats).map(({ name, stream }) => [name, stream?.keepAlive?.everyMs] as const)
  expect(Object.fromEntries(times.filter(([, ms]) => ms !== undefined))).toEqual({
    chat: 10_000,
    responses: 10_000,
    completions: 10_000,
    messages: 15_000,
  })
})
