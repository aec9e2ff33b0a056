import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { needed, type Need } from '../test/needs.ts'

/** What installing needs to know of this machine, and to do to it. */
export interface Machine {
  /** Only root may install. */
  readonly isRoot: boolean
  /** Debian, or a kin of it: packages have the names we know. */
  readonly isDebian: boolean
  say(line: string): void
  run(command: readonly string[], environment: Readonly<Record<string, string>>): Promise<{ readonly code: number; readonly output: string }>
}

const aptOptions = ['-qq', '-o', 'Acquire::Retries=1', '-o', 'Acquire::http::Timeout=20', '-o', 'DPkg::Lock::Timeout=60']
const environment = { DEBIAN_FRONTEND: 'noninteractive' }
const servicePolicy = '/usr/sbin/policy-rc.d'

/** Installs the Debian packages of what is missing, or says in one line what is missing and how to get it. Says nothing when nothing is missing. */
export async function installNeeded(missing: readonly Need[], machine: Machine): Promise<void> {
  if (missing.length === 0) return
  const packages = missing.map((name) => needed[name].package)
  const byHand = `Their tests are skipped. On Debian: apt-get install ${packages.join(' ')}`
  if (!machine.isRoot || !machine.isDebian) return machine.say(`missing, needed by tests: ${missing.join(', ')}. ${byHand}`)

  machine.say(`installing ${packages.join(', ')} … (needed by tests)`)
  for (const command of [['update'], ['install', '--yes', '--no-install-recommends', ...packages]]) {
    const { code, output } = await machine.run(['apt-get', ...aptOptions, ...command], environment)
    if (code !== 0) return machine.say(`could not install them (apt-get ${command[0]}: ${lastError(output)}). ${byHand}`)
  }
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
    run: (command, more) => withoutServices(async () => {
      const child = Bun.spawn([...command], { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', env: { ...process.env, ...more } })
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
