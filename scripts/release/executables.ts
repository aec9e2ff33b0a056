import { createHash } from 'node:crypto'
import { chmod, mkdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import lock from '../../package-lock.json'
import manifest from '../../package.json'
import { buildExecutable } from '../build.ts'
import type { Processor } from './oci-image.ts'
import { cacheFolder, ReleaseError, run, type Tools } from './run.ts'

/** Builds svc for Linux on one processor. Returns its size in bytes. */
export async function executableFor(processor: Processor, outfile: string, tools: Tools): Promise<number> {
  const { npm } = processor
  if (process.platform === 'linux' && process.arch === npm) return await buildExecutable(outfile)
  return await buildExecutable(outfile, {
    target: `bun-linux-${npm}`,
    executablePath: await bunFor(processor, tools),
  })
}

/** The Bun of another processor: a package of npm, whose hash package-lock.json has. It is kept in the cache. */
async function bunFor({ bun }: Processor, tools: Tools): Promise<string> {
  const name = `@oven/bun-linux-${bun}` as const
  const version = manifest.dependencies.bun
  const folder = join(cacheFolder(), `bun-linux-${bun}-${version}`)
  const executable = join(folder, 'package', 'bin', 'bun')
  if (await Bun.file(executable).exists()) return executable
  await mkdir(folder, { recursive: true })
  const packed = await run([await tools.find('npm'), 'pack', '--silent', `${name}@${version}`], { cwd: folder })
  const archive = join(folder, packed.trim())
  const integrity = `sha512-${createHash('sha512')
    .update(await readFile(archive))
    .digest('base64')}`
  if (integrity !== lock.packages[`node_modules/${name}`].integrity)
    throw new ReleaseError(`${name}@${version} has another hash than in package-lock.json; delete ${folder}`)
  const partial = join(folder, 'partial')
  await mkdir(partial, { recursive: true })
  await run([await tools.find('tar'), '--extract', '--gzip', '--file', archive, '--directory', partial])
  await chmod(join(partial, 'package', 'bin', 'bun'), 0o755)
  await rename(join(partial, 'package'), join(folder, 'package'))
  await run(['rm', '-rf', partial, archive])
  return executable
}
