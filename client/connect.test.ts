import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtemp, readdir, readFile, rm, stat, writeFile, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../src/base/start-errors.ts'
import { clientHost } from '../src/cli/client-commands.ts'
import { runCommand, type CapturedOptions } from '../src/cli/testing.ts'
import { connectCommand } from './connect.ts'
import { clientGuides } from './connect/client-settings.ts'

const stops: (() => void)[] = []
let home = ''

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-connect-'))
})
afterEach(async () => {
  for (const stop of stops.splice(0)) stop()
  await rm(home, { recursive: true })
})

const models = [
  { id: 'text-embedding-1', object: 'model' },
  { id: 'chat-1', object: 'model', context: 64_000 },
  { id: 'chat-2', object: 'model' },
]

/** A service with these models. With a token, it requires it. @param hasAgents agents may sign in */
function service(data: unknown = models, token?: string, hasAgents = false) {
  const asked: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname, origin } = new URL(request.url)
      const { headers } = request
      if (pathname.startsWith('/.well-known/'))
        return Response.json(hasAgents ? { device_authorization_endpoint: `${origin}/oauth/device` } : {})
      asked.push(pathname)
      if (pathname === '/health') return new Response('ok')
      const sent = headers.get('authorization')?.replace('Bearer ', '') ?? headers.get('x-session-token')
      if (token !== undefined && sent !== token)
        return Response.json({ error: { message: 'Sign in first' } }, { status: 401 })
      return Response.json({ object: 'list', data })
    },
  })
  stops.push(() => void server.stop(true))
  return { url: `http://127.0.0.1:${server.port}`, asked }
}

const run = (argv: readonly string[], environment: Record<string, string> = {}) => {
  const options: CapturedOptions = { environment: { HOME: home, ...environment } }
  return runCommand(connectCommand(clientHost()), argv, options)
}

describe('svc connect', () => {
  test.each(clientGuides.map(({ name }) => name))(
    '%s › prints address and model, and asks the service',
    async (name) => {
      const { url, asked } = service()
      const { code, out, err } = await run([name, '--url', `${url}/v1/`])
      expect([code, asked]).toEqual([0, ['/health', '/v1/models']])
      expect(out).toContain(url)
      expect(out).not.toContain('v1/v1')
      expect(out).toContain('chat-1')
      expect(err).toBe('svc: model chat-1; others with --model: text-embedding-1, chat-2\n')
      expect(await readdir(home)).toEqual([])
    },
  )

  test.each(clientGuides.map(({ name }) => name))('%s › never prints the token', async (name) => {
    const { url } = service(models, 'secret-of-test')
    const { out, err } = await run([name, '--url', url, '-m', 'chat-2'], { SVC_TOKEN: 'secret-of-test' })
    expect(out).toContain('SVC_TOKEN')
    expect(out + err).not.toContain('secret-of-test')
  })

  test('claude-code › prints its settings', async () => {
    const { url } = service()
    const { out } = await run(['claude-code', '--url', url])
    expect(out).toBe(`Claude Code with chat-1 at ${url}

${home}/.claude/settings.json:

{
  "env": {
    "ANTHROPIC_BASE_URL": "${url}",
    "ANTHROPIC_AUTH_TOKEN": "any",
    "ANTHROPIC_MODEL": "chat-1",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL": "chat-1",
    "CLAUDE_CODE_MAX_CONTEXT_TOKENS": "64000"
  }
}

claude
`)
  })

  test('claude-code › prints three ways where agents may sign in', async () => {
    const { url } = service(models, undefined, true)
    const { out } = await run(['claude-code', '--url', url])
    for (const words of [
      '"ANTHROPIC_AUTH_TOKEN": "any"',
      `"forceLoginGatewayUrl": "${url}"`,
      `svc login ${url}\nsvc connect claude-code --url ${url}`,
    ])
      expect(out).toContain(words)
    expect((await run(['codex', '--url', url])).out).toContain(`svc login ${url}\nsvc connect codex --url ${url}`)
  })

  test('uses the sign-in of this machine, and stores no token elsewhere', async () => {
    const { url } = service(models, 'svc_at_of-test', true)
    const tokens = { access: 'svc_at_of-test', refresh: 'r', expires: Date.now() + 3_600_000 }
    await mkdir(join(home, '.svc'))
    await writeFile(join(home, '.svc', 'logins.json'), JSON.stringify({ [url]: tokens }))
    const { out } = await run(['claude-code', '--url', url])
    expect(out).toContain(`"apiKeyHelper": "svc token --url ${url}"`)
    expect(out).not.toMatch(/"ANTHROPIC_AUTH_TOKEN"|svc_at_/)
    await run(['codex', '--url', url, '--write'])
    const written = await readFile(join(home, '.codex', 'config.toml'), 'utf8')
    expect(Bun.TOML.parse(written)).toMatchObject({
      model_providers: { svc: { auth: { command: 'svc', args: ['token', '--url', url] } } },
    })
    const before = await readFile(join(home, '.codex', 'config.toml'), 'utf8')
    await run(['codex', '--url', url, '--write'])
    expect(await readFile(join(home, '.codex', 'config.toml'), 'utf8')).toBe(before)
  })

  test('codex › writes its settings, keeps the others and a copy, for the owner alone', async () => {
    const { url } = service()
    const folder = join(home, '.codex')
    const file = join(folder, 'config.toml')
    const mine = '# mine\nmodel = "gpt"\n\n[tui]\ntheme = "dark"\n'
    await mkdir(folder)
    await writeFile(file, mine, { mode: 0o644 })
    const { code, out } = await run(['codex', '--url', url, '--write', '--model', 'chat-2'])
    expect(code).toBe(0)
    expect(Bun.TOML.parse(await readFile(file, 'utf8'))).toEqual({
      model: 'chat-2',
      model_provider: 'svc',
      tui: { theme: 'dark' },
      model_providers: { svc: { name: 'svc', base_url: `${url}/v1`, wire_api: 'responses' } },
    })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const copies = (await readdir(folder)).filter((name) => name.endsWith('.bak'))
    expect(copies).toHaveLength(1)
    expect(await readFile(join(folder, copies[0] ?? ''), 'utf8')).toBe(mine)
    expect(out).toBe(`${file} changed; as it was: ${join(folder, copies[0] ?? '')}\ncodex\n`)
    const again = await run(['codex', '--url', url, '--write', '--model', 'chat-2'])
    expect(again.out).toBe(`${file} has these settings already\ncodex\n`)
    expect(await readdir(folder)).toHaveLength(2)
  })

  test('writes the token where a client needs it in a file, and its name elsewhere', async () => {
    const { url } = service(models, 'secret-of-test')
    const written = async (name: string, file: string) => {
      const { out } = await run([name, '--url', url, '--write', '-m', 'chat-1'], { SVC_TOKEN: 'secret-of-test' })
      expect(out).not.toContain('secret-of-test')
      expect((await stat(join(home, file))).mode & 0o777).toBe(0o600)
      return readFile(join(home, file), 'utf8')
    }
    expect(await written('claude-code', '.claude/settings.json')).toContain('"ANTHROPIC_AUTH_TOKEN": "secret-of-test"')
    expect(await written('aider', '.aider.conf.yml')).toContain('openai-api-key: "secret-of-test"')
    expect(await written('continue', '.continue/svc.yaml')).toContain('apiKey: "secret-of-test"')
    expect(await written('codex', '.codex/config.toml')).toContain('env_key = "SVC_TOKEN"')
    expect(await written('opencode', '.config/opencode/opencode.json')).toContain('"{env:SVC_TOKEN}"')
  })

  test('finds the folders that the variables of the clients name', async () => {
    const { url } = service()
    const variables = {
      CODEX_HOME: join(home, 'x'),
      CLAUDE_CONFIG_DIR: join(home, 'y'),
      XDG_CONFIG_HOME: join(home, 'z'),
    }
    for (const name of ['codex', 'claude-code', 'opencode']) await run([name, '--url', url, '--write'], variables)
    expect((await readdir(home)).toSorted()).toEqual(['x', 'y', 'z'])
  })

  test('leaves a file alone that it cannot change', async () => {
    const { url } = service()
    await mkdir(join(home, '.claude'))
    await writeFile(join(home, '.claude/settings.json'), '{ "env": ')
    await expect(run(['claude-code', '--url', url, '--write'])).rejects.toThrow(
      'settings.json is not valid: without --write',
    )
    expect(await readdir(join(home, '.claude'))).toEqual(['settings.json'])
  })

  test.each([
    [[], 'the client is missing'],
    [['claud-code'], 'unknown client claud-code: did you mean claude-code?'],
    [['vim'], 'unknown client vim: allowed: claude-code, codex'],
    [['cline', '--write'], 'Cline is not set up by a file'],
    [['codex', '--model', 'chat-11'], '--model: the service does not offer chat-11: did you mean chat-1?'],
    [['codex', '--model', 'zzz'], 'its models are text-embedding-1, chat-1, chat-2'],
  ])('refuses %p', async (argv, message) => {
    const failure = await run([...argv, '--url', service().url]).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(UsageError)
    expect(String(failure)).toContain(message)
  })

  test('takes the name of a provider before a model', async () => {
    const { out } = await run(['codex', '--url', service().url, '--model', 'groq/chat-1'])
    expect(out).toContain('model = "groq/chat-1"')
  })

  test('says what is wrong with the service', async () => {
    const closed = service(models, 'secret-of-test')
    await expect(run(['codex', '--url', closed.url])).rejects.toThrow(
      'Sign in first: set SVC_TOKEN to a key of svc keys make, or to a session token',
    )
    await expect(run(['codex', '--url', service([]).url])).rejects.toThrow('offers no model')
    await expect(run(['codex', '--url', service('none').url])).rejects.toThrow('does not list models as svc does')
    const gone = service()
    for (const stop of stops.splice(0)) stop()
    await expect(run(['codex', '--url', gone.url])).rejects.toThrow(
      /no answer from .*: start the service, or name its address with --url$/,
    )
  })

  test('leaves out models whose names a terminal or a file could misunderstand', async () => {
    const { url } = service([{ id: 'a\u001b[2Jb' }, { id: 7 }, null, { id: 'chat-1' }])
    const { out, err } = await run(['codex', '--url', url])
    expect(out).toContain('model = "chat-1"')
    expect(err).toBe('')
  })
})
