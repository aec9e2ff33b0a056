import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const main = new URL('main.ts', import.meta.url).pathname
let home = ''
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-main-'))
  writeFileSync(join(home, 'echo.json'), '{ "providers": [{ "id": "echo", "protocol": "echo" }] }')
  const models = Array.from({ length: 5_000 }, (_, index) => `a-model-with-a-long-name-${index}`)
  writeFileSync(
    join(home, 'long.json'),
    JSON.stringify({ providers: [{ id: 'many', base_url: 'http://127.0.0.1:1/v1', models }] }),
  )
  writeFileSync(join(home, 'bad.json'), '{ "providers": [{ "id": 7 }] }')
})
afterAll(() => rmSync(home, { recursive: true }))

function start(argv: readonly string[], environment: Record<string, string> = {}) {
  return Bun.spawn([process.execPath, '--no-env-file', main, ...argv], {
    env: { PATH: '/usr/bin:/bin', SVC_HOME: home, SVC_CONFIG: join(home, 'echo.json'), ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

async function run(argv: readonly string[], environment?: Record<string, string>) {
  const child = start(argv, environment)
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, out, err }
}

describe('the svc process', () => {
  test.each([
    [['--version'], 0, /^svc \d+\.\d+\.\d+\n$/, /^$/],
    [['chat', '--help'], 0, /^svc chat: /, /^$/],
    [['chat', 'a', 'question'], 0, /^a question\n$/, /^$/],
    [['check', '--json'], 0, /"status":"ok"/, /^$/],
    [['chta'], 2, /^$/, /^svc: unknown command chta: did you mean chat\?\n$/],
    [['models', '--jsn'], 2, /^$/, /did you mean --json\?/],
    [['chat', '-m', 'none', 'x'], 1, /^$/, /^svc: The model 'none' was not found/],
  ] as const)('%j exits with %p', async (argv, code, out, err) => {
    const ended = await run(argv)
    expect(ended).toEqual({ code, out: expect.stringMatching(out), err: expect.stringMatching(err) })
  })

  test('exits with 2 and names file, line and field of an invalid configuration; `check` exits with 1', async () => {
    const environment = { SVC_CONFIG: join(home, 'bad.json') }
    const [models, check] = await Promise.all([run(['models'], environment), run(['check'], environment)])
    expect(models).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/bad\.json:1:\d+: providers\[0\]\.id: found 7, allowed: /),
    })
    expect(check).toMatchObject({ code: 1, err: '', out: models.err })
  })

  test('names the environment variable whose value is wrong', async () => {
    expect(await run(['serve'], { SVC_PORT: 'http' })).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^svc: SVC_PORT: found http, allowed: an integer from 0 to 65535\n/),
    })
  })

  test('loses nothing of a long answer that is read slowly', async () => {
    const child = start(['models', '--json'], { SVC_CONFIG: join(home, 'long.json') })
    await Bun.sleep(100)
    expect(JSON.parse(await child.stdout.text())).toHaveLength(5_000)
    expect(await child.exited).toBe(0)
  })

  test('ends quietly, and at once, when its output is not read any more', async () => {
    // Going on, it would find no provider that answers, and exit with 1.
    const script = '{ sleep 0.1; "$0" --no-env-file "$1" check; echo "code $?" >&2; } | true'
    const child = Bun.spawn(['sh', '-c', script, process.execPath, main], {
      env: { PATH: '/usr/bin:/bin', SVC_HOME: home, SVC_CONFIG: join(home, 'long.json') },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    expect(await child.stderr.text()).toBe('code 0\n')
  })

  test('stops with 130 on SIGINT', async () => {
    const silent = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Promise<Response>(() => {}) })
    const child = start(['chat', '--url', `http://127.0.0.1:${silent.port}`, '-m', 'x', 'why?'])
    while (silent.pendingRequests === 0) await Bun.sleep(5)
    child.kill('SIGINT')
    expect({ code: await child.exited, err: await child.stderr.text() }).toEqual({ code: 130, err: '' })
    await silent.stop(true)
  })
})
