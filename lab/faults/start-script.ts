import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestbedOptions } from './testbed.ts'

/** A program that starts the service, and its folder, which `cleanUp` removes. */
export interface StartScript extends Required<Pick<TestbedOptions, 'program' | 'cleanUp'>> {
  readonly folder: string
}

const command = join(import.meta.dir, '..', '..', 'bin', 'svc')

/**
 * Writes a shell script that starts the service. `write` makes its text from the quoted start command and a folder for
 * files of the script.
 */
export function startScript(write: (start: string, folder: string) => string): StartScript {
  const folder = mkdtempSync(join(tmpdir(), 'svc-start-'))
  const program = join(folder, 'start')
  writeFileSync(program, `${write(`sh '${command}' "$@"`, folder)}\n`)
  return { folder, program, cleanUp: () => rmSync(folder, { recursive: true, force: true }) }
}
