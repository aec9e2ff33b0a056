import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The release cannot go on; the message names the cause and the way out. */
export class ReleaseError extends Error {
  override readonly name = 'ReleaseError'
}

export const root = join(import.meta.dir, '..', '..')

/** Runs a command and returns its standard output. @throws {ReleaseError} with its last lines when it fails */
export async function run(
  command: readonly string[],
  { cwd = root, environment = {} }: { readonly cwd?: string; readonly environment?: Record<string, string> } = {},
): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, ...environment },
  })
  const [code, out, errors] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()])
  if (code === 0) return out
  const last = `${out}\n${errors}`.trim().split('\n').slice(-8).join('\n  ')
  throw new ReleaseError(`${command[0]} ended with exit code ${code}:\n  ${last}`)
}

/** Programs of the release that npm does not bring. */
const tools = {
  git: { get: 'apt-get install git' },
  npm: { get: 'install Node 20 or later' },
  tar: { get: 'apt-get install tar' },
  mmdebstrap: { get: 'apt-get install mmdebstrap (it runs on Debian and its derivatives only)' },
  crane: { get: 'Go 1.25 or later builds it', module: 'github.com/google/go-containerregistry/cmd/crane@v0.22.1' },
  cosign: { get: 'Go 1.25 or later builds it', module: 'github.com/sigstore/cosign/v3/cmd/cosign@v3.1.3' },
} as const satisfies Readonly<Record<string, { readonly get: string; readonly module?: string }>>

type Tool = keyof typeof tools

/** Finds programs in a folder that is given and on the path; builds the others where Go can. */
export class Tools {
  readonly #folder: string | undefined
  readonly #say: (line: string) => void

  constructor(folder: string | undefined, say: (line: string) => void) {
    this.#folder = folder
    this.#say = say
  }

  /** @throws {ReleaseError} when the program is missing and cannot be built */
  async find(name: Tool): Promise<string> {
    const path = [this.#folder, process.env['PATH']].filter((each) => each !== undefined).join(':')
    const found = Bun.which(name, { PATH: path })
    if (found !== null) return found
    const tool: { readonly get: string; readonly module?: string } = tools[name]
    const go = Bun.which('go')
    if (tool.module === undefined || go === null)
      throw new ReleaseError(`${name} is missing: ${tool.get}, or name its folder with --tools`)
    return await this.#build(name, tool.module, go)
  }

  /** `go install`, once for each version. cosign takes five to ten minutes, crane one. */
  async #build(name: Tool, module: string, go: string): Promise<string> {
    const [, version = ''] = module.split('@')
    const folder = join(cacheFolder(), `${name}-${version}`)
    const built = join(folder, name)
    if (existsSync(built)) return built
    this.#say(`${name} ${version} is built by Go, once${name === 'cosign' ? ' (5 to 10 minutes)' : ' (a minute)'} …`)
    await run([go, 'install', module], { environment: { GOBIN: folder } })
    return built
  }
}

/** What later releases use again: tools that were built, and Bun for other processors. */
export function cacheFolder(): string {
  const { XDG_CACHE_HOME: cache, HOME: home } = process.env
  if (cache !== undefined && cache !== '') return join(cache, 'svc-release')
  if (home === undefined || home === '') throw new ReleaseError('set HOME or XDG_CACHE_HOME')
  return join(home, '.cache', 'svc-release')
}
