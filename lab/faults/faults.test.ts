import { describe, expect, test } from 'bun:test'
import { rawConnection } from '../../test/client.ts'
import { demandNothingLeft, gauge } from './aftermath.ts'
import type { FaultCase } from './fault-case.ts'
import { allFaults } from './faults.ts'
import { table } from './report.ts'
import { runFaults } from './runner.ts'
import { openTestbed } from './testbed.ts'

const run = new URL('./run.ts', import.meta.url).pathname

/** The short form of `npm run faults`: quick faults of each area. */
test('the service withstands faults of each area, and nothing is left behind', async () => {
  const child = Bun.spawn([process.execPath, run, '--short'], { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' })
  const lines = (await child.stdout.text()).trimEnd().split('\n')
  expect(lines.filter((line) => line.startsWith('FAILED'))).toEqual([])
  expect(lines.at(-1)).toMatch(/^[3-9]\d held, 0 failed, \d+ not possible here$/)
  expect(await child.exited).toBe(0)
}, 60_000)

describe('npm run faults', () => {
  const fault = (more: Partial<FaultCase>): FaultCase => ({
    id: 'made-up',
    area: 'network',
    what: 'nothing | at all',
    run: () => Promise.resolve('nothing'),
    ...more,
  })

  test('tries no fault twice', () => {
    const ids = allFaults.map(({ id }) => id)
    expect(ids.filter((id, position) => ids.indexOf(id) !== position || !/^[a-z0-9-]+$/.test(id))).toEqual([])
  })

  test('reports whether a fault held, failed or is impossible here', async () => {
    const impossible = fault({
      needs: () => 'there is no such thing',
      run: () => Promise.reject(new Error('it was tried')),
    })
    const failing = fault({ own: () => Promise.reject(new Error('it | broke')) })
    const outcomes = await runFaults([impossible, failing], () => {})
    expect(outcomes.map(({ kind, words }) => [kind, words])).toEqual([
      ['impossible', 'there is no such thing'],
      ['failed', 'it | broke'],
    ])
    const text = table(outcomes, new Date(0))
    expect(text).toContain('on 1970-01-01')
    expect(text).toContain(
      '| nothing \\| at all | not possible here: there is no such thing |\n' +
        '| nothing \\| at all | **did not hold**: it \\| broke |',
    )
  })

  test('fails when descriptors are left behind', async () => {
    await using testbed = await openTestbed()
    const before = await gauge(testbed)
    await demandNothingLeft(testbed, before)
    const left = Array.from({ length: 40 }, () => rawConnection(testbed.service.port, 'POST /v1'))
    expect(String(await demandNothingLeft(testbed, before, 300).catch((error: unknown) => error))).toContain(
      'descriptors rose',
    )
    for (const { socket } of left) socket.destroy()
  })

  test.each([
    ['an unknown option', ['--onyl']],
    ['an unknown fault', ['--only', 'nowhere']],
  ])('%s is an error', async (_, given) => {
    const child = Bun.spawn([process.execPath, run, ...given], { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
    expect([await child.exited, (await child.stderr.text()).includes(given.at(-1) ?? '')]).toEqual([2, true])
  })
})
