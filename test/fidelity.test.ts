import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chat, pick, question, rawChat, rawConnection } from './client.ts'
import { faultUpstream } from './fakes/fault-upstream.ts'
import { status } from './fakes/faults/status.ts'
import { good, goodText } from './fakes/good.ts'
import { startUpstreamProcess } from './fakes/process.ts'
import { completion, reply } from './fakes/replies.ts'
import { provider, startService } from './harness.ts'
import { startRig, type Rig } from './rig.ts'

/** Sends a body and returns the body at the upstream. */
async function relayed(rig: Rig, text: string): Promise<string> {
  rig.upstreams[0]?.forget()
  const answer = await chat(rig.service.url, text)
  if (answer.status !== 200) throw new Error(answer.text)
  return new TextDecoder().decode(rig.upstreams[0]?.hits[0]?.body)
}

const messages = '"messages":[{"role":"user","content":"hello"}]'

describe('what the provider gets', () => {
  const twenty = (text: (index: number) => string): string =>
    Array.from({ length: 20 }, (_, index) => text(index)).join('')
  const table: readonly (readonly [string, string])[] = [
    ['white space', `\n {\t"model" :\r\n "MODEL" , ${messages} } \n`],
    ['an integer of 16 digits', `{"model":"MODEL",${messages},"seed":9007199254740993}`],
    ['a number of 40 digits', `{"model":"MODEL",${messages},"x":1234567890123456789012345678901234567890.10}`],
    ['the spelling of numbers', `{"model":"MODEL",${messages},"temperature":1.0,"top_p":1E-0,"x":-0,"y":1e400}`],
    [
      'forty unknown fields',
      `{${twenty((index) => `"x${index}":{"n":[${index},null]},`)}"model":"MODEL",${messages}` +
        `${twenty((index) => `,"y${index}":"${index}"`)}}`,
    ],
    ['the order of fields', `{"z":1,"stream":false,${messages},"a":2,"model":"MODEL","m":3}`],
    ['unknown fields that come twice', `{"x":1,"model":"MODEL","x":2,${messages},"x":3}`],
    [
      'unicode escapes',
      `{"model":"MODEL","messages":[{"role":"user","content":"\\u00e9\\ud83d\\ude00\\u0000\\/\\u2028 é 😀"}]}`,
    ],
    ['a lone surrogate escape', `{"model":"MODEL","messages":[{"role":"user","content":"\\ud800"}]}`],
    ['escaped field names', `{"model":"MODEL","m\\u0065ssages":[{"role":"user","content":"x"}]}`],
    [
      'fields of messages and tools',
      '{"model":"MODEL","messages":[{"role":"user","content":"x","name":"n","cache_control":{"type":"ephemeral"}}],' +
        '"tools":[{"type":"function","function":{"name":"f","parameters":{"$ref":"#"}},"x":1}],' +
        '"metadata":{"model":"not this one"}}',
    ],
    [
      'content parts of other kinds',
      '{"model":"MODEL","messages":[{"role":"user","content":[' +
        '{"type":"video_url","video_url":{"url":"https://x/a.mp4"}},{"text":1,"type":"thinking"},' +
        '{"type":"image_url","image_url":"https://x/a.png"}]},' +
        '{"role":"tool","content":null,"tool_call_id":"c"}],"reasoning_effort":"default"}',
    ],
    [
      'names that are traps elsewhere',
      `{"__proto__":{"a":1},"constructor":1,"model":"MODEL",${messages},"toString":null}`,
    ],
  ]

  describe('as the caller wrote it', () => {
    let rig: Rig, renamed: Rig
    beforeAll(async () => {
      const each = { a: { models: [{ name: 'm', upstream: 'vendor/m-2026' }] } }
      ;[rig, renamed] = await Promise.all([startRig([good()]), startRig([good()], { each })])
    })
    afterAll(async () => {
      for (const each of [rig, renamed]) await each[Symbol.asyncDispose]()
    })

    test.each(table)('%s', async (_, template) => {
      expect(await relayed(rig, template.replace('MODEL', 'm'))).toBe(template.replace('MODEL', 'm'))
    })

    test.each(table)('%s › but for the model, whose name is the provider’s', async (_, template) => {
      const text = template.replace('MODEL', 'vendor/m-2026')
      expect(await relayed(renamed, template.replace('MODEL', 'm'))).toBe(text)
    })
  })

  test('every provider in turn gets the same bytes', async () => {
    await using rig = await startRig([status(500), status(429), good()])
    const text = `{ "model":"m", ${messages}, "seed":9007199254740993 }`
    await chat(rig.service.url, text)
    expect(rig.upstreams.map(({ hits }) => new TextDecoder().decode(hits[0]?.body))).toEqual([text, text, text])
  })

  test('a content part that has no translation › passes over the provider that needs one', async () => {
    await using rig = await startRig([good(), good()], { each: { a: { protocol: 'anthropic' } } })
    const part = '{"type":"video_url","video_url":{"url":"https://x/a.mp4"}}'
    const text = `{"model":"m","messages":[{"role":"user","content":[${part}]}]}`
    const answer = await chat(rig.service.url, text)
    expect([answer.status, answer.headers.get('x-svc-provider'), rig.hits()]).toEqual([200, 'b', [0, 1]])
    expect(new TextDecoder().decode(rig.upstreams[1]?.hits[0]?.body)).toBe(text)
  })

  test('the reasoning of earlier answers › as each brand takes it, the rest as the caller wrote it', async () => {
    const each = {
      a: { brand: 'mistral' },
      b: { brand: 'deepseek' },
      c: { brand: 'cerebras' },
      d: { reasoning_history: 'keep', brand: 'groq' },
    }
    await using rig = await startRig([status(500), status(500), status(500), good()], { each })
    const call = '{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}'
    const thought = (member: string) => `{"role":"assistant","content":null,${member}"tool_calls":[${call}]}`
    const text = (first: string, second: string) =>
      `{ "model":"m","messages":[{"role":"user","content":"q"}, ${thought(first)},` +
      `{"role":"tool","content":null,"tool_call_id":"c"},${second}],"seed":9007199254740993}`
    const answer = '"role":"assistant","content":"a"'
    const sent = text('"reasoning_content":"\\u00e9", ', `{${answer}}`)
    expect((await chat(rig.service.url, sent)).status).toBe(200)
    expect(rig.upstreams.map(({ hits }) => new TextDecoder().decode(hits[0]?.body))).toEqual([
      text(' ', `{${answer}}`).replace('"seed"', '"random_seed"'),
      text('"reasoning_content":"\\u00e9", ', `{"reasoning_content":" ",${answer}}`),
      text('"reasoning":"\\u00e9", ', `{${answer}}`),
      sent,
    ])
  })

  test('overrides are forced, defaults fill in, and nothing else changes', async () => {
    await using rig = await startRig([good()], {
      each: { a: { overrides: { temperature: 0.5, top_k: 40 }, defaults: { seed: 1, top_p: 0.9 } } },
    })
    const sent: unknown = JSON.parse(
      await relayed(rig, `{"model":"m",${messages},"temperature":1.5,"seed":9007199254740993}`),
    )
    expect(sent).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'hello' }],
      temperature: 0.5,
      seed: Number('9007199254740993'),
      top_k: 40,
      top_p: 0.9,
    })
    expect(await relayed(rig, `{"model":"m",${messages},"temperature":1.5,"seed":9007199254740993}`)).toContain(
      '9007199254740993',
    )
  })

  test('a body in many small pieces arrives whole', async () => {
    await using rig = await startRig([good()])
    const body = JSON.stringify(question({ x: 'é'.repeat(5_000) }))
    const bytes = new TextEncoder().encode(rawChat(body, { connection: 'close' }))
    const client = rawConnection(rig.service.port, '')
    for (let at = 0; at < bytes.length; at += 997) {
      client.socket.write(bytes.subarray(at, at + 997))
      await Bun.sleep(1)
    }
    expect(await client.response).toStartWith('HTTP/1.1 200')
    expect(new TextDecoder().decode(rig.upstreams[0]?.hits[0]?.body)).toBe(body)
  })
})

describe('what the client gets', () => {
  test('unknown fields, number spellings and escapes of a provider survive', async () => {
    const text = JSON.stringify(completion('héllo')).replace(
      '"usage":{',
      '"x":12345678901234567890,"y":"\\u00e9","service_tier":null,"usage":{"cost":0.00010,',
    )
    await using rig = await startRig([(exchange) => exchange.write(reply(200, text))])
    const answer = await rig.ask()
    for (const kept of ['12345678901234567890', '"\\u00e9"', '"service_tier":null', '0.00010'])
      expect(answer.text).toContain(kept)
  })

  test('known required fields that a provider leaves out are filled', async () => {
    await using rig = await startRig([
      (exchange) => exchange.write(reply(200, '{"choices":[{"message":{"content":"hi"}}]}')),
    ])
    const { json } = await rig.ask()
    expect(json).toMatchObject({
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi', refusal: null }, logprobs: null }],
    })
    expect([
      typeof pick(json, 'id'),
      typeof pick(json, 'created'),
      typeof pick(json, 'model'),
      typeof pick(json, 'choices', 0, 'finish_reason'),
    ]).toEqual(['string', 'number', 'string', 'string'])
  })
})

describe('a request with an image of 20 MB', () => {
  const image = `data:image/png;base64,${'iVBORw0KGgo'.repeat(1_900_000)}`
  const large = JSON.stringify(
    question({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'what is this?' },
            { type: 'image_url', image_url: { url: image } },
          ],
        },
      ],
    }),
  )

  test('arrives byte for byte, after a failover too', async () => {
    await using rig = await startRig([status(500), good()])
    expect((await chat(rig.service.url, large)).content).toBe(goodText())
    for (const { hits } of rig.upstreams) expect(Buffer.from(hits[0]?.body ?? []).equals(Buffer.from(large))).toBe(true)
  })

  test('does not delay other requests', async () => {
    await using large = await startUpstreamProcess()
    const small = faultUpstream(good())
    await using service = await startService({
      providers: [provider('a', large.url('good'), ['large']), provider('b', small.url)],
    })
    for (let round = 0; round < 50; round++) await chat(service.url, question())
    const sender = Bun.spawn(
      [process.execPath, new URL('./fakes/large-sender.ts', import.meta.url).pathname, service.url, '6'],
      { stdout: 'pipe' },
    )
    const times: number[] = []
    while (sender.exitCode === null) {
      const started = performance.now()
      await chat(service.url, question())
      times.push(performance.now() - started)
      await Bun.sleep(1)
    }
    small.stop()
    expect((await sender.stdout.text()).trim().split('\n')).toEqual(Array(6).fill('200'))
    // The promise is 10 ms; this process and others share the processors.
    expect(times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.9)] ?? Number.NaN).toBeLessThan(25)
  }, 20_000)
})
