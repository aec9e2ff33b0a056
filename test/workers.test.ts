import { describe, expect, test } from 'bun:test'
import { answerOf, chat, isDone, metric, metricSum, question, type Answer } from './client.ts'
import { faultUpstream } from './fakes/fault-upstream.ts'
import { good, goodText } from './fakes/good.ts'
import { startGithub } from './fakes/identity/github.ts'
import { errorReply } from './fakes/replies.ts'
import { provider, startService } from './harness.ts'
import { isAlive, workersOf } from './process-tree.ts'
import { startRig, type Rig } from './rig.ts'
import { freePort, startSignIn } from './sign-in/rig.ts'

const two = ['--workers', '2']

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 8_000
  while (!(await holds())) {
    if (performance.now() > end) throw new Error('in vain')
    await Bun.sleep(10)
  }
}

/** Requests `count` streams at once, each on its own connection. A cut stream gives the text before the cut. */
function streams(rig: Rig, count: number): readonly Promise<Answer>[] {
  return Array.from({ length: count }, async () => {
    const decoder = new TextDecoder()
    let response = new Response(),
      text = ''
    try {
      response = await fetch(`${rig.service.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify(question({ stream: true })),
        headers: { connection: 'close' },
      })
      for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true })
    } catch {
      // Cut: the text before it is the result.
    }
    return answerOf(response, text)
  })
}

/** Sends requests on new connections. @returns a function that stops them and returns their results */
function load({ service }: Rig): () => Promise<readonly string[]> {
  let isOver = false
  const clients = Array.from({ length: 8 }, async (_, client) => {
    const outcomes: string[] = []
    while (!isOver)
      outcomes.push(
        await chat(
          service.url,
          question(client % 2 === 0 ? { stream: true } : {}),
          client < 4 ? { headers: { connection: 'close' } } : {},
        ).then(({ status, content }) => `${status} ${content}`, String),
      )
    return outcomes
  })
  return async () => {
    isOver = true
    return (await Promise.all(clients)).flat()
  }
}

/** A connection that waited in a socket when the socket closed: without net.ipv4.tcp_migrate_req it is reset. */
function isReset(outcome: string): boolean {
  return /ECONNRESET|socket connection was closed/.test(outcome)
}

describe('--workers', () => {
  test('both serve, and their metrics are summed', async () => {
    await using rig = await startRig([good()], { flags: two })
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => chat(rig.service.url, question(), { headers: { connection: 'close' } })),
    )
    expect([...new Set(answers.map(({ status }) => status))]).toEqual([200])
    expect(await metricSum(rig.service.url, 'svc_requests_total')).toBe(60)
    expect(await metric(rig.service.url, 'svc_workers')).toBe(2)
    const remembered: unknown = await (await fetch(`${rig.service.url}/api/requests`)).json()
    expect(remembered).toMatchObject({ requests: { length: 60 } })
    expect(workersOf(rig.service.pid).length).toBe(2)
  })

  test('a worker that is killed breaks its own streams visibly, and no other; another takes its place', async () => {
    await using rig = await startRig([good({ tokens: 60, pauseMs: 20 })], { flags: two })
    const open = streams(rig, 40)
    await until(() => rig.hits()[0] === 40)
    const [victim = 0] = workersOf(rig.service.pid)
    process.kill(victim, 'SIGKILL')
    const answers = await Promise.all(open)
    const whole = answers.filter(isDone)
    expect([whole.length > 0, whole.length < 40]).toEqual([true, true])
    for (const answer of answers)
      expect(
        isDone(answer)
          ? answer.content === goodText({ tokens: 60 })
          : goodText({ tokens: 60 }).startsWith(answer.content),
      ).toBe(true)
    await until(async () => (await metric(rig.service.url, 'svc_workers')) === 2)
    expect(await metric(rig.service.url, 'svc_worker_restarts_total')).toBe(1)
    expect(await metric(rig.service.url, 'svc_streams_open')).toBe(0)
    expect(workersOf(rig.service.pid)).not.toContain(victim)
    expect((await rig.ask()).status).toBe(200)
  })

  test('a rolling restart under load › no request fails, and streams end well', async () => {
    await using rig = await startRig([good({ tokens: 20, pauseMs: 10 })], {
      flags: two,
      environment: { SVC_DRAIN_WINDOW_MS: '200' },
    })
    const before = workersOf(rig.service.pid)
    const stop = load(rig)
    const open = streams(rig, 20)
    await until(() => (rig.hits()[0] ?? 0) > 40)
    rig.service.signal('SIGUSR2')
    await until(() => rig.service.output.includes('rolling restart done'))
    await until(() => before.every((pid) => !isAlive(pid)))
    const all = await stop()
    const outcomes = all.filter((outcome) => !isReset(outcome))
    expect(all.length - outcomes.length).toBeLessThanOrEqual(2)
    expect([...new Set(outcomes)]).toEqual([`200 ${goodText({ tokens: 20 })}`])
    expect((await Promise.all(open)).filter((answer) => !isDone(answer))).toEqual([])
    expect(await metricSum(rig.service.url, 'svc_requests_total')).toBe(outcomes.length + 20)
    expect(await metric(rig.service.url, 'svc_worker_restarts_total')).toBe(0)
  }, 20_000)

  test('SIGUSR2 at a worker is a rolling restart too, and breaks no request', async () => {
    await using rig = await startRig([good({ tokens: 20, pauseMs: 10 })], { flags: two })
    const before = workersOf(rig.service.pid)
    const open = streams(rig, 10)
    await until(() => rig.hits()[0] === 10)
    process.kill(before[1] ?? 0, 'SIGUSR2')
    await until(() => rig.service.output.includes('rolling restart done'))
    await until(() => before.every((pid) => !isAlive(pid)))
    expect((await Promise.all(open)).filter((answer) => !isDone(answer))).toEqual([])
    expect(await metric(rig.service.url, 'svc_worker_restarts_total')).toBe(0)
  }, 20_000)

  test('a rolling restart with a faulty configuration › the running workers stay, and log the reason', async () => {
    await using rig = await startRig([good()], { flags: two })
    const before = workersOf(rig.service.pid)
    await rig.service.configure('{"providers": [')
    rig.service.signal('SIGUSR2')
    await until(() => rig.service.output.includes('the rolling restart stops here'))
    expect(rig.service.logs.filter(({ message }) => message === 'this worker cannot start')).toMatchObject([
      { level: 'error', reason: expect.stringContaining('providers.json:1:') },
    ])
    const { output } = rig.service,
      afterReady = output.slice(output.indexOf('{"')).trimEnd().split('\n')
    expect(afterReady.filter((line) => !line.startsWith('{'))).toEqual([])
    expect(workersOf(rig.service.pid)).toEqual([...before])
    expect((await rig.ask()).status).toBe(200)
  })

  test('a changed configuration is loaded by all workers, a faulty one by none, with one line in the log', async () => {
    const a = faultUpstream(good({ name: 'a' })),
      b = faultUpstream(good({ name: 'b' }))
    await using service = await startService({ providers: [provider('a', a.url)] }, { flags: two })
    const servers = async () => [
      ...new Set(
        await Promise.all(
          Array.from({ length: 24 }, async () =>
            (await chat(service.url, question(), { headers: { connection: 'close' } })).headers.get('x-svc-provider'),
          ),
        ),
      ),
    ]
    expect(await servers()).toEqual(['a'])
    await service.configure({ providers: [provider('b', b.url)] })
    await until(async () => (await servers()).includes('b'))
    expect(await servers()).toEqual(['b'])
    await service.configure({ providers: [{ ...provider('a', a.url), retries: 'two' }] })
    await until(() => service.output.includes('was not reloaded'))
    expect(await servers()).toEqual(['b'])
    await service.configure({ providers: [provider('a', a.url)] })
    service.signal('SIGHUP')
    await until(async () => (await servers()).includes('a'))
    expect(await servers()).toEqual(['a'])
    expect(service.output.split('the configuration was not reloaded').length - 1).toBe(1)
    expect(await metricSum(service.url, 'svc_config_reloads_total')).toBeGreaterThanOrEqual(3)
    a.stop()
    b.stop()
  })

  test('a sick provider is asked by all workers together as often as by one', async () => {
    await using rig = await startRig([(exchange) => exchange.write(errorReply(500, {})), good()], {
      flags: ['--workers', '4'],
    })
    for (let round = 0; round < 40; round++)
      await chat(rig.service.url, question(), { headers: { connection: 'close' } })
    const [asked = 0] = rig.hits()
    expect([asked >= 5, asked <= 8]).toEqual([true, true])
    expect(await metricSum(rig.service.url, 'svc_breaker_open')).toBe(1)
  })

  test('sign-in begun at one worker ends at another, and its session holds at all until it ends at all', async () => {
    await using rig = await startSignIn(startGithub, { flags: two })
    const { token } = await rig.signIn()
    const statuses = async () => [
      ...new Set(
        await Promise.all(
          Array.from(
            { length: 24 },
            async () =>
              (
                await fetch(`${rig.service.url}/v1/models`, {
                  headers: { 'x-session-token': token, connection: 'close' },
                })
              ).status,
          ),
        ),
      ),
    ]
    expect(await statuses()).toEqual([200])
    await fetch(`${rig.service.url}/auth/logout`, { method: 'POST', headers: { 'x-session-token': token } })
    expect(await statuses()).toEqual([401])
  })

  test('a warning about a file is logged once for all workers, at the start and at a reload', async () => {
    await using rig = await startSignIn(startGithub, { flags: two })
    const told = () => rig.service.output.split('restrict_to is missing').length - 1
    await rig.logged('restrict_to is missing')
    rig.service.signal('SIGHUP')
    await rig.logged('extension reloaded')
    expect(told()).toBe(2)
  })

  test('sign-in whose file was deleted stays active in all workers, new ones too', async () => {
    await using rig = await startSignIn(startGithub, { flags: two })
    const statuses = async () => [
      ...new Set(
        await Promise.all(
          Array.from(
            { length: 24 },
            async () => (await fetch(`${rig.service.url}/v1/models`, { headers: { connection: 'close' } })).status,
          ),
        ),
      ),
    ]
    await rig.configure(null)
    await rig.logged('no file any more')
    process.kill(workersOf(rig.service.pid)[0] ?? 0, 'SIGKILL')
    await until(() => rig.service.output.includes('is gone, and its last content stays active'))
    expect(await statuses()).toEqual([401])
    rig.service.signal('SIGUSR2')
    await until(() => rig.service.output.includes('the rolling restart stops here'))
    expect(await statuses()).toEqual([401])
  }, 20_000)

  test('while the primary is stopped, recent sessions go on and others get 503; afterwards all work', async () => {
    await using rig = await startSignIn(startGithub, { flags: two })
    const { token } = await rig.signIn(),
      other = await rig.signIn()
    // Each request reaches a random worker. Both have cached the first session, and neither the second.
    const ask = async (of: string) =>
      (await fetch(`${rig.service.url}/v1/models`, { headers: { 'x-session-token': of, connection: 'close' } })).status
    const statuses = async (of: string) => [...new Set(await Promise.all(Array.from({ length: 12 }, () => ask(of))))]
    expect(await statuses(token)).toEqual([200])
    process.kill(rig.service.pid, 'SIGSTOP')
    try {
      expect([await statuses(token), await statuses(other.token)]).toEqual([[200], [503]])
      // Both workers know that the primary does not answer, and do not wait for it again.
      const began = performance.now()
      expect(await statuses(other.token)).toEqual([503])
      expect(performance.now() - began).toBeLessThan(1_000)
    } finally {
      process.kill(rig.service.pid, 'SIGCONT')
    }
    await until(async () => (await statuses(other.token)).join() === '200')
  }, 20_000)

  test('SIGTERM lets open requests of all workers finish, and leaves no process behind', async () => {
    await using rig = await startRig([good({ tokens: 30, pauseMs: 10 })], { flags: two })
    const workers = workersOf(rig.service.pid)
    const open = streams(rig, 20)
    await until(() => rig.hits()[0] === 20)
    rig.service.signal('SIGTERM')
    expect((await Promise.all(open)).filter((answer) => !isDone(answer))).toEqual([])
    expect(await rig.service.exited).toBe(0)
    expect(workers.filter(isAlive)).toEqual([])
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('%s and then SIGINT ends all at once', async (first) => {
    await using rig = await startRig(
      [
        async (exchange) => {
          await exchange.hang()
        },
      ],
      { flags: two },
    )
    const workers = workersOf(rig.service.pid)
    const open = Promise.allSettled(streams(rig, 4))
    await until(() => rig.hits()[0] === 4)
    rig.service.signal(first)
    await until(() => rig.service.output.includes('stopping'))
    rig.service.signal('SIGINT')
    expect(await rig.service.exited).toBe(130)
    await open
    await until(() => workers.every((pid) => !isAlive(pid)))
  })

  test('workers whose primary is killed finish their open requests, and end', async () => {
    await using rig = await startRig([good({ tokens: 30, pauseMs: 10 })], { flags: two })
    const workers = workersOf(rig.service.pid)
    const open = streams(rig, 10)
    await until(() => rig.hits()[0] === 10)
    rig.service.signal('SIGKILL')
    expect((await Promise.all(open)).filter((answer) => !isDone(answer))).toEqual([])
    await until(() => workers.every((pid) => !isAlive(pid)))
  })

  test('a worker that hangs is ended, and replaced', async () => {
    await using rig = await startRig([good()], { flags: two, environment: { SVC_LIVENESS_MS: '250' } })
    const [hung = 0] = workersOf(rig.service.pid)
    process.kill(hung, 'SIGSTOP')
    await until(() => !isAlive(hung))
    // Requests that waited for it are refused.
    await until(async () => (await metric(rig.service.url, 'svc_workers').catch(() => 0)) === 2)
    expect(rig.service.output).toContain('a worker does not answer; it is killed')
    expect((await rig.ask()).status).toBe(200)
  })

  test('a worker that gets SIGTERM itself finishes its requests, and is replaced', async () => {
    await using rig = await startRig([good()], { flags: two })
    const [one = 0] = workersOf(rig.service.pid)
    process.kill(one, 'SIGTERM')
    await until(() => !isAlive(one))
    await until(async () => (await metric(rig.service.url, 'svc_workers')) === 2)
    expect((await rig.ask()).status).toBe(200)
  })

  test('a faulty configuration at the start is reported once, with exit code 2', async () => {
    const failed = await startService('{"providers": [', { flags: two }).catch((error: unknown) => String(error))
    expect(failed).toContain('exited with 2')
    expect(String(failed).split('providers.json:').length - 1).toBe(1)
  })

  test('a port in use, also by workers of another service, is reported with exit code 1', async () => {
    await using rig = await startRig([good()], { flags: two })
    const failed = await startService({ providers: [] }, { flags: two, port: rig.service.port }).catch(
      (error: unknown) => String(error),
    )
    expect(failed).toContain('exited with 1')
    expect(failed).toContain(`port ${rig.service.port} of 127.0.0.1 is in use`)
  })

  test.skipIf(process.platform !== 'linux')(
    'of two services that start at once on one port, one serves and one reports the used port',
    async () => {
      const port = freePort()
      const begun = await Promise.allSettled([1, 2].map(() => startService({ providers: [] }, { flags: two, port })))
      for (const { value } of begun.filter((each) => each.status === 'fulfilled')) await value[Symbol.asyncDispose]()
      const refused = begun.flatMap((each) => (each.status === 'rejected' ? String(each.reason) : []))
      expect(refused.length).toBe(1)
      expect(refused[0]).toContain(`port ${port} of 127.0.0.1 is in use`)
    },
  )
})
