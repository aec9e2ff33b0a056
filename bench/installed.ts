import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { ProgramError, runProgram, searchPath } from './processes.ts'

/** What stands on the disk once a program is installed. */
export interface Installed {
  /** Blocks of the disk, in bytes: the program and what it brings, without the runtime that must be there before. */
  readonly bytes: number
  /** The runtime (Node, Python); 0 where it is among what is brought, or none is needed. */
  readonly runtimeBytes: number
  /** Packages (npm, PyPI), modules (Go) or packages it depends on directly (Debian), itself not counted. */
  readonly dependencies: number
}

const limitMs = 60_000

/** What is below these paths takes on the disk, in bytes. Each file counts once. */
export async function diskBytes(paths: readonly string[], ...options: readonly string[]): Promise<number> {
  const output = await runProgram(['du', '-scB1', ...options, ...paths], limitMs)
  return parseDiskTotal(output)
}

/** The last line of `du -c`. @throws ProgramError when there is none. */
export function parseDiskTotal(output: string): number {
  const digits = /^(\d+)\ttotal$/m.exec(output)?.[1]
  if (digits === undefined) throw new ProgramError(`du wrote no total: ${output.slice(0, 100)}`)
  return Number(digits)
}

/**
 * Folders of the packages that npm installed below `folder` for use, not for development, each once; the folder itself
 * is not among them.
 */
export async function npmPackages(folder: string): Promise<readonly string[]> {
  const output = await runProgram(['npm', 'ls', '--omit=dev', '--all', '--parseable'], limitMs, { directory: folder })
  return [...new Set(output.trim().split('\n'))].filter((path) => path.includes('node_modules'))
}

/** What `node` itself takes. */
export function nodeBytes(): Promise<number> {
  return diskBytes([realpathSync(Bun.which('node', { PATH: searchPath() }) ?? 'node')])
}

/**
 * What was installed into a virtual environment of Python: `venv` is its folder. pip, setuptools and wheel are the
 * environment's own.
 */
export async function pythonInstalled(venv: string): Promise<Installed> {
  const python = join(venv, 'bin/python')
  const about = await runProgram(
    [
      python,
      '-c',
      'import sys, sysconfig; print(sys._base_executable); print(sysconfig.get_path("stdlib")); print(sysconfig.get_path("purelib"))',
    ],
    limitMs,
  )
  const [executable = '', library = '', packages = ''] = about.trim().split('\n')
  const names = await runProgram([python, '-m', 'pip', 'list', '--format=freeze'], limitMs)
  const bytes = await diskBytes([packages], '--exclude=pip', '--exclude=setuptools', '--exclude=wheel')
  const runtimeBytes = await diskBytes([realpathSync(executable), library], '--exclude=site-packages', '--exclude=test')
  return { bytes, runtimeBytes, dependencies: countPythonPackages(names) - 1 }
}

/** Lines of `pip list --format=freeze` but those of pip, setuptools and wheel. */
export function countPythonPackages(list: string): number {
  return list.split('\n').filter((line) => line.includes('==') && !/^(?:pip|setuptools|wheel)==/.test(line)).length
}

/** What Debian installed for these packages, and on how many others they depend directly. */
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

/** `libc6 (>= 2.34), debconf | cdebconf` → libc6, debconf: the first of what may stand in for each other. */
export function parseDebianDepends(text: string): readonly string[] {
  return text.split(',').flatMap((one) => /^\s*([a-z\d][a-z\d+.-]*)/.exec(one)?.[1] ?? [])
}

/** A Go program: one file, and the modules it was made of as it says itself. */
export async function goInstalled(executable: string): Promise<Installed> {
  const modules = await runProgram(['go', 'version', '-m', executable], limitMs)
  return { bytes: await diskBytes([executable]), runtimeBytes: 0, dependencies: countGoModules(modules) }
}

/** Lines of `go version -m` that name a dependency. */
export function countGoModules(text: string): number {
  return text.split('\n').filter((line) => line.startsWith('\tdep\t')).length
}
