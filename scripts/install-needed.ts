import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { needed, type Need } from '../test/needs.ts'

/** What installing needs to know of this machine, and to do to it. */
export interface Machine {
  /** Only root may install. */
  readonly isRoot: boolean
  /** Debian, or a kin of it: packages have the names we know. */
  readonly isDebian: boolean
  say(line: string): void
  run(
    command: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<{ readonly code: number; readonly output: string }>
}

const aptOptions = [
  '-qq',
  '-o',
  'Acquire::Retries=1',
  '-o',
  'Acquire::http::Timeout=20',
  '-o',
  'DPkg::Lock::Timeout=60',
]
const environment = { DEBIAN_FRONTEND: 'noninteractive' }
const servicePolicy = '/usr/sbin/policy-rc.d'

/** What a machine does not have, by `wanted` and `missing` of needs.ts. */
export interface Lacking {
  readonly wanted: readonly Need[]
  readonly missing: readonly Need[]
}

/**
 * Installs the Debian packages of what is wanted, or says in one line what is missing and how to get it. Says nothing
 * when there is nothing to do.
 */
export async function installNeeded({ wanted, missing }: Lacking, machine: Machine): Promise<void> {
  if (!machine.isRoot || !machine.isDebian) return tellMissing(missing, machine, 'missing, needed by tests')
  if (wanted.length === 0) return
  const packages = wanted.map((name) => needed[name].package)
  machine.say(`installing ${packages.join(', ')} … (needed by tests)`)
  for (const command of [['update'], ['install', '--yes', '--no-install-recommends', ...packages]]) {
    const { code, output } = await machine.run(['apt-get', ...aptOptions, ...command], environment)
    if (code === 0) continue
    machine.say(`could not install them (apt-get ${command[0]}: ${lastError(output)})`)
    return tellMissing(missing, machine, 'still missing')
  }
}

function tellMissing(missing: readonly Need[], machine: Machine, opening: string): void {
  if (missing.length === 0) return
  machine.say(
    `${opening}: ${missing.join(', ')}. Their tests are skipped. On Debian: apt-get install ${missing.map((name) => needed[name].package).join(' ')}`,
  )
}

function lastError(output: string): string {
  return output.split('\n').findLast((line) => line.startsWith('E: ')) ?? 'failed'
}

/** The machine that the tests run on. */
export function thisMachine(): Machine {
  return {
    isRoot: process.getuid?.() === 0,
    isDebian: existsSync('/etc/debian_version') && Bun.which('apt-get') !== null,
    say: (line) => console.error(line),
    run: (command, more) =>
      withoutServices(async () => {
        const child = Bun.spawn([...command], {
          stdin: 'ignore',
          stdout: 'pipe',
          stderr: 'pipe',
          env: { ...process.env, ...more },
        })
        const [code, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()])
        return { code, output: stdout + stderr }
      }),
  }
}

/** Packages of servers start them at once; here only their commands are wanted (policy-rc.d(8): 101 forbids it). */
async function withoutServices<Result>(install: () => Promise<Result>): Promise<Result> {
  if (existsSync(servicePolicy)) return await install()
  writeFileSync(servicePolicy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    return await install()
  } finally {
    rmSync(servicePolicy, { force: true })
  }
}
