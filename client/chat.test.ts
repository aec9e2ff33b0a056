import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../src/base/start-errors.ts'
import { clientHost } from '../src/cli/client-commands.ts'
import {
  fakeAccess,
  namedModel,
  runCommand,
  streamed,
  type CapturedOptions,
  type TestProvider,
} from '../src/cli/testing.ts'
import { UpstreamFailure } from '../src/service/failure.ts'
import { chatCommand } from './chat.ts'
import { imageType } from './chat/attachment.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-chat-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const png = Buffer.from('89504e470d0a1a0a0000000d', 'hex')

async function ask(
  argv: readonly string[],
  options: CapturedOptions = {},
  chat: NonNullable<TestProvider['chat']> = async () => streamed(['hel', 'lo']),
) {
  const bodies: unknown[] = []
  const access = fakeAccess([
    {
      id: 'groq',
      models: [namedModel('whisper-1'), namedModel('llama')],
      chat: (request, call) => (bodies.push(JSON.parse(new TextDecoder().decode(request.body))), chat(request, call)),
    },
  ])
  return { ...(await runCommand(chatCommand(clientHost(access)), argv, options)), bodies }
}

describe('svc chat, in this process', () => {
  test('asks the first chat model, and prints the answer', async () => {
    expect(await ask(['why', 'so?'])).toEqual({
      code: 0,
      out: 'hello\n',
      err: '',
      bodies: [{ model: 'llama', messages: [{ role: 'user', content: 'why so?' }], stream: true }],
    })
  })

  test('asks the model of --model', async () => {
    expect((await ask(['-m', 'LLAMA', 'why?'])).bodies).toMatchObject([{ model: 'LLAMA' }])
  })

  test('appends piped input to the question', async () => {
    expect((await ask(['Review this.'], { input: 'a diff\n' })).bodies).toMatchObject([
      { messages: [{ content: 'Review this.\n\na diff' }] },
    ])
    expect((await ask([], { input: ' only this ' })).bodies).toMatchObject([{ messages: [{ content: 'only this' }] }])
  })

  test('refuses an empty question', async () => {
    await expect(ask([])).rejects.toBeInstanceOf(UsageError)
    await expect(ask([], { input: '\n' })).rejects.toThrow('standard input was empty')
  })

  test('sends images', async () => {
    const file = join(folder, 'a.png')
    writeFileSync(file, png)
    expect((await ask(['--image', file, '--image=https://example.com/b.jpg', 'What is this?'])).bodies).toMatchObject([
      {
        messages: [
          {
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'image_url', image_url: { url: `data:image/png;base64,${png.toString('base64')}` } },
              { type: 'image_url', image_url: { url: 'https://example.com/b.jpg' } },
            ],
          },
        ],
      },
    ])
  })

  test('refuses files that are no images, do not exist or are too large', async () => {
    const text = join(folder, 'a.txt')
    writeFileSync(text, 'no picture')
    const large = join(folder, 'large.png')
    writeFileSync(large, png)
    truncateSync(large, 20 * 1024 * 1024 + 1)
    await expect(ask(['--image', text, 'x'])).rejects.toThrow(
      new UsageError(`--image: ${text} is not a PNG, JPEG, GIF or WebP image`),
    )
    await expect(ask(['--image', join(folder, 'none.png'), 'x'])).rejects.toThrow('none.png does not exist')
    await expect(ask(['--image', large, 'x'])).rejects.toThrow('has more than 20971520 bytes, allowed: at most these')
    await expect(ask(['--image', folder, 'x'])).rejects.toThrow('cannot be read (EISDIR)')
  })

  test('sends instructions, and files of text and pictures', async () => {
    const [text, picture] = [join(folder, 'b.txt'), join(folder, 'b.png')]
    writeFileSync(text, 'Grüße\n')
    writeFileSync(picture, png)
    expect((await ask(['--system', 'be short', '-f', text, '--file', picture, 'x'])).bodies).toMatchObject([
      {
        messages: [
          { role: 'system', content: 'be short' },
          { role: 'user', content: [{ text: `x\n\n${text}:\n\`\`\`\nGrüße\n\`\`\`` }, { type: 'image_url' }] },
        ],
      },
    ])
  })

  test('refuses files that are neither text nor pictures, or too large', async () => {
    const binary = join(folder, 'b.bin')
    writeFileSync(binary, Buffer.from([0x61, 0x00]))
    await expect(ask(['--file', binary, 'x'])).rejects.toThrow('is neither text in UTF-8 nor a PNG, JPEG, GIF or WebP')
    writeFileSync(binary, Buffer.from([0xff, 0xfe]))
    await expect(ask(['--file', binary, 'x'])).rejects.toThrow('is neither text in UTF-8 nor')
    writeFileSync(binary, 'x'.repeat(4 * 1024 * 1024 + 1))
    await expect(ask(['--file', binary, 'x'])).rejects.toThrow(
      'has more than 4194304 bytes, which is too much for text',
    )
    await expect(ask(['--file', '/dev/zero', 'x'])).rejects.toThrow('has more than 20971520 bytes')
  })

  test('goes on with a kept conversation, which scripts leave alone', async () => {
    const environment = { SVC_HOME: join(folder, 'home') }
    await expect(ask(['-c', 'x'], { environment })).rejects.toThrow('--continue: no conversation is kept yet')
    await ask(['in a script'], { environment })
    await expect(ask(['-c', 'x'], { environment })).rejects.toBeInstanceOf(UsageError)
    await ask(['-m', 'llama', '-s', 'be short', 'why?'], { environment, stdout: { isTerminal: true } })
    expect((await ask(['--continue', 'and?'], { environment })).bodies).toEqual([
      {
        model: 'llama',
        messages: [
          { role: 'system', content: 'be short' },
          { role: 'user', content: 'why?' },
          { role: 'assistant', content: 'hello' },
          { role: 'user', content: 'and?' },
        ],
        stream: true,
      },
    ])
  })

  test('prints one line of JSON, and nothing for an answer that was stopped', async () => {
    const { out } = await ask(['--json', 'x'])
    expect(out.endsWith('}\n')).toBe(true)
    expect(JSON.parse(out)).toEqual({
      text: 'hello',
      model: 'llama',
      provider: 'groq',
      usage: null,
      cost_usd: null,
      trail: '',
    })
    expect(await ask(['--json', 'x'], { signal: AbortSignal.abort('SIGINT') })).toMatchObject({ code: 130, out: '' })
    await expect(ask(['--json'])).rejects.toThrow('the question is missing')
  })

  test('prints the provider, on a terminal', async () => {
    expect((await ask(['x'], { stderr: { isTerminal: true } })).err).toMatch(/^llama from groq, \d+ ms\n$/)
  })

  test('escapes control sequences on a terminal only', async () => {
    const chat = async () => streamed(['a\u001b[2J\n'])
    expect((await ask(['x'], { stdout: { isTerminal: true } }, chat)).out).toBe('a\\u001b[2J\n')
    expect((await ask(['x'], {}, chat)).out).toBe('a\u001b[2J\n')
  })

  test('prints the errors of all providers when none answered', async () => {
    await expect(
      ask(['x'], {}, async () => {
        throw new UpstreamFailure('credential', 'the key was refused', { status: 401 })
      }),
    ).rejects.toThrow(/All providers failed for model 'llama'.*the key was refused/s)
    await expect(ask(['-m', 'unknown', 'x'])).rejects.toThrow(
      "The model 'unknown' was not found in any enabled provider",
    )
  })

  test('keeps the beginning of a cut answer', async () => {
    const access = fakeAccess([
      { id: 'groq', chat: async () => streamed(['hel'], new UpstreamFailure('cut', 'connection reset')) },
    ])
    const { stdout, run } = captured(access)
    await expect(run).rejects.toThrow('connection reset')
    expect(stdout()).toBe('hel\n')
  })

  test('stops with 130 on Ctrl-C, cleanly', async () => {
    const controller = new AbortController()
    const chat: TestProvider['chat'] = async () => {
      const reply = streamed(['hel', 'lo', 'never'])
      if (reply.kind !== 'stream') return reply
      let reads = 0
      return {
        ...reply,
        read: () => {
          if (++reads === 2) controller.abort('SIGINT')
          return reply.read()
        },
      }
    }
    expect(await ask(['x'], { signal: controller.signal }, chat)).toMatchObject({ code: 130, out: 'hel\n', err: '' })
  })
})

function captured(access: ReturnType<typeof fakeAccess>) {
  let text = ''
  const command = chatCommand(clientHost(access))
  const output = {
    write: (piece: string) => {
      text += piece
    },
    isTerminal: false,
    columns: 80,
    hasColour: false,
  }
  const run = command.run({
    flags: {
      model: undefined,
      system: undefined,
      file: [],
      image: [],
      continue: false,
      json: false,
      url: undefined,
      config: undefined,
    },
    positionals: ['x'],
    environment: {},
    stdin: { isTerminal: true, text: async () => '' },
    stdout: output,
    stderr: output,
    signal: new AbortController().signal,
  })
  return { stdout: () => text, run }
}

describe('svc chat --url', () => {
  const events = (...data: readonly string[]): Response =>
    new Response(data.map((each) => `data: ${each}\n\n`).join(''), {
      headers: { 'content-type': 'text/event-stream', 'x-svc-provider': 'groq', 'x-svc-model': 'llama-%E5%8D%83' },
    })
  const delta = (content: string): string => JSON.stringify({ choices: [{ index: 0, delta: { content } }] })

  /** @param place the path in `--url` */
  async function askService(
    argv: readonly string[],
    answer: (request: Request) => Response,
    options: CapturedOptions & { readonly place?: string } = {},
  ) {
    const requests: string[] = []
    const service = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        requests.push(`${request.method} ${new URL(request.url).pathname} ${await request.text()}`)
        return request.url.endsWith('/models')
          ? Response.json({ object: 'list', data: [{ id: 'text-embedding-3' }, { id: 'gpt-4o' }] })
          : answer(request)
      },
    })
    const access = {
      load: async () => {
        throw new Error('must not be read')
      },
      open: async () => {
        throw new Error('must not be opened')
      },
    }
    try {
      return {
        ...(await runCommand(
          chatCommand(clientHost(access)),
          ['--url', `http://127.0.0.1:${service.port}${options.place ?? ''}`, ...argv],
          options,
        )),
        requests,
      }
    } finally {
      await service.stop(true)
    }
  }

  test.each(['', '/', '/v1', '/v1/', '/behind/a/proxy'])('asks a running service at http://…%s', async (place) => {
    const prefix = place.startsWith('/behind') ? place : ''
    expect(
      await askService(['why?'], () => events(delta('hel'), delta('lo'), '[DONE]'), {
        place,
        stderr: { isTerminal: true },
      }),
    ).toMatchObject({
      code: 0,
      out: 'hello\n',
      err: expect.stringMatching(/^llama-千 from groq, /),
      requests: [
        `GET ${prefix}/v1/models `,
        `POST ${prefix}/v1/chat/completions ` +
          '{"model":"gpt-4o","messages":[{"role":"user","content":"why?"}],"stream":true,' +
          '"stream_options":{"include_usage":true}}',
      ],
    })
  })

  test('sends the token of SVC_TOKEN, and prints usage and trail as JSON, without reasoning', async () => {
    const tokens: (string | null)[] = []
    const answer = (request: Request): Response => {
      tokens.push(request.headers.get('x-session-token'))
      const thought = JSON.stringify({ choices: [{ index: 0, delta: { reasoning: 'hm' } }] })
      const usage = { prompt_tokens: 3, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 2 } }
      const response = events(thought, delta('hi'), JSON.stringify({ choices: [], usage }), '[DONE]')
      response.headers.set('x-svc-trail', 'groq;status=200;ms=5')
      return response
    }
    const { out } = await askService(['-m', 'x', '--json', 'y'], answer, { environment: { SVC_TOKEN: 'abc' } })
    expect(tokens).toEqual(['abc'])
    expect(JSON.parse(out)).toEqual({
      text: 'hi',
      model: 'llama-千',
      provider: 'groq',
      usage: { prompt_tokens: 3, completion_tokens: 5, reasoning_tokens: 2 },
      cost_usd: null,
      trail: 'groq;status=200;ms=5',
    })
  })

  test('prints its error', async () => {
    const refusal = () =>
      Response.json(
        { error: { message: 'Invalid or expired session', type: 'authentication_error', code: 'invalid_session' } },
        { status: 401 },
      )
    await expect(askService(['-m', 'x', 'why?'], refusal)).rejects.toThrow('Invalid or expired session')
    await expect(askService(['-m', 'x', 'why?'], () => new Response('<html>', { status: 502 }))).rejects.toThrow(
      /^http:\/\/127\.0\.0\.1:\d+\/v1 answered with status 502$/,
    )
  })

  test('reports a URL without a service', async () => {
    const closed = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    await closed.stop(true)
    await expect(
      runCommand(chatCommand(clientHost(fakeAccess([]))), ['--url', `http://127.0.0.1:${closed.port}`, 'why?']),
    ).rejects.toThrow(`no answer from http://127.0.0.1:${closed.port}/v1: `)
  })

  test('stops with 130 on Ctrl-C while the service is silent', async () => {
    const controller = new AbortController()
    const silent = (request: Request): Response => {
      request.signal.addEventListener('abort', () => left.resolve())
      setTimeout(() => controller.abort('SIGINT'), 50)
      const start = (stream: ReadableStreamDefaultController<Uint8Array>): void =>
        stream.enqueue(new TextEncoder().encode(`data: ${delta('hel')}\n\n`))
      return new Response(new ReadableStream({ start }), { headers: { 'content-type': 'text/event-stream' } })
    }
    const left = Promise.withResolvers<void>()
    const asked = askService(['-m', 'x', 'y'], silent, { signal: controller.signal })
    expect(await asked).toMatchObject({ code: 130, err: '' })
    await left.promise
  })

  test('detects an error event, and an answer without its end', async () => {
    await expect(
      askService(['-m', 'x', 'y'], () =>
        events(delta('a'), '{"error":{"message":"cut short","code":"provider_error"}}'),
      ),
    ).rejects.toThrow('cut short')
    await expect(askService(['-m', 'x', 'y'], () => events(delta('a')))).rejects.toThrow('the answer was cut off')
  })

  test('refuses an invalid URL', async () => {
    await expect(runCommand(chatCommand(clientHost(fakeAccess([]))), ['--url', 'localhost:8000', 'y'])).rejects.toThrow(
      new UsageError('--url: found localhost:8000, allowed: an http or https URL'),
    )
  })
})

test.each([
  ['image/png', png],
  ['image/jpeg', Buffer.from('ffd8ffe000104a46', 'hex')],
  ['image/gif', Buffer.from('GIF89a')],
  ['image/webp', Buffer.concat([Buffer.from('RIFF'), Buffer.from([0x0a, 0x0d, 0, 0]), Buffer.from('WEBPVP8 ')])],
  [undefined, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg">')],
  [undefined, Buffer.alloc(0)],
])('imageType knows %p by its first bytes', (type, bytes) => {
  expect(imageType(bytes)).toBe(type)
})
