import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { errorOf, type Answer } from '../client.ts'
import { startGithub, type Github } from '../fakes/identity/github.ts'
import { shiftedClock } from '../fakes/shifted-clock.ts'
import { startSignIn, type SignInRig } from './rig.ts'

/** The real process with a wall clock that jumps; timers are not affected. */

const minutes = 60,
  hours = 3_600

describe('when the clock jumps', () => {
  const clock = shiftedClock()
  let rig: SignInRig<Github>

  beforeAll(async () => {
    rig = await startSignIn(startGithub, { environment: clock.environment })
  })

  afterAll(async () => {
    await rig[Symbol.asyncDispose]()
    clock[Symbol.dispose]()
  })

  /** Offset of the service's clock, in seconds. */
  function setClock(seconds: number): void {
    clock.shift(seconds * 1_000)
  }

  const show = (answer: Answer) => [answer.status, errorOf(answer)?.message]
  const who = (token: string) => rig.get('/auth', { 'x-session-token': token })

  test('State token | younger than 10 minutes | validated', async () => {
    setClock(0)
    const browser = rig.browser(),
      callback = await rig.authorize(browser)
    setClock(10 * minutes - 10)
    expect((await browser.visit(callback)).status).toBe(302)
  })

  test.each([[10 * minutes + 1], [11 * minutes], [25 * hours], [400 * 24 * hours]])(
    "State token | older than 10 minutes (%d s) | rejected | Error 'Invalid state parameter'",
    async (age) => {
      setClock(0)
      const browser = rig.browser(),
        callback = await rig.authorize(browser)
      rig.provider.heal()
      setClock(age)
      const back = await browser.visit(callback, { headers: { accept: 'application/json' } })
      expect([back.status, JSON.parse(back.text)]).toMatchObject([
        400,
        { error: { message: 'Invalid state parameter', code: 'invalid_state' } },
      ])
      expect(rig.provider.asked('token')).toEqual([])
    },
  )

  test('Session | age below 24 hours | active, and not extended by its use', async () => {
    setClock(0)
    const { token } = await rig.signIn()
    setClock(23 * hours)
    expect((await who(token)).status).toBe(200)
    setClock(24 * hours + 1)
    expect(show(await who(token))).toEqual([401, 'Invalid or expired session'])
  })

  test("Session | age exceeds 24 hours | expired | Later use gives 'Invalid or expired session'", async () => {
    setClock(0)
    const { token, browser } = await rig.signIn()
    setClock(25 * hours)
    const cookie = { cookie: browser.jar.header(rig.service.url) ?? '' }
    expect([
      show(await rig.ask(cookie)),
      show(await rig.ask({ 'x-session-token': token })),
      show(await rig.get('/auth/session', cookie)),
    ]).toEqual(Array.from({ length: 3 }, () => [401, 'Invalid or expired session']))
    expect((await rig.ask({ authorization: `Bearer ${token}` })).status).toBe(401)
  })

  test('an expired session › stays invalid when the clock is set back', async () => {
    setClock(0)
    const { token } = await rig.signIn()
    setClock(25 * hours)
    expect((await who(token)).status).toBe(401)
    setClock(0)
    expect((await who(token)).status).toBe(401)
  })

  test('a clock set back by a minute › keeps sessions; by an hour, ends those from the future', async () => {
    setClock(0)
    const { token } = await rig.signIn()
    setClock(-60)
    expect((await who(token)).status).toBe(200)
    setClock(-1 * hours)
    expect(show(await who(token))).toEqual([401, 'Invalid or expired session'])
  })

  test('a sign-in afterwards › succeeds, with the time of the service’s clock', async () => {
    setClock(1000 * hours)
    const { token } = await rig.signIn()
    const { json } = await rig.get('/auth/session', { 'x-session-token': token })
    expect(Math.abs(Number(Reflect.get(Object(json), 'created')) - (Date.now() / 1000 + 1000 * hours))).toBeLessThan(60)
  })
})
