import { statSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Installs the packages of `test/package.json`, unless those of its lock file are there. Prints one line, since it
 * takes some seconds. Exits with the code of npm.
 */

const folder = join(import.meta.dir, '..', 'test')

const changedMs = (...path: readonly string[]): number =>
  statSync(join(folder, ...path), { throwIfNoEntry: false })?.mtimeMs ?? 0

if (changedMs('node_modules', '.package-lock.json') <= changedMs('package-lock.json')) {
  console.error('installing packages … (needed by tests and checks)')
  const { exitCode } = Bun.spawnSync(
    ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--silent'],
    { cwd: folder, stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' },
  )
  if (exitCode !== 0) {
    console.error(`npm could not install them: run npm ci in ${folder}`)
    process.exitCode = exitCode
  }
}
