import { describe, expect, test } from 'bun:test'
import { clientHost } from '../../src/cli/client-commands.ts'
import { commands } from '../../src/cli/commands.ts'
import { fakeAccess, namedModel, runCommand } from '../../src/cli/testing.ts'
import { completionCommand } from '../completion.ts'
import { complete, type NameSources } from './complete.ts'

const sources: NameSources = {
  models: async (typed) => ['llama-3', 'llama:8b', 'a/b', `of-${typed.get('--config') ?? 'default'}`],
  providers: async () => ['groq', 'openai'],
}
const names = commands.map(({ name }) => name)

describe('complete', () => {
  test.each<[string, readonly string[] | 'files']>([
    ['', [...names, 'help']],
    ['mo', ['models']],
    ['help mo', ['models']],
    ['unknown --', []],
    ['connect co', ['codex', 'continue', 'copilot']],
    ['keys ', ['make', 'list', 'show', 'rotate', 'end']],
    ['keys make ', []],
    ['audit ', ['verify']],
    ['sessions ', ['end']],
    ['completion ', ['bash', 'zsh', 'fish']],
    ['backup ', 'files'],
    ['chat ', []],
    ['models --j', ['--json']],
    ['models --no-j', ['--no-json']],
    ['models --no', ['--no-json']],
    [
      '-',
      [
        '--host',
        '--port',
        '--metrics-port',
        '--config',
        '--auth',
        '--workers',
        '--store',
        '--log-level',
        '--log-format',
        '--help',
        '--version',
      ],
    ],
    ['--log-level i', ['info']],
    ['serve --log-format=h', ['--log-format=human']],
    ['serve --workers ', ['auto']],
    ['chat --file ', 'files'],
    ['chat --file=no', 'files'],
    ['chat -m ll', ['llama-3', 'llama:8b']],
    ['chat --config x.json --model=of', ['--model=of-x.json']],
    ['chat --config=y.json -m of', ['of-y.json']],
    ['chat --json -m a', ['a/b']],
    ['keys make --providers groq,o', ['groq,openai']],
    ['keys make --models=llama-3,a', ['--models=llama-3,a/b']],
    ['chat --system ', []],
    ['chat -- --mo', []],
  ])('completes "svc %s"', async (line, expected) => {
    expect(await complete(commands, line.split(' '), sources)).toEqual(expected)
  })

  test('leaves out names that mean something to a shell or a terminal', async () => {
    const hostile = ['$(reboot)', '`id`', 'a b', 'a;b', "a'b", 'a\nb', 'a\u001b[2J', '~x', 'x*', '!!', '#x', 'good']
    const words = ['chat', '--model', '']
    expect(await complete(commands, words, { ...sources, models: async () => hostile })).toEqual(['good'])
  })

  test('bounds the names', async () => {
    const many = Array.from({ length: 5_000 }, (_, index) => `m${index}`)
    const words = ['chat', '--model', 'm']
    expect(await complete(commands, words, { ...sources, models: async () => many })).toHaveLength(2_000)
  })
})

describe('svc completion', () => {
  const access = fakeAccess([{ id: 'groq', models: [namedModel('llama')] }])
  const command = completionCommand(clientHost(access), commands)
  const run = (words: readonly string[], url: string, environment = {}) =>
    runCommand(command, ['bash', '--', ...words], { environment: { SVC_URL: url, ...environment } })

  test('has the models and providers of the running service, and sends it the token', async () => {
    const tokens: (string | null)[] = []
    const service = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        tokens.push(request.headers.get('x-session-token'))
        const model = { id: 'served', owned_by: 'there' }
        return Response.json({ data: [model, model, { id: '$(x)' }] })
      },
    })
    const { out } = await run(['chat', '-m', ''], service.url.href, { SVC_TOKEN: 'abc' })
    expect([out, tokens]).toEqual(['served\n', ['abc']])
    expect((await run(['keys', 'make', '--providers', ''], service.url.href)).out).toBe('there\n')
    await service.stop(true)
  })

  test('has the models and providers of the files when no service answers', async () => {
    const closed = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    await closed.stop(true)
    expect((await run(['chat', '-m', ''], closed.url.href)).out).toBe('llama\n')
    expect((await run(['keys', 'make', '--providers', ''], closed.url.href)).out).toBe('groq\n')
    const broken = { ...access, load: () => Promise.reject(new Error('invalid')) }
    expect(
      await runCommand(completionCommand(clientHost(broken), commands), ['zsh', '--', 'chat', '-m', ''], {
        environment: { SVC_URL: closed.url.href },
      }),
    ).toEqual({ code: 0, out: '', err: '' })
  })

  test('tells names of files from words, and refuses other shells', async () => {
    expect((await run(['backup', ''], 'http://127.0.0.1:1')).out).toBe(':files\n')
    await expect(runCommand(command, [])).rejects.toThrow('the shell is missing: bash, zsh, fish')
    await expect(runCommand(command, ['csh'])).rejects.toThrow('shell csh, allowed: bash, zsh, fish')
  })
})
