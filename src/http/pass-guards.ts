import type { Contribution, Visitor } from '../extensions/extension.ts'
import type { Exchange } from './exchange.ts'

/** Says who may pass. @throws {WireError} when nobody may */
export type Guard = NonNullable<Contribution['guard']>

/**
 * Asks guards in turn: who wants to pass must pass each, and the last that names somebody says who it is. @throws what
 * a guard throws
 */
export async function passGuards(
  guards: readonly Guard[],
  { request, path, id, address }: Pick<Exchange, 'request' | 'path' | 'id' | 'address'>,
): Promise<Partial<Visitor>> {
  const visit = { request, path, id, address: address() }
  let passed: Partial<Visitor> = {}
  for (const guard of guards) passed = (await guard(visit)) ?? passed
  return passed
}
