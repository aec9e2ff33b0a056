import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Folder of an installed peer: `bench/peers/NAME`, which git ignores. When it is missing, the next run installs again.
 * Its contents lie in folders with a dot, which the tools of this project ignore.
 */
export function peerFolder(name: string): string {
  return join(import.meta.dir, 'peers', name)
}

/**
 * Installs a peer once: skips `install` if it was completed before for the same `what`. Prints progress on stderr.
 */
export async function installOnce(
  name: string,
  what: string,
  install: (folder: string) => Promise<unknown>,
): Promise<void> {
  const folder = peerFolder(name)
  const done = join(folder, `.installed-${what.replaceAll(/[^\w.-]+/g, '-')}`)
  if (existsSync(done)) return
  mkdirSync(folder, { recursive: true })
  console.error(`bench: installing ${what} into bench/peers/${name} (once)`)
  const startedMs = performance.now()
  await install(folder)
  writeFileSync(done, '')
  console.error(`bench: installed ${what} in ${Math.round((performance.now() - startedMs) / 1000)} s`)
}
