import { afterEach, describe, expect, test } from 'bun:test'
import { UsageError } from '../base/start-errors.ts'
import { sessionsCommand } from './sessions.ts'
import { runCommand, type CapturedOptions } from './testing.ts'

const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

/** A service with this answer, and the requests it received. */
function service(answer: () => Response) {
  const asked: unknown[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      asked.push([request.method, pathname, request.headers.get('x-session-token'), await request.text()])
      expect(request.headers.get('content-type')).toBe('application/json')
      return answer()
    },
  })
  stops.push(() => void server.stop(true))
  return { url: `http://127.0.0.1:${server.port}`, asked }
}

const run = (argv: readonly string[], options: CapturedOptions = { environment: { SVC_TOKEN: ' the-token\n' } }) =>
  runCommand(sessionsCommand, argv, options)

const refusal = (status: number, message: string) => () => Response.json({ error: { message } }, { status })

describe('svc sessions end', () => {
  test.each([
    [0, 'no session of ada ended\n'],
    [1, '1 session of ada ended\n'],
    [3, '3 sessions of ada ended\n'],
  ])('asks the service as an owner, and prints the number: %p', async (ended, out) => {
    const { url, asked } = service(() => Response.json({ ended }))
    expect(await run(['end', 'ada', '--url', `${url}/`])).toEqual({ code: 0, out, err: '' })
    expect(asked).toEqual([['POST', '/api/people/end', 'the-token', '{"user":"ada"}']])
  })

  test.each([
    [[], 'allowed: svc sessions end NAME'],
    [['begin', 'ada'], 'found begin, allowed: svc sessions end NAME'],
    [['end'], 'svc sessions end NAME'],
    [['end', ' '], 'svc sessions end NAME'],
    [['end', 'ada', '--url', 'ftp://x'], '--url'],
  ])('refuses %p', async (argv, message) => {
    const failure = await run(argv).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(UsageError)
    expect(String(failure)).toContain(message)
  })

  test.each(['', ' ', 'a b', 'tökén'])('refuses the token %p, and does not repeat it', async (token) => {
    const argv = ['end', 'ada', '--url', 'http://127.0.0.1:1']
    const failure = await run(argv, { environment: { SVC_TOKEN: token } }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(UsageError)
    expect(String(failure)).toContain('GET /auth/session')
    expect(String(failure)).not.toContain('tökén')
  })

  test.each([
    [
      refusal(401, 'Invalid or expired session'),
      /^Invalid or expired session: SVC_TOKEN is not the token of a session at http:/,
    ],
    [refusal(403, 'Only owners of this service may do this'), /^Only owners of this service may do this$/],
    [refusal(404, 'There is nothing'), /has no sessions: it runs without --auth provider_auth/],
    [refusal(503, 'Sessions cannot be looked up at the moment'), /^Sessions cannot be looked up/],
    [() => new Response('hello'), /contains no number of sessions/],
  ])('reports the error: %#', async (answer, message) => {
    await expect(run(['end', 'ada', '--url', service(answer).url])).rejects.toThrow(message)
  })

  test('reports a missing service', async () => {
    const { url } = service(() => new Response())
    for (const stop of stops.splice(0)) stop()
    await expect(run(['end', 'ada', '--url', url])).rejects.toThrow(`no answer from ${url}/`)
  })
})
