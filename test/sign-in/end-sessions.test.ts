import { describe, expect, test } from 'bun:test'
import { startMockServer } from '../fakes/identity/mock-server.ts'
import { runSvc } from '../harness.ts'
import { startSignIn } from './rig.ts'

const svcEnd = (home: string, person: string) => runSvc(home, 'sessions', 'end', person)

describe('svc sessions end on the machine of the service', () => {
  test.each([[[]], [['--workers', '2']]])('ends sessions without a token, and counts them: %p', async (flags) => {
    await using rig = await startSignIn(startMockServer, { flags, owners: ['grace'] })
    const statusOf = async (token: string) =>
      (await rig.get('/v1/models', { 'x-session-token': token, connection: 'close' })).status
    const tokens = [(await rig.signIn()).token, (await rig.signIn()).token]
    const other = await rig.signIn('grace')
    const { home } = rig.service
    expect(await svcEnd(home, 'ada')).toEqual({ code: 0, out: '2 sessions of ada ended\n', err: '' })
    expect(await Promise.all([...tokens, ...tokens, other.token].map(statusOf))).toEqual([401, 401, 401, 401, 200])
    expect(await rig.logged('sessions ended by an owner')).toContain('"by":"command line"')
    expect(await svcEnd(home, 'ada')).toEqual({ code: 0, out: 'no session of ada ended\n', err: '' })
  })

  test('works after a rolling restart', async () => {
    await using rig = await startSignIn(startMockServer, { flags: ['--workers', '2'] })
    await rig.signIn()
    rig.service.signal('SIGUSR2')
    await rig.logged('rolling restart done')
    expect((await svcEnd(rig.service.home, 'ada')).out).toBe('1 session of ada ended\n')
  }, 60_000)

  test('says that no service runs on the home folder, or none with sign-in', async () => {
    await using rig = await startSignIn(startMockServer, { isOnByFlag: false })
    const none = expect.stringContaining('no service with sign-in runs on the home folder')
    expect(await svcEnd(rig.service.home, 'ada')).toEqual({ code: 1, out: '', err: none })
    expect(await svcEnd(`${rig.service.home}/none`, 'ada')).toEqual({ code: 1, out: '', err: none })
  })

  test('gives no right over TCP', async () => {
    await using rig = await startSignIn(startMockServer, { owners: ['grace'] })
    const { token } = await rig.signIn()
    const post = async (path: string) => {
      const headers = { 'x-session-token': token, 'content-type': 'application/json' }
      return (await fetch(`${rig.service.url}${path}`, { method: 'POST', body: '{"user":"ada"}', headers })).status
    }
    expect([await post('/sessions/end'), await post('/api/people/end')]).toEqual([404, 403])
  })
})
