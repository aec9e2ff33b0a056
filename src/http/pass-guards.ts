import type { Contribution, Visitor } from '../extensions/extension.ts'
import type { HandlerContext } from './handler-context.ts'

/** Identifies the visitor of a request. @throws {WireError} when the request may not pass */
export type Guard = NonNullable<Contribution['guard']>

/** The guards of extensions, in their order. */
export function guardsOf(contributions: readonly Contribution[]): readonly Guard[] {
  return contributions.flatMap(({ guard }) => guard ?? [])
}

/**
 * Asks the guards in turn. A request must pass all of them; the last guard that names a visitor decides.
 *
 * @throws errors of the guards
 */
export async function passGuards(
  guards: readonly Guard[],
  context: Pick<HandlerContext, 'request' | 'path' | 'id' | 'address'>,
): Promise<Partial<Visitor>> {
  const { request, path, id } = context
  const visit = { request, path, id, address: context.address() }
  let passed: Partial<Visitor> = {}
  for (const guard of guards) passed = (await guard(visit)) ?? passed
  return passed
}
