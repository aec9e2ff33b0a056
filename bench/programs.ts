import { existsSync } from 'node:fs'
import { searchPath } from './processes.ts'

/** Programs of the system that the bench may need. */
export type ProgramName = 'nginx' | 'haproxy' | 'wrk' | 'node' | 'npm' | 'python3' | 'go'

/** Debian's packages of the same name. */
const installable: readonly ProgramName[] = ['nginx', 'haproxy', 'wrk']

/**
 * Looks for programs and, as root on Debian, installs those of nginx, HAProxy and wrk that are missing. Gives those
 * that are still missing, having named them in one line on stderr.
 */
export async function missingPrograms(needed: ReadonlySet<ProgramName>): Promise<ReadonlySet<ProgramName>> {
  const isMissing = (name: ProgramName): boolean => Bun.which(name, { PATH: searchPath() }) === null
  const toInstall = installable.filter((name) => needed.has(name) && isMissing(name))
  if (toInstall.length > 0 && process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    console.error(`bench: installing ${toInstall.join(', ')} with apt-get`)
    await install(toInstall)
  }
  const missing = [...needed].filter(isMissing)
  if (missing.length > 0) console.error(`bench: not found: ${missing.join(', ')}; what needs it is left out`)
  return new Set(missing)
}

async function install(names: readonly ProgramName[]): Promise<void> {
  // A package list may be too old to install from, or missing: update only then.
  const script =
    'apt-get install -y --no-install-recommends "$@" || { apt-get update && apt-get install -y --no-install-recommends "$@"; }'
  // Run level 1 keeps the packages from starting their services.
  const child = Bun.spawn(['sh', '-c', script, 'sh', ...names], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await child.exited
}
