import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { needs } from '../needs.ts'

const cache = join(import.meta.dir, '..', '..', 'node_modules', '.cache', 'python')

/**
 * Installs packages of PyPI for tests, once, in a folder of the cache.
 *
 * @param requirements with exact versions
 * @returns the folder; `undefined` where Python, pip or the registry is missing
 */
export async function pythonPackage(...requirements: readonly string[]): Promise<string | undefined> {
  const python = needs('python3')
  if (python === undefined || needs('pip') === undefined) return undefined
  const folder = join(cache, requirements.join(' ').replace(/[^\w.=-]/g, '-'))
  const done = join(folder, '.installed')
  if (existsSync(done)) return folder
  const install = ['-m', 'pip', 'install', '--quiet', '--only-binary=:all:', '--target', folder, ...requirements]
  const { exited } = Bun.spawn([python, ...install], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })
  if ((await exited) !== 0) return undefined
  await Bun.write(done, '')
  return folder
}

/** Runs a script with packages of a folder. @returns its output @throws with its errors */
export async function runPython(folder: string, script: string, input: string): Promise<string> {
  const child = Bun.spawn([needs('python3') ?? 'python3', '-c', script], {
    env: { PATH: process.env['PATH'] ?? '', PYTHONPATH: folder },
    stdin: Buffer.from(input),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [output, errors, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  if (code !== 0) throw new Error(errors)
  return output
}
