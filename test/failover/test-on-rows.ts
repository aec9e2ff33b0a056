import { afterAll, beforeAll, test } from 'bun:test'
import type { Script } from '../fakes/fault-upstream.ts'
import { startRigs } from '../rig.ts'
import type { RigOptions, Rigs, Row } from '../rig.ts'

/** A test of a table. */
export interface Case {
  /** What its name says in the place of `%s`. */
  readonly words: string
  /** What the upstreams do. */
  readonly scripts: readonly Script[]
}

/**
 * As `test.each`, for tests of what providers do: each has upstreams to itself, and all share one service, whose start
 * takes longer than the test. Not for what shows in all of a service, such as its metrics or its limits.
 *
 *     testOnRows('%s › moves on', [{ words: '500', scripts: [status(500), good()] }], async (row) => { … })
 */
export function testOnRows<Given extends Case>(
  title: string,
  table: readonly Given[],
  run: (row: Row, given: Given) => Promise<void>,
  options: Omit<RigOptions, 'each'> = {},
): void {
  let rigs: Rigs
  beforeAll(async () => {
    rigs = await startRigs(
      table.map(({ scripts }) => scripts),
      options,
    )
  })
  afterAll(() => rigs[Symbol.asyncDispose]())
  for (const [index, given] of table.entries())
    test(title.replace('%s', given.words), () => run(rigs.row(index), given))
}
