import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { logger, type LogFormat, type LogLevel } from './log.ts'
import type { RequestRecord } from './record.ts'
import { levelOf, requestLog } from './request-line.ts'

const time = Date.UTC(2026, 0, 2, 3, 4, 5, 6)
const record: RequestRecord = {
  time,
  id: 'request-1',
  model: 'gpt-4o-mini',
  api: 'chat',
  stream: true,
  status: 200,
  provider: 'openai',
  trail: [
    { name: 'groq', status: 429, failure: 'rate_limit', ms: 12.345 },
    { name: 'openai', status: 200, ms: 327 },
  ],
  firstTokenMs: 120.04,
  totalMs: 340,
  usage: { promptTokens: 12, completionTokens: 34, totalTokens: 46 },
}

async function lineOf(
  of: RequestRecord,
  format: LogFormat,
  level: LogLevel = 'info',
  hasColour = false,
): Promise<string> {
  let written = ''
  const log = logger({
    level,
    format,
    hasColour,
    write: async (text) => {
      written += text
    },
  })
  requestLog(log)(of)
  await log.flush()
  return written
}

describe('a request in the JSON log', () => {
  test('is one object with all known members', async () => {
    expect(await lineOf(record, 'json')).toBe(
      '{"time":"2026-01-02T03:04:05.006Z","level":"info","message":"request","id":"request-1","api":"chat",' +
        '"model":"gpt-4o-mini","provider":"openai","stream":true,"status":200,' +
        '"first_token_ms":120,"total_ms":340,"prompt_tokens":12,"completion_tokens":34,' +
        '"trail":[{"provider":"groq","status":429,"class":"rate_limit","ms":12.3},' +
        '{"provider":"openai","status":200,"ms":327}]}\n',
    )
  })

  test('names what attempts changed', async () => {
    const trail = [
      { name: 'a', status: 200, adapted: ['strict'], dropped: ['stop', 'seed'], adjusted: ['messages'], ms: 2 },
    ]
    expect(await lineOf({ ...record, trail }, 'json')).toContain(
      '"status":200,"adapted":["strict"],"dropped":["stop","seed"],"adjusted":["messages"],"ms":2}]',
    )
  })

  test('leaves out unknown members', async () => {
    const failed: RequestRecord = {
      time,
      id: 'r',
      model: '',
      api: 'chat',
      stream: false,
      status: 400,
      error: 'invalid_json',
      trail: [],
      totalMs: 0.26,
    }
    expect(JSON.parse(await lineOf(failed, 'json'))).toEqual({
      time: '2026-01-02T03:04:05.006Z',
      level: 'warn',
      message: 'request',
      id: 'r',
      model: '',
      api: 'chat',
      stream: false,
      status: 400,
      error: 'invalid_json',
      total_ms: 0.3,
      trail: [],
    })
  })

  test('has the limits that it met, with amounts of money in USD', async () => {
    const line = await lineOf(
      {
        ...record,
        waitedMs: 1_200.04,
        limits: [
          { met: 'waited', for: 'everyone', kind: 'at_once', limit: 8 },
          { met: 'passed_over', for: 'person', kind: 'usd', limit: 5e9, per: 'day', models: ['gpt-*'] },
        ],
      },
      'json',
    )
    expect(line).toContain(
      ',"waited_ms":1200,"limits":[{"met":"waited","for":"everyone","kind":"at_once","limit":8},' +
        '{"met":"passed_over","for":"person","kind":"usd","limit":5,"per":"day","models":["gpt-*"]}]',
    )
  })

  test('has at most 8 limits, with at most 8 models of each', async () => {
    const limit = {
      met: 'refused',
      for: 'team:\u001b',
      kind: 'tokens',
      models: new Array<string>(9).fill('m'),
    } as const
    const { limits } = JSON.parse(await lineOf({ ...record, limits: new Array<typeof limit>(9).fill(limit) }, 'json'))
    expect(limits).toEqual(new Array(8).fill({ ...limit, models: new Array<string>(8).fill('m') }))
  })

  test('is one parseable, bounded line for any input', async () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 20 }), fc.string({ maxLength: 300 }))
    await fc.assert(
      fc.asyncProperty(
        text,
        text,
        text,
        fc.double(),
        fc.integer({ min: 0, max: 2 ** 43 }),
        async (model, id, user, ms, at) => {
          const line = await lineOf(
            { ...record, time: at, model, id, user, totalMs: ms, trail: [{ name: model, failure: user, ms }] },
            'json',
          )
          expect(line.indexOf('\n')).toBe(line.length - 1)
          expect(JSON.parse(line).time).toBe(new Date(at).toISOString())
          expect(line.length).toBeLessThan(4_000)
        },
      ),
      { numRuns: 40 },
    )
  })
})

describe('a request in the human log', () => {
  const human = async (of: RequestRecord): Promise<string> => (await lineOf(of, 'human')).slice('12:03:04 '.length)

  test('shows the providers that failed before', async () => {
    expect(await human(record)).toBe(
      '200 gpt-4o-mini openai 340 ms (first 120 ms) 12+34 tokens  groq ✗ 429 → openai ✓\n',
    )
  })

  test('marks tokens that are estimated', async () => {
    const usage = { promptTokens: 12, completionTokens: 34, totalTokens: 46, isEstimated: true } as const
    expect(await human({ ...record, usage })).toContain(' ≈12+34 tokens ')
  })

  test('is short when the first provider answered', async () => {
    const { firstTokenMs: _, usage: __, ...rest } = record
    expect(await human({ ...rest, stream: false, trail: [{ name: 'openai', status: 200, ms: 3 }] })).toBe(
      '200 gpt-4o-mini openai 340 ms\n',
    )
  })

  test('shows the class of an attempt without status, and the error', async () => {
    const { provider: _, firstTokenMs: __, usage: ___, ...rest } = record
    expect(
      await human({
        ...rest,
        status: 502,
        error: 'provider_error',
        trail: [
          { name: 'groq', failure: 'connect', ms: 1 },
          { name: 'openai', status: 200, failure: 'malformed', ms: 1 },
        ],
      }),
    ).toBe('502 gpt-4o-mini – 340 ms provider_error  groq ✗ connect → openai ✗ malformed\n')
  })

  test('escapes control characters', async () => {
    expect(await human({ ...record, model: 'a\u001b[2J\n' })).toContain('200 a\\u001b[2J\\u000a openai')
  })

  test('is coloured on a terminal', async () => {
    expect(await lineOf(record, 'human', 'info', true)).toContain('\u001b[32m200\u001b[0m')
  })
})

describe('the level of a request', () => {
  test.each([
    [{ status: 200 }, 'info'],
    [{ status: 200, error: 'provider_error' }, 'error'],
    [{ status: 404, error: 'model_not_found' }, 'warn'],
    [{ status: 499 }, 'info'],
    [{ status: 502, error: 'provider_error' }, 'error'],
  ] as const)('%j is %s', (of, level) => {
    expect(levelOf(of)).toBe(level)
  })

  test('decides whether it is logged', async () => {
    expect(await lineOf(record, 'json', 'warn')).toBe('')
    expect(await lineOf({ ...record, status: 502 }, 'json', 'error')).not.toBe('')
  })
})
