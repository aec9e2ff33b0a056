import { describe, expect, test } from 'bun:test'
import OpenAI, { toFile } from 'openai'
import { metric, parseEvents, parseJson, pick } from './client.ts'
import type { FaultUpstream, Script } from './fakes/fault-upstream.ts'
import { status } from './fakes/faults/status.ts'
import { event, framed, head, lastChunk, reply, streamHead } from './fakes/replies.ts'
import { answers, codeOf, headerNames, postTo, relayRig, streams } from './relay-rig.ts'

const quick = { timeouts: { connect_ms: 1_000, first_token_ms: 2_000, idle_ms: 300, attempt_ms: 1_500 } }
const rig = relayRig(70, quick)
/** The owner allows repeats of what may have been billed. */
const bold = relayRig(8, quick, { failover: { retry_billed: true } })
const { row, post, recordOf } = rig

const latin1 = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('latin1')
/** All bytes there are, and what looks like parts of a form. */
const binary = Buffer.concat([
  Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
  Buffer.from('\r\n--\r\nContent-Disposition: form-data; name="model"\r\n\r\nother\r\n'),
])
const picture = { created: 1, data: [{ b64_json: 'AAAA' }], usage: { input_tokens: 3, output_tokens: 4 } }

/** Answers with bytes of a type, in pieces. */
function media(contentType: string, ...pieces: readonly Uint8Array[]): Script {
  return (exchange) =>
    exchange.write(
      Buffer.concat([
        Buffer.from(head(200, { 'content-type': contentType, 'transfer-encoding': 'chunked' })),
        ...pieces.map((each) => framed(each)),
        lastChunk,
      ]),
    )
}

/** The pieces of a form, each with its headers, and its boundary. */
function formText(parts: readonly (readonly [string, string])[], boundary = 'svc-test'): string {
  const written = parts.map(([headers, content]) => `--${boundary}\r\n${headers}\r\n\r\n${content}\r\n`)
  return `${written.join('')}--${boundary}--\r\n`
}

const field = (name: string, content: string) => [`Content-Disposition: form-data; name="${name}"`, content] as const
const file = (name: string, content = 'RIFF') =>
  [`Content-Disposition: form-data; name="${name}"; filename="a.wav"\r\nContent-Type: audio/wav`, content] as const
const formType = { 'content-type': 'multipart/form-data; boundary=svc-test' }
const postForm = (path: string, text: string, headers: Readonly<Record<string, string>> = formType) =>
  post(path, Buffer.from(text, 'latin1'), headers)

describe('a form', () => {
  test('reaches each provider byte for byte but for the model’s part, with its boundary', async () => {
    const { model, upstreams } = row(status(503), answers({ text: 'Hi' }))
    const parts = (name: string) => [
      field('timestamp_granularities[]', 'word'),
      ['content-disposition: form-data; name=model\r\ncontent-type: text/plain; charset=utf-8', name] as const,
      file('file', latin1(binary)),
      field('timestamp_granularities[]', 'segment'),
    ]
    const contentType = 'Multipart/Form-Data; charset=utf-8; boundary="svc test?"'
    const sent = (name: string) => formText(parts(name), 'svc test?')
    const answer = await postForm('/v1/audio/transcriptions', sent(model), {
      'content-type': contentType,
      'x-own': '1',
    })
    expect([answer.status, answer.text, answer.by]).toEqual([200, '{"text":"Hi"}', 'b'])
    expect(upstreams.map(({ hits }) => latin1(hits[0]?.body))).toEqual([sent(model), sent(`vendor/${model}`)])
    for (const { hits } of upstreams)
      expect(hits[0]?.headers.get('content-type')).toBe('multipart/form-data; boundary="svc test?"')
    expect(headerNames(upstreams[1])).toEqual(['accept', 'accept-encoding', 'content-length', 'content-type', 'host'])
    expect(upstreams.map(({ faults }) => faults)).toEqual([[], []])
  })

  test.each(['ISO-8859-1', '"windows-1252"', 'US-ASCII'])('names the charset %s around ASCII', async (charset) => {
    const { model } = row(answers({ text: 'Hi' }))
    const head = `Content-Disposition: form-data; name="model"\r\nContent-Type: text/plain; charset=${charset}`
    const text = formText([[`${head}\r\nContent-Transfer-Encoding: 8bit`, model], file('file')])
    expect((await postForm('/v1/audio/transcriptions', text)).status).toBe(200)
  })

  test('without a model has the default one of its endpoint as its first part', async () => {
    const text = formText([file('image'), field('prompt', 'x')])
    const answer = await postForm('/v1/images/edits', text)
    expect([answer.status, codeOf(answer)]).toEqual([404, 'model_not_found'])
    expect(answer.text).toContain('gpt-image-1.5')
    const { model, upstreams } = row(answers(picture))
    await rig.service.configure(
      (await Bun.file(rig.service.file).text()).replace(/\}\s*$/, `,"aliases":{"gpt-image-1.5":"${model}"}}`),
    )
    while ((await metric(rig.service.url, 'svc_config_reloads_total{result="ok"}')) === 0) await Bun.sleep(5)
    expect((await postForm('/v1/images/edits', text)).status).toBe(200)
    expect(latin1(upstreams[0].hits[0]?.body)).toBe(
      formText([field('model', model), file('image'), field('prompt', 'x')]),
    )
  })

  test('that readers could understand in different ways is refused, and no provider is asked', async () => {
    const { model, hits } = row(answers({ text: 'Hi' }))
    const good = [file('file'), field('model', model)]
    const hostile: readonly (readonly [string, string, Readonly<Record<string, string>>?])[] = [
      ['invalid_form', ''],
      ['invalid_form', JSON.stringify({ model, file: 'x' }), { 'content-type': 'application/json' }],
      ['invalid_form', formText(good), {}],
      ['invalid_form', formText(good), { 'content-type': 'multipart/form-data' }],
      ['invalid_form', formText(good), { 'content-type': 'multipart/form-data; boundary=other' }],
      ['invalid_form', formText(good), { 'content-type': `multipart/form-data; boundary=${'x'.repeat(71)}` }],
      ['invalid_form', formText(good), { 'content-type': 'multipart/form-data; boundary=svc-test; boundary=a' }],
      ['invalid_form', formText(good).replace('--svc-test--\r\n', '')],
      ['invalid_form', formText(good).replace('--svc-test--', '--svc-test')],
      ['invalid_form', formText(good).slice(0, -30)],
      ['invalid_form', `text before\r\n${formText(good)}`],
      ['invalid_form', `${formText(good)}text after`],
      ['invalid_form', formText(good).replaceAll('\r\n', '\n')],
      ['invalid_form', formText([...good, ['x: '.padEnd(9_000, 'y'), 'z']])],
      ['invalid_form', formText([...good, ['X-Own: 1', 'z']])],
      ['invalid_form', formText([...good, file('file', '\n--svc-test\r\n')])],
      ['invalid_form', formText([...good, file('a', `--svc-test\r\n${field('model', 'other').join('\r\n\r\n')}`)])],
      ['invalid_form', formText(Array.from({ length: 1_001 }, () => field('model', model)))],
      ['missing_required_parameter', formText([file('file')])],
      ['missing_required_parameter', formText([field('model', model)])],
      ['missing_required_parameter', formText([])],
      ['invalid_value', formText([...good, field('model', model)])],
      ['invalid_value', formText([...good, field('model', 'other')])],
      ['invalid_value', formText([...good, field('stream', 'true'), field('stream', 'false')])],
      ['invalid_value', formText([file('file'), field('model', '')])],
      ['invalid_value', formText([file('file'), field('model', 'a\r\nb')])],
      ['invalid_value', formText([file('file'), field('model', 'x'.repeat(10_000))])],
      ['invalid_value', formText([file('file'), field('model', '\xff')])],
      ['invalid_type', formText([file('file'), file('model', model)])],
      [
        'invalid_type',
        formText([
          file('file'),
          ['Content-Disposition: form-data; name="model"\r\nContent-Type: text/plain; charset=utf-16', model],
        ]),
      ],
      [
        'invalid_value',
        formText([
          file('file'),
          ['Content-Disposition: form-data; name="model"\r\nContent-Type: text/plain; charset=ISO-8859-1', 'mod\xe8le'],
        ]),
      ],
      [
        'invalid_form',
        formText([
          file('file'),
          ['Content-Disposition: form-data; name="model"\r\nContent-Transfer-Encoding: base64', 'bQ=='],
        ]),
      ],
    ]
    for (const [index, [code, text, headers]] of hostile.entries()) {
      const answer = await postForm('/v1/audio/transcriptions', text, headers)
      expect([index, answer.status, codeOf(answer)]).toEqual([index, 400, code])
      expect(answer.headers.get('content-type')).toBe('application/json')
    }
    expect(hits()).toEqual([0, 0])
  })
})

describe('a transcript in JSON', () => {
  test.each([
    ['text', { text: 'Good\nmorning' }, 'Good\nmorning', 'text/plain; charset=utf-8'],
    ['text', '"Good morning"', 'Good morning', 'text/plain; charset=utf-8'],
    ['srt', '"1\\n00:00"', '1\n00:00', 'text/plain; charset=utf-8'],
    ['json', { text: 'Good' }, '{"text":"Good"}', 'application/json'],
  ])('for the format %s: %j', async (format, body, expected, contentType) => {
    const { model } = row(answers(body))
    const answer = await postForm(
      '/v1/audio/transcriptions',
      formText([field('model', model), field('response_format', format), file('file')]),
    )
    expect([answer.text, answer.headers.get('content-type')]).toEqual([expected, contentType])
  })
})

describe('the openai library', () => {
  test('draws, edits and varies pictures', async () => {
    const image = () => toFile(binary, 'cat.png', { type: 'image/png' })
    const { model, upstreams, hits } = row(status(429), answers(picture))
    const { images } = rig.client
    const drawn = await images.generate({ model, prompt: 'A cat' }).withResponse()
    expect(drawn.data.data?.[0]?.b64_json).toBe('AAAA')
    expect(await recordOf(drawn.response)).toMatchObject({ api: 'image_generations', promptTokens: 3 })
    const edited = await images.edit({ model, prompt: 'A dog', image: [await image(), await image()] })
    expect(edited.data).toHaveLength(1)
    expect((await images.createVariation({ model, image: await image() })).data).toHaveLength(1)
    expect(upstreams[1].hits.map(({ path }) => path)).toEqual([
      '/v1/deep/images/generations',
      '/v1/deep/images/edits',
      '/v1/deep/images/variations',
    ])
    expect(hits()).toEqual([3, 3])
    expectSameForm(upstreams, 1, model)
    expectSameForm(upstreams, 2, model)
    expect(latin1(upstreams[1].hits[1]?.body)).toContain(latin1(binary))
  })

  test('transcribes and translates, in JSON and as text', async () => {
    const { model, upstreams } = row(status(500), answers({ text: 'Good morning' }))
    const sound = await toFile(binary, 'speech.wav')
    const { transcriptions, translations } = rig.client.audio
    expect((await transcriptions.create({ model, file: sound })).text).toBe('Good morning')
    expect((await translations.create({ model, file: sound })).text).toBe('Good morning')
    expectSameForm(upstreams, 0, model)
    upstreams[1].use(media('text/plain; charset=utf-8', Buffer.from('1\n00:00 --> 00:01\nGood\n')))
    const subtitles: unknown = await transcriptions.create({ model, file: sound, response_format: 'srt' })
    expect(subtitles).toBe('1\n00:00 --> 00:01\nGood\n')
  })

  test('streams a transcription, whose events pass through', async () => {
    const events = [
      event({ type: 'transcript.text.delta', delta: 'Good' }),
      event({ type: 'transcript.text.delta', delta: ' morning' }),
      event({ type: 'transcript.text.done', text: 'Good morning', usage: { type: 'tokens', input_tokens: 5 } }),
    ]
    const { model } = row(status(500), streams(...events))
    const file = await toFile(binary, 'speech.wav')
    const { data, response } = await rig.client.audio.transcriptions
      .create({ model, file, stream: true })
      .withResponse()
    const types: string[] = []
    for await (const { type } of data) types.push(type)
    expect(types).toEqual(['transcript.text.delta', 'transcript.text.delta', 'transcript.text.done'])
    expect(await recordOf(response)).toMatchObject({ api: 'transcriptions', stream: true, promptTokens: 5 })
  })

  test('streams pictures, also large ones', async () => {
    const large = 'A'.repeat(3 * 1024 * 1024)
    const named = (value: { readonly type: string; readonly [member: string]: unknown }) =>
      `event: ${value.type}\n${event(value)}`
    const partial = named({ type: 'image_generation.partial_image', b64_json: large })
    const completed = named({
      type: 'image_generation.completed',
      b64_json: large,
      usage: { input_tokens: 1 },
    } as const)
    const { model } = row(status(500), streams(partial, completed, 'data: [DONE]\n\n'))
    const request = { model, prompt: 'A cat', stream: true, partial_images: 1 } as const
    const sizes: number[] = []
    for await (const { b64_json } of await rig.client.images.generate(request)) sizes.push(b64_json.length)
    expect(sizes).toEqual([large.length, large.length])
    const { text } = await post('/v1/images/generations', request)
    expect(text === `${partial}${completed}data: [DONE]\n\n`).toBe(true)
  })

  test('speaks', async () => {
    const { model, upstreams } = row(status(500), media('audio/mpeg', binary, binary))
    const request = { model, input: 'Hi', voice: 'alloy' } as const
    const response = await rig.client.audio.speech.create(request)
    expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.concat([binary, binary]))).toBe(true)
    expect(response.headers.get('content-type')).toBe('audio/mpeg')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(upstreams[1].hits[0]?.headers.get('accept')).toBe('*/*')
    expect(parseJson(latin1(upstreams[1].hits[0]?.body))).toEqual({ ...request, model: `vendor/${model}` })
    expect(await recordOf(response)).toMatchObject({ api: 'speech', status: 200, provider: `b-${model}` })
  })
})

/** Two providers got the same form, apart from the model. */
function expectSameForm(upstreams: readonly FaultUpstream[], index: number, model: string): void {
  const [first, second] = upstreams.map(({ hits }) => hits[index])
  expect(first?.headers.get('content-type')).toMatch(/^multipart\/form-data; boundary=\S+$/)
  expect(second?.headers.get('content-type')).toBe(first?.headers.get('content-type') ?? '')
  expect(latin1(second?.body)).toBe(latin1(first?.body).replace(`\r\n\r\n${model}\r\n`, `\r\n\r\nvendor/${model}\r\n`))
}

describe('speech', () => {
  const ask = (model: string, more: object = {}) =>
    post('/v1/audio/speech', { model, input: 'Hi', voice: 'a', ...more })

  test.each([
    ['audio/mpeg', 'audio/mpeg'],
    ['Audio/L16; rate=24000; channels=1; own="<b>"', 'audio/l16; rate=24000; channels=1'],
    ['application/octet-stream', 'application/octet-stream'],
  ])('of the type %s has the type %s', async (given, expected) => {
    const { model } = row(media(given, binary))
    const answer = await ask(model)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expected])
    expect(Buffer.from(answer.bytes).equals(binary)).toBe(true)
  })

  const unusable = [
    ['JSON', answers({ audio: 'AAAA' })],
    ['HTML', media('text/html', Buffer.from('<script>'))],
    ['a picture', media('image/svg+xml', Buffer.from('<svg onload="x">'))],
    ['no type', media('', binary)],
    ['nothing', media('audio/mpeg')],
    ['a stream of events', streams(event({ type: 'speech.audio.delta', audio: 'AAAA' }))],
    ['an audio without an end', unframed],
  ] as const

  test.each(unusable)('that is %s is not asked for again, since it may have been billed', async (_, script) => {
    const { model, hits } = row(script, media('audio/wav', binary))
    const answer = await ask(model)
    expect([answer.status, codeOf(answer), hits()]).toEqual([502, 'provider_error', [1, 0]])
    expect(answer.headers.get('x-should-retry')).toBe('false')
  })

  test.each(unusable)('that is %s is passed over where the owner allows it', async (_, script) => {
    const { model, hits } = bold.row(script, media('audio/wav', binary))
    const answer = await bold.post('/v1/audio/speech', { model, input: 'Hi', voice: 'a' })
    expect([answer.status, answer.by, hits()]).toEqual([200, 'b', [1, 1]])
    expect(Buffer.from(answer.bytes).equals(binary)).toBe(true)
  })

  test('that is an error is passed over', async () => {
    const refusal = answers({ error: { message: 'no', code: 'rate_limit_exceeded' } })
    const { model, hits } = row(refusal, media('audio/wav', binary))
    expect([(await ask(model)).by, hits()]).toEqual(['b', [1, 1]])
  })

  test('arrives as it is sent', async () => {
    const { promise: heard, resolve: hear } = Promise.withResolvers<void>()
    const { model } = row(async (exchange) => {
      await exchange.write(Buffer.concat([Buffer.from(audioHead), framed(binary)]))
      await heard
      await exchange.write(Buffer.concat([framed('end'), lastChunk]))
    })
    const response = await fetch(`${rig.service.url}/v1/audio/speech`, {
      method: 'POST',
      body: JSON.stringify({ model, input: 'Hi', voice: 'a' }),
    })
    const reader = response.body?.getReader()
    let length = (await reader?.read())?.value?.length ?? 0
    expect(length).toBeGreaterThan(0)
    hear()
    for (let more = await reader?.read(); more?.done === false; more = await reader?.read()) length += more.value.length
    expect(length).toBe(binary.length + 3)
    expect(await recordOf(response)).toMatchObject({ stream: true, status: 200 })
  })

  test.each([
    ['reset', (exchange: Parameters<Script>[0]) => exchange.reset()],
    ['closed', (exchange: Parameters<Script>[0]) => exchange.close()],
    ['silent', (exchange: Parameters<Script>[0]) => exchange.hang()],
  ] as const)(
    'that is %s after its first bytes never looks complete, and no other provider is asked',
    async (_, end) => {
      const { promise: heard, resolve: hear } = Promise.withResolvers<void>()
      const { model, hits } = row(
        async (exchange) => {
          await exchange.write(Buffer.concat([Buffer.from(audioHead), framed(binary)]))
          await heard
          await end(exchange)
        },
        media('audio/mpeg', binary),
      )
      const response = await fetch(`${rig.service.url}/v1/audio/speech`, {
        method: 'POST',
        body: JSON.stringify({ model, input: 'Hi', voice: 'a' }),
      })
      const reader = response.body?.getReader()
      expect((await reader?.read())?.value?.length).toBeGreaterThan(0)
      hear()
      const rest = async () => {
        while ((await reader?.read())?.done === false);
      }
      await expect(rest()).rejects.toThrow()
      expect(hits()).toEqual([1, 0])
      expect(await ended(response)).toMatchObject({ status: 200, error: 'provider_error' })
    },
  )

  test('whose caller leaves is aborted', async () => {
    const { model, upstreams } = row(async (exchange) => {
      await exchange.write(Buffer.concat([Buffer.from(audioHead), framed(binary)]))
      await exchange.hang()
    })
    const controller = new AbortController()
    const response = await fetch(`${rig.service.url}/v1/audio/speech`, {
      method: 'POST',
      body: JSON.stringify({ model, input: 'Hi', voice: 'a' }),
      signal: controller.signal,
    })
    await response.body?.getReader().read()
    controller.abort()
    await upstreams[0].hits[0]?.left
    expect(await ended(response)).toMatchObject({ status: 499, error: 'client_left' })
  })

  test('as events passes through', async () => {
    const events = [
      event({ type: 'speech.audio.delta', audio: 'AAAA' }),
      event({ type: 'speech.audio.done', usage: { input_tokens: 2, output_tokens: 3, total_tokens: 5 } }),
    ]
    const { model } = row(status(500), streams(...events))
    const answer = await ask(model, { stream_format: 'sse' })
    expect(answer.text).toBe(events.join(''))
    expect(await recordOf(answer)).toMatchObject({ promptTokens: 2, completionTokens: 3 })
  })

  test('above its limit of a request is refused before it is read', async () => {
    const answer = await post('/v1/audio/speech', { model: 'm', input: 'x'.repeat(9 * 1024 * 1024) })
    expect([answer.status, codeOf(answer)]).toEqual([413, 'request_too_large'])
    expect(answer.text).toContain('(the limit of /v1/audio/speech)')
  })
})

const audioHead = head(200, { 'content-type': 'audio/mpeg', 'transfer-encoding': 'chunked' })

/** An answer that ends with its connection: a cut would look the same. */
function unframed(exchange: Parameters<Script>[0]): void | Promise<void> {
  return exchange
    .write(Buffer.concat([Buffer.from(head(200, { 'content-type': 'audio/mpeg', connection: 'close' })), binary]))
    .then(() => exchange.close())
}

/** The record of a request that has ended, or is about to. */
async function ended(answer: { readonly headers: Headers }): Promise<unknown> {
  for (;;) {
    const record = await recordOf(answer)
    if (pick(record, 'status') !== undefined) return record
    await Bun.sleep(5)
  }
}

describe('a transcription', () => {
  const ask = (model: string, ...more: readonly (readonly [string, string])[]) =>
    postForm('/v1/audio/transcriptions', formText([file('file'), field('model', model), ...more]))

  test.each([
    ['text/vtt', 'text/vtt'],
    ['application/x-subrip; charset=utf-8', 'application/x-subrip; charset=utf-8'],
    ['text/plain', 'text/plain'],
  ])('as text of the type %s keeps it, and is not taken for events', async (given, expected) => {
    const { model } = row(media(given, Buffer.from('data: 1\n\n')))
    const answer = await ask(model, field('response_format', 'text'))
    expect([answer.status, answer.text]).toEqual([200, 'data: 1\n\n'])
    expect(answer.headers.get('content-type')).toBe(expected)
  })

  test('of silence is empty, once all providers say so', async () => {
    const silence: Script = (exchange) => exchange.write(reply(200, '', { 'content-type': 'text/plain' }))
    const { model, hits } = row(silence, silence)
    const answer = await ask(model, field('response_format', 'text'))
    expect([answer.status, answer.text, hits()]).toEqual([200, '', [1, 1]])
  })

  test('in JSON where text was asked for is given as text, and HTML is passed over', async () => {
    const { model, upstreams } = row(media('text/html', Buffer.from('<b>')), answers({ text: 'Hi' }))
    expect(await ask(model, field('response_format', 'text'))).toMatchObject({ text: 'Hi', by: 'b' })
    upstreams[1].use(media('text/plain', Buffer.from('Hi')))
    const answer = await ask(model)
    expect([answer.status, codeOf(answer)]).toEqual([502, 'provider_error'])
  })

  test('that a provider does not stream, although it was asked to, stays whole', async () => {
    const { model } = row(answers({ text: 'Hi' }))
    const answer = await ask(model, field('stream', 'true'))
    expect([answer.headers.get('content-type'), answer.text]).toEqual(['application/json', '{"text":"Hi"}'])
  })

  test('that is cut never looks complete', async () => {
    const { model } = row(async (exchange) => {
      await exchange.write(
        Buffer.concat([Buffer.from(streamHead), framed(event({ type: 'transcript.text.delta', delta: 'a' }))]),
      )
      exchange.close()
    })
    const answer = await ask(model, field('stream', 'true'))
    expect(pick(parseEvents(answer.text).at(-1)?.json, 'error', 'code')).toBe('provider_error')
  })
})

describe('pictures, each attempt at which is billed', () => {
  const ask = (model: string) => post('/v1/images/generations', { model, prompt: 'A cat' })

  test.each([
    ['hangs', (exchange: Parameters<Script>[0]) => exchange.hang(), 504],
    ['closes the connection', (exchange: Parameters<Script>[0]) => exchange.reset(), 502],
  ] as const)(
    'are not asked for again when a provider %s, since it may have made them',
    async (_, script, expected) => {
      const { model, hits } = row(script, answers(picture))
      const answer = await ask(model)
      expect([answer.status, codeOf(answer), hits()]).toEqual([expected, 'provider_error', [1, 0]])
      expect(answer.headers.get('x-should-retry')).toBe('false')
      expect(answer.text).toContain('no other provider was asked, since this one may have done the work')
    },
  )

  test('are not asked for again after an answer without pictures, unless the owner allows it', async () => {
    const { model, hits } = row(answers({ data: [{}] }), answers(picture))
    expect([(await ask(model)).status, hits()]).toEqual([502, [1, 0]])
    const again = bold.row((exchange) => exchange.reset(), answers(picture))
    const answer = await bold.post('/v1/images/generations', { model: again.model, prompt: 'A cat' })
    expect([answer.status, again.hits()]).toEqual([200, [1, 1]])
  })

  test.each([400, 401, 404, 429, 500, 503])('are asked for again after %d', async (code) => {
    const { model, hits } = row(status(code), answers(picture))
    expect([(await ask(model)).status, hits()]).toEqual([200, [1, 1]])
  })

  test('of several in a stream are all waited for', async () => {
    const completed = event({ type: 'image_generation.completed', b64_json: 'AAAA' })
    const { model } = row(async (exchange) => {
      await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(completed)]))
      await exchange.write(Buffer.concat([framed(completed), lastChunk]))
    })
    const { text } = await post('/v1/images/generations', { model, prompt: 'A cat', n: 2, stream: true })
    expect(text).toBe(completed.repeat(2))
  })
})

describe('an upload', () => {
  test('of 20 MB reaches the second provider unchanged', async () => {
    const large = Buffer.alloc(20_000_000, '\r\n--svc')
    const { model, upstreams } = row(status(500), answers({ text: 'Hi' }))
    const text = formText([file('file', '$'), field('model', model)])
    const [before = '', after = ''] = text.split('$')
    const answer = await post(
      '/v1/audio/transcriptions',
      Buffer.concat([Buffer.from(before), large, Buffer.from(after)]),
      formType,
    )
    expect(answer.status).toBe(200)
    const sent = upstreams[1].hits[0]?.body ?? new Uint8Array()
    expect(Buffer.from(sent.subarray(before.length, before.length + large.length)).equals(large)).toBe(true)
    expect(sent.length).toBe(before.length + large.length + after.length + 'vendor/'.length)
  })

  test('above limits.body_bytes is refused', async () => {
    const answer = await postTo(`${rig.service.url}/v1/audio/transcriptions`, Buffer.alloc(33 * 1024 * 1024), formType)
    expect([answer.status, codeOf(answer)]).toEqual([413, 'request_too_large'])
  })
})

test.each(['/v1/images/generations', '/v1/audio/speech'])('%s at the echo is a clear error', async (path) => {
  const answer = await post(path, { model: 'echo', prompt: 'x', input: 'x' })
  expect([answer.status, codeOf(answer)]).toEqual([501, 'not_supported'])
})

test.each(['/v1/images/edits', '/v1/images/variations', '/v1/audio/transcriptions', '/v1/audio/translations'])(
  '%s at the echo is a clear error',
  async (path) => {
    const parts = [file('file'), file('image'), field('prompt', 'x'), field('model', 'echo')]
    const answer = await postForm(path, formText(parts))
    expect([answer.status, codeOf(answer)]).toEqual([501, 'not_supported'])
  },
)

test('errors of the openai library are its own', async () => {
  const failure = await rig.client.audio.speech
    .create({ model: 'none', input: 'x', voice: 'alloy' })
    .catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(OpenAI.NotFoundError)
  expect(failure).toMatchObject({ code: 'model_not_found' })
})
