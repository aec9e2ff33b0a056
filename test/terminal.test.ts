import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pick } from './client.ts'

const root = join(import.meta.dir, '..')
const home = mkdtempSync(join(tmpdir(), 'svc-terminal-'))
const last = join(home, 'chat', 'last.json')

/** Requests of the upstream, by their messages. */
const asked: unknown[] = []
const stopped = Promise.withResolvers<void>()

/** Answers by the last question: with reasoning, with control sequences, without an end, or with the question. */
const upstream = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const body: unknown = await request.json()
    const messages = pick(body, 'messages')
    asked.push(messages)
    const question = String(pick(Array.isArray(messages) ? messages.at(-1) : undefined, 'content'))
    request.signal.addEventListener('abort', () => stopped.resolve())
    const encoder = new TextEncoder()
    const chunk = (delta: object, finish: string | null = null): Uint8Array => {
      const choices = [{ index: 0, delta, finish_reason: finish }]
      const data = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices }
      return encoder.encode(`data: ${JSON.stringify(data)}\n\n`)
    }
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        if (question.includes('slow')) {
          controller.enqueue(chunk({ role: 'assistant', content: 'it begins ' }))
          return
        }
        if (question.includes('think')) controller.enqueue(chunk({ reasoning_content: 'let me see' }))
        controller.enqueue(chunk({ content: question.includes('escape') ? 'a\u001b]0;owned\u0007b' : `<${question}>` }))
        controller.enqueue(chunk({}, 'stop'))
        controller.enqueue(encoder.encode('data: [DONE]\n\n'))
        controller.close()
      },
    })
    return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
  },
})

beforeAll(() => {
  const provider = { id: 'local', base_url: `http://127.0.0.1:${upstream.port}/v1`, models: ['m', 'other'] }
  writeFileSync(join(home, 'providers.json'), JSON.stringify({ providers: [provider] }))
})
afterAll(async () => {
  await upstream.stop(true)
  rmSync(home, { recursive: true, force: true })
})

const command = (args: readonly string[]): string[] => ['sh', join(root, 'bin', 'svc'), 'chat', ...args]
const environment = { PATH: process.env['PATH'] ?? '', SVC_HOME: home, TERM: 'xterm-256color' }

/** `svc chat` at a pseudo terminal of 100 columns. */
function chatAtTerminal(...args: readonly string[]) {
  let shown = ''
  let from = 0
  let wake = (): void => undefined
  const decoder = new TextDecoder()
  const child = Bun.spawn(command(args), {
    cwd: home,
    env: environment,
    terminal: {
      cols: 100,
      rows: 30,
      data(_terminal, bytes) {
        shown += decoder.decode(bytes, { stream: true })
        wake()
      },
    },
  })
  const ended = child.exited.then(() => wake())
  return {
    child,
    type: (text: string) => void child.terminal?.write(text),
    /** Waits for a text after those waited for before. @returns what was shown up to it */
    async until(text: string): Promise<string> {
      for (;;) {
        const found = shown.indexOf(text, from)
        if (found !== -1) {
          const part = shown.slice(from, found + text.length)
          from = found + text.length
          return part
        }
        if (child.exitCode !== null) throw new Error(`svc chat ended with ${child.exitCode} after ${shown}`)
        const more = Promise.withResolvers<void>()
        wake = more.resolve
        await Promise.race([more.promise, ended])
      }
    },
    async end(): Promise<number> {
      const code = await child.exited
      child.terminal?.close()
      return code
    },
  }
}

const prompt = '> \u001b[3G'

describe('svc chat at a terminal', () => {
  test('is a conversation, with commands, pastes, history and answers that can be stopped', async () => {
    const { type, until, end } = chatAtTerminal()
    await until('/help lists the commands')
    await until(prompt)
    type('first\r')
    await until('<first>')
    await until('m from local')
    await until(prompt)

    type('\u001b[A again\r')
    await until('<first again>')
    await until(prompt)
    expect(asked.at(-1)).toEqual([
      { role: 'user', content: 'first' },
      { role: 'assistant', content: '<first>' },
      { role: 'user', content: 'first again' },
    ])

    type('/new\r')
    await until('a new conversation')
    type('/system be short\r')
    await until('instructions are set')
    type('/model other\r')
    await until('model: other')
    writeFileSync(join(home, 'notes.txt'), 'one\n')
    type('/file notes.txt\r')
    await until('a file goes with the next question')
    await until(prompt)
    type('\u001b[200~two\nlines\u001b[2J\n\u001b[201~')
    await until('[pasted text 1: 2 lines]')
    type(' end\r')
    await until('other from local')
    expect(asked.at(-1)).toEqual([
      { role: 'system', content: 'be short' },
      { role: 'user', content: 'two\nlines[2J end\n\nnotes.txt:\n```\none\n```' },
    ])

    await until(prompt)
    type('slow\r')
    await until('it begins')
    type('\u0003')
    await until('stopped')
    await stopped.promise
    await until(prompt)

    type('"""\r')
    await until('…')
    type('a\\\r')
    await until('…')
    type('"""\r')
    await until('<a\\>')
    await until(prompt)
    expect(pick(asked.at(-1), 4)).toEqual({ role: 'assistant', content: 'it begins ' })

    type('think\r')
    expect(await until('<think>')).toContain('\u001b[2mlet me see\u001b[0m')
    await until(prompt)
    type('escape\r')
    expect(await until('a\\u001b]0;owned\\u0007b')).not.toContain('\u001b]0;')
    await until(prompt)
    type('/nwe\r')
    await until('did you mean /new?')
    type('/save talk.md\r')
    await until('written to talk.md')
    await until(prompt)
    type('\u0004')
    expect(await end()).toBe(0)
    expect(readFileSync(join(home, 'talk.md'), 'utf8')).toStartWith(
      '# Conversation with other\n\n## Instructions\n\nbe short',
    )
    expect(statSync(join(home, 'talk.md')).mode & 0o777).toBe(0o600)
    expect(statSync(last).mode & 0o777).toBe(0o600)
  }, 20_000)

  test('goes on with the last conversation, and ends by Ctrl-C twice, with the terminal as it was', async () => {
    const { child, type, until, end } = chatAtTerminal('--continue')
    await until('other, after 5 answers')
    await until(prompt)
    type('x'.repeat(50))
    await until('x'.repeat(50))
    child.terminal?.resize(40, 30)
    // The cursor is in the second line.
    await until('\u001b[13G')
    type('\u0003')
    await until(prompt)
    type('half a question\u0003')
    await until('half a question')
    await until(prompt)
    type('\u0003')
    await until('Ctrl-C again')
    await until(prompt)
    type('\u0003')
    await until('\u001b[?2004l')
    expect(await end()).toBe(130)
  }, 20_000)
})

test('svc chat in a pipe asks once, adds its input, goes on when asked to, and prints JSON', async () => {
  async function run(input: string, ...args: readonly string[]) {
    const child = Bun.spawn(command(args), {
      cwd: home,
      env: environment,
      stdin: new Blob([input]),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
    return { out, err, code: await child.exited }
  }
  const before = readFileSync(last, 'utf8')
  expect(await run('of this\n', 'think', 'well')).toEqual({ out: '<think well\n\nof this>\n', err: '', code: 0 })
  expect(readFileSync(last, 'utf8')).toBe(before)

  const json = await run('', '--continue', '--json', 'more?')
  expect(JSON.parse(json.out)).toEqual({
    text: '<more?>',
    model: 'other',
    provider: 'local',
    usage: null,
    cost_usd: null,
    trail: expect.stringMatching(/^local;status=200;ms=\d+$/),
  })
  expect(pick(JSON.parse(readFileSync(last, 'utf8')), 'messages', 11)).toEqual({
    role: 'assistant',
    content: '<more?>',
  })

  writeFileSync(last, '{"messages":7}')
  const refused = await run('', '--continue', 'x')
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(`${last} cannot be read`)])
}, 20_000)
