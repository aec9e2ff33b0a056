import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GroundOptions } from './ground.ts'

/** What a service is started by, and the folder that is gone with it. */
export interface StartScript extends Required<Pick<GroundOptions, 'program' | 'cleanUp'>> {
  readonly folder: string
}

const command = join(import.meta.dir, '..', '..', 'bin', 'svc')

/**
 * A script that starts the service in a way of its own. `write` says how: it is given the quoted command that starts
 * it, and a folder for what it needs.
 */
export function startScript(write: (start: string, folder: string) => string): StartScript {
  const folder = mkdtempSync(join(tmpdir(), 'svc-start-'))
  const program = join(folder, 'start')
  writeFileSync(program, `${write(`sh '${command}' "$@"`, folder)}\n`)
  return { folder, program, cleanUp: () => rmSync(folder, { recursive: true, force: true }) }
}
