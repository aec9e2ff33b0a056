import { existsSync } from 'node:fs'

/** @returns the path @throws {Error} there is no such file */
export function requireDatabase(path: string): string {
  if (existsSync(path)) return path
  throw new Error(`${path} does not exist: svc makes it when it runs with --auth keys, or by svc keys make`)
}
