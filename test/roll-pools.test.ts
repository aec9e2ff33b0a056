import { expect, test } from 'bun:test'
import { parseJson, pick, rawConnection } from './client.ts'
import { good } from './fakes/good.ts'
import { startRig } from './rig.ts'

const get = 'GET /ready HTTP/1.1\r\nhost: 127.0.0.1\r\n'

/** Waits until the output of the service contains `text` `times` times. */
async function written(service: { readonly output: string }, text: string, times: number): Promise<void> {
  const end = performance.now() + 15_000
  while (service.output.split(text).length <= times) {
    if (performance.now() > end) throw new Error(`"${text}" was not written ${times} times:\n${service.output}`)
    await Bun.sleep(10)
  }
}

test.concurrent.each(['lifo', 'fifo'])(
  'rolling restarts fail no request of a client with pooled connections › %s',
  async (scheduling) => {
    await using rig = await startRig([good()], { flags: ['--workers', '1'] })
    const client = Bun.spawn(['node', `${import.meta.dir}/fakes/pool-client.mjs`, rig.service.url, scheduling], {
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    })
    for (let roll = 1; roll <= 2; roll++) {
      rig.service.signal('SIGUSR2')
      await written(rig.service, 'rolling restart done', roll)
      const hits = rig.hits()[0] ?? 0
      while ((rig.hits()[0] ?? 0) < hits + 100) await Bun.sleep(10)
    }
    await client.stdin.end()
    const found = parseJson(await new Response(client.stdout).text())
    expect(pick(found, 'failures')).toEqual([])
    // Those that the kernel had not handed over when a socket closed.
    expect(Number(pick(found, 'reset'))).toBeLessThanOrEqual(20)
    expect(Number(pick(found, 'right'))).toBeGreaterThan(100)
    expect(Number(pick(found, 'reused'))).toBeGreaterThan(100)
  },
  20_000,
)

test.concurrent('a single draining worker says on old connections that the service is ready', async () => {
  await using rig = await startRig([good()], { flags: ['--workers', '2'] })
  const connections = Array.from({ length: 24 }, () => rawConnection(rig.service.port, `${get}\r\n`, 15_000))
  await Promise.all(connections.map((connection) => connection.until('ready\n')))
  const pids = (await Bun.file(`/proc/${rig.service.pid}/task/${rig.service.pid}/children`).text())
    .trim()
    .split(' ')
    .map(Number)
  process.kill(pids[0] ?? 0, 'SIGTERM')
  await written(rig.service, '"stopping"', 1)
  for (const { socket } of connections) socket.write(`${get}connection: close\r\n\r\n`)
  const answers = await Promise.all(connections.map(({ response }) => response))
  expect(answers.flatMap((answer) => answer.match(/HTTP\/1\.1 \d+/g) ?? [])).toEqual(
    Array.from({ length: 48 }, () => 'HTTP/1.1 200'),
  )
  const last = answers.filter((answer) => /connection: close/i.test(answer)).length
  expect([last > 0, last < 24]).toEqual([true, true])
}, 20_000)

test.concurrent('a connection that was idle during a rolling restart is answered once more', async () => {
  await using rig = await startRig([good()], { flags: ['--workers', '1'] })
  const connection = rawConnection(rig.service.port, `${get}\r\n`, 15_000)
  await connection.until('ready\n')
  rig.service.signal('SIGUSR2')
  await written(rig.service, 'rolling restart done', 1)
  connection.socket.write(`${get}\r\n`)
  expect(await connection.response).toMatch(
    /^HTTP\/1\.1 200[^]*ready\nHTTP\/1\.1 200[^]*connection: close[^]*ready\n$/i,
  )
}, 20_000)
