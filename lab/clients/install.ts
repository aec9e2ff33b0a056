import { statSync } from 'node:fs'
import { join } from 'node:path'

/** A virtual environment, in a folder that git and other tools ignore. */
const environment = join(import.meta.dir, 'node_modules', '.python')
/** The interpreter that runs the programs in `python/`. */
export const python = join(environment, 'bin', 'python')

const changedMs = (...path: readonly string[]) =>
  statSync(join(import.meta.dir, ...path), { throwIfNoEntry: false })?.mtimeMs ?? 0

function run(...command: readonly string[]): boolean {
  const { exitCode } = Bun.spawnSync([...command], { cwd: import.meta.dir, stdout: 'inherit', stderr: 'inherit' })
  return exitCode === 0
}

/** Installs the programs of package.json into a folder that git ignores, unless they are there. */
export function installNode(): void {
  if (changedMs('node_modules', '.package-lock.json') > changedMs('package.json')) return
  if (!run('npm', 'install', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error'))
    throw new Error('npm could not install the client programs')
}

/** The programs and their versions, as package.json and the list of libraries in Python name them. */
export async function versions(): Promise<string> {
  const { dependencies } = await Bun.file(join(import.meta.dir, 'package.json')).json()
  const libraries = await Bun.file(join(import.meta.dir, 'python', 'requirements.txt')).text()
  const named = Object.entries<string>(dependencies).map(([name, version]) => `${name} ${version}`)
  return [
    ...named,
    ...libraries
      .trim()
      .split('\n')
      .map((line) => `${line.replace('==', ' ')} (Python)`),
  ].join(', ')
}

/** Installs the libraries of `python/requirements.txt` the same way. @returns whether they are there */
export function installPython(): boolean {
  const [list, mark] = [join('python', 'requirements.txt'), join('node_modules', '.python', 'installed')]
  if (changedMs(mark) > changedMs(list)) return true
  const pip = [python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--requirement', list]
  const isThere =
    run('python3', '-c', 'import sys, venv; sys.exit(sys.version_info < (3, 10))') &&
    run('python3', '-m', 'venv', environment) &&
    run(...pip) &&
    run('touch', mark)
  if (!isThere) console.error('The programs in Python are left out: they need python3 of 3.10 or newer, with pip')
  return isThere
}
