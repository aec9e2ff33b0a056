import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = mkdtempSync(join(tmpdir(), 'svc-npm-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s to npm start reaches the service, which answers what it has accepted and ends',
  async (signal) => {
    const upstream = Bun.serve({
      port: 0,
      async fetch() {
        upstreamAsked.resolve()
        await Bun.sleep(300)
        return Response.json({
          id: 'c',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [{ index: 0, message: { role: 'assistant', content: 'late' }, finish_reason: 'stop' }],
        })
      },
    })
    const upstreamAsked = Promise.withResolvers<void>()
    await Bun.write(
      join(folder, 'providers.json'),
      JSON.stringify({ providers: [{ id: 'slow', base_url: `http://127.0.0.1:${upstream.port}/v1`, models: ['m'] }] }),
    )
    const npm = Bun.spawn(['npm', 'start', '--', '--port', '0'], {
      cwd: join(import.meta.dir, '..'),
      env: { ...process.env, SVC_HOME: folder, SVC_DRAIN_WINDOW_MS: '0' },
      stdout: 'pipe',
      stderr: 'ignore',
    })
    let printed = ''
    for await (const piece of npm.stdout) {
      printed += new TextDecoder().decode(piece)
      if (printed.includes('svc is ready')) break
    }
    const address = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0] ?? 'no address was printed'
    const answering = fetch(`${address}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
    })
    await upstreamAsked.promise
    npm.kill(signal)
    expect(await (await answering).json()).toMatchObject({ choices: [{ message: { content: 'late' } }] })
    await npm.exited
    await expect(fetch(`${address}/health`)).rejects.toThrow()
    await upstream.stop(true)
  },
  20_000,
)

test.each([
  [['--port', '8123'], 'type npm start -- --port 8123'],
  [['--log-level=debug'], 'type npm start -- --log-level debug'],
])('npm start %j says what to type', async (flags, advice) => {
  const npm = Bun.spawn(['npm', 'start', ...flags], {
    cwd: join(import.meta.dir, '..'),
    env: { ...process.env, SVC_HOME: folder },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  expect([await npm.exited, await npm.stderr.text()]).toEqual([2, expect.stringContaining(advice)])
})
