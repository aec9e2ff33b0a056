import { afterAll, expect, test } from 'bun:test'
import { healthCommand } from './health.ts'
import { runCommand } from './testing.ts'

let isReady = true
const service = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch({ url }) {
    if (new URL(url).pathname === '/health' || isReady) return new Response()
    return Response.json({ error: { message: 'Not ready: stopping', code: 'not_ready' } }, { status: 503 })
  },
})
afterAll(() => service.stop(true))
const url = `http://127.0.0.1:${service.port}`

test('svc health says whether a service is ready, or alive', async () => {
  expect(await runCommand(healthCommand, ['--url', url])).toEqual({ code: 0, out: 'ready\n', err: '' })
  isReady = false
  expect(await runCommand(healthCommand, ['--url', url])).toEqual({
    code: 1,
    out: '',
    err: 'svc: Not ready: stopping\n',
  })
  expect(await runCommand(healthCommand, ['--url', url, '--alive'])).toEqual({ code: 0, out: 'alive\n', err: '' })
  expect(runCommand(healthCommand, ['--url', 'http://127.0.0.1:1'])).rejects.toThrow('no answer from')
})
