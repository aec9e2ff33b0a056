import { describe, expect, test } from 'bun:test'
import { errorOf, question, type Answer } from '../client.ts'
import { makeCertificate } from '../fakes/certificates.ts'
import { faultUpstream, type Script } from '../fakes/fault-upstream.ts'
import { authority } from '../fakes/faults/connection.ts'
import { firstTokens } from '../fakes/faults/cut.ts'
import { good, goodText } from '../fakes/good.ts'
import { completion, errorReply, event, framed, head, lastChunk, reply } from '../fakes/replies.ts'
import { startRig } from '../rig.ts'
import { beforeGood, testOnRows } from './test-on-rows.ts'

const hostileHeaders = {
  'set-cookie': 'token=stolen; Path=/',
  'access-control-allow-origin': 'https://evil.example',
  'access-control-allow-credentials': 'true',
  location: 'https://evil.example/',
  'x-svc-provider': 'evil',
  'x-svc-trail': 'evil',
  'x-svc-anything': 'evil',
  'x-request-id': 'evil',
  'keep-alive': 'timeout=evil',
  'proxy-authenticate': 'evil',
  upgrade: 'evil',
  trailer: 'evil',
  te: 'evil',
  'strict-transport-security': 'max-age=99',
  'clear-site-data': '"*"',
  'alt-svc': 'h3="evil:443"',
  server: 'evil',
  'x-should-retry': 'evil',
}

function leaked(answer: Answer): readonly string[] {
  const forbidden = [
    'set-cookie',
    'access-control-allow-credentials',
    'location',
    'x-svc-anything',
    'proxy-authenticate',
    'upgrade',
    'trailer',
    'te',
    'strict-transport-security',
    'clear-site-data',
    'alt-svc',
    'server',
  ]
  const evil = [...answer.headers].filter(([, value]) => /evil|stolen/.test(value)).map(([name]) => name)
  return [...forbidden.filter((name) => answer.headers.has(name)), ...evil]
}

describe('a provider’s headers', () => {
  test.each([
    [
      'of a plain answer',
      (exchange) => exchange.write(reply(200, JSON.stringify(completion('hello')), hostileHeaders)),
      false,
    ],
    [
      'of a stream',
      async (exchange) => {
        await exchange.write(
          head(200, { ...hostileHeaders, 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' }),
        )
        await exchange.write(
          Buffer.concat([
            framed(firstTokens('a') + event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })),
            lastChunk,
          ]),
        )
      },
      true,
    ],
    ['of an error', (exchange) => exchange.write(errorReply(400, { message: 'no' }, hostileHeaders)), false],
    [
      'of a content policy error',
      (exchange) =>
        exchange.write(errorReply(400, { message: 'no', code: 'content_policy_violation' }, hostileHeaders)),
      false,
    ],
  ] satisfies readonly (readonly [string, Script, boolean])[])(
    '%s › are never passed on',
    async (_, script, stream) => {
      await using rig = await startRig([script])
      const answer = await rig.ask(stream ? { stream } : {}, { origin: 'http://localhost:3000' })
      expect(leaked(answer)).toEqual([])
    },
  )

  const heads: readonly (readonly [words: string, headers: Readonly<Record<string, string>>])[] = [
    ['a header of 1 MB', { 'x-large': 'a'.repeat(1_000_000) }],
    ['10,000 headers', Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`x-${index}`, 'a']))],
    ['a NUL in a header', { 'x-nul': 'a\0b' }],
    ['a bare line feed in a header', { 'x-line': 'a\nset-cookie: token=stolen' }],
    ['two lengths', { 'content-length': '3', 'Content-Length': '5' }],
  ]
  testOnRows(
    '%s › moves on',
    beforeGood(
      heads.map(([words, headers]) => [
        words,
        (exchange) =>
          exchange.write(
            head(200, { 'content-type': 'application/json', ...headers }) + JSON.stringify(completion('never')),
          ),
      ]),
    ),
    async (rig) => {
      const answer = await rig.ask()
      expect([answer.status, answer.content]).toEqual([200, goodText()])
      expect(leaked(answer)).toEqual([])
    },
    { every: { timeouts: { attempt_ms: 500 } } },
  )
})

describe('the provider’s key', () => {
  const key = 'key-for-tests-of-redaction'

  test.each([
    ['one failure', 500, false],
    ['a refusal of the key', 401, false],
    ['a policy refusal', 400, true],
  ] as const)('echoed in %s › reaches neither client nor log', async (_, code, isPolicy) => {
    const echoing: Script = (exchange) =>
      exchange.write(
        errorReply(code, {
          message: `Incorrect API key provided: ${exchange.hit.headers.get('authorization')} at http://127.0.0.1/v1`,
          ...(isPolicy ? { code: 'content_policy_violation' } : {}),
        }),
      )
    await using rig = await startRig([echoing], {
      each: { a: { api_key: '$TEST_KEY' } },
      environment: { TEST_KEY: key, SVC_LOG_LEVEL: 'debug' },
    })
    const answers = [await rig.ask(), await rig.askStream()]
    expect(rig.upstreams[0]?.hits[0]?.headers.get('authorization')).toBe(`Bearer ${key}`)
    for (const answer of answers) {
      expect(answer.text).not.toContain('of-redaction')
      expect(answer.text).not.toContain('127.0.0.1')
      expect(answer.status).not.toBe(401)
      expect(errorOf(answer)).toBeDefined()
    }
    await rig.service.stop()
    expect(rig.service.output).not.toContain('of-redaction')
  })

  test('echoed in an error event, early or late › does not reach the client', async () => {
    const echoing =
      (start: string): Script =>
      async (exchange) => {
        await exchange.write(head(200, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' }))
        await exchange.write(
          Buffer.concat([
            framed(start + event({ error: { message: `bad ${exchange.hit.headers.get('authorization') ?? ''}` } })),
            lastChunk,
          ]),
        )
      }
    for (const start of ['', firstTokens('a')]) {
      await using rig = await startRig([echoing(start)], {
        each: { a: { api_key: '$TEST_KEY' } },
        environment: { TEST_KEY: key },
      })
      const answer = await rig.askStream()
      expect(answer.text).not.toContain('of-redaction')
      expect(errorOf(answer)).toBeDefined()
    }
  })

  test.each([
    ['plain', 'correct-horse-battery-staple'],
    ['in the middle of a word', 'whale'],
  ])('that looks like words, %s › does not reach the client', async (_, words) => {
    const echoing: Script = (exchange) =>
      exchange.write(
        errorReply(401, {
          message: `Unknown key ${exchange.hit.headers.get('authorization')?.slice(7) ?? 'nothing'}s`,
        }),
      )
    await using rig = await startRig([echoing], {
      each: { a: { api_key: '$TEST_KEY' } },
      environment: { TEST_KEY: words, SVC_LOG_LEVEL: 'debug' },
    })
    const answer = await rig.ask()
    expect(errorOf(answer)?.message).toContain('Unknown key [redacted]s')
    await rig.service.stop()
    expect(answer.text + rig.service.output).not.toContain(words)
  })

  test('is sent only to its own provider, and the client’s to none', async () => {
    await using rig = await startRig([(exchange) => exchange.write(errorReply(500, { message: 'no' })), good()], {
      each: { a: { api_key: '$TEST_KEY' }, b: { headers: { 'x-extra': 'of-the-owner' } } },
      environment: { TEST_KEY: key },
    })
    await rig.ask(
      {},
      {
        authorization: 'Bearer key-of-the-client',
        'x-api-key': 'key-of-the-client',
        cookie: 'token=of-the-client',
        'x-session-token': 'of-the-client',
      },
    )
    const [toFirst, toSecond] = rig.upstreams.map(({ hits }) => hits[0])
    expect([toFirst?.headers.get('authorization'), toSecond?.headers.get('authorization')]).toEqual([
      `Bearer ${key}`,
      undefined,
    ])
    expect(toSecond?.headers.get('x-extra')).toBe('of-the-owner')
    for (const hit of [toFirst, toSecond]) expect(hit?.head).not.toContain('of-the-client')
  })
})

describe('a client', () => {
  test('cannot change where its request goes, by fields or by headers', async () => {
    await using elsewhere = await startRig([good()])
    const trap = elsewhere.upstreams[0]?.url ?? ''
    await using rig = await startRig([good({ name: 'a' })])
    const fields = {
      api_base: trap,
      base_url: trap,
      api_key: 'mine',
      fallbacks: ['other'],
      provider: { base_url: trap },
      mock_response: 'x',
      custom_llm_provider: 'openai',
      user_config: { base_url: trap },
    }
    const answer = await rig.ask(fields, {
      'x-svc-provider': 'other',
      'x-svc-base-url': trap,
      'x-svc-model': 'other',
      'x-portkey-config': JSON.stringify({ provider: trap }),
      'x-forwarded-host': '127.0.0.9',
      forwarded: 'host=evil.example',
    })
    expect([answer.status, answer.content]).toEqual([200, goodText({ name: 'a' })])
    expect(elsewhere.hits()).toEqual([0])
    const hit = rig.upstreams[0]?.hits[0]
    expect(hit?.head).not.toMatch(/x-svc|x-portkey|forwarded/i)
  })

  test('cannot make the service fetch an image', async () => {
    await using elsewhere = await startRig([good()])
    await using rig = await startRig([good()])
    const image = `${elsewhere.upstreams[0]?.url ?? ''}/image.png`
    expect(
      (await rig.ask({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: image } }] }] }))
        .status,
    ).toBe(200)
    expect(elsewhere.hits()).toEqual([0])
  })

  test('gets its request id with every outcome', async () => {
    await using rig = await startRig([good()])
    const ids = [
      await rig.ask({}, { 'x-request-id': 'mine-1' }),
      await rig.ask({ model: 'none' }, { 'x-request-id': 'mine-1' }),
      await rig.ask({}, { 'x-request-id': 'not ok' }),
    ].map(({ headers }) => headers.get('x-request-id'))
    expect(ids.slice(0, 2)).toEqual(['mine-1', 'mine-1'])
    expect(ids[2]).toMatch(/^[A-Za-z0-9._-]{1,128}$/)
  })
})

describe('TLS', () => {
  test('row 3 › a good certificate of a trusted authority › is accepted', async () => {
    const upstream = faultUpstream(good({ name: 'a' }), {
      tls: makeCertificate({ host: '127.0.0.1', issuer: authority }),
    })
    await using rig = await startRig([upstream, good()], { trusts: authority })
    const [plain, stream] = [await rig.ask(), await rig.askStream()]
    expect([plain.content, stream.content]).toEqual(Array(2).fill(goodText({ name: 'a' })))
    expect(rig.hits()).toEqual([2, 0])
  })

  test('row 3 › verification cannot be switched off from outside', async () => {
    const upstream = faultUpstream(good({ name: 'never' }), { tls: makeCertificate({ host: '127.0.0.1' }) })
    await using rig = await startRig([upstream, good()], { environment: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } })
    expect((await rig.ask(question())).content).toBe(goodText())
    expect(rig.hits()).toEqual([0, 1])
  })
})
