import { existsSync } from 'node:fs'
import { searchPath } from './processes.ts'

/** Programs of the system that the bench may need. */
export type ProgramName = 'nginx' | 'haproxy' | 'wrk' | 'node' | 'npm' | 'python3' | 'go' | 'cargo'

/** Programs whose Debian package has the same name. */
const installable: readonly ProgramName[] = ['nginx', 'haproxy', 'wrk']

/**
 * Looks for programs and, as root on Debian, installs missing ones of nginx, HAProxy and wrk. Names those that are
 * still missing in one line on stderr, and returns them.
 */
export async function missingPrograms(needed: ReadonlySet<ProgramName>): Promise<ReadonlySet<ProgramName>> {
  const isMissing = (name: ProgramName): boolean => Bun.which(name, { PATH: searchPath() }) === null
  const toInstall = installable.filter((name) => needed.has(name) && isMissing(name))
  if (toInstall.length > 0 && process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    console.error(`bench: installing ${toInstall.join(', ')} with apt-get`)
    await install(toInstall)
  }
  const missing = [...needed].filter(isMissing)
  if (missing.length > 0) console.error(`bench: not found: ${missing.join(', ')}; its measures are left out`)
  return new Set(missing)
}

async function install(names: readonly ProgramName[]): Promise<void> {
  // The package list is updated only if installing fails: it may be old or missing.
  const install = 'apt-get install -y --no-install-recommends "$@"'
  const script = `${install} || { apt-get update && ${install}; }`
  // Run level 1 keeps the packages from starting their services.
  const child = Bun.spawn(['sh', '-c', script, 'sh', ...names], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await child.exited
}
