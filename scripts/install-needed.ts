import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { needed, type Need } from '../test/needs.ts'

/** The machine on which packages are installed. */
export interface InstallHost {
  /** Only root can install. */
  readonly isRoot: boolean
  /** Debian or a derivative, with the same package names. */
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

/** Programs that a machine lacks, by `wanted` and `missing` of needs.ts. */
export interface Lacking {
  readonly wanted: readonly Need[]
  readonly missing: readonly Need[]
}

/**
 * Installs the Debian packages of wanted programs, or prints one line with the missing programs and the command that
 * installs them. Prints nothing when no program is missing.
 */
export async function installNeeded({ wanted, missing }: Lacking, machine: InstallHost): Promise<void> {
  if (!machine.isRoot || !machine.isDebian) return printMissing(missing, machine, 'missing, needed by tests')
  if (wanted.length === 0) return
  const packages = packagesOf(wanted)
  machine.say(`installing ${packages.join(', ')} … (needed by tests)`)
  for (const command of [['update'], ['install', '--yes', '--no-install-recommends', ...packages]]) {
    const { code, output } = await machine.run(['apt-get', ...aptOptions, ...command], environment)
    if (code === 0) continue
    machine.say(`could not install them (apt-get ${command[0]}: ${lastError(output)})`)
    return printMissing(missing, machine, 'still missing')
  }
}

/** Each package once: some have several programs. */
function packagesOf(names: readonly Need[]): readonly string[] {
  return [...new Set(names.map((name) => needed[name].package))]
}

function printMissing(missing: readonly Need[], machine: InstallHost, opening: string): void {
  if (missing.length === 0) return
  const packages = packagesOf(missing).join(' ')
  machine.say(`${opening}: ${missing.join(', ')}. Their tests are skipped. On Debian: apt-get install ${packages}`)
}

function lastError(output: string): string {
  return output.split('\n').findLast((line) => line.startsWith('E: ')) ?? 'failed'
}

/** The machine of this process. */
export function thisMachine(): InstallHost {
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

/** Keeps packages of servers from starting their services: only their commands are needed (policy-rc.d(8), 101). */
async function withoutServices<Result>(install: () => Promise<Result>): Promise<Result> {
  if (existsSync(servicePolicy)) return await install()
  writeFileSync(servicePolicy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    return await install()
  } finally {
    rmSync(servicePolicy, { force: true })
  }
}
