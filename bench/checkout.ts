import { ProgramError, runProgram } from './processes.ts'

/** A checkout of a peer that is built from source. */
export interface Checkout {
  readonly folder: string
  /** Its commit, shortened. */
  readonly commit: string
}

/**
 * Finds the checkout that an environment variable names.
 *
 * @throws ProgramError when it names none
 */
export async function checkoutOf(variable: string): Promise<Checkout> {
  const folder = process.env[variable] ?? ''
  if (folder === '') throw new ProgramError(`built from source: ${variable} names no checkout`)
  const commit = await runProgram(['git', '-C', folder, 'rev-parse', '--short', 'HEAD'], 10_000)
  return { folder, commit: commit.trim() }
}
