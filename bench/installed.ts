import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '../src/base/json-value.ts'
import { ProgramError, runProgram, searchPath } from './processes.ts'

/** Size of an installed program. */
export interface Installed {
  /** Disk blocks in bytes: the program and its dependencies, without a runtime that must be installed before. */
  readonly bytes: number
  /** The runtime (Node, Python); 0 where it is a dependency, or none is needed. */
  readonly runtimeBytes: number
  /** Number of packages (npm, PyPI), modules (Go) or direct dependencies (Debian), without the program itself. */
  readonly dependencies: number
}

const limitMs = 60_000

/** Size of everything below these paths on the disk, in bytes. Each file counts once. */
export async function diskBytes(paths: readonly string[], ...options: readonly string[]): Promise<number> {
  const output = await runProgram(['du', '-scB1', ...options, ...paths], limitMs)
  return parseDiskTotal(output)
}

/** Parses the last line of `du -c`. @throws ProgramError without one */
export function parseDiskTotal(output: string): number {
  const digits = /^(\d+)\ttotal$/m.exec(output)?.[1]
  if (digits === undefined) throw new ProgramError(`du wrote no total: ${output.slice(0, 100)}`)
  return Number(digits)
}

/**
 * Lists folders of packages that npm installed below `folder`, each once, without `folder` itself. Packages for
 * development and workspaces are left out.
 */
export async function npmPackages(folder: string): Promise<readonly string[]> {
  const output = await runProgram(['npm', 'ls', '--omit=dev', '--workspaces=false', '--all', '--parseable'], limitMs, {
    directory: folder,
  })
  return [...new Set(output.trim().split('\n'))].filter((path) => path.includes('node_modules'))
}

/** Size of `node` itself, bytes. */
export function nodeBytes(): Promise<number> {
  return diskBytes([realpathSync(Bun.which('node', { PATH: searchPath() }) ?? 'node')])
}

/**
 * Measures the packages in a Python virtual environment in folder `venv`. pip, setuptools and wheel belong to the
 * environment and do not count.
 */
export async function pythonInstalled(venv: string): Promise<Installed> {
  const python = join(venv, 'bin/python')
  const script = [
    'import sys, sysconfig',
    'print(sys._base_executable)',
    'print(sysconfig.get_path("stdlib"))',
    'print(sysconfig.get_path("purelib"))',
  ].join('; ')
  const about = await runProgram([python, '-c', script], limitMs)
  const [executable = '', library = '', packages = ''] = about.trim().split('\n')
  const names = await runProgram([python, '-m', 'pip', 'list', '--format=freeze'], limitMs)
  const bytes = await diskBytes([packages], '--exclude=pip', '--exclude=setuptools', '--exclude=wheel')
  const runtimeBytes = await diskBytes([realpathSync(executable), library], '--exclude=site-packages', '--exclude=test')
  return { bytes, runtimeBytes, dependencies: countPythonPackages(names) - 1 }
}

/** Reads the version of a package of npm. */
export async function packageVersion(folder: string): Promise<string> {
  const manifest: unknown = await Bun.file(join(folder, 'package.json')).json()
  return isRecord(manifest) && typeof manifest['version'] === 'string' ? manifest['version'] : '?'
}

/** Counts lines of `pip list --format=freeze`, without pip, setuptools and wheel. */
export function countPythonPackages(list: string): number {
  return list.split('\n').filter((line) => line.includes('==') && !/^(?:pip|setuptools|wheel)==/.test(line)).length
}

/** Measures installed Debian packages and their direct dependencies. */
export async function debianInstalled(packages: readonly string[]): Promise<Installed> {
  const output = await runProgram(
    ['dpkg-query', '-W', '-f', '${Installed-Size}\\t${Pre-Depends}, ${Depends}\\n', ...packages],
    limitMs,
  )
  const lines = output
    .trim()
    .split('\n')
    .map((line) => line.split('\t'))
  const bytes = lines.reduce((sum, [kibibytes = '0']) => sum + Number(kibibytes) * 1024, 0)
  const others = new Set(lines.flatMap(([, depends = '']) => parseDebianDepends(depends)))
  for (const name of packages) others.delete(name)
  return { bytes, runtimeBytes: 0, dependencies: others.size }
}

/** `libc6 (>= 2.34), debconf | cdebconf` → libc6, debconf: the first of each group of alternatives. */
export function parseDebianDepends(text: string): readonly string[] {
  return text.split(',').flatMap((one) => /^\s*([a-z\d][a-z\d+.-]*)/.exec(one)?.[1] ?? [])
}

/** Measures a Go program: one file, and the modules that it lists. */
export async function goInstalled(executable: string): Promise<Installed> {
  const modules = await runProgram(['go', 'version', '-m', executable], limitMs)
  return { bytes: await diskBytes([executable]), runtimeBytes: 0, dependencies: countGoModules(modules) }
}

/** Counts the dependencies in the output of `go version -m`. */
export function countGoModules(text: string): number {
  return text.split('\n').filter((line) => line.startsWith('\tdep\t')).length
}
