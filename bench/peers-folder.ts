import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Where a peer is installed: `bench/peers/NAME`, which git ignores. Remove it, and the next run installs anew. What is
 * inside lies in folders with a dot, which the tools of this project pass over.
 */
export function peerFolder(name: string): string {
  return join(import.meta.dir, 'peers', name)
}

/**
 * Installs a peer once: `install` runs unless it has come to its end before for the same `what`. Says on stderr what is
 * under way.
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
