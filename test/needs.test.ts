import { describe, expect, test } from 'bun:test'
import { installNeeded, type InstallHost } from '../scripts/install-needed.ts'
import { missing, needed, needs, wanted } from './needs.ts'

interface Trace {
  readonly said: string[]
  readonly ran: string[]
}

function machine(trace: Trace, facts: Partial<InstallHost> = {}): InstallHost {
  return {
    isRoot: true,
    isDebian: true,
    say: (line) => void trace.said.push(line),
    async run(command) {
      trace.ran.push(command.filter((word) => !word.startsWith('-') && !word.includes('::')).join(' '))
      return { code: 0, output: '' }
    },
    ...facts,
  }
}

const both = { wanted: ['chromium', 'redis-server'], missing: ['chromium', 'redis-server'] } as const
const byHand = 'Their tests are skipped. On Debian: apt-get install chromium redis-server'

const failing: Partial<InstallHost> = {
  run: async () => ({ code: 100, output: 'Err:1 http://deb.example\nE: Failed to fetch\n' }),
}

describe('installing what tests need', () => {
  test('runs and prints nothing when no program is missing', async () => {
    const trace: Trace = { said: [], ran: [] }
    await installNeeded({ wanted: [], missing: [] }, machine(trace))
    expect(trace).toEqual({ said: [], ran: [] })
  })

  test('names a package once, although it has several of the programs', async () => {
    const trace: Trace = { said: [], ran: [] }
    await installNeeded({ wanted: ['prometheus', 'promtool'], missing: [] }, machine(trace))
    expect(trace.said).toEqual(['installing prometheus … (needed by tests)'])
  })

  test('takes one line as root on Debian', async () => {
    const trace: Trace = { said: [], ran: [] }
    await installNeeded(both, machine(trace))
    expect(trace).toEqual({
      said: ['installing chromium, redis-server … (needed by tests)'],
      ran: ['apt-get update', 'apt-get install chromium redis-server'],
    })
  })

  test.each([{ isRoot: false }, { isDebian: false }])('is left to a person when %p', async (facts) => {
    const trace: Trace = { said: [], ran: [] }
    await installNeeded(both, machine(trace, facts))
    expect(trace).toEqual({ said: [`missing, needed by tests: chromium, redis-server. ${byHand}`], ran: [] })
  })

  test('prints the reason of a failure, and goes on', async () => {
    const trace: Trace = { said: [], ran: [] }
    await installNeeded(both, machine(trace, failing))
    expect(trace.said).toEqual([
      'installing chromium, redis-server … (needed by tests)',
      'could not install them (apt-get update: E: Failed to fetch)',
      `still missing: chromium, redis-server. ${byHand}`,
    ])
  })

  test('installs a program with an alternative as root, and never reports it as missing', async () => {
    const shell = { wanted: ['chromium-headless-shell'], missing: [] } as const
    const root: Trace = { said: [], ran: [] },
      person: Trace = { said: [], ran: [] },
      vain: Trace = { said: [], ran: [] }
    await installNeeded(shell, machine(root))
    await installNeeded(shell, machine(person, { isRoot: false }))
    await installNeeded(shell, machine(vain, failing))
    expect([root.ran, person, vain.said]).toEqual([
      ['apt-get update', 'apt-get install chromium-headless-shell'],
      { said: [], ran: [] },
      [
        'installing chromium-headless-shell … (needed by tests)',
        'could not install them (apt-get update: E: Failed to fetch)',
      ],
    ])
  })
})

describe('what tests need', () => {
  test('is an existing path, or is reported as missing', async () => {
    for (const name of missing()) expect(needs(name)).toBeUndefined()
    expect(wanted()).toEqual(expect.arrayContaining([...missing()]))
    const found = [
      needs('chromium'),
      needs('chromium-headless-shell'),
      needs('redis-server'),
      needs('pgbouncer'),
      needs('postgres'),
      needs('libfaketime'),
      needs('nginx'),
      needs('haproxy'),
      needs('caddy'),
      needs('curl'),
      needs('squid'),
      needs('tinyproxy'),
      needs('python3'),
      needs('pip'),
      needs('prometheus'),
      needs('promtool'),
    ].filter((path) => path !== undefined)
    for (const path of found) expect(await Bun.file(path).exists()).toBe(true)
    expect(found.length + missing().length).toBe(Object.keys(needed).length)
  })
})
