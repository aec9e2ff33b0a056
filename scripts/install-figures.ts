import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dir, '..')

/** By `du`, which counts a file with several names once. */
function megabytes(folder: string): number {
  return Number.parseInt(Bun.spawnSync(['du', '-sm', folder]).stdout.toString(), 10)
}

function packagesIn(folder: string): number {
  const { packages } = JSON.parse(readFileSync(join(folder, '.package-lock.json'), 'utf8'))
  return Object.values<{ link?: boolean }>(packages).filter(({ link }) => link !== true).length
}

/** Installs the source tree anew in a temporary folder. @returns packages, megabytes, warnings and seconds */
export async function installFigures(...options: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-install-'))
  try {
    for (const file of ['package.json', 'package-lock.json', 'web/package.json', 'client/package.json'])
      cpSync(join(root, file), join(folder, file))
    const began = performance.now()
    const npm = Bun.spawn(['npm', 'ci', ...options], { cwd: folder, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
    const [output, code] = await Promise.all([npm.stderr.text(), npm.exited])
    const seconds = ((performance.now() - began) / 1000).toFixed(0)
    if (code !== 0) return `not measured: npm ci ended with ${code}`
    const warnings = output.split('\n').filter((line) => /^npm warn/i.test(line)).length
    const installed = join(folder, 'node_modules')
    return `${packagesIn(installed)} packages, ${megabytes(installed)} MB, ${warnings} warnings, ${seconds} s`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
